//! Reads the sets of pairs; `developed.txt` explains their format.

/// Two claims, and whether they cannot both hold.
pub(crate) struct Pair {
    pub(crate) class: String,
    pub(crate) conflict: bool,
    pub(crate) a: String,
    pub(crate) b: String,
    pub(crate) topic_a: String,
    pub(crate) topic_b: String,
}

pub(crate) fn developed() -> Vec<Pair> {
    read("developed.txt")
}

pub(crate) fn unseen() -> Vec<Pair> {
    read("unseen.txt")
}

/// The pairs of two strangers, each with whether it may be read.
pub(crate) fn strangers() -> Vec<(Pair, bool)> {
    in_lines("strangers.jsonl")
}

/// Pairs of three other strangers, of classes that the first have not: one chose the facts, two worded
/// them. No rule and no threshold was made with them.
pub(crate) fn of_other_classes() -> Vec<Pair> {
    let pairs = in_lines("other_classes.jsonl").into_iter();
    pairs.map(|it| it.0).collect()
}

fn in_lines(name: &str) -> Vec<(Pair, bool)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/claims");
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let pair = |line: &str| {
        let pair: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| pair[key].as_str().unwrap().to_owned();
        let number: u32 = text("id")[1..].parse().unwrap();
        let pair = Pair {
            class: text("type"),
            conflict: text("label") == "contradiction",
            a: text("a"),
            b: text("b"),
            topic_a: String::new(),
            topic_b: String::new(),
        };
        (pair, number % 2 == 1)
    };
    text.lines().map(pair).collect()
}

fn read(name: &str) -> Vec<Pair> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/claims");
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let mut found = Vec::new();
    let mut heading = (String::new(), false);
    for line in text
        .lines()
        .filter(|it| !it.is_empty() && !it.starts_with('#'))
    {
        if let Some(rest) = line.strip_prefix("== ") {
            let (class, kind) = rest.split_once(' ').unwrap();
            assert!(["conflict", "none"].contains(&kind), "{line}");
            heading = (class.to_owned(), kind == "conflict");
            continue;
        }
        let (topics, claims) = line.split_once(": ").unwrap();
        let (topic_a, topic_b) = topics.split_once(" ~ ").unwrap_or((topics, topics));
        let (a, b) = claims.split_once(" | ").unwrap_or_else(|| panic!("{line}"));
        found.push(Pair {
            class: heading.0.clone(),
            conflict: heading.1,
            a: a.trim().to_owned(),
            b: b.trim().to_owned(),
            topic_a: topic_a.trim().to_owned(),
            topic_b: topic_b.trim().to_owned(),
        });
    }
    found
}

/// Each of the thirteen classes used to compare peers has twenty pairs, and about half of all pairs
/// are look-alikes.
#[test]
fn the_sets_are_what_they_say() {
    let developed = developed();
    let of = |class: &str| developed.iter().filter(|it| it.class == class).count();
    for class in [
        "numeric",
        "version",
        "config_key",
        "boolean",
        "entity_value",
        "negation",
        "paraphrase",
        "other_entity",
        "environment",
        "equal_units",
        "other_attribute",
        "reworded",
        "unrelated",
    ] {
        assert_eq!(of(class), 20, "{class}");
    }
    for (set, least) in [(&developed, 300), (&unseen(), 120)] {
        let conflicts = set.iter().filter(|it| it.conflict).count();
        assert!(set.len() >= least, "{} pairs", set.len());
        assert!((0.4..=0.6).contains(&(conflicts as f64 / set.len() as f64)));
    }
}
