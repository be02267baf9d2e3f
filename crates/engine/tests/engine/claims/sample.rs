//! The sample: true claims from the history, stored once, and removed with one request.

use engram_kit::Repository;
use engram_model::{
    Check, Code, Draft, Engram, EngramId, Evidence, Feed, Filter, PointerState, Refusal, SAMPLE,
    ask,
};

use crate::fixture::{Asked, Sandbox, USER, draft, git, refused};

fn load(at: &Asked) -> Result<Vec<Engram>, Refusal> {
    let ids = at.0.ask(&USER, ask::LoadSample)?.ids;
    // A follower would store health; this check does so at once.
    at.0.ask(&USER, ask::CheckPointers(Check::default()))?;
    Ok(ids
        .into_iter()
        .map(|id| *at.get(&USER, id).unwrap())
        .collect())
}

fn remove(at: &Asked) -> usize {
    at.0.ask(&USER, ask::RemoveSample).unwrap().ids.len()
}

fn count_engrams(at: &Asked) -> u64 {
    at.status(&USER).unwrap().engrams
}

/// A repository beside the home, with one commit of these files.
fn make_other_repository(sandbox: &Sandbox, files: &[(&str, &[u8])]) -> Repository {
    Repository::with(sandbox.path("other"), files)
}

fn function_text(name: &str) -> String {
    format!(
        "fn {name}() {{\n    let {name} = compute(\"{name} of the ledger\");\n    settle({name}, \"{name} of the account\")\n}}\n\n"
    )
}

/// The state of a claim's evidence in one word, as each surface shows it.
fn state_of(engram: &Engram) -> &str {
    let found = engram.health.as_ref().and_then(|it| it.worst());
    found
        .and_then(|it| it.state)
        .map_or("", PointerState::as_str)
}

#[test]
fn a_sample_has_one_of_each_that_becomes_of_claims() {
    let sandbox = Sandbox::new();
    let [open, close, audit] = ["open", "close", "audit"].map(function_text);
    let old_name = [function_text("reserve"), function_text("release")].concat();
    let files = [
        ("src/ledger.rs", [open.as_str(), &close, &audit].concat()),
        ("src/old.rs", old_name),
    ];
    let files = files
        .iter()
        .map(|(path, text)| (*path, text.as_bytes()))
        .collect::<Vec<_>>();
    let repo = make_other_repository(&sandbox, &files);
    let first = repo.head();
    let edited = open.replace("of the ledger", "of the journal, and of the day");
    let text = [function_text("begin"), edited, close, audit].concat();
    let second = repo.change("src/ledger.rs", text, "Begin");
    repo.git(&["mv", "src/old.rs", "src/new.rs"]);
    let third = repo.commit("Rename");
    let at = sandbox.open_at("other", 1);
    let sample = load(&at).unwrap();

    let short = |id: &str| id[..7].to_owned();
    let claims: Vec<&str> = sample.iter().map(|it| it.claim.as_str()).collect();
    assert_eq!(
        claims,
        [
            "`src/ledger.rs` is the longest source file here: 20 lines.",
            "`src/ledger.rs` ends at line 20.",
            &format!(
                "Commit {} renamed `src/old.rs` to `src/new.rs`.",
                short(&third)
            ),
            &format!(
                "Commit {} moved lines 6–14 of `src/ledger.rs` to lines 11–19.",
                short(&second)
            ),
            &format!(
                "Commit {} edited line 2 of `src/ledger.rs`.",
                short(&second)
            ),
        ]
    );
    let states: Vec<&str> = sample.iter().map(state_of).collect();
    assert_eq!(states[2..], ["renamed", "moved", "edited"]);
    let standing = |it: &Engram| it.health.as_ref().map(|it| it.standing);
    assert_eq!(standing(&sample[4]), Some(Evidence::NeedsReverification));
    for engram in &sample[..4] {
        let standing = standing(engram);
        assert!(
            standing.is_none_or(|it| it == Evidence::Holds),
            "{engram:?}"
        );
    }
    // Two agents, and a correction.
    assert_eq!(sample[0].figures.corroborations, 1);
    let corrected = at.get(&USER, sample[1].supersedes.unwrap()).unwrap();
    assert_eq!(corrected.claim, "`src/ledger.rs` ends at line 15.");
    assert!(corrected.valid_until.is_some());
    assert!(corrected.pointers[0].commits().contains(&first.as_str()));
    for engram in &sample {
        assert!(engram.verified && engram.tags == [SAMPLE], "{engram:?}");
        at.deref(&USER, &engram.pointers[0].to_string()).unwrap();
    }
}

