//! The pictures of the documents: the window as the journey leaves it, with more to see.

use std::{env, fs, path::Path};

use serde_json::{Value, json};

use crate::{machine::workspace, repository::Repository, window::Window};

/// What other agents have to say of this project: true of its files, so that pictures are too.
pub fn others(repo: &Repository) -> Vec<Value> {
    let said = [
        (
            "architect",
            "policy",
            "model/refusals",
            "refusal.rs",
            "pub struct Refusal {",
            "}",
            "Every refusal carries a code, one sentence on what is wrong and one on what to do next.",
        ),
        (
            "programmer-1",
            "constraint",
            "model/budgets",
            "limits.rs",
            "impl Default for DerefLimits",
            "}",
            "An agent may read 3 repo spans and 1,200 tokens in one turn unless it is granted more.",
        ),
        (
            "programmer-2",
            "fact",
            "model/time",
            "engram.rs",
            "pub fn holds_at",
            "    }",
            "A claim holds from valid_from until its window closes or its ttl ends, whichever comes first.",
        ),
        (
            "reviewer",
            "risk",
            "model/surfaces",
            "request.rs",
            "pub enum Caller {",
            "}",
            "A surface that takes the caller from what a client says of itself would lift every budget.",
        ),
        (
            "architect",
            "decision",
            "model/ttl",
            "ttl.rs",
            "pub fn forever",
            "    }",
            "A claim without an end is written P100Y in the v0.1 form; the full record leaves ttl out.",
        ),
    ];
    let drafts = said.map(|(agent, kind, topic, file, begin, end, claim)| {
        let path = format!("crates/model/src/{file}");
        let (first, last) = repo.span(&path, begin, end);
        json!({"agent": agent, "kind": kind, "topic": topic, "claim": claim, "confidence": 0.9,
            "pointers": [format!("repo:{path}#L{first}-L{last}@HEAD")]})
    });
    drafts.into()
}

/// What a person sees, in both themes; into the documents where that was asked for.
pub fn pictures(window: &Window) {
    window.keys("\u{E00C}\u{E00C}"); // Escape: the notice goes, then the focus is on the feed
    window.wait("!document.querySelector('[data-testid=notice]')");
    let aside = json!({"type": "pointerMove", "duration": 0, "x": 1, "y": 1});
    window.post(
        "/actions",
        json!({"actions": [{"type": "pointer", "id": "mouse", "actions": [aside]}]}),
    );
    for theme in ["light", "dark"] {
        window.script(
            "document.documentElement.dataset.theme = arguments[0]",
            json!([theme]),
        );
        let name = format!("window-{theme}.png");
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
        window.picture(&file);
        println!("picture: {}", file.display());
        if env::var_os("ENGRAM_UPDATE_IMAGES").is_some() {
            let images = workspace().join("docs/images");
            fs::create_dir_all(&images).unwrap();
            fs::copy(&file, images.join(&name)).unwrap();
        }
    }
}
