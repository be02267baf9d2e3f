//! How each view looks, compared with stored pictures. `ENGRAM_UPDATE_IMAGES=1 cargo xtask test
//! looks` updates them.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde_json::json;

use super::{
    narrow,
    shop::Shop,
    ways::{VIEWS, each_state},
};
use crate::{
    machine::{ok, run, system, workspace},
    stage::Stage,
    window::Window,
};

const SIZES: [(u32, u32); 2] = [(1280, 800), (900, 600)];
/// A narrow window, one just wide enough for two panes, and one of 1280 pixels at 200% zoom.
const NARROW: [(u32, u32); 3] = [(420, 700), (720, 600), (640, 400)];
/// How many pixels per thousand may differ, since browsers render letters slightly differently.
/// The digits of a gutter that scrolls are smoothed in one of two ways, which differ by 1.2.
const TOLERATED: f64 = 1.5;
/// How many pixels per thousand must differ for a new picture.
const WORTH: f64 = 0.1;

/// Draws the page in each theme and size, and compares it with the stored picture.
pub(crate) struct Looks {
    now: PathBuf,
    renews: bool,
    /// Further preferences that the system reports.
    wishes: Vec<(&'static str, &'static str)>,
    wrong: Vec<String>,
}

impl Looks {
    /// Keeps its pictures beside the other files of the tests.
    pub(crate) fn here() -> Self {
        Self::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("looks"))
    }

    /// Fails if something looks different.
    pub(crate) fn hold_all(&self) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
    }

    fn new(now: PathBuf) -> Self {
        fs::create_dir_all(&now).unwrap();
        Self {
            now,
            renews: env::var_os("ENGRAM_UPDATE_IMAGES").is_some(),
            wishes: Vec::new(),
            wrong: Vec::new(),
        }
    }

    fn compare(&mut self, window: &Window, name: &str) {
        self.compare_in(window, name, &SIZES);
    }

    pub(crate) fn compare_in(&mut self, window: &Window, name: &str, sizes: &[(u32, u32)]) {
        hide_places(window);
        window.script(
            "document.activeElement.style.caretColor = 'transparent'",
            json!([]),
        );
        for theme in ["light", "dark"] {
            let scheme = [("prefers-color-scheme", theme)];
            window.prefers(&[&scheme[..], &self.wishes].concat());
            for &(width, height) in sizes {
                window.size(width, height);
                // The opened panel is in view, whatever the height of the window.
                window.script("document.querySelector('[data-testid=blame]')?.scrollIntoView({block: 'nearest'})", json!([]));
                let file = format!("{name}-{width}-{theme}.png");
                let now = self.now.join(&file);
                fs::write(&now, at_rest(window)).unwrap();
                // Few colors: the files stay small, and an interface needs no more.
                ok(crate::machine::clean(system("mogrify"), &self.now)
                    .args([
                        "-strip",
                        "+dither",
                        "-colors",
                        "256",
                        "-define",
                        "png:compression-level=9",
                    ])
                    .arg(&now));
                self.hold(&file, &now, f64::from(width * height));
            }
        }
        window.size(1280, 800);
    }

    fn hold(&mut self, file: &str, now: &Path, pixels: f64) {
        let kept = workspace().join("tests/journey/dashboard/looks").join(file);
        let differ = if kept.exists() {
            differing(&kept, now, &self.now)
        } else {
            pixels
        };
        let tolerated = if self.renews { WORTH } else { TOLERATED };
        if differ * 1000.0 / pixels <= tolerated {
            return;
        }
        if self.renews {
            fs::create_dir_all(kept.parent().unwrap()).unwrap();
            fs::copy(now, &kept).unwrap();
            println!("renewed: {}", kept.display());
        } else {
            self.wrong.push(format!(
                "{file}: {differ} pixels differ; now: {}",
                now.display()
            ))
        }
    }
}

/// Returns the page once it no longer changes, since a color may still be fading.
fn at_rest(window: &Window) -> Vec<u8> {
    let mut last = window.png();
    for _ in 0..5 {
        let now = window.png();
        if now == last {
            break;
        }
        last = now;
    }
    last
}

/// Replaces paths, which differ in each test, with those of an ordinary machine.
pub(super) fn hide_places(window: &Window) {
    window.script(
        "document.querySelectorAll('[data-testid=about] code').forEach(it => it.textContent = '~/.engram');
         document.querySelectorAll('.command code').forEach(it => it.textContent = it.textContent.replace(/^.* connect/, 'engram connect'))",
        json!([]),
    );
}

