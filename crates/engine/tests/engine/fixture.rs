//! One way to build a repository, to open an engine in a world of its own, and to ask it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use engram_engine::{Engine, Options, World};
use engram_model::{
    AgentId, Caller, Code, Deref, Dereferenced, Draft, Engram, EngramId, Feed, FeedPage,
    ForgetReply, Note, NoteReply, PointerInput, PutReply, Query, QueryReply, Refusal, Reply,
    Request, Scope, StatusReply,
};
use jiff::Timestamp;
use tempfile::TempDir;

/// A pointer that holds in every repository of these tests.
pub(crate) const POINTER: &str = "repo:src/lib.rs#L2@HEAD";

/// A clock that stands until it is turned.
#[derive(Clone)]
pub(crate) struct Clock(Arc<AtomicI64>);

impl Clock {
    pub(crate) fn new() -> Self {
        let start: Timestamp = "2026-01-08T12:00:00Z".parse().unwrap();
        Self(Arc::new(AtomicI64::new(start.as_microsecond())))
    }

    pub(crate) fn turn(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// A home, a repository and a clock.
pub(crate) struct Ground {
    dir: TempDir,
    pub(crate) clock: Clock,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let ground = Self {
            dir: TempDir::new().unwrap(),
            clock: Clock::new(),
        };
        make_repository(&ground.path("repo"));
        ground
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(crate) fn open(&self) -> Asked {
        self.open_at("repo", 1)
    }

    pub(crate) fn open_at(&self, repo: &str, seed: u64) -> Asked {
        let clock = self.clock.clone();
        let options = Options {
            home: self.home(),
            repo: Some(self.path(repo)),
            from: self.path("repo"),
        };
        let world = World::seeded(seed, move || clock.now());
        Asked(Arc::new(Engine::open_in(options, world).unwrap()))
    }
}

/// An engine that is asked one thing at a time.
pub(crate) struct Asked(pub(crate) Arc<Engine>);

macro_rules! ask {
    ($name:ident, $variant:ident, $reply:ty) => {
        pub(crate) fn $name(&self, who: &Caller, request: Request) -> Result<$reply, Refusal> {
            match self.0.handle(who, request)? {
                Reply::$variant(reply) => Ok(reply.into()),
                other => panic!("another reply: {other:?}"),
            }
        }
    };
}

impl Asked {
    ask!(for_put, Put, PutReply);
    ask!(for_engram, Engram, Box<Engram>);
    ask!(for_query, Query, QueryReply);
    ask!(for_deref, Deref, Box<Dereferenced>);
    ask!(for_closed, Closed, ForgetReply);
    ask!(for_note, Note, NoteReply);
    ask!(for_feed, Feed, FeedPage);
    ask!(for_status, Status, Box<StatusReply>);

    pub(crate) fn agent(&self, label: &str) -> Caller {
        Caller::Agent(self.0.register_agent(label).unwrap())
    }

    pub(crate) fn put(&self, who: &Caller, draft: Draft) -> Result<PutReply, Refusal> {
        self.for_put(who, Request::Put(Box::new(draft)))
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
        self.for_query(who, Request::Query(query))
    }

    /// The claims that the user finds.
    pub(crate) fn found(&self, text: &str) -> Vec<String> {
        claims(&self.query(&Caller::User, text))
    }

    pub(crate) fn get(&self, who: &Caller, id: EngramId) -> Result<Box<Engram>, Refusal> {
        self.for_engram(who, Request::Get(id))
    }

    pub(crate) fn forget(&self, who: &Caller, id: EngramId) -> Result<ForgetReply, Refusal> {
        self.for_closed(who, Request::Forget(id))
    }

    pub(crate) fn redact(&self, who: &Caller, id: EngramId) -> Result<ForgetReply, Refusal> {
        self.for_closed(who, Request::Redact(id))
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
        self.for_deref(
            who,
            Request::Deref(Deref {
                pointer: PointerInput::Text(pointer.to_owned()),
                max_tokens: None,
                turn: turn.map(str::to_owned),
                budget_token: None,
            }),
        )
        .map(|it| *it)
    }

    pub(crate) fn note(&self, who: &Caller, slug: &str, text: &str) -> NoteReply {
        let note = Note {
            kind: "decision".to_owned(),
            slug: slug.to_owned(),
            text: text.to_owned(),
            agent: None,
        };
        self.for_note(who, Request::Note(note)).unwrap()
    }

    pub(crate) fn status(&self, who: &Caller) -> Result<Box<StatusReply>, Refusal> {
        self.for_status(who, Request::Status)
    }

    /// Every entry, oldest first.
    pub(crate) fn journal(&self) -> FeedPage {
        let all = Feed {
            after: Some(0),
            limit: Some(1_000),
            all: true,
            ..Feed::default()
        };
        self.for_feed(&Caller::User, Request::Feed(all)).unwrap()
    }
}

/// A claim with a pointer, and nothing else said.
pub(crate) fn draft(claim: &str) -> Draft {
    Draft {
        claim: claim.to_owned(),
        pointers: vec![PointerInput::Text(POINTER.to_owned())],
        ..Draft::default()
    }
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
    fs::create_dir_all(at.join("src")).unwrap();
    let lines: String = (1..=400)
        .map(|line| format!("let value_{line} = compute(\"alpha beta gamma\", {line});\n"))
        .collect();
    fs::write(at.join("src/lib.rs"), lines).unwrap();
    fs::write(at.join("README.md"), "# Rules\n\nOne.\n\n# Notes\n\nTwo.\n").unwrap();
    for args in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["commit", "-q", "-m", "first"],
    ] {
        git(at, args);
    }
}

/// The git command, deaf to the configuration of the machine.
pub(crate) fn git(at: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
        .args(["-c", "commit.gpgsign=false", "-c", "core.autocrlf=false"])
        .args(args)
        .current_dir(at)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_DATE", "2026-01-08T10:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-01-08T10:00:00Z")
        .env_remove("GIT_DIR")
        .output()
        .expect("the git command");
    assert!(output.status.success(), "git {args:?}: {output:?}");
}

/// The commit that is checked out.
pub(crate) fn head(at: &Path) -> String {
    let output = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(at)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
