//! Deliberate faults in messages. Each is refused, however it is hidden.

use serde_json::{Value, json};

/// The material for a faulty message: lines of code, and prose by the page.
pub(crate) struct Matter<'a> {
    pub(crate) code: &'a [&'a str],
    pub(crate) prose: &'a str,
}

/// The name of a fault, and the function that adds it to a sound message.
pub(crate) type Wrong = (&'static str, fn(&mut Value, &Matter<'_>));

/// Faults in a child's message.
pub(crate) const OF_CHILD: &[Wrong] = &[
    ("a page of a document", |message, of| {
        message["output"]["summary"] = of.prose.into();
    }),
    ("a page of a document in what comes next", |message, of| {
        message["output"]["next"] = of.prose.into();
    }),
    ("code in a fence", |message, of| {
        summary(
            message,
            &format!("It reads:\n```rust\n{}\n```", of.code.join("\n")),
        );
    }),
    ("a diff in prose", |message, of| {
        summary(message, &format!("The change is:\n{}", each(of, "+", "")));
    }),
    ("code that is quoted", |message, of| {
        summary(message, &format!("It says:\n{}", each(of, "> ", "")));
    }),
    ("code in a numbered list", |message, of| {
        let lines = of.code.iter().zip(1..);
        let lines: Vec<String> = lines
            .map(|(line, at)| format!("{at}. {}", line.trim()))
            .collect();
        summary(message, &lines.join("\n"));
    }),
    ("code in cells of a table", |message, of| {
        summary(
            message,
            &format!("| what |\n|---|\n{}", each(of, "| ", " |")),
        );
    }),
    ("code in hexadecimal", |message, of| {
        let hex: String = of
            .code
            .join("\n")
            .bytes()
            .map(|it| format!("{it:02x}"))
            .collect();
        summary(message, &format!("In other words {hex}."));
    }),
    ("code in full-width letters", |message, of| {
        let wide = |it: char| match it {
            '!'..='~' => char::from_u32(u32::from(it) + 0xfee0).unwrap_or(it),
            letter => letter,
        };
        summary(
            message,
            &of.code.join("\n").chars().map(wide).collect::<String>(),
        );
    }),
    ("a statement in each claim", |message, of| {
        for (at, line) in of.code.iter().enumerate() {
            if let Some(engram) = message["engrams"].get_mut(at) {
                engram["claim"] = line.trim().into();
            }
        }
    }),
    ("code in a claim", |message, of| {
        message["engrams"][0]["claim"] = of.code.join("\n").into();
    }),
    ("thirteen engrams", |message, _| {
        let one = message["engrams"][0].clone();
        message["engrams"] = (0..13).map(|_| one.clone()).collect();
    }),
    ("a summary of six sentences", |message, _| {
        summary(
            message,
            "One is done. Two is done. Three is done. Four is done. Five is done. Six is open.",
        );
    }),
    ("a claim without pointers", |message, _| {
        message["engrams"][0]["pointers"] = json!([]);
    }),
    ("a pointer without a pin", |message, _| {
        let pointer = message["engrams"][0]["pointers"][0]
            .as_str()
            .unwrap_or_default();
        message["engrams"][0]["pointers"][0] = pointer.replace("@HEAD", "").into();
    }),
    ("a pointer to nothing", |message, _| {
        message["engrams"][0]["pointers"][0] = "repo:src/nothing.rs#L1-L9@HEAD".into();
    }),
    ("a claim of a paragraph", |message, of| {
        let end = of.prose.floor_char_boundary(900);
        message["engrams"][0]["claim"] = of.prose[..end].into();
    }),
];

/// Faults in a parent's message.
pub(crate) const OF_PARENT: &[Wrong] = &[
    ("a page of a document", |message, of| {
        message["instructions"] = json!([of.prose]);
    }),
    ("thirty-one lines of brief", |message, _| {
        let lines = (1..=31).map(|at| format!("Goal {at}."));
        message["shared_brief_micro"] = lines.collect();
    }),
    ("lines of brief in one string", |message, _| {
        let lines: Vec<String> = (1..=31).map(|at| format!("Goal {at}.")).collect();
        message["shared_brief_micro"] = json!([lines.join("\u{2028}")]);
    }),
    ("code in an instruction", |message, of| {
        message["instructions"] = json!([of.code.join("\n")]);
    }),
    ("code in the brief", |message, of| {
        message["shared_brief_micro"] = of.code.iter().map(|it| it.trim()).collect();
    }),
    ("a budget wider than the home's", |message, _| {
        message["budgets"] = json!({ "max_repo_spans": 30 });
    }),
    ("a budget that does not exist", |message, _| {
        message["budgets"] = json!({ "max_everything": 1 });
    }),
    ("a pointer to nothing", |message, _| {
        message["target_pointer_pack"] = json!(["repo:src/nothing.rs#L1-L9@HEAD"]);
    }),
];

fn summary(message: &mut Value, text: &str) {
    message["output"]["summary"] = text.into();
}

fn each(of: &Matter<'_>, before: &str, after: &str) -> String {
    let lines = of.code.iter().map(|it| format!("{before}{it}{after}"));
    lines.collect::<Vec<_>>().join("\n")
}
