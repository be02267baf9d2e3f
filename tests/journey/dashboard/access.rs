//! What screen readers announce of a page: checked by axe's rules, and kept as readable text.

use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};

use super::{
    looks,
    shop::Shop,
    ways::{VIEWS, each_state},
};
use crate::{machine::tool, stage::Stage, window::Window};

/// All themes, and the preferences that a system can report.
const THEMES: &[(&str, &str)] = &[
    ("light", "light"),
    ("dark", "dark"),
    ("contrast", "light"),
    ("contrast", "dark"),
];

#[test]
fn axe_has_nothing_against_any_view_in_any_theme() {
    let Stage { window, .. } = &Stage::drifting(Shop::open());
    let mut violations = Vec::new();
    for view in VIEWS {
        view.visit(window, view.keys);
        violations.extend(complaints(window, view.name));
    }
    each_state(|window, name| violations.extend(complaints(window, name)));
    // Every component in every state. Ids occur many times there, so only colors are checked.
    window.script("history.replaceState(null, '', '/#/gallery')", json!([]));
    window.post("/refresh", json!({}));
    window.find("[data-testid=gallery]");
    let seen = complaints(window, "gallery").into_iter();
    violations.extend(seen.filter(|it| it.contains("color-contrast")));
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

/// Returns the rules of axe.
pub(crate) fn axe() -> String {
    fs::read_to_string(tool("axe/node_modules/axe-core/axe.min.js")).unwrap()
}

/// Returns the faults that axe finds in each theme.
pub(super) fn complaints(window: &Window, name: &str) -> Vec<String> {
    complaints_in(window, name, THEMES)
}

/// Fails if axe finds a fault.
pub(crate) fn is_clean(window: &Window, name: &str) {
    let found = complaints(window, name);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Returns the faults that axe finds in one theme. The others differ only in colors, which were
/// checked before.
pub(super) fn complaints_in_light(window: &Window, name: &str) -> Vec<String> {
    complaints_in(window, name, &THEMES[..1])
}

fn complaints_in(window: &Window, name: &str, themes: &[(&str, &str)]) -> Vec<String> {
    let before = window.script(
        "return document.documentElement.dataset.theme ?? ''",
        json!([]),
    );
    window.script(&axe(), json!([]));
    let mut all = Vec::new();
    for (index, (theme, scheme)) in themes.iter().enumerate() {
        window.prefers(&[("prefers-color-scheme", scheme)]);
        window.themed(theme);
        // A theme changes only colors.
        let found = window.ask_axe(index == 0);
        all.extend(
            found
                .into_iter()
                .map(|it| format!("{name}, {theme} {scheme}: {it}")),
        );
    }
    window.prefers(&[]);
    window.themed(before.as_str().expect("a theme"));
    all
}

#[test]
fn roles_and_names_are_as_a_person_would_hear_them() {
    let Stage { shop, window, .. } = &Stage::drifting(Shop::open());
    let home = shop.home.display().to_string();
    let hear = |window: &Window, name: &str| {
        window.tool("Accessibility.enable", json!({}));
        looks::hide_places(window);
        insta::assert_snapshot!(name, accessibility_tree(window).replace(&home, "HOME"));
    };
    for view in VIEWS {
        view.visit(window, view.keys);
        hear(window, view.name);
    }
    each_state(hear);
}

/// Returns the accessibility tree: a role and a name on each line, indented by depth.
fn accessibility_tree(window: &Window) -> String {
    let tree = window.tool("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().expect("nodes");
    let by_id: BTreeMap<&str, &Value> = nodes
        .iter()
        .map(|it| (it["nodeId"].as_str().unwrap(), it))
        .collect();
    let mut text = String::new();
    if let Some(root) = nodes.first() {
        add_to_tree(root, &by_id, 0, &mut text);
    }
    text
}

fn add_to_tree(node: &Value, all: &BTreeMap<&str, &Value>, depth: usize, text: &mut String) {
    let role = node["role"]["value"].as_str().unwrap_or_default();
    let name = node["name"]["value"].as_str().unwrap_or_default();
    // Recent status messages depend on time.
    if role == "status" {
        return;
    }
    let is_silent = node["ignored"] == true
        || matches!(role, "none" | "generic" | "InlineTextBox" | "LineBreak")
        || (role == "StaticText" && name.trim().is_empty());
    let mut inner = depth;
    if !is_silent {
        let states = node["properties"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|property| {
                let value = &property["value"]["value"];
                let name = property["name"].as_str()?;
                let is_told = matches!(
                    name,
                    "expanded"
                        | "pressed"
                        | "selected"
                        | "disabled"
                        | "checked"
                        | "modal"
                        | "level"
                        | "focused"
                );
                match (is_told, value) {
                    (true, Value::Bool(true)) => Some(format!(" [{name}]")),
                    (true, Value::String(value)) if value == "true" => Some(format!(" [{name}]")),
                    (true, Value::Number(value)) => Some(format!(" [{name} {value}]")),
                    _ => None,
                }
            });
        let states: String = states.collect();
        let role = if role == "StaticText" { "text" } else { role };
        let name = if name.is_empty() {
            String::new()
        } else {
            format!(" {name:?}")
        };
        text.push_str(&format!("{}{role}{name}{states}\n", "  ".repeat(depth)));
        inner += 1;
        // The text inside a button or an option is its name, which is already listed.
        let tells_all = matches!(
            role,
            "button"
                | "option"
                | "text"
                | "link"
                | "heading"
                | "tab"
                | "term"
                | "cell"
                | "columnheader"
        );
        if tells_all {
            return;
        }
    }
    for child in node["childIds"].as_array().into_iter().flatten() {
        if let Some(child) = child.as_str().and_then(|it| all.get(it)) {
            add_to_tree(child, all, inner, text);
        }
    }
}
