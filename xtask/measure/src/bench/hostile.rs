//! `cargo xtask bench --hostile`: what requests cost on clones that are built to be expensive. Each
//! request goes to an engine of its own (`crates/engine/examples/ask.rs`), with a home for each
//! clone.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::table::bar_outcome;
use crate::sandbox::{Sandbox, git, output_for_input};
use xtask::shell::{build_example, run};

/// The limits of one request: milliseconds, and KB of memory above idle.
const BAR: (u64, u64) = (5_000, 256 * 1024);

/// An expensive repository, and pointers into its expensive parts.
struct Clone {
    name: &'static str,
    make: fn(&Git) -> Result<()>,
    pointers: &'static [&'static str],
}

const CLONES: &[Clone] = &[
    Clone {
        name: "ignore and attribute patterns that explode",
        make: patterns,
        pointers: &[
            "repo:x/new@worktree",
            "repo:x/new@HEAD",
            "diff:HEAD..HEAD#.gitignore",
        ],
    },
    Clone {
        name: "ten levels of trees that hold the next ten times",
        make: bomb,
        pointers: &[
            "repo:nothing@HEAD",
            "repo:bomb/0/0/0/0/0/0/0/0/0/0/file@HEAD",
            "diff:HEAD~1..HEAD#a.txt",
            "diff:HEAD..HEAD~1#bomb/0/0/0/0/0/0/0/0/0/0/file",
            "test:a.txt::x@HEAD~1",
        ],
    },
    Clone {
        name: "2,000 folders within each other",
        make: deep,
        pointers: &["repo:nothing@HEAD", "diff:HEAD~1..HEAD#a.txt"],
    },
    Clone {
        name: "one line of 63 MB",
        make: long_line,
        pointers: &[
            "repo:long.md#L1@HEAD",
            "repo:long.md@worktree",
            "artifact:long.md#sec=A@HEAD",
            "test:long.md::x@HEAD",
            "diff:HEAD~1..HEAD#long.md",
        ],
    },
    Clone {
        name: "16 million lines, headings all",
        make: headings,
        pointers: &[
            "repo:long.md#L1-L9@HEAD",
            "repo:long.md#L15000000@worktree",
            "artifact:long.md#sec=Nowhere@HEAD",
            "test:long.md::x@HEAD",
            "diff:HEAD~1..HEAD#long.md",
        ],
    },
    Clone {
        name: "a gigabyte of one byte, which packs to one megabyte",
        make: gigabyte,
        pointers: &[
            "repo:large@HEAD",
            "repo:large#L1@worktree",
            "diff:HEAD~1..HEAD#large",
            "repo:moved@HEAD",
        ],
    },
    Clone {
        name: "a difference from a file of 65 MB",
        make: delta,
        pointers: &["repo:made.txt@HEAD", "repo:made.txt#L1@HEAD"],
    },
    Clone {
        name: "100,000 files and 100,000 branches",
        make: many,
        pointers: &[
            "repo:f/99999@HEAD",
            "repo:f/99999@worktree",
            "repo:f/1@branch99999",
            "repo:nothing@HEAD",
            "diff:HEAD~1..HEAD#a.txt",
        ],
    },
    Clone {
        name: "100,000 commits to one file",
        make: history,
        pointers: &[
            "repo:a.txt#L1@HEAD",
            "repo:a.txt#L1@HEAD~99000",
            "diff:HEAD~99000..HEAD#a.txt",
        ],
    },
    Clone {
        name: "pipes that nobody writes to",
        make: pipes,
        pointers: &[
            "repo:pipe@worktree",
            "repo:a.txt@worktree",
            "repo:a.txt@HEAD",
        ],
    },
];

/// Prints a row for each clone: its slowest request, and the one that took the most memory.
pub(super) fn perform(root: &Path) -> Result<()> {
    let ask = build_example(root, "engram-engine", "ask")?;
    println!("| clone | requests | refused | slowest | | most memory above rest | | open |");
    println!("|---|---|---|---|---|---|---|---|");
    for clone in CLONES {
        let sandbox = Sandbox::new("bench-hostile", "")?;
        let git = Git(sandbox.repo());
        git.run(&["init", "--quiet", "--initial-branch=main"])?;
        git.commit(&[("a.txt", b"one\ntwo\n")])?;
        (clone.make)(&git).with_context(|| clone.name)?;
        clone.measure(&ask, &sandbox)?;
    }
    Ok(())
}

