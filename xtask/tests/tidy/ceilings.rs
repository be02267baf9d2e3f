//! The ceilings of the figures in `shape`, which may only fall (docs/shape.md).

use crate::{
    shape::{Figure, measure},
    workspace::{assert_none, root},
};

/// Each figure with its ceiling. Lower a ceiling when its figure has fallen.
const CEILINGS: &[(&str, usize)] = &[
    ("methods of the engine's Context", 30),
    ("methods of the front end's App", 15),
    ("types and traits with over 100 methods", 0),
    ("names of several types", 0),
    ("names of several types, not all private", 0),
    ("bindings called it", 0),
    ("matches on a bool", 0),
    ("functions over 80 lines", 0),
    ("files over 600 lines", 0),
    ("files over 600 lines, tests too", 0),
    ("folders with over 20 files", 0),
];

#[test]
fn figures_only_fall() {
    let shape = measure(root());
    let mut above = Vec::new();
    for Figure { name, places } in &shape.figures {
        let held = CEILINGS.iter().find(|it| it.0 == *name);
        let (_, ceiling) = held.unwrap_or_else(|| panic!("{name} has no ceiling"));
        if places.len() > *ceiling {
            let count = places.len();
            above.push(format!("{name}: {count}, of at most {ceiling}"));
            above.extend(places.iter().take(40).map(|it| format!("  {it}")));
        }
    }
    assert_none(
        "figures above their ceilings; each place is printed by `cargo run -p xtask --example shape . FIGURE`",
        above,
    );
}
