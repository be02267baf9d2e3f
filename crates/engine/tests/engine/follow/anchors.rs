//! Long-lived processes: what they journal about health as the tree changes, and which one takes
//! over when another ends.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    sync::mpsc::Receiver,
    time::{Duration, Instant},
};

use engram_engine::Subscription;
use engram_model::{
    Anchored, Caller, Change, Check, EngramId, Evidence, Feed, Filter, Health, NewsKind, NewsRow,
    NewsSince, ask,
};

use crate::fixture::{
    Asked, LONG, SHORT, Sandbox, USER,
    conflicts::{conflict, conflicts_in},
    correction_of, draft_citing,
    evidence::{SPAN, STEPS, Tree, claim_citing, health_of, line_of},
    head,
};

/// The longest wait for news, far beyond what it takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A long-lived process, and the news that it journals.
struct Followed {
    at: Asked,
    news: Receiver<Anchored>,
    _subscription: Subscription,
}

fn follow(at: Asked) -> Followed {
    at.0.follow().unwrap();
    let (send, news) = std::sync::mpsc::channel();
    let after = at.journal().head;
    let subscription =
        at.0.subscribe(after, move |entries| {
            for entry in entries {
                if let Change::Anchored { engrams, head, .. } = entry.change {
                    assert!(head.is_some_and(|it| it.len() == 40), "with the evidence");
                    engrams
                        .into_iter()
                        .for_each(|it| send.send(it).unwrap_or(()));
                }
            }
        })
        .unwrap();
    Followed {
        at,
        news,
        _subscription: subscription,
    }
}

/// A process that follows the repository, the claim on [`SPAN`] that it stored, and the tree.
fn follow_claim(sandbox: &Sandbox) -> (Followed, EngramId, Tree) {
    let followed = follow(sandbox.open());
    let claim = "Values are computed with alpha beta gamma";
    let id = claim_citing(&followed.at, claim, SPAN).id;
    (followed, id, Tree(sandbox.path("repo")))
}

/// The same, once it has noticed an edit of the span.
fn follow_awake(sandbox: &Sandbox) -> (Followed, EngramId, Tree) {
    let (followed, id, tree) = follow_claim(sandbox);
    tree.replace("src/lib.rs", "value_42", "other_42");
    followed.wait_until(id, STEPS[0].2, "the follower is awake");
    (followed, id, tree)
}

impl Followed {
    /// The first matching news; others may come before it while a change is half done.
    #[track_caller]
    fn wait_until(&self, id: EngramId, want: &str, name: &str) -> Health {
        let mut seen = Vec::new();
        loop {
            match self.news.recv_timeout(PATIENCE) {
                Ok(news) if news.id == id && line_of(&news.health) == want => return news.health,
                Ok(news) => seen.push(line_of(&news.health)),
                Err(error) => panic!("{name}: {error}; wanted {want:?}, heard {seen:?}"),
            }
        }
    }
}

#[test]
fn a_process_that_stays_journals_what_became_of_evidence() {
    let sandbox = Sandbox::new();
    let (followed, id, tree) = follow_claim(&sandbox);
    let mut before = "evidence unchanged";
    for (name, change, want) in STEPS {
        change(&tree);
        if *want == before {
            continue; // no news
        }
        let said = followed.wait_until(id, want, name);
        assert_eq!(health_of(&followed.at, id), said, "{name}");
        before = want;
    }
    let other = sandbox.open_at("repo", 2);
    assert_eq!(
        line_of(&health_of(&other, id)),
        "evidence unchanged",
        "another process reads the same"
    );
}

/// The report of a conflict cites the lines of both sides. Nobody can confirm it, so its own drift
/// would never end, and the brief must go on warning of the conflict.
#[test]
fn the_report_of_a_conflict_never_drifts() {
    let sandbox = Sandbox::new();
    let followed = follow(sandbox.open());
    let at = &followed.at;
    let by = |name: &str, claim: &str| at.put(&at.agent(name), draft_citing(claim, SPAN)).unwrap();
    let first = by("ada", SHORT);
    let second = by("bob", LONG);
    let found = conflict(at, conflicts_in(&second)[0]);
    let tree = Tree(sandbox.path("repo"));
    tree.replace("src/lib.rs", "value_42", "other_42");
    let both = BTreeSet::from([first.id, second.id]);
    let news = std::iter::from_fn(|| followed.news.recv_timeout(PATIENCE).ok());
    let drifted: BTreeSet<EngramId> = news.take(2).map(|it| it.id).collect();
    assert_eq!(drifted, both);
    assert_eq!(at.status(&USER).unwrap().drifted, 2);
    let checked =
        at.0.ask(&USER, ask::CheckPointers(Check::default()))
            .unwrap();
    let listed: Vec<EngramId> = checked.engrams.iter().map(|it| it.id).collect();
    assert_eq!(listed, [second.id, first.id]);
    let risk = found.risk.unwrap();
    assert_eq!(at.get(&USER, risk).unwrap().health, None);
    let brief = at.0.ask(&USER, ask::Brief).unwrap();
    assert!(brief.lines.iter().any(|it| it.engram == Some(risk)));
}

