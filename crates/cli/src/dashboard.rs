//! The window's files, built by `cargo xtask ui` and embedded in this program.

use engram_server::Pages;

#[cfg(feature = "dashboard")]
macro_rules! built {
    ($($name:literal)+) => {
        static BUILT: &[(&str, &[u8])] =
            &[$(($name, include_bytes!(concat!("../../../ui/dist/", $name)))),+];
    };
}

#[cfg(feature = "dashboard")]
built! {
    "index.html"
    "style.css"
    "ui.js"
    "ui_bg.wasm"
    "fonts/inter.woff2"
    "fonts/inter.OFL.txt"
    "fonts/jetbrains-mono.woff2"
    "fonts/jetbrains-mono.OFL.txt"
}

#[cfg(feature = "dashboard")]
pub(crate) fn pages() -> Pages {
    Pages::Built(BUILT)
}

#[cfg(not(feature = "dashboard"))]
pub(crate) fn pages() -> Pages {
    Pages::None
}

#[cfg(all(test, feature = "dashboard"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{collections::BTreeSet, fs, path::Path};

    /// Returns the paths of the files below a folder, with `/` between names.
    fn files(folder: &Path, below: &str) -> Vec<String> {
        let entries = fs::read_dir(folder.join(below)).unwrap().flatten();
        let each = entries.flat_map(|entry| {
            let name = format!("{below}{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                files(folder, &format!("{name}/"))
            } else {
                vec![name]
            }
        });
        each.collect()
    }

    #[test]
    fn every_file_of_the_built_window_is_inside() {
        let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/dist");
        let inside: BTreeSet<_> = super::BUILT.iter().map(|it| it.0.to_owned()).collect();
        assert_eq!(inside, files(&dist, "").into_iter().collect());
    }
}
