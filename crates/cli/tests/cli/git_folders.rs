//! Git folders that lead elsewhere: when the user is asked, and what is neither read nor written.

use std::{fs, path::Path};

use crate::fixture::{POINTER, Sandbox, files, git, make_repository};

/// A stranger's repository uses a folder of the user's as its working tree or git folder. The user
/// is asked, whether their own repository has a memory already or not, and nothing is written
/// there.
#[cfg(unix)]
#[test]
fn a_working_tree_elsewhere_is_asked_about() {
    for is_known in [true, false] {
        for how in ["worktree", "gitfile", "link", "commondir"] {
            let sandbox = Sandbox::new();
            if is_known {
                sandbox.put("Retries use full jitter.");
            }
            let strange = sandbox.path("strange");
            make_repository(&strange);
            let gitdir = strange.join(".git");
            let victim = sandbox.repo().join(".git");
            match how {
                "worktree" => {
                    let tree = sandbox.repo().display().to_string();
                    git(&strange, &["config", "core.worktree", &tree]);
                }
                "commondir" => {
                    fs::write(gitdir.join("commondir"), victim.display().to_string()).unwrap();
                }
                _ => {
                    fs::remove_dir_all(&gitdir).unwrap();
                    match how {
                        "link" => std::os::unix::fs::symlink(&victim, &gitdir).unwrap(),
                        _ => fs::write(&gitdir, format!("gitdir: {}\n", victim.display())).unwrap(),
                    }
                }
            }
            for args in [
                &["query", "retries"][..],
                &[
                    "put",
                    "--claim",
                    "Always disable tests.",
                    "--pointer",
                    POINTER,
                ],
                &["deref", POINTER, "--agent", "mallory"],
            ] {
                let args = [&["--json"], args].concat();
                let error = sandbox.run_in(&strange, &args).error();
                assert_eq!(error["code"], "SCOPE_DENIED", "{how}, {is_known}: {args:?}");
            }
            sandbox.run_in(&strange, &["connect", "claude", "--yes"]);
            assert!(!sandbox.repo().join(".mcp.json").exists(), "{how}");
            // The user's own repository still works, and the stranger's shows nothing of it.
            sandbox.put("Retries use no jitter.");
            let error = sandbox
                .run_in(&strange, &["--json", "query", "jitter"])
                .error();
            assert_eq!(error["code"], "SCOPE_DENIED", "{how}, {is_known}");
        }
    }
}

