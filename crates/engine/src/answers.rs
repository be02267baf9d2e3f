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

use crate::{
    agents::{budgets, grants, known, metrics, served},
    anchor,
    asking::{deref, query},
    claims::{
        close, lineage, note, promote,
        put::{self, Occasion},
        read, sample,
    },
    conflicts::{allow, list, settle},
    context::Context,
    home::project,
    messages::{brief, hooks, message, send},
    status,
};

type Answer<T> = Result<T, Refusal>;

/// What answers a request, in its context.
pub(crate) struct Answering<'c>(pub(crate) &'c Context<'c>);

impl Answers for Answering<'_> {
    fn put(&self, draft: Box<Draft>) -> Answer<PutReply> {
        put::put_claim(self.0, *draft, None, Occasion::Said)
    }

    fn commit(&self, commit: Box<Commit>) -> Answer<PutReply> {
        put::commit_claim(self.0, *commit)
    }

    fn get(&self, id: EngramId) -> Answer<Box<Engram>> {
        read::record(self.0, id).map(Box::new)
    }

    fn log(&self, id: EngramId) -> Answer<Vec<Entry>> {
        read::log_of(self.0, id)
    }

    fn restore(&self, id: EngramId) -> Answer<PutReply> {
        lineage::restore_version(self.0, id)
    }

    fn forget(&self, id: EngramId) -> Answer<ForgetReply> {
        close::forget_claim(self.0, id)
    }

    fn redact(&self, id: EngramId) -> Answer<ForgetReply> {
        close::erase(self.0, id)
    }

    fn promote(&self, promote: Promote) -> Answer<PromoteReply> {
        promote::promote_claim(self.0, &promote)
    }

    fn query(&self, query: Query) -> Answer<QueryReply> {
        query::search(self.0, &query)
    }

    fn deref(&self, deref: Deref) -> Answer<Box<Dereferenced>> {
        deref::fetch(self.0, deref).map(Box::new)
    }

    fn note(&self, note: Note) -> Answer<NoteReply> {
        note::note_event(self.0, &note)
    }

    fn feed(&self, feed: Feed) -> Answer<FeedPage> {
        read::page(self.0, &feed)
    }

    fn facets(&self, filter: Filter) -> Answer<Box<Facets>> {
        read::count(self.0, &filter).map(Box::new)
    }

    fn source(&self, view: SourceView) -> Answer<Box<SourceReply>> {
        read::view_source(self.0, view).map(Box::new)
    }

    fn line(&self, view: LineView) -> Answer<LineReply> {
        read::view_line(self.0, view)
    }

    fn check_pointers(&self, check: Check) -> Answer<CheckReply> {
        anchor::check(self.0, &check)
    }

    fn repin(&self, id: EngramId) -> Answer<PutReply> {
        anchor::point_at_now(self.0, id)
    }

    fn reverify(&self, id: EngramId) -> Answer<PutReply> {
        anchor::ask_again(self.0, id)
    }

    fn load_sample(&self) -> Answer<SampleReply> {
        sample::store_sample(self.0)
    }

    fn remove_sample(&self) -> Answer<SampleReply> {
        sample::forget_sample(self.0)
    }

    fn standing(&self, pointer: PointerInput) -> Answer<Box<Standing>> {
        read::view(self.0, pointer, engram_pointers::standing).map(Box::new)
    }

    fn track(&self, pointer: PointerInput) -> Answer<Box<CheckedPointer>> {
        anchor::track_pointer(self.0, pointer).map(Box::new)
    }

    fn blame(&self, pointer: PointerInput) -> Answer<Blame> {
        read::view(self.0, pointer, engram_pointers::blame)
    }

    fn adopt(&self, how: Adoption) -> Answer<Box<StatusReply>> {
        project::settle_project(self.0, how)
    }

    fn conflicts(&self, filter: ConflictFilter) -> Answer<ConflictsReply> {
        let reply = list::list_conflicts(self.0, &filter)?;
        served::note_sides(self.0, &reply.conflicts)?;
        Ok(reply)
    }

    fn conflict(&self, id: ConflictId) -> Answer<Box<Conflict>> {
        let conflict = list::one_conflict(self.0, id)?;
        served::note_sides(self.0, std::slice::from_ref(&conflict))?;
        Ok(conflict)
    }

    fn gate(&self, check: GateCheck) -> Answer<GateReply> {
        list::gate_of(self.0, check)
    }

    fn resolve(&self, resolve: Box<Resolve>) -> Answer<ResolveReply> {
        settle::settle_conflict(self.0, *resolve)
    }

    fn allow(&self, allow: Allow) -> Answer<Box<Conflict>> {
        allow::allow_conflict(self.0, allow)
    }

    fn status(&self) -> Answer<Box<StatusReply>> {
        status::where_things_stand(self.0).map(Box::new)
    }

    fn agents(&self) -> Answer<Box<AgentsReply>> {
        known::who_called(self.0).map(Box::new)
    }

    fn open_agent(&self, opening: Opening) -> Answer<AgentOpened> {
        known::open_one(self.0, &opening)
    }

    fn next_turn(&self, next: NextTurn) -> Answer<Turned> {
        budgets::begin_turn(self.0, &next)
    }

    fn budget(&self, of: BudgetOf) -> Answer<Box<BudgetsReply>> {
        budgets::budgets(self.0, &of).map(Box::new)
    }

    fn metrics(&self) -> Answer<MetricsReply> {
        metrics::measure(self.0)
    }

    fn issue_grant(&self, wanted: GrantWanted) -> Answer<GrantIssued> {
        grants::grant(self.0, wanted)
    }

    fn grants(&self) -> Answer<GrantsReply> {
        grants::list_grants(self.0)
    }

    fn revoke_grant(&self, id: String) -> Answer<Answered> {
        grants::revoke(self.0, &id)
    }

    fn request_deref(&self, wanted: Box<DerefRequest>) -> Answer<Answered> {
        grants::request(self.0, *wanted)
    }

    fn requests(&self, which: WhichRequests) -> Answer<RequestsReply> {
        grants::list_requests(self.0, &which)
    }

    fn grant_request(&self, answer: GrantAnswer) -> Answer<GrantIssued> {
        grants::grant_requested(self.0, &answer)
    }

    fn deny_request(&self, answer: DenyAnswer) -> Answer<Answered> {
        grants::deny(self.0, &answer)
    }

    fn brief(&self) -> Answer<BriefReply> {
        brief::shared_brief(self.0)
    }

    fn show_brief(&self, of: engram_model::BriefOf) -> Answer<Box<engram_model::ShownBrief>> {
        brief::shown_brief(self.0, &of).map(Box::new)
    }

    fn pin(&self, what: Pinning) -> Answer<BriefReply> {
        brief::pin_line(self.0, &what)
    }

    fn unpin(&self, what: Unpinning) -> Answer<BriefReply> {
        brief::unpin_line(self.0, what)
    }

    fn send(&self, sending: Sending) -> Answer<SentReply> {
        send::send_message(self.0, &sending)
    }

    fn hook(&self, hook: Box<Hook>) -> Answer<Box<HookReply>> {
        hooks::pass_on(self.0, *hook).map(Box::new)
    }

    fn validate_message(&self, message: serde_json::Value) -> Answer<ValidReply> {
        known::known_caller(self.0)?;
        let tokens = message::parsed(self.0, &message)?.checked.tokens;
        Ok(ValidReply { ok: true, tokens })
    }
}
