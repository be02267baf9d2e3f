//! How each kind of source is shown: pictures and binaries, stand-ins, hostile documents, very long
//! files and lines, and evidence that is gone.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{
    access::{complaints, is_clean},
    hands::{Hand, is_read, row, rows},
    looks::Looks,
    requests_view::connect,
    shop::Shop,
};
use crate::{stage::Stage, window::Window};

/// A file that is committed to the working tree.
type File = (&'static str, Vec<u8>);

/// A pointer, and what the window shows of its source.
struct Case {
    name: &'static str,
    pointer: &'static str,
    /// A selector that matches in the detail, once the source is read.
    shown: &'static str,
    /// Texts that occur in the detail.
    says: &'static [&'static str],
    /// A text that does not occur in the detail.
    absent: &'static str,
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0";
const HOSTILE: &str = include_str!("shop/hostile.md.txt");
const PATCH: &str = include_str!("shop/fix.patch.txt");

const NOTE: &str = "We keep **full jitter**:\nhalf jitter was tried in `src/retry.rs` and made no difference.\n\n- 200 ms base\n- 20 s at most\n\n<script>window.hacked = 1</script>";

fn files() -> Vec<File> {
    let picture = [PNG, &[7; 12_345]].concat();
    let stand_in = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 412345678\n",
        "4d7a".repeat(16)
    );
    let wide = "\u{FEFF}größe = 12\r\nzweite Zeile\r\n".encode_utf16();
    let nul = format!("{}before\0after\n", "a line of text\n".repeat(600));
    let nested = format!("{}deep\n\n{}\n", "> ".repeat(400), "- ".repeat(400));
    vec![
        ("docs/checkout.png", picture),
        ("tools/lint", [b"\x7fELF\x02\x01\x01\0", &[0; 4096][..]].concat()),
        (
            "docs/flow.svg",
            b"<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"window.hacked=1\">\n  <script>window.hacked=1</script>\n</svg>\n".to_vec(),
        ),
        ("ranker.onnx", stand_in.into_bytes()),
        ("wide.txt", wide.flat_map(u16::to_le_bytes).collect()),
        ("nul.txt", nul.into_bytes()),
        ("docs/fix.patch", PATCH.as_bytes().to_vec()),
        ("docs/HOSTILE.md", format!("{HOSTILE}\n{nested}").into_bytes()),
        ("docs/LONG.md", "# All\n\nA *paragraph* of `words`.\n\n".repeat(9_000).into_bytes()),
    ]
}