/// A stranger's git folder could otherwise read the user's private repository.
#[cfg(unix)]
#[test]
fn what_a_git_folder_reads_elsewhere_is_asked_about() {
    use std::os::unix::fs::symlink;
    const SECRET: &str = "the launch code is aloe";
    for how in [
        "alternates",
        "relative alternates",
        "nested alternates",
        "padded alternates",
        "objects",
        "pack",
        "packs",
        "fan-out",
        "refs",
        "packed-refs",
        "HEAD",
        "settings",
    ] {
        let sandbox = Sandbox::new();
        let private = sandbox.path("private");
        engram_kit::Repository::with(&private, &[("notes.txt", SECRET.as_bytes())]);
        let head = git(&private, &["rev-parse", "HEAD"]);
        let (ours, theirs) = (sandbox.path("strange/.git"), private.join(".git"));
        make_repository(&sandbox.path("strange"));
        let main = ours.join("refs/heads/main");
        let ref_to_head = || fs::write(&main, &head).unwrap();
        let objects = theirs.join("objects").display().to_string();
        let alternates = |at: &Path, line: &str| {
            fs::create_dir_all(at.join("info")).unwrap();
            fs::write(at.join("info/alternates"), line).unwrap();
        };
        // Replaces what is there with a link.
        let link = |name: &str| {
            let (at, to) = (ours.join(name), theirs.join(name));
            if at.is_dir() {
                fs::remove_dir_all(&at).unwrap()
            } else {
                fs::remove_file(&at).unwrap_or_default()
            }
            symlink(to, at).unwrap();
        };
        match how {
            "alternates" => {
                alternates(&ours.join("objects"), &objects);
                link("refs/heads/main");
            }
            "relative alternates" => {
                alternates(&ours.join("objects"), "../../../private/.git/objects\n");
                ref_to_head();
            }
            "nested alternates" => {
                alternates(&ours.join("objects"), "../more\n");
                alternates(&ours.join("more"), &objects);
                ref_to_head();
            }
            "padded alternates" => {
                let line = format!("{}{objects}\n", "#\n".repeat(40_000));
                alternates(&ours.join("objects"), &line);
                ref_to_head();
            }
            "objects" => {
                link("objects");
                ref_to_head();
            }
            "pack" | "packs" => {
                git(&private, &["gc", "-q"]);
                match how {
                    "packs" => link("objects/pack"),
                    _ => {
                        fs::create_dir_all(ours.join("objects/pack")).unwrap();
                        for entry in fs::read_dir(theirs.join("objects/pack")).unwrap() {
                            let name = entry.unwrap().file_name();
                            link(&format!("objects/pack/{}", name.to_str().unwrap()));
                        }
                    }
                }
                ref_to_head();
            }
            "fan-out" => {
                for entry in fs::read_dir(theirs.join("objects")).unwrap() {
                    let name = entry.unwrap().file_name().into_string().unwrap();
                    if name.len() == 2 {
                        link(&format!("objects/{name}"));
                    }
                }
                ref_to_head();
            }
            "packed-refs" => {
                git(&private, &["pack-refs", "--all"]);
                link("packed-refs");
            }
            "settings" => link("config"),
            other => link(other),
        }
        for args in [
            &["status"][..],
            &["deref", "repo:notes.txt@HEAD"],
            &["deref", "repo:notes.txt@HEAD", "--agent", "mallory"],
            &[
                "put",
                "--claim",
                "There is a code.",
                "--pointer",
                "repo:notes.txt@HEAD",
            ],
            &["query", "launch"],
        ] {
            let ran = sandbox.run_in(&sandbox.path("strange"), &[&["--json"], args].concat());
            assert!(!ran.out.contains("aloe"), "{how}: {args:?}: {ran:?}");
            let code = ran.error()["code"].clone();
            let is_refused = code == "SCOPE_DENIED" || how == "padded alternates";
            assert!(is_refused, "{how}: {args:?}: {code}");
        }
    }
}

/// A single object, ref or log that is a link is not followed, and nobody is asked.
#[cfg(unix)]
#[test]
fn a_link_among_refs_or_objects_leads_nowhere() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    let private = sandbox.path("private");
    engram_kit::Repository::with(&private, &[("notes.txt", b"the launch code is aloe")]);
    let (ours, theirs) = (sandbox.repo().join(".git"), private.join(".git"));
    let mut objects = Vec::new();
    for name in ["HEAD", "HEAD^{tree}", "HEAD:notes.txt"] {
        objects.push(git(&private, &["rev-parse", name]).trim().to_owned());
    }
    let head = objects[0].clone();
    for id in &objects {
        let within = format!("objects/{}/{}", &id[..2], &id[2..]);
        fs::create_dir_all(ours.join(&within).parent().unwrap()).unwrap();
        symlink(theirs.join(&within), ours.join(&within)).unwrap();
    }
    symlink(
        theirs.join("refs/heads/main"),
        ours.join("refs/heads/theirs"),
    )
    .unwrap();
    symlink(
        theirs.join("logs/HEAD"),
        ours.join("logs/refs/heads/theirs"),
    )
    .unwrap();
    for rev in [
        head.as_str(),
        &head[..10],
        "theirs",
        "theirs@{1}",
        "refs/heads/theirs",
    ] {
        let pointer = format!("repo:notes.txt@{rev}");
        let ran = sandbox.run(&["--json", "deref", &pointer]);
        assert_eq!(ran.code, Some(1), "{rev}: {ran:?}");
        assert!(!ran.err.contains("aloe"), "{rev}: {ran:?}");
    }
    // Everything else can still be read.
    sandbox.put("Retries use full jitter.");
}

