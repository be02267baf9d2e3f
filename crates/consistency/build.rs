//! Turns the kept rules into constants, so that nothing is parsed at run time and all processes of
//! a machine share the pages. Reads only `rules/betterleaks.toml`.

use std::{env, error::Error, fmt::Write, fs, path::Path};

use serde::Deserialize;

const KEPT: &str = "rules/betterleaks.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptRules {
    unless: Vec<String>,
    rules: Vec<KeptRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptRule {
    name: String,
    pattern: String,
    keywords: Vec<String>,
    #[serde(default)]
    group: usize,
    #[serde(default)]
    least: f64,
    above: Option<f64>,
    #[serde(default)]
    no_words: bool,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    only: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={KEPT}");
    let kept: KeptRules = toml::from_str(&fs::read_to_string(KEPT)?)?;
    let mut code = String::new();
    writeln!(code, "const UNLESS: &[&str] = &{:?};", kept.unless)?;
    writeln!(code, "const KEPT: &[Rule] = &[")?;
    for rule in kept.rules {
        let KeptRule {
            name,
            pattern,
            keywords,
            group,
            unless,
            only,
            ..
        } = &rule;
        let least = rule.above.map_or(rule.least, f64::next_up);
        let judge = if rule.no_words {
            "value::drawn_and_no_words"
        } else {
            "value::no_placeholder"
        };
        writeln!(
            code,
            "Rule {{ name: {name:?}, pattern: {pattern:?}, keywords: &{keywords:?}, group: {group}, \
             least: {least:?}_f64, unless: &{unless:?}, only: &{only:?}, judge: {judge} }},"
        )?;
    }
    writeln!(code, "];")?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("kept.rs"), code)?;
    Ok(())
}
