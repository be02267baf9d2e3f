//! The entry point of the engine: one request in, one reply out. A table maps each request to the
//! function that answers it.

use std::sync::Arc;

use engram_consistency::{claim::Claim, mask};

use engram_model::{
    Adoption, AgentChange, AgentOpened, AgentsReply, Allow, Answered, Answers, Ask, Blame,
    BriefReply, BudgetOf, BudgetsReply, Caller, Check, CheckReply, CheckedPointer, Clues, Code,
    Commit, Conflict, ConflictFilter, ConflictId, ConflictsReply, DenyAnswer, Deref, DerefRequest,
    Dereferenced, Draft, Effect, Engram, EngramId, Entry, Facets, Feed, FeedPage, Filter,
    ForgetReply, GateCheck, GateReply, GrantAnswer, GrantReply, GrantWanted, GrantsReply, Hook,
    HookReply, Kind, LineReply, LineView, LocateReply, MetricsReply, ModelsReply, NewsReply,
    NewsSince, NextTurn, Note, NoteReply, Opening, Pinning, PointerInput, Promote, PromoteReply,
    PutReply, Query, QueryReply, Refusal, Reply, Request, RequestsReply, Resolve, ResolveReply,
    Rewording, SampleReply, Search, SearchReply, Sending, SentReply, SourceReply, SourceView,
    SpanNow, StatusReply, Timeline, TimelineOf, Turned, Unpinning, ValidReply, WhichRequests,
};

use crate::{
    Engine,
    agents::{budgets, changing, grants, metrics, opening, requests, served, timeline},
    asking::{deref, query},
    claims::{
        close, lineage, note, pointers, promote,
        put::{self, Occasion},
        read, reword, sample, search,
    },
    conflicts::{gate, list},
    context::{Context, caller::is_token, names},
    evidence::health,
    follow::{promotion::PromoteFollower, vectors},
    home::{calls::BegunCall, models::list_models},
    log_cause,
    messages::{brief, hooks, message, pins, send},
    status::{self, adopt, everywhere, news},
    verdicts::{allow, beside, explain, high_stakes, settle},
    world::Gone,
};

impl Engine {
    /// Answers one request. Records include their derived keys and entities, for callers that print
    /// them. Blocks while it reads git and the disk.
    ///
    /// # Errors
    /// `SCOPE_DENIED` for a request that is reserved for the user; otherwise the errors of the
    /// request.
    pub fn handle(&self, caller: &Caller, request: Request) -> Result<Reply, Refusal> {
        self.answer(caller, request, None).map(with_keys)
    }

