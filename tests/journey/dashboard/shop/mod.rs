//! A small repository and what agents said about it, with the same files, commits, ids and times in
//! each run.

use std::{
    fs,
    ops::{Deref, DerefMut},
    path::{Path, PathBuf},
    sync::LazyLock,
};

use engram_engine::{Engine, Options, World};
use engram_kit::{Author, Clock, Repository};
use engram_model::{Caller, Reply, Request};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    engram::Engram,
    machine::{self, clean},
};

/// The time at which the page is viewed.
pub const NOW: &str = "2026-01-08T15:04:00Z";
/// The time at which the first claim was stored.
const BEGIN: &str = "2026-01-08T09:12:00Z";

const RETRY: &str = include_str!("retry.rs.txt");
const LEDGER: &str = include_str!("ledger.rs.txt");
const SPEC: &str = include_str!("spec.md.txt");

/// Minutes since the previous claim, agent, kind, topic, pointer, claim.
type Said = (
    i64,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const SAID: &[Said] = &[
    (
        0,
        "architect",
        "decision",
        "payments/ledger",
        "repo:src/ledger.rs#L17-L31@HEAD",
        "A reservation is written before the gateway is called, so that a crash in between can be settled from the ledger alone.",
    ),
    (
        21,
        "programmer-1",
        "fact",
        "payments/retries",
        "repo:src/retry.rs#L9-L15@HEAD",
        "Retries use full jitter over an exponential ceiling: 200 ms base, 20 s at most.",
    ),
    (
        14,
        "programmer-2",
        "constraint",
        "payments/retries",
        "artifact:docs/SPEC.md#sec=Retries@HEAD",
        "A payment is tried at most 6 times; after that it waits for a person.",
    ),
    (
        37,
        "reviewer",
        "risk",
        "payments/ledger",
        "repo:src/ledger.rs#L33-L41@HEAD",
        "settle() trusts the amount that the gateway sends back; nothing compares it with what was reserved.",
    ),
    (
        8,
        "programmer-1",
        "fact",
        "payments/idempotency",
        "repo:src/ledger.rs#L10-L15@HEAD",
        "The idempotency key is the order's id, not the attempt's: a second attempt returns the first answer.",
    ),
    (
        52,
        "architect",
        "policy",
        "payments/webhooks",
        "artifact:docs/SPEC.md#sec=Webhooks@HEAD",
        "Webhooks are verified before they are parsed.",
    ),
    (
        33,
        "tester",
        "todo",
        "payments/webhooks",
        "repo:docs/SPEC.md#L19@HEAD",
        "Nobody has tried what happens to a webhook that arrives twice within the same second.",
    ),
    (
        29,
        "programmer-2",
        "fact",
        "payments/retries",
        "repo:src/retry.rs#L17-L23@HEAD",
        "Only 429 and 5xx are tried again; a declined card never is.",
    ),
];

/// The index of the claim that is corrected, see [`Shop::correct`].
const CORRECTED: usize = 1;
const NEWEST: &str =
    "Retries use full jitter: attempt n waits anything up to 200 ms × 2^n, 20 s at most.";

/// Minutes since the previous entry, agent, whether it is a correction, claim.
const SAID_SINCE: &[(i64, &str, bool, &str)] = &[
    (
        210,
        "reviewer",
        true,
        "Retries use full jitter over an exponential ceiling: the first waits 200 ms at most, none waits more than 20 s.",
    ),
    (31, "programmer-2", true, NEWEST),
    (19, "tester", false, NEWEST),
    (12, "architect", false, NEWEST),
    (3, "tester", false, NEWEST),
];

/// Returns everything that agents say about a shop, with the minutes since the previous claim.
pub fn drafts_said() -> impl Iterator<Item = (i64, Value)> {
    SAID.iter().map(|(after, agent, kind, topic, pointer, claim)| {
        let draft = json!({"agent": agent, "kind": kind, "topic": topic, "pointers": [pointer], "claim": claim, "confidence": 0.9});
        (*after, draft)
    })
}

/// A repository and a home, in a folder.
pub struct Shop {
    pub dir: PathBuf,
    pub home: PathBuf,
    /// The ids of the claims, oldest first.
    pub ids: Vec<String>,
    repository: Repository,
    /// The temporary folder, removed with the shop.
    _folder: Option<TempDir>,
}

/// Creates its files and their history, in a folder of `dir`.
fn repository(dir: &Path) -> Repository {
    let ada = Author {
        name: "Ada",
        email: "ada@shop.example",
        at: "2026-01-07T10:00:00Z",
    };
    let repository = Repository::init_by(ada, dir.join("shop"));
    repository.write("src/retry.rs", RETRY);
    let first = "Write down how payments are tried again";
    repository.change("docs/SPEC.md", SPEC, first);
    repository.change("src/ledger.rs", LEDGER, "Keep reservations in a ledger");
    repository
}

impl Shop {
    /// A shop with files and a history, but no claims.
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shop = Self::empty_in(folder.path());
        Self {
            _folder: Some(folder),
            ..shop
        }
    }

    /// Like [`Self::empty`], in a folder that the caller removes.
    pub fn empty_in(dir: &Path) -> Self {
        let dir = dir.canonicalize().unwrap();
        Self {
            home: dir.join("home"),
            ids: Vec::new(),
            repository: repository(&dir),
            dir,
            _folder: None,
        }
    }

    /// A shop with the agents' claims.
    pub fn open() -> Self {
        let mut shop = Self::empty();
        shop.say_all();
        shop
    }

    /// Adds a note beside the sources.
    pub fn noted(self) -> Self {
        self.change("NOTES.md", "A note.\n", "Add a note");
        self
    }

    /// A shop with the same claims in other words.
    #[cfg(feature = "bench")]
    pub fn of_claims(claims: &[&str]) -> Self {
        let mut shop = Self::empty();
        shop.say(
            drafts_said()
                .zip(claims)
                .map(|((after, mut draft), claim)| {
                    draft["claim"] = json!(claim);
                    (after, draft)
                }),
        );
        shop
    }

    /// A shop with 21,000 generated engrams: three parts of a search. It is filled once for all
    /// tests, which only read it, and kept beside their pictures.
    pub fn long() -> &'static Self {
        static FILLED: LazyLock<Shop> = LazyLock::new(|| {
            let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("long");
            let _ = fs::remove_dir_all(&dir); // from an earlier run
            fs::create_dir_all(&dir).unwrap();
            let shop = Shop::empty_in(&dir);
            shop.change("src/file0.rs", "fn one() {}\n".repeat(50), "Add a file");
            let mut filling = clean(machine::many_program(), &dir);
            filling.args([&shop.home, &shop.root]).arg("21000");
            // This may take minutes on a busy machine, longer than a step may.
            let filled = filling.output().unwrap();
            assert!(filled.status.success(), "{filled:?}");
            shop
        });
        &FILLED
    }

    /// The command for this shop, run by a person whose home is in its folder.
    pub fn engram(&self) -> Engram {
        Engram::of(&self.dir, &self.home, &self.root)
    }

    /// Stores a claim of an agent, with the command.
    pub fn put(&self, claim: &str) {
        let draft = json!({"claim": claim, "pointers": ["repo:src/retry.rs@HEAD"]});
        self.engram().put(&[draft]);
    }

    /// Stores everything that agents say about a shop.
    pub fn say_all(&mut self) {
        self.say(drafts_said());
    }

    /// Corrects the claim on retries twice; other agents then say its newest version too, one of
    /// them more than once. Returns the versions, oldest first.
    pub fn correct(&mut self) -> Vec<String> {
        let oldest = self.ids[CORRECTED].clone();
        let (_, _, kind, topic, pointer, _) = SAID[CORRECTED];
        let drafts = SAID_SINCE.iter().map(|(after, agent, corrects, claim)| {
            let mut draft = json!({"agent": agent, "kind": kind, "topic": topic, "pointers": [pointer], "claim": claim, "confidence": 0.9});
            if *corrects {
                draft["corrects_lineage"] = json!(oldest);
            }
            (*after, draft)
        });
        let drafts: Vec<_> = drafts.collect();
        let before = self.ids.len();
        self.say(drafts);
        // A repeated claim returns the id of the stored one.
        let mut versions = vec![oldest];
        versions.extend(self.ids.split_off(before));
        versions.dedup();
        versions
    }

    /// Records an event, and returns its address.
    pub fn note(&self, note: Value) -> String {
        let note = serde_json::from_value(note).unwrap();
        let engine = self.engine(3, &Clock::at(BEGIN));
        match engine.handle(&Caller::User, Request::Note(note)).unwrap() {
            Reply::Note(noted) => noted.pointer,
            other => panic!("{other:?}"),
        }
    }

    fn engine(&self, seed: u64, clock: &Clock) -> Engine {
        let clock = clock.clone();
        let options = Options {
            home: self.home.clone(),
            repo: Some(self.root.clone()),
            from: self.root.clone(),
        };
        Engine::open_in(options, World::seeded(seed, move || clock.now())).unwrap()
    }

    /// Stores drafts, each some minutes after the previous one.
    pub fn say(&mut self, drafts: impl IntoIterator<Item = (i64, Value)>) {
        let clock = Clock::at(BEGIN);
        let engine = self.engine(7, &clock);
        for (after, draft) in drafts {
            clock.turn(after * 60);
            let draft = serde_json::from_value(draft).unwrap();
            match engine.handle(&Caller::User, Request::Put(draft)).unwrap() {
                Reply::Put(put) => self.ids.push(put.id.to_string()),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Opens an agent in this role and stores a draft in its name, `after` minutes after the first
    /// claim.
    pub fn say_as(&mut self, name: &str, role: &str, after: i64, draft: Value) {
        let clock = Clock::at(BEGIN);
        clock.turn(after * 60);
        let engine = self.engine(9, &clock);
        let opening = serde_json::from_value(json!({"name": name, "role": role})).unwrap();
        let opened = engine.handle(&Caller::User, Request::OpenAgent(opening));
        let Ok(Reply::Opened(opened)) = opened else {
            panic!("{opened:?}");
        };
        let draft = serde_json::from_value(draft).unwrap();
        match engine.handle(&Caller::Agent(opened.agent), Request::Put(draft)) {
            Ok(Reply::Put(put)) => self.ids.push(put.id.to_string()),
            other => panic!("{other:?}"),
        }
    }

    /// A colleague edits one claim's line, and removes another claim's section.
    pub fn drift(&self) {
        self.write(
            "src/retry.rs",
            RETRY.replace("from_secs(20)", "from_secs(60)"),
        );
        self.write("src/ledger.rs", format!("//! Reservations.\n\n{LEDGER}"));
        let spec = SPEC.split("## Webhooks").next().unwrap();
        self.write("docs/SPEC.md", spec);
    }
}

impl Deref for Shop {
    type Target = Repository;

    fn deref(&self) -> &Repository {
        &self.repository
    }
}

impl DerefMut for Shop {
    fn deref_mut(&mut self) -> &mut Repository {
        &mut self.repository
    }
}
