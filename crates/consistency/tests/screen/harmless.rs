//! Texts that must pass: at most one line in two hundred of a codebase may be refused.

use std::{fs, path::Path};

use engram_consistency::screen;

use crate::{lines, text_of};

const HARMLESS: &str = include_str!("harmless.txt");

/// The number of lines, and the refused ones.
fn refuse_each(texts: impl Iterator<Item = String>) -> (usize, Vec<String>) {
    let mut all = 0;
    let mut refused = Vec::new();
    for text in texts {
        all += 1;
        if let Some(secret) = screen(&text) {
            refused.push(format!("{}: {text}", secret.rule));
        }
    }
    (all, refused)
}

fn assert_few((all, refused): (usize, Vec<String>)) {
    assert!(
        refused.len() * 200 <= all,
        "{} of {all} are refused:\n{}",
        refused.len(),
        refused.join("\n")
    );
}

#[test]
fn ids_hashes_examples_and_prose_pass() {
    for line in lines(HARMLESS) {
        // Another random draw must not turn an id into a secret.
        let (_, refused) = refuse_each((0..20).map(|seed| text_of(line, seed)));
        assert_eq!(refused, [""; 0], "{line}");
    }
}

/// More than 2,000 sentences about software, most of them by people who do not know the rules.
#[test]
fn claims_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/claims");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let pairs = [read("developed.txt"), read("unseen.txt")];
    let of_pair = |line: &str| -> Vec<String> {
        let (_, claims) = line.split_once(": ").unwrap_or(("", line));
        claims.split(" | ").map(str::to_owned).collect()
    };
    let strangers = read("strangers.jsonl");
    let of_strangers = |line: &str| -> Vec<String> {
        let pair: serde_json::Value = serde_json::from_str(line).unwrap();
        ["a", "b"]
            .map(|it| pair[it].as_str().unwrap().to_owned())
            .into()
    };
    let ours = pairs.iter().flat_map(|it| it.lines()).flat_map(of_pair);
    let (all, refused) = refuse_each(ours.chain(strangers.lines().flat_map(of_strangers)));
    assert!(all > 2_000, "only {all} sentences");
    assert_eq!(refused, [""; 0]);
}

/// At most one in two hundred lines of this repository's sources and documents is refused, not
/// counting this crate, which contains secrets for its tests.
#[test]
fn this_repository_passes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    let kinds = [
        "rs", "md", "toml", "lock", "css", "js", "html", "sql", "json",
    ];
    walk(&root, &kinds, &mut files);
    assert!(files.len() > 300, "only {} files", files.len());
    assert_few(refuse_each(files.iter().flat_map(|text| {
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    })));
}

fn walk(folder: &Path, kinds: &[&str], found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let ours = !["target", "dist", "gen", "node_modules", "consistency"].contains(&&*name);
        let kind = path.extension().unwrap_or_default().to_string_lossy();
        if path.is_dir() && ours && !name.starts_with('.') {
            walk(&path, kinds, found);
        } else if kinds.contains(&&*kind) {
            found.extend(fs::read_to_string(&path));
        }
    }
}

#[test]
fn lock_files_pass() {
    let cases = [
        "    \"node_modules/left-pad\": {\n      \"version\": \"1.3.0\",\n      \"resolved\": \"https://packages.example.org/left-pad/-/left-pad-1.3.0.tgz\",\n      \"integrity\": \"sha512-{b86}==\",\n      \"license\": \"WTFPL\"\n    },",
        "[[package]]\nname = \"secret-service\"\nversion = \"4.0.0\"\nsource = \"registry+https://git.example.org/index\"\nchecksum = \"{h64}\"\ndependencies = [\n \"aes\",\n]",
        "golang.org/x/oauth2 v0.20.0 h1:{b43}=\ngolang.org/x/oauth2 v0.20.0/go.mod h1:{b43}=",
        "\"@babel/token-types@npm:^7.0.0\":\n  version: 7.0.0\n  resolution: \"@babel/token-types@npm:7.0.0\"\n  checksum: 10/{h128}\n  languageName: node",
        "left-pad@^1.3.0:\n  version \"1.3.0\"\n  resolved \"https://packages.example.org/left-pad/-/left-pad-1.3.0.tgz#{h40}\"\n  integrity sha512-{b86}==",
        "requests==2.32.0 \\\n    --hash=sha256:{h64} \\\n    --hash=sha256:{h64}",
        "[[package]]\nname = \"keyring\"\nfiles = [\n    {file = \"keyring-25.0.0.tar.gz\", hash = \"sha256:{h64}\"},\n]",
        "  packages:\n    /jsonwebtoken@9.0.2:\n      resolution: {integrity: sha512-{b86}==}\n      engines: {node: '>=12'}",
        "GEM\n  remote: https://gems.example.org/\n  specs:\n    bcrypt (3.1.20)\nCHECKSUMS\n  bcrypt (3.1.20) sha256={h64}",
        "{\"content-hash\": \"{h32}\", \"dist\": {\"type\": \"zip\", \"reference\": \"{h40}\", \"shasum\": \"{h40}\"}}",
    ];
    assert_few(refuse_each(
        (0..100).flat_map(|seed| cases.map(|case| text_of(case, seed))),
    ));
}
