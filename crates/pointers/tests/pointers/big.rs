//! Large files and large repositories, in bounded time.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use engram_model::Code;
use engram_pointers::{Repo, resolve, source};
use git2::{Repository, Signature, Time};

use crate::fixture::{Stored, around, refused, sha256};

const FILE: i32 = 0o100_644;

fn commit_tree(git: &Repository, tree: git2::Oid) {
    let who = Signature::new("A", "a@example.org", &Time::new(1_767_866_400, 0)).unwrap();
    let tree = git.find_tree(tree).unwrap();
    git.commit(Some("HEAD"), &who, &who, "first", &tree, &[])
        .unwrap();
}

/// A bare repository with one commit of one file.
pub(crate) fn commit_blob(at: &Path, name: &Path, bytes: &[u8]) {
    let git = Repository::init_bare(at).unwrap();
    let blob = git.blob(bytes).unwrap();
    let mut tree = git.treebuilder(None).unwrap();
    tree.insert(name, blob, FILE).unwrap();
    commit_tree(&git, tree.write().unwrap());
}

/// 20 MB where every change is tested; 1 GB with `ENGRAM_BIG=1` in the environment.
#[test]
fn a_large_file_is_read_in_bounded_time() {
    let (size, bound) = match std::env::var_os("ENGRAM_BIG").is_some() {
        true => (1usize << 30, Duration::from_secs(120)),
        false => (20 << 20, Duration::from_secs(20)),
    };
    let line = b"0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXY\n";
    let count = size / line.len();
    let dir = tempfile::TempDir::new().unwrap();
    {
        let mut bytes = line.repeat(count);
        bytes[size / 2 / line.len() * line.len()] = b'M';
        commit_blob(dir.path(), Path::new("big.log"), &bytes);
    }
    let repo = Repo::open(dir.path()).unwrap();
    let middle = size / 2 / line.len() + 1;
    let asked = |text: String| {
        let started = Instant::now();
        let result = resolve(Some(&repo), &Stored::default(), &text.parse().unwrap());
        let took = started.elapsed();
        println!("{text}: {took:?}");
        assert!(took < bound, "{text} took {took:?}");
        result
    };
    let first = asked("repo:big.log#L1-L2@HEAD".to_owned()).unwrap();
    assert_eq!(first.bytes, line.repeat(2));
    let marked = asked(format!("repo:big.log#L{middle}@HEAD")).unwrap();
    assert_eq!(
        marked.text(),
        format!("M{}", std::str::from_utf8(&line[1..]).unwrap())
    );
    let last = asked(format!("repo:big.log#L{count}@HEAD")).unwrap();
    assert_eq!(
        last.pointer.digest,
        Some(format!("sha256:{}", sha256(line)))
    );
    let past = asked(format!("repo:big.log#L{}@HEAD", count + 1));
    refused(
        past,
        "past the end",
        Code::PointerNotFound,
        &format!("{count} lines"),
    );
    let whole = asked("repo:big.log@HEAD".to_owned()).unwrap();
    assert_eq!(whole.bytes.len(), count * line.len());
    assert_eq!(whole.text_up_to(10), "0123456789");
    refused(
        asked("artifact:big.log#sec=Any@HEAD".to_owned()),
        "a section",
        Code::PointerInvalid,
        "too large",
    );
    let pointer = format!("repo:big.log#L{middle}@HEAD").parse().unwrap();
    let started = Instant::now();
    let view = source(Some(&repo), &Stored::default(), &pointer, around(40)).unwrap();
    assert!(started.elapsed() < bound);
    assert_eq!(view.lines.len(), 81);
    assert_eq!(view.total_lines as usize, count);
}

/// A line of megabytes is cut for the window and digested whole.
#[test]
fn a_file_of_one_long_line_is_shown_cut() {
    let dir = tempfile::TempDir::new().unwrap();
    let bytes = "é".repeat(2 << 20).into_bytes();
    commit_blob(dir.path(), Path::new("min.js"), &bytes);
    let repo = Repo::open(dir.path()).unwrap();
    let pointer = "repo:min.js#L1@HEAD".parse().unwrap();
    let view = source(Some(&repo), &Stored::default(), &pointer, around(3)).unwrap();
    assert_eq!(view.lines.len(), 1);
    assert_eq!(view.lines[0].text, "é".repeat(1000));
    assert_eq!(view.lines[0].cut, (2 << 20) - 1000);
    assert_eq!(view.content_digest, format!("sha256:{}", sha256(&bytes)));
}

/// 100,000 files in 100 folders of 100 folders.
#[test]
fn a_path_among_a_hundred_thousand_is_found_promptly() {
    let dir = tempfile::TempDir::new().unwrap();
    let git = Repository::init_bare(dir.path()).unwrap();
    let odb = git.odb().unwrap();
    // Objects go to memory first, then into one pack: a hundred thousand loose files are slow to make.
    let pack = odb.add_new_mempack_backend(1000).unwrap();
    let mut root = git.treebuilder(None).unwrap();
    for outer in 0..100 {
        let mut folder = git.treebuilder(None).unwrap();
        for inner in 0..100 {
            let mut leaf = git.treebuilder(None).unwrap();
            for file in 0..10 {
                let text = format!("file {outer} {inner} {file}\nsecond\n");
                let blob = git.blob(text.as_bytes()).unwrap();
                leaf.insert(format!("f{file}.txt"), blob, FILE).unwrap();
            }
            folder
                .insert(format!("in{inner}"), leaf.write().unwrap(), 0o040_000)
                .unwrap();
        }
        root.insert(format!("out{outer}"), folder.write().unwrap(), 0o040_000)
            .unwrap();
    }
    commit_tree(&git, root.write().unwrap());
    let mut bytes = git2::Buf::new();
    pack.dump(&git, &mut bytes).unwrap();
    let mut indexer =
        git2::Indexer::new(None, &dir.path().join("objects/pack"), 0o644, true).unwrap();
    std::io::Write::write_all(&mut indexer, &bytes).unwrap();
    indexer.commit().unwrap();

    let repo = Repo::open(dir.path()).unwrap();
    let started = Instant::now();
    for at in 0..100 {
        let pointer = format!("repo:out{at}/in{}/f7.txt#L1@HEAD", 99 - at);
        let found = resolve(Some(&repo), &Stored::default(), &pointer.parse().unwrap()).unwrap();
        assert_eq!(found.text(), format!("file {at} {} 7\n", 99 - at));
    }
    let each = started.elapsed() / 100;
    println!("a path among 100,000: {each:?}");
    assert!(each < Duration::from_millis(50), "{each:?}");
    let missing = "repo:out5/in5/F3.TXT@HEAD".parse().unwrap();
    let refusal = resolve(Some(&repo), &Stored::default(), &missing);
    refused(
        refusal,
        "suggestion",
        Code::PointerNotFound,
        "out5/in5/f3.txt",
    );
}
