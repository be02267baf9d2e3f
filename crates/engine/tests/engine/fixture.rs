//! One way to build a repository, open an engine in its own world, and ask it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use engram_engine::{Engine, Options, World};
use engram_kit::{Clock, Folder, Repository};
use engram_model::{
    AgentId, Caller, Code, Conflict, ConflictFilter, ConflictId, Deref, Dereferenced, Draft,
    Engram, EngramId, Feed, FeedPage, ForgetReply, GateCheck, GateReply, Listed, Note, NoteReply,
    PointerInput, PutReply, Query, QueryReply, Refusal, Resolve, ResolveReply, Scope, Settle,
    Severity, StatusReply, ask,
};

pub(crate) use engram_kit::git;

/// A pointer that resolves in every repository of these tests.
pub(crate) const POINTER: &str = "repo:src/lib.rs#L2@HEAD";

pub(crate) const USER: Caller = Caller::User;

/// Two claims that contradict each other, on one topic.
pub(crate) const SHORT: &str = "The wallet lock lasts 3 minutes.";

pub(crate) const LONG: &str = "The wallet lock lasts half an hour.";

/// A home, a repository and a clock.
pub(crate) struct Ground {
    folder: Folder,
    pub(crate) clock: Clock,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let ground = Self {
            folder: Folder::temporary(),
            clock: Clock::default(),
        };
        make_repository(&ground.path("repo"));
        ground
    }

    /// Opens an engine on its own ground.
    pub(crate) fn opened() -> Asked {
        let ground = Self::new();
        let Asked(engine, _) = ground.open();
        Asked(engine, Some(ground))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Overwrites these bytes with others of the same length, everywhere in the database of a
    /// closed home.
    pub(crate) fn damage(&self, from: &str, to: &str) {
        let database = self.home().join("engram.db");
        let mut bytes = std::fs::read(&database).unwrap();
        let places: Vec<usize> = (0..bytes.len() - from.len())
            .filter(|at| bytes[*at..].starts_with(from.as_bytes()))
            .collect();
        assert!(!places.is_empty());
        for at in places {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
        std::fs::write(&database, bytes).unwrap();
    }

    pub(crate) fn open(&self) -> Asked {
        self.open_at("repo", 1)
    }

    pub(crate) fn open_at(&self, repo: &str, seed: u64) -> Asked {
        self.open_in(repo, self.world(seed))
    }

    /// The clock of this ground, with randomness from a seed.
    pub(crate) fn world(&self, seed: u64) -> World {
        let clock = self.clock.clone();
        World::seeded(seed, move || clock.now())
    }

    pub(crate) fn open_in(&self, repo: &str, world: World) -> Asked {
        let options = Options {
            home: self.home(),
            repo: Some(self.path(repo)),
            from: self.path("repo"),
        };
        Asked(Arc::new(Engine::open_in(options, world).unwrap()), None)
    }
}

/// An engine for single requests. It owns its ground if the test does not.
pub(crate) struct Asked(
    pub(crate) Arc<Engine>,
    #[expect(dead_code, reason = "its folder goes after the engine")] pub(crate) Option<Ground>,
);

impl Asked {
    pub(crate) fn agent(&self, label: &str) -> Caller {
        Caller::Agent(self.0.register_agent(label).unwrap())
    }

    pub(crate) fn put(&self, who: &Caller, draft: Draft) -> Result<PutReply, Refusal> {
        self.0.ask(who, ask::Put(Box::new(draft)))
    }

    /// The user stores a claim.
    #[track_caller]
    pub(crate) fn claim(&self, text: &str) -> PutReply {
        self.put(&Caller::User, draft(text)).unwrap()
    }

    pub(crate) fn query(&self, who: &Caller, text: &str) -> QueryReply {
        self.ask(who, query(text)).unwrap()
    }

    pub(crate) fn ask(&self, who: &Caller, query: Query) -> Result<QueryReply, Refusal> {
        self.0.ask(who, ask::Query(query))
    }

    /// The claims that the user finds.
    pub(crate) fn found(&self, text: &str) -> Vec<String> {
        claims(&self.query(&Caller::User, text))
    }

    pub(crate) fn get(&self, who: &Caller, id: EngramId) -> Result<Box<Engram>, Refusal> {
        self.0.ask(who, ask::Get(id))
    }

    pub(crate) fn forget(&self, who: &Caller, id: EngramId) -> Result<ForgetReply, Refusal> {
        self.0.ask(who, ask::Forget(id))
    }

    pub(crate) fn redact(&self, who: &Caller, id: EngramId) -> Result<ForgetReply, Refusal> {
        self.0.ask(who, ask::Redact(id))
    }

    pub(crate) fn deref(&self, who: &Caller, pointer: &str) -> Result<Dereferenced, Refusal> {
        self.deref_in(who, pointer, None)
    }

    pub(crate) fn deref_in(
        &self,
        who: &Caller,
        pointer: &str,
        turn: Option<&str>,
    ) -> Result<Dereferenced, Refusal> {
        let deref = Deref {
            pointer: PointerInput::Text(pointer.to_owned()),
            max_tokens: None,
            turn: turn.map(str::to_owned),
            budget_token: None,
        };
        self.0.ask(who, ask::Deref(deref)).map(|it| *it)
    }

    pub(crate) fn note(&self, who: &Caller, slug: &str, text: &str) -> NoteReply {
        let note = Note {
            kind: "decision".to_owned(),
            slug: slug.to_owned(),
            text: text.to_owned(),
            agent: None,
        };
        self.0.ask(who, ask::Note(note)).unwrap()
    }

    /// Settles a conflict, and says why.
    pub(crate) fn settle(
        &self,
        who: &Caller,
        conflict: ConflictId,
        how: Settle,
    ) -> Result<ResolveReply, Refusal> {
        let resolve = Resolve {
            conflict,
            how,
            why: Some("Read again.".to_owned()),
        };
        self.0.ask(who, ask::Resolve(Box::new(resolve)))
    }

    /// The gate's answer, at this severity and above.
    pub(crate) fn gate(&self, severity: Severity) -> GateReply {
        self.0
            .ask(&Caller::User, ask::Gate(GateCheck { severity }))
            .unwrap()
    }

    pub(crate) fn status(&self, who: &Caller) -> Result<Box<StatusReply>, Refusal> {
        self.0.ask(who, ask::Status)
    }

    /// Every entry, oldest first.
    pub(crate) fn journal(&self) -> FeedPage {
        let all = Feed {
            after: Some(0),
            limit: Some(1_000),
            all: true,
            ..Feed::default()
        };
        self.0.ask(&Caller::User, ask::Feed(all)).unwrap()
    }
}

/// Rebuilds the index.
pub(crate) const REINDEX: engram_engine::Treatment = engram_engine::Treatment {
    reindex: true,
    replay: false,
    rebuild: false,
};

/// A claim with a pointer and defaults for the rest.
pub(crate) fn draft(claim: &str) -> Draft {
    Draft {
        claim: claim.to_owned(),
        pointers: vec![PointerInput::Text(POINTER.to_owned())],
        ..Draft::default()
    }
}

/// The draft with other evidence.
pub(crate) fn elsewhere(draft: Draft) -> Draft {
    Draft {
        pointers: vec![PointerInput::Text("repo:README.md@HEAD".to_owned())],
        ..draft
    }
}

pub(crate) fn on(topic: &str, claim: &str) -> Draft {
    Draft {
        topic: Some(topic.to_owned()),
        ..draft(claim)
    }
}

pub(crate) fn evidence(pointer: &str) -> PointerInput {
    PointerInput::Text(pointer.to_owned())
}

/// All pages of a list.
pub(crate) fn listed(at: &Asked, who: &Caller, status: Listed) -> Vec<Conflict> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let filter = ConflictFilter {
            status,
            after,
            ..ConflictFilter::default()
        };
        let page = at.0.ask(who, ask::Conflicts(filter)).unwrap();
        found.extend(page.conflicts);
        let Some(next) = page.next else {
            return found;
        };
        after = Some(next);
    }
}

