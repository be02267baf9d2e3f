//! What a source is shown as, whatever it is: pictures and binaries, stand-ins, hostile documents,
//! very long files and lines, and evidence that is gone.

use std::fs;

use serde_json::{Value, json};

use super::{server::Server, shop::Shop};
use crate::window::Window;

/// A file of the working tree, committed.
type File = (&'static str, Vec<u8>);

/// What is pointed at, and what is shown of it.
struct Case {
    name: &'static str,
    pointer: &'static str,
    /// Found in the detail, once it is read.
    shown: &'static str,
    /// Said in the detail.
    says: &'static [&'static str],
    /// In the detail nowhere.
    absent: &'static str,
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0";
const HOSTILE: &str = include_str!("shop/hostile.md.txt");
const PATCH: &str = include_str!("shop/fix.patch.txt");

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
            "reads the same",
            "as it was read",
        ],
        absent: "[data-testid=source], [data-testid=blame-button], article img",
    },
    Case {
        name: "binary",
        pointer: "artifact:tools/lint@HEAD",
        shown: "[data-testid=media][data-kind=binary]",
        says: &["ELF file", "4.1 KB", "no text"],
        absent: "[data-testid=source], [data-testid=blame-button]",
    },
    Case {
        name: "drawing",
        pointer: "artifact:docs/flow.svg@HEAD",
        shown: "[data-testid=media][data-kind=drawing]",
        says: &[
            "SVG picture, shown as the text",
            "<script>window.hacked=1</script>",
        ],
        absent: "article script, article svg:not(.icon), article img, article object",
    },
    Case {
        name: "stand-in",
        pointer: "repo:ranker.onnx@HEAD",
        shown: "[data-testid=media][data-kind=standin]",
        says: &[
            "kept by Git LFS: 412.3 MB, sha256 4d7a4d7a…",
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
        says: &["The document goes on"],
        absent: "[data-testid=source]",
    },
];

/// Opens a claim, and waits until all that it rests on was read and compared.
fn open(window: &Window, id: &str) {
    window.click(&format!("[data-testid=feed-row][data-id=\"{id}\"]"));
    window.wait(&format!(
        "document.querySelector('[data-testid=engram][data-id=\"{id}\"] [data-testid=pointer-card][data-open=true] :is(.proof, .refused)')"
    ));
    window.wait("!document.querySelector('[aria-busy=true]')");
}

fn told(window: &Window) -> String {
    let script = "return document.querySelector('[data-testid=engram]').innerText";
    window
        .script(script, json!([]))
        .as_str()
        .unwrap()
        .to_owned()
}

/// A shop with these files, and a claim for each pointer.
fn shelf(dir: &std::path::Path, files: &[File], pointers: &[&str]) -> Shop {
    let mut shop = Shop::empty(dir);
    for folder in ["tools", "dist"] {
        fs::create_dir_all(shop.repo.join(folder)).unwrap();
    }
    for (path, bytes) in files {
        shop.write(path, bytes);
    }
    shop.commit("Add what else there is");
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
    let dir = tempfile::tempdir().unwrap();
    let pointers: Vec<&str> = CASES.iter().map(|it| it.pointer).collect();
    let shop = shelf(dir.path(), &files(), &pointers);
    let server = Server::start(&shop, &[]);
    let window = Window::browse(&server.url, &dir.path().join("person"));
    window.find("[data-testid=engram] [data-testid=digest]");
    for (case, id) in CASES.iter().zip(&shop.ids) {
        open(&window, id);
        window.find(case.shown);
        window.wait("document.querySelector('[data-testid=standing]')");
        window.keep_picture(
            &std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
                .join(format!("viewer-{}.png", case.name)),
        );
        let told = told(&window);
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
    }
    assert_eq!(
        window.script("return window.hacked ?? null", json!([])),
        Value::Null
    );

    // The picture is another one now, and a text became a picture: the window hears of it.
    open(&window, &shop.ids[0]);
    shop.write("docs/checkout.png", [PNG, &[8; 20_000]].concat());
    window.wait("document.querySelector('[data-testid=standing]')?.dataset.reading === 'edited'");
    window
        .wait("document.querySelector('[data-testid=media-now]')?.textContent.includes('20.0 KB')");
    assert_eq!(
        window.count("[data-testid=changes-button]"),
        0,
        "no lines to compare"
    );
    window.keep_picture(
        &std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("viewer-picture-edited.png"),
    );
}
