//! The table of requests, answered: one function a row, each a line to where it is done.

use engram_model::{
    Adoption, AgentOpened, AgentsReply, Allow, Answered, Answers, Blame, BriefReply, BudgetOf,
    BudgetsReply, Check, CheckReply, CheckedPointer, Commit, Conflict, ConflictFilter, ConflictId,
    ConflictsReply, DenyAnswer, Deref, DerefRequest, Dereferenced, Draft, Engram, EngramId, Entry,
    Facets, Feed, FeedPage, Filter, ForgetReply, GateCheck, GateReply, GrantAnswer, GrantIssued,
    GrantWanted, GrantsReply, Hook, HookReply, LineReply, LineView, MetricsReply, NextTurn, Note,
    NoteReply, Opening, Pinning, PointerInput, Promote, PromoteReply, PutReply, Query, QueryReply,
    Refusal, RequestsReply, Resolve, ResolveReply, SampleReply, Sending, SentReply, SourceReply,
    SourceView, Standing, StatusReply, Turned, Unpinning, ValidReply, WhichRequests,
};

use crate::{context::Context, put::Occasion};

type Answer<T> = Result<T, Refusal>;

impl Answers for Context<'_> {
    fn put(&self, draft: Box<Draft>) -> Answer<PutReply> {
        self.put_claim(*draft, None, Occasion::Said)
    }

    fn commit(&self, commit: Box<Commit>) -> Answer<PutReply> {
        self.commit_claim(*commit)
    }

    fn get(&self, id: EngramId) -> Answer<Box<Engram>> {
        self.record(id).map(Box::new)
    }

    fn log(&self, id: EngramId) -> Answer<Vec<Entry>> {
        self.log_of(id)
    }

    fn restore(&self, id: EngramId) -> Answer<PutReply> {
        self.restore_version(id)
    }

    fn forget(&self, id: EngramId) -> Answer<ForgetReply> {
        self.forget_claim(id)
    }

    fn redact(&self, id: EngramId) -> Answer<ForgetReply> {
        self.erase(id)
    }

    fn promote(&self, promote: Promote) -> Answer<PromoteReply> {
        self.promote_claim(&promote)
    }

    fn query(&self, query: Query) -> Answer<QueryReply> {
        self.search(&query)
    }

    fn deref(&self, deref: Deref) -> Answer<Box<Dereferenced>> {
        self.fetch(deref).map(Box::new)
    }

    fn note(&self, note: Note) -> Answer<NoteReply> {
        self.note_event(&note)
    }

    fn feed(&self, feed: Feed) -> Answer<FeedPage> {
        self.page(&feed)
    }

    fn facets(&self, filter: Filter) -> Answer<Box<Facets>> {
        self.count(&filter).map(Box::new)
    }

    fn source(&self, view: SourceView) -> Answer<Box<SourceReply>> {
        self.view_source(view).map(Box::new)
    }

    fn line(&self, view: LineView) -> Answer<LineReply> {
        self.view_line(view)
    }

    fn check_pointers(&self, check: Check) -> Answer<CheckReply> {
        self.check(&check)
    }

    fn repin(&self, id: EngramId) -> Answer<PutReply> {
        self.point_at_now(id)
    }

    fn reverify(&self, id: EngramId) -> Answer<PutReply> {
        self.ask_again(id)
    }

    fn load_sample(&self) -> Answer<SampleReply> {
        self.store_sample()
    }

    fn remove_sample(&self) -> Answer<SampleReply> {
        self.forget_sample()
    }

    fn standing(&self, pointer: PointerInput) -> Answer<Box<Standing>> {
        self.view(pointer, engram_pointers::standing).map(Box::new)
    }

    fn track(&self, pointer: PointerInput) -> Answer<Box<CheckedPointer>> {
        self.track_pointer(pointer).map(Box::new)
    }

    fn blame(&self, pointer: PointerInput) -> Answer<Blame> {
        self.view(pointer, engram_pointers::blame)
    }

    fn adopt(&self, how: Adoption) -> Answer<Box<StatusReply>> {
        self.settle_project(how)
    }

    fn conflicts(&self, filter: ConflictFilter) -> Answer<ConflictsReply> {
        let reply = self.list_conflicts(&filter)?;
        self.note_sides(&reply.conflicts)?;
        Ok(reply)
    }

    fn conflict(&self, id: ConflictId) -> Answer<Box<Conflict>> {
        let conflict = self.one_conflict(id)?;
        self.note_sides(std::slice::from_ref(&conflict))?;
        Ok(conflict)
    }

    fn gate(&self, check: GateCheck) -> Answer<GateReply> {
        self.gate_of(check)
    }

    fn resolve(&self, resolve: Box<Resolve>) -> Answer<ResolveReply> {
        self.settle_conflict(*resolve)
    }

    fn allow(&self, allow: Allow) -> Answer<Box<Conflict>> {
        self.allow_conflict(allow)
    }

    fn status(&self) -> Answer<Box<StatusReply>> {
        self.where_things_stand().map(Box::new)
    }

    fn agents(&self) -> Answer<Box<AgentsReply>> {
        self.who_called().map(Box::new)
    }

    fn open_agent(&self, opening: Opening) -> Answer<AgentOpened> {
        self.open_one(&opening)
    }

    fn next_turn(&self, next: NextTurn) -> Answer<Turned> {
        self.begin_turn(&next)
    }

    fn budget(&self, of: BudgetOf) -> Answer<Box<BudgetsReply>> {
        self.budgets(&of).map(Box::new)
    }

    fn metrics(&self) -> Answer<MetricsReply> {
        self.measure()
    }

    fn issue_grant(&self, wanted: GrantWanted) -> Answer<GrantIssued> {
        self.grant(wanted)
    }

    fn grants(&self) -> Answer<GrantsReply> {
        self.list_grants()
    }

    fn revoke_grant(&self, id: String) -> Answer<Answered> {
        self.revoke(&id)
    }

    fn request_deref(&self, wanted: Box<DerefRequest>) -> Answer<Answered> {
        self.request(*wanted)
    }

    fn requests(&self, which: WhichRequests) -> Answer<RequestsReply> {
        self.list_requests(&which)
    }

    fn grant_request(&self, answer: GrantAnswer) -> Answer<GrantIssued> {
        self.grant_requested(&answer)
    }

    fn deny_request(&self, answer: DenyAnswer) -> Answer<Answered> {
        self.deny(&answer)
    }

    fn brief(&self) -> Answer<BriefReply> {
        self.shared_brief()
    }

    fn show_brief(&self, of: engram_model::BriefOf) -> Answer<Box<engram_model::ShownBrief>> {
        self.shown_brief(&of).map(Box::new)
    }

    fn pin(&self, what: Pinning) -> Answer<BriefReply> {
        self.pin_line(&what)
    }

    fn unpin(&self, what: Unpinning) -> Answer<BriefReply> {
        self.unpin_line(what)
    }

    fn send(&self, sending: Sending) -> Answer<SentReply> {
        self.send_message(&sending)
    }

    fn hook(&self, hook: Box<Hook>) -> Answer<Box<HookReply>> {
        self.pass_on(*hook).map(Box::new)
    }

    fn validate_message(&self, message: serde_json::Value) -> Answer<ValidReply> {
        self.known_caller()?;
        let tokens = self.parsed(&message)?.checked.tokens;
        Ok(ValidReply { ok: true, tokens })
    }
}