/// An agent's process may follow the tree that a window shows. Nothing else happens when it ends.
#[test]
fn who_stays_takes_over_from_who_leaves() {
    let sandbox = Sandbox::new();
    let id = claim_citing(&sandbox.open(), "There is something to follow", SPAN).id;
    let leaves = follow(sandbox.open_at("repo", 2));
    let tree = Tree(sandbox.path("repo"));
    let [first, second] = &STEPS[..2] else {
        panic!("two steps")
    };
    first.1(&tree);
    leaves.wait_until(id, first.2, first.0);
    let stays = follow(sandbox.open_at("repo", 3));
    second.1(&tree);
    leaves.wait_until(id, second.2, second.0);
    stays.wait_until(id, second.2, second.0);
    drop(leaves);
    first.1(&tree);
    stays.wait_until(id, first.2, first.0);
}

#[cfg(target_os = "linux")]
#[test]
fn who_leaves_lets_another_follow() {
    use std::os::unix::fs::MetadataExt;

    let sandbox = Sandbox::new();
    claim_citing(&sandbox.open(), "There is something to follow", SPAN);
    let stays = sandbox.open_at("repo", 2);
    stays.0.follow().unwrap();
    // Trying the lock would hold it for a moment.
    let is_lock = |it: &PathBuf| it.to_string_lossy().contains("/anchor-");
    let is_held = |file: &fs::File| {
        let held = format!(":{} ", file.metadata().unwrap().ino());
        fs::read_to_string("/proc/locks").unwrap().contains(&held)
    };
    let begun = Instant::now();
    let lock = loop {
        let files = fs::read_dir(sandbox.home()).unwrap();
        let lock = files.map(|it| it.unwrap().path()).find(is_lock);
        let lock = lock.map(|it| fs::File::open(it).unwrap());
        match lock.filter(is_held) {
            Some(lock) => break lock,
            None => assert!(begun.elapsed() < PATIENCE, "nobody follows"),
        }
    };
    drop(stays);
    // The process ends although nothing changes.
    let (send, free) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(lock.lock()));
    free.recv_timeout(PATIENCE)
        .expect("the follower lives on")
        .unwrap();
}

#[test]
fn a_rebase_is_followed_to_its_end() {
    let sandbox = Sandbox::new();
    let (followed, id, tree) = follow_claim(&sandbox);
    tree.git(&["checkout", "-q", "-b", "feature"]);
    let lines = tree.read("src/lib.rs");
    let lines = lines.split_inclusive('\n').enumerate();
    let without: String = lines
        .filter(|it| !(39..44).contains(&it.0))
        .map(|it| it.1)
        .collect();
    tree.write("src/lib.rs", &without);
    followed.wait_until(id, "evidence gone | deleted", "deleted on a branch");
    tree.git(&["commit", "-qam", "feature"]);
    tree.git(&["checkout", "-q", "-"]);
    followed.wait_until(id, "evidence unchanged", "back on the first branch");
    tree.replace("src/lib.rs", "value_42", "first_42");
    followed.wait_until(id, STEPS[0].2, "an edit on the first branch");
    tree.git(&["commit", "-qam", "first"]);
    let first = head(&tree.0);
    tree.git(&["checkout", "-q", "feature"]);
    followed.wait_until(id, "evidence gone | deleted", "on the branch again");
    let mut rebase = engram_kit::git_command(&tree.0);
    let rebase = rebase.args(["rebase", "-q", &first]).output().unwrap();
    assert!(!rebase.status.success(), "the two edits are in conflict");
    let below = STEPS[0].2.replace("L40-L44", "L41-L45");
    followed.wait_until(id, &below, "stopped, below the mark of a conflict");
    tree.git(&["rebase", "--abort"]);
    followed.wait_until(id, "evidence gone | deleted", "aborted");
    tree.git(&["reset", "-q", "--hard", "feature~1"]);
    followed.wait_until(id, "evidence unchanged", "reset");
}

