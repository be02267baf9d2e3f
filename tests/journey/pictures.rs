//! The pictures in the documents: the window at the end of the journey, with more claims.

use std::{env, fs, path::Path};

use serde_json::json;

use crate::{machine::workspace, window::Window};

/// Takes pictures in both themes; they go into the documents if that was requested.
pub fn pictures(window: &Window) {
    window.keys("\u{E00C}\u{E00C}"); // Escape: the notice closes, then the focus is on the feed
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
