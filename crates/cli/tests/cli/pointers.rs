//! `engram pointers`: what became of the evidence, and pointing a claim at its current place.

use std::fs;

use serde_json::{Value, json};

use crate::fixture::{Sandbox, git};

const SOURCE: &str = "fn main() {\n    let max_retries = 3;\n    retry(max_retries);\n}\n";

impl Sandbox {
    /// A repository with one source file, and a claim about its second line; returns the claim's
    /// id.
    fn about_retries() -> (Self, String) {
        let sandbox = Self::new();
        sandbox.commit("src/retry.rs", SOURCE);
        let stored = sandbox.json(&[
            "put",
            "--claim",
            "Retries stop after 3.",
            "--pointer",
            "repo:src/retry.rs#L2@HEAD",
        ]);
        let id = stored["id"].as_str().unwrap().to_owned();
        (sandbox, id)
    }

    fn commit(&self, path: &str, text: &str) {
        self.write(&format!("repo/{path}"), text);
        git(&self.repo(), &["add", "--all"]);
        git(&self.repo(), &["commit", "-q", "-m", "work"]);
    }

    /// Returns `standing` and `state` of the only claim that was checked.
    #[track_caller]
    fn check_pointers(&self, args: &[&str]) -> (Value, Value) {
        let reply = self.json(&[&["pointers", "check"], args].concat());
        let engram = &reply["engrams"][0];
        (
            engram["standing"].clone(),
            engram["pointers"][0]["state"].clone(),
        )
    }
}