const CASES: &[Case] = &[
    Case {
        name: "picture",
        pointer: "artifact:docs/checkout.png@HEAD",
        shown: "[data-testid=media][data-kind=picture]",
        says: &[
            "PNG picture",
            "640 × 480 pixels",
            "12.3 KB",
            "unchanged",
            "same as when recorded",
        ],
        absent: "[data-testid=source], [data-testid=blame-button], article img",
    },
    Case {
        name: "binary",
        pointer: "artifact:tools/lint@HEAD",
        shown: "[data-testid=media][data-kind=binary]",
        says: &["ELF file", "4.1 KB", "binary file has no lines"],
        absent: "[data-testid=source], [data-testid=blame-button]",
    },
    Case {
        name: "drawing",
        pointer: "artifact:docs/flow.svg@HEAD",
        shown: "[data-testid=media][data-kind=drawing]",
        says: &[
            "SVG picture, shown as its source text",
            "<script>window.hacked=1</script>",
        ],
        absent: "article script, article svg:not(.icon), article img, article object",
    },
    Case {
        name: "stand-in",
        pointer: "repo:ranker.onnx@HEAD",
        shown: "[data-testid=media][data-kind=standin]",
        says: &[
            "Git LFS keeps the file itself (412.3 MB, sha256 4d7a4d7a…)",
            "size 412345678",
        ],
        absent: "article img",
    },
    Case {
        name: "utf-16",
        pointer: "repo:wide.txt#L1@HEAD",
        shown: "[data-testid=source] [data-marked]",
        says: &["größe = 12", "zweite Zeile"],
        absent: "[data-testid=media]",
    },
    Case {
        name: "nul",
        pointer: "repo:nul.txt#L601@HEAD",
        shown: "[data-testid=source] [data-marked]",
        says: &["before⟨U+0000⟩after"],
        absent: "[data-testid=media]",
    },
    Case {
        name: "patch",
        pointer: "artifact:docs/fix.patch@HEAD",
        shown: "[data-testid=source] .line.removed .kw",
        says: &["ceiling(attempt).mul_f64(half_jitter())", "@@ -9,7 +9,7 @@"],
        absent: "[data-testid=document]",
    },
    Case {
        name: "event",
        pointer: "sam:decision:jitter@2026-01-08",
        shown: "[data-testid=document] strong",
        says: &[
            "Recorded by architect, 8 Jan, 09:12",
            "full jitter:\nhalf jitter",
            "<script>",
        ],
        absent: "[data-testid=source], [data-testid=standing], article script",
    },
    Case {
        name: "hostile",
        pointer: "artifact:docs/HOSTILE.md@HEAD",
        shown: "[data-testid=document] table",
        says: &[
            "<script>window.hacked = 1</script>",
            "picture: tracker",
            "deep",
        ],
        absent: "[data-testid=document] :is(a, img, script, style, iframe, svg, form, input)",
    },
    Case {
        name: "long-document",
        pointer: "artifact:docs/LONG.md@HEAD",
        shown: "[data-testid=document-cut]",
        says: &["The document continues"],
        absent: "[data-testid=source]",
    },
];

/// The cases with a stored picture, and its height.
const LOOKED_AT: &[(&str, u32)] = &[
    ("picture", 600),
    ("stand-in", 600),
    ("patch", 900),
    ("event", 600),
    ("hostile", 1500),
];

/// Opens a claim, and waits until all its evidence is read and compared.
fn open(window: &Window, id: &str) {
    window.click(&row(id));
    window.wait(&format!(
        "document.querySelector('[data-testid=engram][data-id=\"{id}\"] [data-testid=pointer-card][data-open=true] :is(.proof, .refused)')"
    ));
    window.wait("!document.querySelector('[aria-busy=true]')");
}

fn text_of_engram(window: &Window) -> String {
    let script = "return document.querySelector('[data-testid=engram]').innerText";
    window
        .script(script, json!([]))
        .as_str()
        .unwrap()
        .to_owned()
}

/// Returns the path of a picture, for examining a test.
fn picture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("viewer-{name}.png"))
}

/// Creates a shop with these files, and a claim for each pointer.
fn make_shelf(files: &[File], pointers: &[&str]) -> Shop {
    let mut shop = Shop::empty();
    for folder in ["tools", "dist"] {
        fs::create_dir_all(shop.root.join(folder)).unwrap();
    }
    for (path, bytes) in files {
        shop.write(path, bytes);
    }
    shop.commit("Add what else there is");
    let note = json!({"kind": "decision", "slug": "jitter", "agent": "architect", "text": NOTE});
    assert_eq!(shop.note(note), "sam:decision:jitter@2026-01-08");
    let drafts = pointers.iter().map(|it| {
        (
            1,
            json!({"claim": format!("See {it}"), "agent": "tester", "pointers": [it]}),
        )
    });
    shop.say(drafts.collect::<Vec<_>>());
    shop
}