    /// Like [`Engine::handle`], for a caller that may leave before the answer comes. Reads of git
    /// and the disk then end soon.
    ///
    /// # Errors
    /// As [`Engine::handle`].
    pub fn handle_until(
        &self,
        caller: &Caller,
        request: Request,
        is_gone: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Reply, Refusal> {
        self.answer(caller, request, Some(Arc::new(is_gone)))
            .map(with_keys)
    }

    /// Like [`Engine::handle`], with a typed answer. Records lack their derived keys.
    ///
    /// # Errors
    /// As [`Engine::handle`].
    pub fn ask<A: Ask>(&self, caller: &Caller, ask: A) -> Result<A::Answer, Refusal> {
        typed::<A>(self.answer(caller, ask.into(), None)?)
    }

    /// Like [`Engine::ask`], for a caller that may leave before the answer comes, as in
    /// [`Engine::handle_until`].
    ///
    /// # Errors
    /// As [`Engine::handle`].
    pub fn ask_until<A: Ask>(
        &self,
        caller: &Caller,
        ask: A,
        is_gone: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<A::Answer, Refusal> {
        typed::<A>(self.answer(caller, ask.into(), Some(Arc::new(is_gone)))?)
    }

    fn answer(
        &self,
        caller: &Caller,
        request: Request,
        gone: Option<Gone>,
    ) -> Result<Reply, Refusal> {
        let terms = request.terms();
        if !terms.who.may_ask(caller) && *caller == Caller::User {
            return Err(Refusal::new(
                Code::ScopeDenied,
                format!("only an agent may call {}", terms.name),
                "You need no permission: read it, or grant it to an agent.",
            ));
        }
        if !terms.who.may_ask(caller) {
            return Err(Refusal::new(
                Code::ScopeDenied,
                format!("only the user may call {}", terms.name),
                "Ask the user to do it. An agent queries, reads evidence within its budget, and commits; operation delete retires a claim.",
            ));
        }
        // A token is neither looked up nor stored.
        if caller.agent().is_some_and(|it| is_token(&it.0)) {
            return Err(Refusal::new(
                Code::ScopeDenied,
                "this is a token, not the handle of an agent",
                "Name the agent by its handle, as `engram agents` lists it; a token goes into ENGRAM_AGENT for `engram mcp`, or into Authorization over HTTP.",
            ));
        }
        if terms.effect == Effect::Reads {
            self.start_waiting_followers();
        } else {
            self.retry_writing()?;
        }
        self.ensure_open()?;
        let is_of_many = matches!(request, Request::CheckPointers(_));
        let context = Context::for_request(self, caller, gone, is_of_many);
        let is_hook = matches!(request, Request::Hook(_));
        let begun = BegunCall::of(caller, &request, self.world.now());
        let answered = context
            .refuse_other_project()
            .and_then(|()| everywhere::refuse_elsewhere(&context, &request))
            .and_then(|()| answer_in_time(&context, request))
            .map(with_names)
            .inspect_err(|refusal| {
                // A hook counts the refusal for the agent that it concerns.
                if !is_hook {
                    budgets::count_refusal(&context, refusal);
                }
            })
            .map_err(|it| self.name_home(it))
            .map_err(|it| match caller {
                Caller::User => it,
                Caller::Agent(_) => for_agent(mask_refusal(it)),
            })
            .inspect_err(log_cause);
        if let Some(begun) = begun {
            let project = context.cached_project();
            let begun = match (context.agent(), context.repo()) {
                (Ok(Some(agent)), Ok(repo)) => {
                    let folder = repo.map(|it| it.common_dir());
                    begun.with_agent(&names::recorded_name(&agent.label), folder)
                }
                _ => begun,
            };
            self.calls
                .log_call(begun, project, self.world.now(), answered.as_ref().err());
        }
        answered
    }
}

/// Answers a request. A read ends when an agent's time is over or nobody waits any more. A change
/// runs to its end, so that what it stored is acknowledged.
fn answer_in_time(cx: &Context<'_>, request: Request) -> Result<Reply, Refusal> {
    if request.changes() {
        return Answering(cx).answer(request);
    }
    let answered = cx.in_time(|| Answering(cx).answer(request));
    answered.unwrap_or_else(|| {
        Err(Refusal::new(
            Code::RateLimited,
            "composing this answer took too long for an agent's request",
            "Ask for less: a narrower topic, a more specific question, or a smaller limit.",
        ))
    })
}

/// Answers requests in their context.
pub(crate) struct Answering<'c>(pub(crate) &'c Context<'c>);

impl Answers for Answering<'_> {
    fn put(&self, draft: Box<Draft>) -> Result<PutReply, Refusal> {
        // A to-do of the user is a request, so it needs no evidence.
        let asks = *self.0.caller == Caller::User && draft.kind == Some(Kind::Todo);
        if asks && draft.pointers.is_empty() {
            let draft = *draft;
            put::commit_claim(self.0, draft, None, &[])
        } else {
            put::put_claim(self.0, *draft, None, Occasion::Said)
        }
    }

    fn commit(&self, commit: Box<Commit>) -> Result<PutReply, Refusal> {
        beside::commit_with_answers(self.0, *commit)
    }

    fn get(&self, id: EngramId) -> Result<Box<Engram>, Refusal> {
        read::read_record(self.0, id).map(Box::new)
    }

    fn log(&self, id: EngramId) -> Result<Vec<Entry>, Refusal> {
        read::visible_history(self.0, id)
    }

    fn restore(&self, id: EngramId) -> Result<PutReply, Refusal> {
        lineage::restore_version(self.0, id)
    }

    fn forget(&self, id: EngramId) -> Result<ForgetReply, Refusal> {
        close::forget_claim(self.0, id)
    }

    fn redact(&self, id: EngramId) -> Result<ForgetReply, Refusal> {
        close::erase(self.0, id)
    }

    fn promote(&self, promote: Promote) -> Result<PromoteReply, Refusal> {
        promote::promote_claim(self.0, &promote)
    }

    fn query(&self, query: Query) -> Result<QueryReply, Refusal> {
        let mut reply = query::search(self.0, &query)?;
        if query.as_of.is_none() {
            reply.near = high_stakes::pair_to_ask(self.0, &reply.engrams)?;
        }
        if promote::note_answered(self.0, &reply.engrams) {
            self.0.engine.wake_follower::<PromoteFollower>();
        }
        Ok(reply)
    }

    fn deref(&self, deref: Deref) -> Result<Box<Dereferenced>, Refusal> {
        deref::dereference_or_request(self.0, deref).map(Box::new)
    }

    fn note(&self, note: Note) -> Result<NoteReply, Refusal> {
        note::note_event(self.0, &note)
    }

    fn feed(&self, feed: Feed) -> Result<FeedPage, Refusal> {
        read::feed_page(self.0, &feed)
    }

    fn facets(&self, filter: Filter) -> Result<Box<Facets>, Refusal> {
        search::count_facets(self.0, &filter).map(Box::new)
    }

    fn search(&self, search: Search) -> Result<Box<SearchReply>, Refusal> {
        search::search_list(self.0, &search).map(Box::new)
    }

    fn source(&self, view: SourceView) -> Result<Box<SourceReply>, Refusal> {
        read::view_source(self.0, view).map(Box::new)
    }

    fn line(&self, view: LineView) -> Result<LineReply, Refusal> {
        read::view_line(self.0, view)
    }

    fn check_pointers(&self, check: Check) -> Result<CheckReply, Refusal> {
        pointers::check(self.0, &check)
    }

    fn repin(&self, id: EngramId) -> Result<PutReply, Refusal> {
        pointers::repin_claim(self.0, id)
    }

    fn reword(&self, rewording: Box<Rewording>) -> Result<PutReply, Refusal> {
        reword::reword_claim(self.0, *rewording)
    }

    fn reverify(&self, id: EngramId) -> Result<PutReply, Refusal> {
        pointers::ask_to_reverify(self.0, id)
    }

    fn load_sample(&self) -> Result<SampleReply, Refusal> {
        sample::store_sample(self.0)
    }

    fn remove_sample(&self) -> Result<SampleReply, Refusal> {
        sample::forget_sample(self.0)
    }

    fn standing(&self, pointer: PointerInput) -> Result<Box<SpanNow>, Refusal> {
        read::view_pointer(self.0, pointer, engram_pointers::standing_of).map(Box::new)
    }

    fn track(&self, pointer: PointerInput) -> Result<Box<CheckedPointer>, Refusal> {
        health::track_pointer(self.0, pointer).map(Box::new)
    }

    fn complete(&self, typed: String) -> Result<Vec<String>, Refusal> {
        let repo = self.0.repo()?;
        repo.map_or(Ok(Vec::new()), |it| {
            engram_pointers::completions(it, &typed)
        })
    }

    fn blame(&self, pointer: PointerInput) -> Result<Blame, Refusal> {
        read::view_pointer(self.0, pointer, engram_pointers::blame)
    }

    fn adopt(&self, how: Adoption) -> Result<Box<StatusReply>, Refusal> {
        adopt::adopt_project(self.0, how)
    }

    fn locate(&self, clues: Clues) -> Result<LocateReply, Refusal> {
        everywhere::locate_repository(self.0, &clues)
    }

    fn news(&self, since: NewsSince) -> Result<Box<NewsReply>, Refusal> {
        news::list_news(self.0, since).map(Box::new)
    }

    fn conflicts(&self, filter: ConflictFilter) -> Result<ConflictsReply, Refusal> {
        let reply = list::list_conflicts(self.0, &filter)?;
        served::note_sides(self.0, &reply.conflicts)?;
        Ok(reply)
    }

    fn conflict(&self, id: ConflictId) -> Result<Box<Conflict>, Refusal> {
        let conflict = list::find_conflict(self.0, id)?;
        served::note_sides(self.0, std::slice::from_ref(&conflict))?;
        Ok(conflict)
    }

    fn gate(&self, check: GateCheck) -> Result<GateReply, Refusal> {
        gate::check_gate(self.0, check)
    }

    fn resolve(&self, resolve: Box<Resolve>) -> Result<ResolveReply, Refusal> {
        settle::settle_conflict(self.0, *resolve)
    }

    fn explain(&self, id: ConflictId) -> Result<Box<Conflict>, Refusal> {
        explain::explain_conflict(self.0, id)
    }

    fn allow(&self, allow: Allow) -> Result<Box<Conflict>, Refusal> {
        allow::allow_conflict(self.0, allow)
    }

    fn status(&self) -> Result<Box<StatusReply>, Refusal> {
        status::compose_status(self.0).map(Box::new)
    }

    fn agents(&self) -> Result<Box<AgentsReply>, Refusal> {
        opening::list_agents(self.0).map(Box::new)
    }

    fn open_agent(&self, opening: Opening) -> Result<AgentOpened, Refusal> {
        opening::open_agent(self.0, &opening)
    }

    fn change_agent(&self, change: AgentChange) -> Result<Answered, Refusal> {
        changing::change_agent(self.0, change)
    }

    fn next_turn(&self, next: NextTurn) -> Result<Turned, Refusal> {
        budgets::begin_turn(self.0, &next)
    }

    fn budget(&self, of: BudgetOf) -> Result<Box<BudgetsReply>, Refusal> {
        budgets::list_budgets(self.0, &of).map(Box::new)
    }

    fn timeline(&self, of: TimelineOf) -> Result<Box<Timeline>, Refusal> {
        timeline::timeline(self.0, &of).map(Box::new)
    }

    fn models(&self) -> Result<ModelsReply, Refusal> {
        let engine = self.0.engine;
        let mut models = list_models(engine.store.home())?;
        for model in &mut models {
            vectors::tell_progress(&engine.store, model)?;
        }
        Ok(ModelsReply { models })
    }

    fn metrics(&self) -> Result<MetricsReply, Refusal> {
        metrics::project_metrics(self.0)
    }

    fn issue_grant(&self, wanted: GrantWanted) -> Result<GrantReply, Refusal> {
        grants::give_grant(self.0, wanted)
    }

    fn grants(&self) -> Result<GrantsReply, Refusal> {
        grants::list_grants(self.0)
    }

    fn revoke_grant(&self, id: String) -> Result<Answered, Refusal> {
        grants::revoke(self.0, &id)
    }

    fn request_deref(&self, wanted: Box<DerefRequest>) -> Result<Answered, Refusal> {
        grants::request_read(self.0, *wanted)
    }

    fn requests(&self, which: WhichRequests) -> Result<RequestsReply, Refusal> {
        requests::list_requests(self.0, &which)
    }

    fn grant_request(&self, answer: GrantAnswer) -> Result<GrantReply, Refusal> {
        grants::approve_request(self.0, &answer)
    }

    fn deny_request(&self, answer: DenyAnswer) -> Result<Answered, Refusal> {
        grants::deny(self.0, &answer)
    }

    fn brief(&self) -> Result<BriefReply, Refusal> {
        brief::shared_brief(self.0)
    }

    fn show_brief(
        &self,
        of: engram_model::BriefOf,
    ) -> Result<Box<engram_model::ShownBrief>, Refusal> {
        brief::brief_for_user(self.0, &of).map(Box::new)
    }

    fn pin(&self, what: Pinning) -> Result<BriefReply, Refusal> {
        pins::pin_line(self.0, &what)
    }

    fn unpin(&self, what: Unpinning) -> Result<BriefReply, Refusal> {
        pins::unpin_line(self.0, what)
    }

    fn send(&self, sending: Sending) -> Result<SentReply, Refusal> {
        send::send_message(self.0, &sending)
    }

    fn hook(&self, hook: Box<Hook>) -> Result<Box<HookReply>, Refusal> {
        hooks::answer_hook(self.0, *hook).map(Box::new)
    }

    fn validate_message(&self, message: serde_json::Value) -> Result<ValidReply, Refusal> {
        opening::refuse_unknown_caller(self.0)?;
        let tokens = message::checked_message(self.0, &message)?.checked.tokens;
        Ok(ValidReply { ok: true, tokens })
    }
}

/// Addresses a hint with a command or its flag to the user, because an agent may have no command
/// line.
fn for_agent(mut refusal: Refusal) -> Refusal {
    let hint = &refusal.hint;
    if ["`engram ", "--"].iter().any(|it| hint.contains(it))
        && !hint.to_lowercase().contains("the user")
    {
        refusal.hint = format!("Tell the user: {hint}");
    }
    refusal
}

/// Masks credentials: a refusal may repeat text of files and paths, such as headings.
fn mask_refusal(mut refusal: Refusal) -> Refusal {
    for words in [&mut refusal.message, &mut refusal.hint] {
        *words = mask(words).text;
    }
    refusal
}

fn with_names(mut reply: Reply) -> Reply {
    for engram in reply.records() {
        engram.provenance.created_by = names::author_of(engram);
    }
    reply
}

fn with_keys(mut reply: Reply) -> Reply {
    for engram in reply.records() {
        engram.derive_keys();
        engram.entities = Claim::read(&engram.claim).entities().to_vec();
    }
    reply
}

fn typed<A: Ask>(reply: Reply) -> Result<A::Answer, Refusal> {
    A::answer(reply).ok_or_else(|| Refusal::bug("the engine gave an unexpected answer"))
}
