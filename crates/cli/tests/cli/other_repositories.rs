//! An id of another repository: read where it belongs, and not changed from here.

use crate::fixture::{POINTER, Sandbox, git, make_repository};

#[test]
fn what_is_elsewhere_is_read_with_its_name_and_not_changed() {
    let sandbox = Sandbox::new();
    let other = sandbox.path("other repo");
    make_repository(&other);
    sandbox.put("It is here.");
    let put = |claim: &str| {
        let args = ["put", "--claim", claim, "--pointer", POINTER, "--json"];
        sandbox.run_in(&other, &args).json()
    };
    let id = put("It is there.")["id"].as_str().unwrap().to_owned();
    put("The wallet lock lasts 3 minutes.");
    let found = put("The wallet lock lasts 30 minutes.");
    let conflict = found["findings"][0]["conflict"].as_str().unwrap();
    for args in [
        &["get", &id][..],
        &["log", &id],
        &["conflicts", "show", conflict],
    ] {
        let read = sandbox.run(args);
        assert_eq!(read.code, Some(0), "{read:?}");
        let told = "This belongs to another repository: other repo (";
        assert!(read.err.contains(told), "{read:?}");
        let there = sandbox.run_in(&other, args);
        assert_eq!((read.out, there.err.as_str()), (there.out, ""));
    }
    // The evidence is read there too, if its commit is not here.
    std::fs::write(other.join("new.md"), "# New\n\nA line.\n").unwrap();
    git(&other, &["add", "."]);
    git(&other, &["commit", "-qm", "new"]);
    let pointer = sandbox
        .run_in(&other, &["deref", "repo:new.md#L3@HEAD", "--json"])
        .json()["pointer"]
        .as_str()
        .unwrap()
        .to_owned();
    let read = sandbox.run(&["deref", &pointer]);
    assert!(read.out.contains("A line."), "{read:?}");
    assert!(read.err.contains("other repo"), "{read:?}");
    for args in [
        &["forget", &id][..],
        &["redact", &id],
        &["restore", &id],
        &["promote", &id],
        &["pointers", "repin", &id],
        &["brief", "pin", &id],
        &["resolve", conflict, "--dismiss"],
        &["conflicts", "allow", conflict, "--why", "Known."],
        &[
            "put",
            "--claim",
            "No.",
            "--pointer",
            POINTER,
            "--corrects",
            &id,
        ],
    ] {
        let refused = sandbox.run(&[args, &["--json"]].concat());
        refused.refused("NOT_FOUND");
        let hint = refused.error()["hint"].to_string();
        assert!(
            hint.contains("--repo '") && hint.contains("other repo'"),
            "{args:?}: {hint}"
        );
    }
    let there = ["--repo", other.to_str().unwrap(), "forget", &id];
    assert_eq!(sandbox.run(&there).code, Some(0));
}