impl Clone {
    fn measure(&self, ask: &Path, sandbox: &Sandbox) -> Result<()> {
        let mut asked = Vec::new();
        for (who, request) in self.requests() {
            let mut ask = Command::new(ask);
            ask.arg(sandbox.home()).arg(sandbox.repo());
            let output = ask.arg(who).arg(request.to_string()).output()?;
            ensure!(output.status.success(), "{request}: {output:?}");
            let took: Value = serde_json::from_slice(&output.stdout)?;
            asked.push((
                format!(
                    "{} by the {who}",
                    request["do"].as_str().unwrap_or_default()
                ),
                took,
            ));
        }
        let number = |it: &Value, name: &str| it[name].as_u64().unwrap_or(u64::MAX);
        let most = |name: &str| {
            let all = asked.iter().max_by_key(|it| number(&it.1, name));
            all.map_or((String::new(), u64::MAX), |it| {
                (it.0.clone(), number(&it.1, name))
            })
        };
        let refused = asked.iter().filter(|it| it.1["code"] != "ok").count();
        let (slowest, took) = most("took_ms");
        let (largest, kb) = most("took_kb");
        println!(
            "| {} | {} | {refused} | {took} ms, {slowest} | {} | {} MB, {largest} | {} | {} ms |",
            self.name,
            asked.len(),
            bar_outcome(took <= BAR.0, "5 s"),
            kb / 1024,
            bar_outcome(kb <= BAR.1, "256 MB"),
            most("opened_ms").1,
        );
        Ok(())
    }

    /// Returns every request about the pointers, and the requests that read the clone as a whole.
    fn requests(&self) -> Vec<(&'static str, Value)> {
        let mut all = vec![
            ("user", json!({ "do": "status" })),
            ("user", json!({ "do": "load_sample" })),
        ];
        for pointer in self.pointers {
            let claim =
                json!({ "claim": format!("It rests on {pointer}."), "pointers": [pointer] });
            let deref = json!({ "pointer": pointer });
            let put = json!({ "do": "put", "with": claim });
            all.extend([
                ("agent", put.clone()),
                ("agent", json!({ "do": "deref", "with": deref })),
                ("user", put),
                ("user", json!({ "do": "deref", "with": deref })),
                (
                    "user",
                    json!({ "do": "source", "with": { "pointer": pointer, "context": 3 } }),
                ),
                (
                    "user",
                    json!({ "do": "line", "with": { "pointer": pointer, "number": 1, "from": 0 } }),
                ),
                ("user", json!({ "do": "standing", "with": pointer })),
                ("user", json!({ "do": "blame", "with": pointer })),
            ]);
        }
        all.push((
            "agent",
            json!({ "do": "query", "with": { "text": "rests on" } }),
        ));
        all.push(("user", json!({ "do": "check_pointers", "with": {} })));
        all
    }
}

/// A repository that is built by git's own commands.
struct Git(PathBuf);

impl Git {
    fn command(&self, args: &[&str]) -> Command {
        let mut git = git(&self.0);
        git.args(["-c", "core.looseCompression=1"]).args(args);
        git
    }

    fn run(&self, args: &[&str]) -> Result<()> {
        run(self.command(args).stdout(Stdio::null()))
    }

    /// Returns what git prints for this input.
    fn pipe(&self, args: &[&str], input: &[u8]) -> Result<String> {
        output_for_input(&mut self.command(args), input)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().context("no folder")?)?;
        Ok(fs::write(path, bytes)?)
    }

    fn commit(&self, files: &[(&str, &[u8])]) -> Result<()> {
        for (path, bytes) in files {
            self.write(path, bytes)?;
            self.run(&["add", "--force", path])?;
        }
        self.run(&["commit", "--quiet", "-m", "files"])
    }

    fn import(&self, stream: &str) -> Result<()> {
        self.pipe(&["fast-import", "--quiet", "--force"], stream.as_bytes())?;
        Ok(())
    }
}

/// Patterns for which a backtracking matcher tries every combination.
fn patterns(git: &Git) -> Result<()> {
    let mut rules = String::new();
    for _ in 0..50 {
        rules += &format!("{}b\n", "*a".repeat(40));
        rules += &format!("{}b\n", "**/a*/".repeat(20));
        rules += &format!("x{}/b\n", "/**/*a*a*a*a".repeat(12));
    }
    let deep = vec!["a".repeat(60); 12].join("/");
    git.write(&format!("x/{deep}/file"), b"a\r\n")?;
    git.run(&["config", "core.autocrlf", "true"])?;
    git.commit(&[("x/new", b"a\r\n")])?;
    git.write("x/new", b"b\r\n")?;
    git.write(
        ".gitattributes",
        rules.replace("b\n", "b text\n").as_bytes(),
    )?;
    git.write(".gitignore", rules.as_bytes())
}