#[test]
fn every_file_is_said_to_be_what_it_is() {
    let pointers: Vec<&str> = CASES.iter().map(|it| it.pointer).collect();
    let Stage { shop, window, .. } = &Stage::of(make_shelf(&files(), &pointers));
    window.find("[data-testid=engram] [data-testid=digest]");
    let (mut violations, mut looks) = (Vec::new(), Looks::here());
    for (case, id) in CASES.iter().zip(&shop.ids) {
        open(window, id);
        window.find(case.shown);
        window.wait(
            "document.querySelector('[data-testid=standing]') || document.querySelector('[data-testid=recorded]')",
        );
        window.keep_picture(&picture(case.name));
        let told = text_of_engram(window);
        for words in case.says {
            assert!(
                told.contains(words),
                "{}: no {words:?} in {told}",
                case.name
            );
        }
        assert_eq!(window.count(case.absent), 0, "{}", case.name);
        let nodes = window.count("*");
        assert!(nodes < 9_000, "{}: {nodes} elements", case.name);
        if let Some((_, height)) = LOOKED_AT.iter().find(|it| it.0 == case.name) {
            looks.compare_in(window, &format!("viewer-{}", case.name), &[(1280, *height)]);
        }
        violations.extend(complaints(window, case.name));
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    looks.hold_all();
    assert_eq!(
        window.script("return window.hacked ?? null", json!([])),
        Value::Null
    );

    // The picture is replaced, and a text becomes a picture: the window notices both.
    open(window, &shop.ids[0]);
    shop.write("docs/checkout.png", [PNG, &[8; 20_000]].concat());
    window.wait("document.querySelector('[data-testid=standing]')?.dataset.reading === 'edited'");
    window
        .wait("document.querySelector('[data-testid=media-now]')?.textContent.includes('20.0 KB')");
    assert_eq!(
        window.count("[data-testid=changes-button]"),
        0,
        "no lines to compare"
    );
    window.keep_picture(&picture("picture-edited"));
}

#[test]
fn what_is_known_of_evidence_that_is_gone_is_shown() {
    let files = vec![
        ("kept.rs", b"fn one() {}\nfn two() {}\n".to_vec()),
        ("changed.rs", b"fn one() {}\n".to_vec()),
        ("docs/shot.png", PNG.to_vec()),
    ];
    let pointers = [
        "repo:kept.rs#L2@HEAD",
        "repo:changed.rs#L1@HEAD",
        "artifact:docs/shot.png@HEAD",
        "url:https://example.com/page",
        "repo:src/retry.rs#L9-L15@HEAD~1",
    ];
    let shop = make_shelf(&files, &pointers);
    // The commit is rewritten, and nothing keeps the old one.
    let pinned = shop.git(&["rev-parse", "HEAD"]);
    shop.write("kept.rs", "// Above.\n\nfn one() {}\nfn two() {}\n");
    shop.write("changed.rs", "fn other() {}\n");
    shop.git(&[
        "commit",
        "--quiet",
        "--all",
        "--amend",
        "--message",
        "Otherwise",
    ]);
    let kept = format!("refs/engram/keep/{}", pinned.trim());
    shop.git(&["update-ref", "-d", &kept]);
    shop.git(&["reflog", "expire", "--expire=now", "--all"]);
    shop.git(&["gc", "--quiet", "--prune=now"]);
    fs::remove_file(shop.root.join("src/retry.rs")).unwrap();
    let Stage { shop, window, .. } = &Stage::of(shop);
    window.find("[data-testid=feed-row]");
    let short = &pinned[..7];
    let gone = "is no commit";
    let read = |id: &String| {
        open(window, id);
        window.keep_picture(&picture(&format!(
            "gone-{}",
            shop.ids.iter().position(|it| it == id).unwrap()
        )));
        text_of_engram(window)
    };

    // Another file still has the same bytes.
    let told = read(&shop.ids[0]);
    assert!(
        told.contains(gone) && told.contains("The same bytes were found in the files on disk"),
        "{told}"
    );
    let marked = "return document.querySelector('[data-marked]').dataset.line";
    assert_eq!(window.script(marked, json!([])), "4");
    let told = read(&shop.ids[2]);
    assert!(
        told.contains("PNG picture") && told.contains("The same bytes were found"),
        "{told}"
    );

    // No file has the bytes: the window shows what was pinned and read.
    let told = read(&shop.ids[1]);
    for known in [gone, "Details", "changed.rs", short, "sha256 "] {
        assert!(told.contains(known), "no {known:?} in {told}");
    }
    let mut looks = Looks::here();
    window.wait("document.querySelector('[data-testid=drift-view]')");
    looks.compare_in(window, "viewer-gone", &[(1280, 600)]);
    is_clean(window, "gone");
    looks.hold_all();
    let told = read(&shop.ids[3]);
    assert!(
        told.contains("turned off") && told.contains("https://example.com/page"),
        "{told}"
    );

    // A deleted file is shown as it was.
    let told = read(&shop.ids[4]);
    assert!(
        told.contains("pub fn delay") && told.contains("evidence gone"),
        "{told}"
    );

    // Without the repository, the window still shows what is known; once restored, the claim is as
    // before.
    let away = shop.dir.join("away");
    fs::rename(&shop.root, &away).unwrap();
    let told = read(&shop.ids[1]);
    for known in ["Details", "changed.rs", short, "sha256 "] {
        assert!(told.contains(known), "no {known:?} in {told}");
    }
    fs::rename(&away, &shop.root).unwrap();
    let told = read(&shop.ids[4]);
    assert!(told.contains("pub fn delay"), "{told}");
}

/// The pixels scrolled per frame, and the number of frames.
const STEP: u32 = 700;
const STEPS: u32 = 60;

/// Long files and lines: the maximum number of elements on the page, and whether the source is
/// highlighted.
const LONG: &[(&str, u64, bool)] = &[
    ("repo:long.rs@HEAD", 1_500, true),
    ("repo:long.rs#L2000-L2010@HEAD", 1_000, true),
    ("repo:dist/dense.js@HEAD", 6_000, true),
    ("repo:dist/app.min.js@HEAD", 1_000, true),
    ("repo:data.json#L1@HEAD", 1_000, true),
    ("repo:emoji.txt@HEAD", 1_000, false),
    ("repo:turned.txt@HEAD", 1_000, false),
    ("repo:turned-often.txt@HEAD", 1_500, false),
];

fn long_files() -> Vec<File> {
    let code: String = (1..=5_000)
        .map(|n| format!("let value_{n} = reserve(\"{n}\", {n})?; // the {n}th of them\n"))
        .collect();
    let dense = format!("{}\n", "a=b(1)+\"c\";".repeat(100)).repeat(5_000);
    let minified = format!(
        "{}\n",
        "function a(b){return b+1}var c={d:[1,2]};".repeat(26_000)
    );
    let json = format!("[{}null]\n", "{\"id\":1,\"name\":\"x\"},".repeat(46_000));
    let turned = format!("{}\n", "\u{202E}".repeat(1 << 10)).repeat(300);
    vec![
        ("long.rs", code.into_bytes()),
        ("dist/dense.js", dense.into_bytes()),
        ("dist/app.min.js", minified.into_bytes()),
        ("data.json", json.into_bytes()),
        (
            "emoji.txt",
            format!("{}\n", "🦀".repeat(500_000)).into_bytes(),
        ),
        (
            "turned.txt",
            format!("{}\n", "\u{202E}".repeat(1 << 20)).into_bytes(),
        ),
        ("turned-often.txt", turned.into_bytes()),
    ]
}

/// Opens a row and scrolls through its source; returns times in milliseconds, the longest time
/// between two frames, and the maximum number of elements.
pub(crate) const MEASURED: &str = "const [id, step, steps, done] = arguments;
const begun = performance.now();
let last = begun, longest = 0, most = 0, left = steps, opened = 0, opening = 0;
document.querySelector(`[data-testid=feed-row][data-id=\"${id}\"]`).click();
const frame = now => {
  longest = Math.max(longest, now - last);
  last = now;
  most = Math.max(most, document.querySelectorAll('*').length);
  const source = document.querySelector(`[data-testid=engram][data-id=\"${id}\"] [data-testid=source]`);
  if (!opened && source && document.querySelector('[data-testid=standing]')) {
    opened = now - begun;
    [opening, longest] = [longest, 0];
  } else if (opened) {
    source.scrollTop += step;
    if (--left === 0) return done({opened, opening, scrolling: longest, most});
  }
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);";

/// Scrolls the open source from its beginning, and measures the same.
const SCROLLED: &str = "const [step, steps, done] = arguments;
const source = document.querySelector('[data-testid=source]');
source.scrollTop = 0;
let last = 0, longest = 0, most = 0, left = steps;
const frame = now => {
  if (last) longest = Math.max(longest, now - last);
  last = now;
  most = Math.max(most, document.querySelectorAll('*').length);
  source.scrollTop += step;
  if (--left === 0) return done({scrolling: longest, most});
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);";

#[test]
fn long_files_and_lines_are_drawn_as_far_as_they_are_seen() {
    let pointers: Vec<&str> = LONG.iter().map(|it| it.0).collect();
    let Stage { shop, window, .. } = &Stage::of(make_shelf(&long_files(), &pointers));
    window.find("[data-testid=engram] [data-testid=digest]");
    // Another source is fully read before each measurement opens its own.
    for ((pointer, bound, is_painted), id) in LONG.iter().zip(&shop.ids) {
        open(window, &shop.ids[usize::from(*id == shop.ids[0])]);
        let figures = window.script_until(MEASURED, json!([id, STEP, STEPS]));
        println!("{pointer}: {figures}");
        if *is_painted {
            window.script(
                "document.querySelector('[data-testid=source]').scrollTop = 0",
                json!([]),
            );
            window.wait("document.querySelector('[data-testid=source] .line :is(.kw, .str)')");
        }
        let painted = window.script_until(SCROLLED, json!([STEP, STEPS]));
        println!("    painted: {painted}");
        let most = figures["most"].as_u64().max(painted["most"].as_u64());
        assert!(most < Some(*bound), "{pointer}: {most:?} elements");
    }
    // The rest of a long line is read in parts.
    open(window, &shop.ids[4]);
    window.click("[data-testid=read-on]");
    let head = "document.querySelector('[data-testid=long-line] h3').textContent";
    let total = "920,006";
    window.wait(&format!(
        "{head} === 'Line 1, characters 1 to 10,000 of {total}'"
    ));
    window.find("[data-testid=long-line-text]");
    let mut looks = Looks::here();
    looks.compare_in(window, "viewer-long-line", &[(1280, 600)]);
    is_clean(window, "a long line");
    window.click("[data-testid=later-part]");
    window.wait(&format!(
        "{head} === 'Line 1, characters 10,001 to 20,000 of {total}'"
    ));
    window.find("[data-testid=long-line-text]");
    let length =
        "return [...document.querySelector('[data-testid=long-line-text]').textContent].length";
    assert_eq!(window.script(length, json!([])), 10_000);
    window.click("[data-testid=long-line-close]");
    window.wait("!document.querySelector('[data-testid=long-line]')");
    // The comparison is drawn in parts too, even if every line changed.
    let before = fs::read_to_string(shop.root.join("long.rs")).unwrap();
    shop.write("long.rs", before.replace("reserve", "confirm"));
    open(window, &shop.ids[0]);
    window.wait("document.querySelector('[data-testid=more-changes]')");
    window.wait("document.querySelectorAll('[data-testid=sides] tbody tr').length >= 300");
    let nodes = window.count("*");
    println!("everything changed: {nodes} elements");
    assert!(nodes < 14_000, "{nodes} elements");
    looks.hold_all();
}

/// Its event has the digest of its own words, which proves nothing.
#[test]
fn a_claim_without_evidence_says_so() {
    let Stage { shop, window, .. } = &Stage::listed();
    let claim = json!({"content": "Something is odd here.", "scope": "core", "confidence": 0.5});
    connect(
        &shop.engram(),
        "codex",
        &[json!({"name": "engram_commit", "arguments": claim})],
    );
    window.wait(&rows(shop.ids.len() + 1));
    let newest = window.attribute("[data-testid=feed-row][aria-posinset='1']", "data-id");
    window.open_row(Hand::Mouse, &newest);
    window.wait(&is_read(&newest));
    assert_eq!(
        window.text("[data-testid=digest-state]"),
        "stored without evidence"
    );
}
