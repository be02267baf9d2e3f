//! A small repository and what agents said of it: the same files, commits, ids and times each time.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use engram_engine::{Engine, Options, World};
use engram_model::{Caller, Reply, Request};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::machine::{self, clean, ok, system};

/// When the page is looked at.
pub const NOW: &str = "2026-01-08T15:04:00Z";
/// When the first claim was stored.
const BEGIN: &str = "2026-01-08T09:12:00Z";

const RETRY: &str = include_str!("shop/retry.rs.txt");
const LEDGER: &str = include_str!("shop/ledger.rs.txt");
const SPEC: &str = include_str!("shop/spec.md.txt");

/// Minutes after the one before, agent, kind, topic, pointer, claim.
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

/// Which of them is corrected, see [`Shop::correct`].
const CORRECTED: usize = 1;
const NEWEST: &str =
    "Retries use full jitter: attempt n waits anything up to 200 ms × 2^n, 20 s at most.";

/// Minutes after the one before, agent, whether it corrects, claim.
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

/// The repository and the home.
pub struct Shop {
    pub repo: PathBuf,
    pub home: PathBuf,
    /// The ids of the claims, oldest first.
    pub ids: Vec<String>,
    person: PathBuf,
}

impl Shop {
    /// Files and a history, and nothing said yet.
    pub fn empty(dir: &Path) -> Self {
        let dir = dir.canonicalize().unwrap();
        let shop = Self {
            repo: dir.join("shop"),
            home: dir.join("home"),
            ids: Vec::new(),
            person: dir.join("git-home"),
        };
        fs::create_dir_all(shop.repo.join("src")).unwrap();
        fs::create_dir_all(shop.repo.join("docs")).unwrap();
        fs::create_dir_all(&shop.person).unwrap();
        shop.git(&["init", "--quiet", "--initial-branch=main"]);
        shop.write("src/retry.rs", RETRY);
        shop.write("docs/SPEC.md", SPEC);
        shop.commit("Write down how payments are tried again");
        shop.write("src/ledger.rs", LEDGER);
        shop.commit("Keep reservations in a ledger");
        shop
    }

    /// With what agents said.
    pub fn open(dir: &Path) -> Self {
        let mut shop = Self::empty(dir);
        shop.say_all();
        shop
    }

    /// With this many made-up engrams.
    pub fn long(dir: &Path, count: usize) -> Self {
        let shop = Self::empty(dir);
        shop.write("src/file0.rs", "fn one() {}\n".repeat(50));
        shop.commit("Add a file");
        ok(clean(machine::many(), dir)
            .args([&shop.home, &shop.repo])
            .arg(count.to_string()));
        shop
    }

    /// All that agents say of a shop.
    pub fn say_all(&mut self) {
        let drafts = SAID.iter().map(|(after, agent, kind, topic, pointer, claim)| {
            let draft = json!({"agent": agent, "kind": kind, "topic": topic, "pointers": [pointer], "claim": claim, "confidence": 0.9});
            (*after, draft)
        });
        self.say(drafts);
    }

    /// The claim on retries is corrected twice, and others say its newest version too, one of them
    /// more than once. The versions, oldest first.
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
        // Who says the same is answered with what is held.
        let mut versions = vec![oldest];
        versions.extend(self.ids.split_off(before));
        versions.dedup();
        versions
    }

    /// Records an event, and returns its address.
    pub fn note(&self, note: Value) -> String {
        let begin: Timestamp = BEGIN.parse().unwrap();
        let note = serde_json::from_value(note).unwrap();
        let engine = self.engine(World::seeded(3, move || begin));
        match engine.handle(&Caller::User, Request::Note(note)).unwrap() {
            Reply::Note(noted) => noted.pointer,
            other => panic!("{other:?}"),
        }
    }

    fn engine(&self, world: World) -> Engine {
        let options = Options {
            home: self.home.clone(),
            repo: Some(self.repo.clone()),
            from: self.repo.clone(),
        };
        Engine::open_in(options, world).unwrap()
    }

    /// Stores drafts, each some minutes after the one before.
    pub fn say(&mut self, drafts: impl IntoIterator<Item = (i64, Value)>) {
        let begin: Timestamp = BEGIN.parse().unwrap();
        let clock = Arc::new(AtomicI64::new(begin.as_second()));
        let now = Arc::clone(&clock);
        let world = World::seeded(7, move || {
            Timestamp::from_second(now.load(Ordering::SeqCst)).unwrap()
        });
        let engine = self.engine(world);
        for (after, draft) in drafts {
            clock.fetch_add(after * 60, Ordering::SeqCst);
            let draft = serde_json::from_value(draft).unwrap();
            match engine.handle(&Caller::User, Request::Put(draft)).unwrap() {
                Reply::Put(put) => self.ids.push(put.id.to_string()),
                other => panic!("{other:?}"),
            }
        }
    }

    /// A colleague edits a line that a claim rests on, and removes a section that another does.
    pub fn drift(&self) {
        self.write(
            "src/retry.rs",
            RETRY.replace("from_secs(20)", "from_secs(60)"),
        );
        self.write("src/ledger.rs", format!("//! Reservations.\n\n{LEDGER}"));
        let spec = SPEC.split("## Webhooks").next().unwrap();
        self.write("docs/SPEC.md", spec);
    }

    /// Writes a file of the working tree.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.repo.join(path), bytes).unwrap();
    }

    /// Commits all that was written.
    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// Runs git there, as Ada.
    pub fn git(&self, args: &[&str]) -> String {
        let mut git = clean(system("git"), &self.person);
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "Ada")
                .env(format!("GIT_{who}_EMAIL"), "ada@shop.example")
                .env(format!("GIT_{who}_DATE"), "2026-01-07T10:00:00Z");
        }
        ok(git.args(args).current_dir(&self.repo))
    }
}
