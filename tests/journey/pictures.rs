//! The pictures of the documents: the window as the journey leaves it, with more to see.

use std::{env, fs, path::Path};

use serde_json::json;

use crate::{machine::workspace, window::Window};

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
        window.themed(theme);
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