#[test]
fn the_evidence_is_followed_to_the_files_on_disk() {
    let (sandbox, _) = Sandbox::about_retries();
    let edited = SOURCE.replace("= 3", "= 5");
    let cases = [
        (Some(SOURCE.to_owned()), "holds", "unchanged"),
        (Some(format!("// new\n\n{SOURCE}")), "holds", "moved"),
        (Some(SOURCE.replace("    let", "\tlet")), "holds", "edited"),
        (Some(edited), "needs_reverification", "edited"),
        (None, "evidence_gone", "deleted"),
    ];
    for (text, standing, state) in cases {
        let path = sandbox.repo().join("src/retry.rs");
        match &text {
            Some(text) => fs::write(&path, text).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        assert_eq!(
            sandbox.check_pointers(&[]),
            (json!(standing), json!(state)),
            "{text:?}"
        );
    }
}

#[test]
fn changed_speaks_of_uncommitted_work_alone() {
    let (sandbox, id) = Sandbox::about_retries();
    let touched = || sandbox.json(&["pointers", "check", "--changed"])["engrams"].clone();
    assert_eq!(touched(), json!([]), "nothing was touched");
    sandbox.write("repo/src/retry.rs", SOURCE.replace("= 3", "= 5"));
    assert_eq!(touched()[0]["id"], json!(id));
    sandbox.commit("src/retry.rs", &SOURCE.replace("= 3", "= 5"));
    assert_eq!(touched(), json!([]), "it is committed");
    assert_eq!(sandbox.check_pointers(&[]).0, json!("needs_reverification"));
    for (args, code, touched) in [
        (&["--since", "HEAD~1"][..], 0, 1),
        (&["--since", "HEAD~1", "--exit-code"], 1, 1),
        (&["--since", "HEAD", "--exit-code"], 0, 0),
        (&["--changed", "--exit-code"], 0, 0),
        (&["--exit-code"], 1, 1),
    ] {
        let ran = sandbox.run(&[&["--json", "pointers", "check"], args].concat());
        assert_eq!(ran.code, Some(code), "{args:?}: {ran:?}");
        let said: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(
            said["engrams"].as_array().unwrap().len(),
            touched,
            "{args:?}"
        );
    }
    let repin = |id: &str| {
        let stored = sandbox.json(&["pointers", "repin", id]);
        stored["id"].as_str().unwrap().to_owned()
    };
    let mut id = repin(&id);
    sandbox.write("repo/src/retry.rs", SOURCE.replace("= 3", "= 7"));
    for args in [&["--changed"][..], &["--since", "HEAD~1"]] {
        let check = |code| {
            let ran = sandbox.run(&[&["pointers", "check", "--exit-code"], args].concat());
            assert_eq!(ran.code, Some(code), "{args:?}: {ran:?}");
        };
        check(1);
        id = repin(&id);
        check(0);
        sandbox.write("repo/src/retry.rs", SOURCE.replace("= 3", "= 8"));
    }
    let refused = sandbox.run(&["pointers", "check", "--since", "nowhere"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("nowhere"), "{refused:?}");
}

#[test]
fn a_claim_is_repinned_in_its_lineage() {
    let (sandbox, id) = Sandbox::about_retries();
    sandbox.commit("src/retry.rs", &format!("// new\n{SOURCE}"));
    let stored = sandbox.json(&["pointers", "repin", &id]);
    let got = sandbox.json(&["get", stored["id"].as_str().unwrap()]);
    let head = git(&sandbox.repo(), &["rev-parse", "HEAD"]);
    assert_eq!(
        got["pointers"][0]["ref"],
        json!(format!("repo:src/retry.rs#L3@{}", head.trim()))
    );
    assert_eq!(
        got["lineage_id"],
        json!(id),
        "the lineage of its first version"
    );
    assert_eq!(got["supersedes"], json!(id));
    assert_eq!(
        sandbox.check_pointers(&[]),
        (json!("holds"), json!("unchanged"))
    );

    git(&sandbox.repo(), &["rm", "-q", "src/retry.rs"]);
    git(&sandbox.repo(), &["commit", "-q", "-m", "gone"]);
    let refused = sandbox.run(&[
        "--json",
        "pointers",
        "repin",
        stored["id"].as_str().unwrap(),
    ]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("POINTER_NOT_FOUND"), "{refused:?}");
}

#[test]
fn what_cannot_be_looked_at_is_not_called_changed() {
    let (sandbox, _) = Sandbox::about_retries();
    // History is rewritten, and git collects the old commit.
    git(&sandbox.repo(), &["checkout", "-q", "--orphan", "other"]);
    git(&sandbox.repo(), &["commit", "-q", "-m", "other"]);
    git(&sandbox.repo(), &["branch", "-D", "main"]);
    // Deletes the ref that keeps the commit for the claim: a clone does not get it.
    let kept = git(
        &sandbox.repo(),
        &["for-each-ref", "--format=%(refname)", "refs/engram"],
    );
    for name in kept.lines() {
        git(&sandbox.repo(), &["update-ref", "-d", name]);
    }
    git(
        &sandbox.repo(),
        &["reflog", "expire", "--expire=now", "--all"],
    );
    git(&sandbox.repo(), &["gc", "-q", "--prune=now"]);
    let reply = sandbox.json(&["pointers", "check"]);
    assert_eq!(reply["engrams"][0]["standing"], json!("unknown"));
    assert!(reply["engrams"][0]["pointers"][0]["error"]["hint"].is_string());
}

#[test]
fn lines_are_tracked_to_the_index_and_the_disk() {
    let (sandbox, _) = Sandbox::about_retries();
    sandbox.write("repo/src/retry.rs", format!("// staged\n{SOURCE}"));
    crate::fixture::git(&sandbox.repo(), &["add", "."]);
    sandbox.write(
        "repo/src/retry.rs",
        format!("// on disk\n// staged\n{SOURCE}"),
    );
    for (from, to, start, found) in [
        ("HEAD", "@index", 2, 3),
        ("HEAD", "@worktree", 2, 4),
        ("@index", "@worktree", 3, 4),
        ("@worktree", "HEAD", 4, 2),
    ] {
        let asked = json!({ "id": 1, "path": "src/retry.rs", "start": start, "end": start });
        let args = [
            "pointers", "track", "--from", from, "--to", to, "--spans", "-",
        ];
        let ran = sandbox.feed(&args, format!("{asked}\n").as_bytes());
        let answer: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(
            (&answer["state"], &answer["start"]),
            (&json!("moved"), &json!(found)),
            "{from} to {to}"
        );
    }
}

#[test]
fn lines_are_tracked_between_commits_and_each_is_answered() {
    let (sandbox, _) = Sandbox::about_retries();
    sandbox.commit("src/retry.rs", &format!("// new\n{SOURCE}"));
    let lines = concat!(
        r#"{"id":"a","path":"src/retry.rs","start":2,"end":3}"#,
        "\n{\n",
        r#"{"id":"b","path":"src/none.rs","start":1,"end":1}"#,
        "\n",
        r#"{"id":"c","path":"src/retry.rs","start":2,"end":99}"#,
        "\n"
    );
    let args = [
        "pointers", "track", "--from", "HEAD~1", "--to", "HEAD", "--spans", "-",
    ];
    let ran = sandbox.feed(&args, lines.as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answers: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 4);
    assert_eq!(
        (
            &answers[0]["state"],
            &answers[0]["start"],
            &answers[0]["end"]
        ),
        (&json!("moved"), &json!(3), &json!(4))
    );
    for (from, to) in [
        ("nowhere", "HEAD"),
        ("HEAD", "nowhere"),
        ("HEAD", "HEAD:src"),
    ] {
        let args = [
            "pointers", "track", "--from", from, "--to", to, "--spans", "-",
        ];
        let ran = sandbox.feed(&args, lines.as_bytes());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        for line in ran.out.lines() {
            let answer: Value = serde_json::from_str(line).unwrap();
            assert!(answer["error"]["hint"].is_string(), "{from} {to}: {answer}");
        }
        assert_eq!(ran.out.lines().count(), 4, "{from} {to}");
    }
    for (answer, id) in answers[1..].iter().zip([json!(2), json!("b"), json!("c")]) {
        assert_eq!(answer["id"], id);
        assert!(answer["error"]["code"].is_string(), "{answer}");
    }
}