/// Returns how many pixels of two pictures visibly differ; all, if their sizes differ.
fn differing(kept: &Path, now: &Path, home: &Path) -> f64 {
    // The width and height in a PNG's header.
    let size = |file: &Path| fs::read(file).unwrap().get(16..24).map(<[u8]>::to_vec);
    if size(kept) != size(now) {
        return f64::MAX;
    }
    let mut compare = crate::machine::clean(system("compare"), home);
    compare.args(["-metric", "AE", "-fuzz", "10%"]);
    let output = run(compare.arg(kept).arg(now).arg("null:"));
    let said = String::from_utf8_lossy(&output.stderr);
    said.split_whitespace()
        .next()
        .and_then(|it| it.parse().ok())
        .unwrap_or(f64::MAX)
}

#[test]
fn views_look_as_they_were_approved() {
    let Stage { window, .. } = &Stage::drifting(Shop::open());
    window.wait("document.querySelector('[data-testid=drift-view]')");
    let mut looks = Looks::here();
    for view in VIEWS {
        view.visit(window, view.keys);
        window.wait("document.querySelector('[data-testid=drift-view]')");
        window.wait("!document.querySelector('[aria-busy=true]')");
        looks.compare(window, view.name);
    }
    looks.hold_all();
}

#[test]
fn states_look_as_they_were_approved() {
    let mut looks = Looks::here();
    each_state(|window, name| {
        looks.compare(window, name);
        if name == "first-run" {
            looks.compare_in(window, name, &NARROW);
        }
    });
    looks.hold_all();
}

#[test]
fn narrow_windows_look_as_they_were_approved() {
    let Stage { window, .. } = &Stage::drifting(Shop::open());
    let mut looks = Looks::here();
    for (name, moves) in narrow::WAYS {
        window.size(420, 700);
        narrow::begin(window);
        window.make_all(moves);
        window.wait("!document.querySelector('[aria-busy=true]')");
        looks.compare_in(window, name, &NARROW);
    }
    looks.hold_all();
}

#[test]
fn every_component_looks_as_it_was_approved() {
    let Stage { window, .. } = &Stage::empty();
    window.find("[data-testid=first-run] .command");
    window.script("history.replaceState(null, '', '/#/gallery')", json!([]));
    window.post("/refresh", json!({}));
    window.find("[data-testid=gallery]");
    window.wait("!document.querySelector('.gallery [data-testid=engram] [aria-busy=true]')");
    let mut looks = Looks::here();
    // In three parts of about the same height, since a picture is at most 16,384 pixels high.
    for (name, third) in [("gallery", 0), ("gallery-more", 1), ("gallery-rest", 2)] {
        window.script(
            "const all = [...document.querySelectorAll('.gallery > section')];
             all.forEach(it => it.hidden = false);
             const high = all.map(it => it.offsetHeight), sum = high.reduce((a, b) => a + b);
             let above = 0;
             all.forEach((it, at) => {
                 it.hidden = Math.floor((above + high[at] / 2) * 3 / sum) !== arguments[0];
                 above += high[at];
             });",
            json!([third]),
        );
        looks.compare_in(window, name, &[(1280, height_of_the_gallery(window))]);
    }
    looks.hold_all();
}

/// Returns the height that shows the whole gallery without scrolling. Lists draw only visible rows,
/// so a higher window may need even more height.
fn height_of_the_gallery(window: &Window) -> u32 {
    let mut high = 800;
    loop {
        window.size(1280, high);
        let script = "const gallery = document.querySelector('.gallery'), done = arguments[0];
            gallery.scrollTop = 0;
            requestAnimationFrame(() => requestAnimationFrame(() => done(gallery.scrollHeight + 28)));";
        let needs = window.script_until(script, json!([])).as_u64().unwrap();
        let needs = u32::try_from(needs).unwrap();
        if needs <= high {
            return high;
        }
        assert!(needs < 16_384, "the gallery needs more parts: {needs}");
        high = needs;
    }
}

#[test]
fn what_a_system_wishes_and_a_large_screen_look_as_they_were_approved() {
    let Stage { window, .. } = &Stage::open();
    window.find("[data-testid=engram] [data-testid=digest]");
    window.wait("!document.querySelector('[aria-busy=true]')");
    let mut looks = Looks::here();
    looks.compare_in(window, "feed", &[(1920, 1080)]);
    for (name, wish) in [
        ("forced-colors", ("forced-colors", "active")),
        ("more-contrast", ("prefers-contrast", "more")),
    ] {
        looks.wishes = vec![wish];
        looks.compare_in(window, name, &[(1280, 800)]);
    }
    looks.wishes.clear();
    window.script(
        "document.documentElement.dataset.theme = 'contrast'",
        json!([]),
    );
    looks.compare_in(window, "contrast", &[(1280, 800)]);
    looks.hold_all();
}