/// How many comparisons are due.
pub(crate) fn due(at: &Asked, who: &Caller) -> u64 {
    let all = ask::Conflicts(ConflictFilter::default());
    let due = at.0.ask(who, all).unwrap().due;
    assert_eq!(at.0.ask(who, ask::Status).unwrap().due, due);
    due
}

pub(crate) fn open(at: &Asked) -> Vec<Conflict> {
    listed(at, &USER, Listed::Open)
}

pub(crate) fn conflict(at: &Asked, id: ConflictId) -> Conflict {
    *at.0.ask(&USER, ask::Conflict(id)).unwrap()
}

/// The conflicts that a reply reports.
pub(crate) fn told(reply: &PutReply) -> Vec<ConflictId> {
    reply.findings.iter().filter_map(|it| it.conflict).collect()
}

/// Two agents contradict each other; the conflict, and both claims.
pub(crate) fn contradicted(at: &Asked) -> (ConflictId, EngramId, EngramId) {
    let (ada, bob) = (at.agent("ada"), at.agent("bob"));
    let first = at.put(&ada, on("wallet", SHORT)).unwrap();
    assert_eq!((told(&first), first.conflicts), (Vec::new(), 0));
    let second = at.put(&bob, on("wallet", LONG)).unwrap();
    let [found] = told(&second)[..] else {
        panic!("{second:?}");
    };
    (found, first.id, second.id)
}

pub(crate) fn scoped(claim: &str, scope: Scope) -> Draft {
    Draft {
        scope: Some(scope),
        ..draft(claim)
    }
}

pub(crate) fn correcting(lineage: impl ToString, claim: &str) -> Draft {
    Draft {
        corrects_lineage: Some(lineage.to_string()),
        ..draft(claim)
    }
}

pub(crate) fn query(text: &str) -> Query {
    Query {
        text: text.to_owned(),
        ..Query::default()
    }
}

pub(crate) fn claims(reply: &QueryReply) -> Vec<String> {
    reply.engrams.iter().map(|it| it.claim.clone()).collect()
}

#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, Refusal>, code: Code) -> Refusal {
    let refusal = result.expect_err("a refusal");
    assert_eq!(refusal.code, code, "{refusal}");
    assert!(!refusal.hint.is_empty());
    refusal
}

pub(crate) fn handle(caller: &Caller) -> AgentId {
    match caller {
        Caller::Agent(handle) => handle.clone(),
        Caller::User => panic!("the user has no handle"),
    }
}

pub(crate) fn make_repository(at: &Path) {
    let lines: String = (1..=400)
        .map(|line| format!("let value_{line} = compute(\"alpha beta gamma\", {line});\n"))
        .collect();
    let files: [(&str, &[u8]); 2] = [
        ("src/lib.rs", lines.as_bytes()),
        ("README.md", b"# Rules\n\nOne.\n\n# Notes\n\nTwo.\n"),
    ];
    Repository::with(at, &files);
}

/// The commit that is checked out.
pub(crate) fn head(at: &Path) -> String {
    git(at, &["rev-parse", "HEAD"])
}