/// The evidence does not change, but the new branch is reported.
#[test]
fn another_branch_is_told_at_once() {
    let sandbox = Sandbox::new();
    let (followed, id, tree) = follow_awake(&sandbox);
    tree.git(&["checkout", "-q", "src/lib.rs"]);
    followed.wait_until(id, "evidence unchanged", "as it was");
    let (tell, told) = std::sync::mpsc::channel();
    let after = followed.at.journal().head;
    let _subscription = followed
        .at
        .0
        .subscribe(after, move |entries| {
            let is_of_tree =
                |it: &Change| matches!(it, Change::Anchored { engrams, .. } if engrams.is_empty());
            for entry in entries.iter().filter(|it| is_of_tree(&it.change)) {
                tell.send(entry.change.clone()).unwrap_or(());
            }
        })
        .unwrap();
    for (args, branch) in [
        (
            &["switch", "-q", "-c", "feature/deep"][..],
            Some("feature/deep"),
        ),
        (&["switch", "-q", "--detach"], None),
        (&["switch", "-q", "feature/deep"], Some("feature/deep")),
    ] {
        tree.git(args);
        let said = told.recv_timeout(PATIENCE).expect("nobody is told");
        let Change::Anchored { head: Some(at), .. } = said else {
            panic!("{args:?}: {said:?}");
        };
        assert_eq!(at, head(&tree.0), "{args:?}");
        let project = followed.at.status(&Caller::User).unwrap().project.unwrap();
        assert_eq!(project.branch.as_deref(), branch, "{args:?}");
    }
}

#[test]
fn folders_that_come_later_are_watched() {
    let sandbox = Sandbox::new();
    let (followed, _, tree) = follow_awake(&sandbox);
    tree.write("new/deep/a.rs", "fn a() {\n    one();\n    two();\n}\n");
    tree.git(&["add", "-A"]);
    tree.git(&["commit", "-qm", "a"]);
    let id = claim_citing(
        &followed.at,
        "a calls one, then two",
        "repo:new/deep/a.rs#L1-L4@HEAD",
    )
    .id;
    tree.replace("new/deep/a.rs", "two();", "three();");
    followed.wait_until(
        id,
        "edited: review | edited, now new/deep/a.rs#L1-L4",
        "a file in a new folder",
    );
}

#[test]
fn where_watches_run_out_folders_of_evidence_are_watched() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.home()).unwrap();
    fs::write(
        sandbox.home().join("config.toml"),
        "[limits]\nwatched_folders = 1\n",
    )
    .unwrap();
    let (followed, id, tree) = follow_claim(&sandbox);
    for (name, change, want) in &STEPS[..1] {
        change(&tree);
        followed.wait_until(id, want, name);
    }
    let said = followed
        .at
        .status(&Caller::User)
        .unwrap()
        .watching
        .unwrap_or_default();
    assert!(said.contains("only folders with evidence"), "{said:?}");
}

#[test]
fn each_worktree_has_its_own_health() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let id = claim_citing(&at, "Values are computed with alpha beta gamma", SPAN).id;
    let tree = Tree(sandbox.path("repo"));
    tree.git(&["worktree", "add", "-q", "../linked"]);
    let linked = Tree(sandbox.path("linked"));
    let main = follow(at);
    let other = follow(sandbox.open_at("linked", 2));
    linked.replace("src/lib.rs", "value_42", "other_42");
    other.wait_until(id, STEPS[0].2, "an edit in the linked one");
    assert_eq!(line_of(&health_of(&main.at, id)), "evidence unchanged");
    let stale = Filter {
        health: vec![Evidence::NeedsReverification],
        ..Filter::default()
    };
    for (at, want) in [(&main.at, 0), (&other.at, 1)] {
        let feed = Feed {
            filter: stale.clone(),
            ..Feed::default()
        };
        let page = at.0.ask(&Caller::User, ask::Feed(feed)).unwrap();
        assert_eq!(page.entries.len(), want);
    }
}

/// A claim about which agents were asked waits for them, and not for the user.
#[test]
fn a_claim_is_not_counted_as_drifted_while_agents_are_asked() {
    let sandbox = Sandbox::new();
    let (followed, id, _) = follow_awake(&sandbox);
    let drifted = || followed.at.status(&Caller::User).unwrap().drifted;
    assert_eq!(drifted(), 1);
    let news = followed
        .at
        .0
        .ask(&Caller::User, ask::News(NewsSince::default()))
        .unwrap();
    let of_drift = |it: &&NewsRow| it.what == NewsKind::Drifted;
    let counts: Vec<u64> = news
        .rows
        .iter()
        .filter(of_drift)
        .map(|it| it.count)
        .collect();
    assert_eq!(counts, [1], "{:?}", news.rows);
    let asked = followed.at.0.ask(&Caller::User, ask::Reverify(id)).unwrap();
    assert_eq!(drifted(), 0);
    followed.at.forget(&Caller::User, asked.id).unwrap();
    assert_eq!(drifted(), 1, "nobody answered");
    // Once an agent has answered, the user decides.
    let asked = followed.at.0.ask(&Caller::User, ask::Reverify(id)).unwrap();
    assert_eq!(drifted(), 0);
    let ada = followed.at.agent("ada");
    let answer = correction_of(asked.lineage_id, "It still holds.");
    followed.at.put(&ada, answer).unwrap();
    assert_eq!(drifted(), 1, "answered");
}