#[test]
fn a_sample_is_stored_once_and_goes_again() {
    let at = Sandbox::open_new();
    let own = at.claim("Mine stays");
    // A claim that the user tags this way is the user's own.
    let tagged = Draft {
        tags: vec!["sample".to_owned()],
        ..draft("So does mine with a tag")
    };
    let tagged = at.put(&USER, tagged).unwrap();
    let loaded = load(&at).unwrap();
    assert_eq!(loaded.len(), 1, "a single commit shows no fate of a claim");
    assert_eq!(
        loaded[0].claim,
        "`src/lib.rs` is the longest source file here: 400 lines."
    );
    // Its evidence is the end of the file, and both voices were stored in one commit.
    let lines = loaded[0].pointers[0].lines().unwrap();
    assert_eq!((lines.start, lines.end), (377, 400));
    let log = at.0.ask(&USER, ask::Log(loaded[0].id)).unwrap();
    let told: Vec<_> = log.iter().map(|it| (it.by.as_str(), it.at)).collect();
    let voices = ["second sample agent", "sample agent"];
    assert_eq!(told, voices.map(|it| (it, log[0].at)));
    assert_eq!(log[0].seq, log[1].seq + 1);
    let again = load(&at).unwrap();
    assert_eq!((again[0].id, again.len()), (loaded[0].id, 1));
    assert_eq!(again[0].figures.corroborations, 1);
    assert_eq!(count_engrams(&at), 3);

    let agent = at.agent("programmer");
    // The sample is for exploring, so no agent sees it.
    assert!(at.query(&agent, "longest source file").engrams.is_empty());
    assert!(!at.claims_found("longest source file").is_empty());
    refused(at.get(&agent, loaded[0].id), Code::NotFound);
    refused(at.0.ask(&agent, ask::LoadSample), Code::ScopeDenied);
    refused(at.0.ask(&agent, ask::RemoveSample), Code::ScopeDenied);
    assert_eq!(remove(&at), 1);
    assert_eq!(count_engrams(&at), 2);
    for id in [own.id, tagged.id] {
        assert!(at.get(&USER, id).unwrap().valid_until.is_none());
    }
    assert_eq!(remove(&at), 0);
    // It is gone from the list and its counts too.
    let listed = Feed {
        listed: true,
        ..Feed::default()
    };
    let page = at.0.ask(&USER, ask::Feed(listed)).unwrap();
    let mut left: Vec<EngramId> = page
        .entries
        .iter()
        .filter_map(|it| it.change.engram())
        .collect();
    left.sort();
    let mut kept = [own.id, tagged.id];
    kept.sort();
    assert_eq!(left, kept);
    let facets = at.0.ask(&USER, ask::Facets(Filter::default())).unwrap();
    assert_eq!(facets.total, 2);
    assert!(
        facets.authors.iter().all(|it| it.0 != "sample agent"),
        "{facets:?}"
    );
    // It can be loaded again.
    assert_eq!(load(&at).unwrap().len(), 1);
}

#[test]
fn a_history_that_offers_nothing_is_said() {
    let sandbox = Sandbox::new();
    let repo = Repository::init(sandbox.path("other"));
    let at = sandbox.open_at("other", 1);
    refused(load(&at), Code::PointerNotFound);
    repo.commit("Nothing yet");
    refused(load(&at), Code::PointerNotFound);
    assert_eq!(count_engrams(&at), 0);
}

/// A shallow clone's history ends where it was cut.
#[test]
fn a_shallow_clone_has_what_it_holds() {
    let sandbox = Sandbox::new();
    let old = [function_text("open"), function_text("close")].concat();
    let repo = make_other_repository(&sandbox, &[("src/a.rs", old.as_bytes())]);
    let new = [function_text("begin"), old].concat();
    repo.change("src/a.rs", new, "Begin");
    let url = format!("file://{}", repo.root().display());
    git(
        &sandbox.path("repo"),
        &["clone", "-q", "--depth", "1", &url, "../shallow"],
    );
    let sample = load(&sandbox.open_at("shallow", 1)).unwrap();
    assert_eq!(sample.len(), 1, "{sample:?}");
    assert_eq!(load(&sandbox.open_at("other", 2)).unwrap().len(), 3);
}

/// Names that fit no sentence, and files that are too large, are left out.
#[test]
fn hostile_names_and_huge_files_are_left_out() {
    let sandbox = Sandbox::new();
    let [open, close] = ["open", "close"].map(function_text);
    let huge = close.repeat(20_000);
    let odd = [
        "a`b.rs",
        "line\nend.rs",
        "\u{202e}sr.rs",
        "a#L1.rs",
        "per%20cent.rs",
        "-dash @{1}.rs",
    ];
    let mut files: Vec<(&str, &[u8])> = odd.iter().map(|it| (*it, open.as_bytes())).collect();
    files.push(("huge.rs", huge.as_bytes()));
    let repo = make_other_repository(&sandbox, &files);
    for path in odd {
        repo.write(path, [close.as_str(), &open].concat());
    }
    repo.write("huge.rs", [open.as_str(), &huge].concat());
    repo.commit("Change all");
    for path in &odd[..3] {
        repo.git(&["mv", path, &format!("{path}.renamed.rs")]);
    }
    repo.commit("Rename some");
    let at = sandbox.open_at("other", 1);
    let sample = load(&at).unwrap();
    for engram in &sample {
        let claim = &engram.claim;
        assert!(
            !claim.contains('\n') && !claim.contains('\u{202e}'),
            "{claim:?}"
        );
        assert!(
            !claim.contains("a`b") && !claim.contains("huge"),
            "{claim:?}"
        );
        at.deref(&USER, &engram.pointers[0].to_string()).unwrap();
    }
    let moved = sample.iter().find(|it| it.claim.contains(" moved "));
    assert_eq!(moved.map(state_of), Some("moved"), "{sample:?}");
    assert_eq!(remove(&at), sample.len());
}

/// Changes only in the working tree are not history.
#[test]
fn a_working_tree_without_commits_or_a_folder_without_git_has_no_sample() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("plain")).unwrap();
    let repo = Repository::init(sandbox.path("other"));
    repo.write("a.rs", function_text("open"));
    refused(load(&sandbox.open_at("other", 1)), Code::PointerNotFound);
}

/// A sample that nobody waits for is abandoned; the next request answers in full.
#[test]
fn a_sample_that_is_waited_for_no_more_is_not_stored() {
    let at = Sandbox::open_new();
    let gone = at.0.ask_until(&USER, ask::LoadSample, || true);
    refused(gone, Code::RepoUnavailable);
    assert_eq!(count_engrams(&at), 0);
    assert_eq!(load(&at).unwrap().len(), 1);
}
