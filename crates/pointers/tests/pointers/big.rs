//! Large files and large repositories.

use std::path::Path;

use engram_model::Code;
use engram_pointers::{Repo, resolve, source};
use git2::{ObjectType, Oid, Repository, Signature, Time};

use crate::fixture::{Stored, refused, sha256, view_around};

const FILE: i32 = 0o100_644;

fn commit_tree(git: &Repository, tree: git2::Oid) {
    let who = Signature::new("A", "a@example.org", &Time::new(1_767_866_400, 0)).unwrap();
    let tree = git.find_tree(tree).unwrap();
    git.commit(Some("HEAD"), &who, &who, "first", &tree, &[])
        .unwrap();
}

/// Makes a bare repository with one commit of one file.
pub(crate) fn commit_blob(at: &Path, name: &Path, bytes: &[u8]) {
    let git = Repository::init_bare(at).unwrap();
    let blob = git.blob(bytes).unwrap();
    let mut tree = git.treebuilder(None).unwrap();
    tree.insert(name, blob, FILE).unwrap();
    commit_tree(&git, tree.write().unwrap());
}

#[test]
fn a_large_file_is_read() {
    let size = 20 << 20;
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
    let asked = |text: String| resolve(Some(&repo), &Stored::default(), &text.parse().unwrap());
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
    let view = source(Some(&repo), &Stored::default(), &pointer, view_around(40)).unwrap();
    assert_eq!(view.lines.len(), 81);
    assert_eq!(view.total_lines as usize, count);
}

/// A line of megabytes is cut for the window, but digested in full.
#[test]
fn a_file_of_one_long_line_is_shown_cut() {
    let dir = tempfile::TempDir::new().unwrap();
    let bytes = "é".repeat(2 << 20).into_bytes();
    commit_blob(dir.path(), Path::new("min.js"), &bytes);
    let repo = Repo::open(dir.path()).unwrap();
    let pointer = "repo:min.js#L1@HEAD".parse().unwrap();
    let view = source(Some(&repo), &Stored::default(), &pointer, view_around(3)).unwrap();
    assert_eq!(view.lines.len(), 1);
    assert_eq!(view.lines[0].text, "é".repeat(1000));
    assert_eq!(view.lines[0].cut, (2 << 20) - 1000);
    assert_eq!(view.content_digest, format!("sha256:{}", sha256(&bytes)));
}

/// Makes a tree with a hundred entries, of which only `kept` exists in the repository.
fn make_lone_entry(git: &Repository, name: &str, kept: Oid) -> Oid {
    let nowhere = [7; 20];
    let mut names: Vec<String> = (0..100).map(|at| format!("{}{at}", &name[..2])).collect();
    names.sort();
    let mut tree = Vec::new();
    for other in names {
        let id = if other == name {
            kept.as_bytes()
        } else {
            &nowhere
        };
        tree.extend_from_slice(format!("40000 {other}\0").as_bytes());
        tree.extend_from_slice(id);
    }
    let odb = git.odb().unwrap();
    odb.write(ObjectType::Tree, &tree).unwrap()
}

/// As in a tree of a hundred thousand files: only the folders on the path are read.
#[test]
fn a_path_is_found_without_a_look_at_what_lies_beside_it() {
    let dir = tempfile::TempDir::new().unwrap();
    let git = Repository::init_bare(dir.path()).unwrap();
    let mut leaf = git.treebuilder(None).unwrap();
    leaf.insert("f7.txt", git.blob(b"first\nsecond\n").unwrap(), FILE)
        .unwrap();
    let folder = make_lone_entry(&git, "in93", leaf.write().unwrap());
    commit_tree(&git, make_lone_entry(&git, "ou6", folder));
    let repo = Repo::open(dir.path()).unwrap();
    let found = |path: &str| {
        let pointer = format!("repo:{path}#L2@HEAD").parse().unwrap();
        resolve(Some(&repo), &Stored::default(), &pointer)
    };
    assert_eq!(found("ou6/in93/f7.txt").unwrap().text(), "second\n");
    refused(
        found("ou6/in92/f7.txt"),
        "the case is a folder that is nowhere",
        Code::RepoUnavailable,
        "in92",
    );
}