fn bomb(git: &Git) -> Result<()> {
    let file = git.pipe(&["hash-object", "-w", "--stdin"], b"bomb\n")?;
    let mut tree = git.pipe(
        &["mktree"],
        format!("100644 blob {file}\tfile\n").as_bytes(),
    )?;
    for _ in 0..10 {
        let entries: String = (0..10)
            .map(|n| format!("040000 tree {tree}\t{n}\n"))
            .collect();
        tree = git.pipe(&["mktree"], entries.as_bytes())?;
    }
    let tree = git.pipe(
        &["mktree"],
        format!("040000 tree {tree}\tbomb\n").as_bytes(),
    )?;
    let commit = git.pipe(&["commit-tree", "-p", "HEAD", "-m", "bomb", &tree], b"")?;
    git.run(&["update-ref", "HEAD", &commit])
}

fn deep(git: &Git) -> Result<()> {
    let path = "d/".repeat(2_000);
    git.import(&on_main(&format!(
        "M 100644 inline {path}file\ndata 5\ndeep\n\n"
    )))
}

/// Returns a commit on top of `main`.
fn on_main(changes: &str) -> String {
    format!(
        "commit refs/heads/main\ncommitter a <a@localhost> 1700000000 +0000\ndata 1\nx\nfrom refs/heads/main^0\n{changes}"
    )
}

fn long_line(git: &Git) -> Result<()> {
    git.commit(&[("long.md", &vec![b'x'; 63 << 20])])
}

fn headings(git: &Git) -> Result<()> {
    git.commit(&[("long.md", &b"# a\n".repeat(63 << 18))])
}

fn gigabyte(git: &Git) -> Result<()> {
    let large = fs::File::create(git.0.join("large"))?;
    large.set_len(1 << 30)?;
    git.run(&["add", "large"])?;
    git.run(&["commit", "--quiet", "-m", "large"])?;
    git.run(&["mv", "large", "moved"])?;
    git.run(&["commit", "--quiet", "-m", "moved"])
}

fn delta(git: &Git) -> Result<()> {
    let large = vec![b'x'; (64 << 20) + (128 << 10)];
    git.commit(&[("large.txt", &large), ("made.txt", &large[..3 << 20])])?;
    git.run(&["repack", "-a", "-d", "-f", "-q"])
}

fn many(git: &Git) -> Result<()> {
    let files: String = (0..100_000)
        .map(|n| format!("M 100644 inline f/{n}\ndata 2\n{}\n\n", n % 10))
        .collect();
    git.import(&on_main(&files))?;
    let id = git.pipe(&["rev-parse", "HEAD"], b"")?;
    let refs: String = (0..100_000)
        .map(|n| format!("create refs/heads/branch{n} {id}\n"))
        .collect();
    git.pipe(&["update-ref", "--stdin"], refs.as_bytes())?;
    git.run(&["pack-refs", "--all"])?;
    git.run(&["reset", "--quiet", "--hard"])
}

fn history(git: &Git) -> Result<()> {
    let commits: String = (0..100_000)
        .map(|n| {
            let text = format!("line {n}\ntwo\n");
            let from = if n == 0 { "from refs/heads/main^0\n" } else { "" };
            let when = 1_700_000_000 + n;
            format!("commit refs/heads/main\ncommitter a <a@localhost> {when} +0000\ndata 1\nx\n{from}M 100644 inline a.txt\ndata {}\n{text}\n", text.len())
        })
        .collect();
    git.import(&commits)?;
    git.run(&["reset", "--quiet", "--hard"])
}

fn pipes(git: &Git) -> Result<()> {
    for place in [
        "pipe",
        ".gitignore",
        ".gitattributes",
        ".git/info/exclude",
        ".git/packed-refs",
    ] {
        let path = git.0.join(place);
        if path.exists() {
            fs::remove_file(&path)?;
        }
        let made = Command::new("mkfifo").arg(&path).status()?;
        ensure!(made.success(), "mkfifo {place} failed");
    }
    Ok(())
}