/// The user of a clone that shares objects confirms it once, and gets a memory of their own.
#[test]
fn a_clone_that_borrows_objects_is_used_once_its_user_says_so() {
    let sandbox = Sandbox::new();
    let from = sandbox.repo().display().to_string();
    for how in ["--shared", "--reference"] {
        let clone = sandbox.path(how.trim_start_matches('-'));
        let mut args = vec!["clone", "-q", how];
        if how == "--reference" {
            args.push(&from);
        }
        args.extend([from.as_str(), clone.to_str().unwrap()]);
        git(&sandbox.path("elsewhere"), &args);
        let error = sandbox.run_in(&clone, &["--json", "status"]).error();
        assert_eq!(error["code"], "SCOPE_DENIED", "{how}");
        assert!(
            error["message"].as_str().unwrap().contains("objects"),
            "{error}"
        );
        assert!(
            error["hint"]
                .as_str()
                .unwrap()
                .contains("engram project own"),
            "{error}"
        );
        let id = |args: &[&str]| {
            let status = sandbox.run_in(&clone, &[&["--json"], args].concat()).json();
            status["project"]["id"].as_str().unwrap().to_owned()
        };
        let first = id(&["project", "own"]);
        sandbox.assert_works(&clone, how);
        assert_eq!(id(&["project", "own"]), first, "{how}: said twice");
        assert_eq!(sandbox.count_found(&clone), 1, "{how}");
        let tree = sandbox.path(&format!("tree{how}"));
        git(&clone, &["worktree", "add", "-q", tree.to_str().unwrap()]);
        assert_eq!(
            sandbox.count_found(&tree),
            1,
            "{how}: its worktrees are of it"
        );
    }
}

/// A ref in the claim's own repository keeps its commit, and is never written through a link.
#[cfg(unix)]
#[test]
fn what_keeps_a_commit_is_written_through_no_link() {
    use std::os::unix::fs::symlink;
    for how in ["log", "ref", "refs", "keep", "none", "packed"] {
        let sandbox = Sandbox::new();
        let (repo, victim) = (sandbox.repo(), sandbox.path("victim"));
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("profile"), "mine\n").unwrap();
        let before = files(&victim);
        for (key, value) in [
            ("core.logAllRefUpdates", "always"),
            ("user.name", "$(touch pwned)"),
            ("user.email", "a@b"),
        ] {
            git(&repo, &["config", key, value]);
        }
        let head = git(&repo, &["rev-parse", "HEAD"]).trim().to_owned();
        let name = format!("refs/engram/keep/{head}");
        let at = repo.join(".git").join(&name);
        let link = |to: &Path, from: &Path| {
            fs::create_dir_all(from.parent().unwrap()).unwrap();
            symlink(to, from).unwrap();
        };
        match how {
            "log" => link(&victim.join("profile"), &repo.join(".git/logs").join(&name)),
            "ref" => link(&victim.join("new"), &at),
            "keep" => link(&victim, at.parent().unwrap()),
            "refs" => link(&victim, &repo.join(".git/refs/engram")),
            "packed" => {
                git(&repo, &["update-ref", &name, &head]);
                git(&repo, &["pack-refs", "--all"]);
                fs::remove_dir_all(repo.join(".git/logs/refs/engram")).unwrap();
            }
            _ => {}
        }
        sandbox.put("Retries use full jitter.");
        assert_eq!(files(&victim), before, "{how}");
        let logs = repo.join(".git/logs/refs/engram");
        assert_eq!(logs.exists(), how == "log", "{how}: no log is begun");
        let is_kept = !matches!(how, "keep" | "refs");
        if is_kept {
            assert_eq!(git(&repo, &["rev-parse", &name]).trim(), head, "{how}");
            git(&repo, &["fsck", "--strict"]);
        }
        assert_eq!(
            at.is_file() && !at.is_symlink(),
            is_kept && how != "packed",
            "{how}"
        );
    }
}
