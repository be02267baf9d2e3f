//! What is counted, in the text form of Prometheus.

use std::collections::BTreeMap;

use engram_model::MetricsReply;

/// The exposition.
pub(super) fn text(metrics: &MetricsReply) -> String {
    let mut text = String::new();
    for (name, help, count) in [
        (
            "engram_put",
            "Versions of claims that were stored.",
            metrics.engram_put,
        ),
        ("engram_query", "Agent queries.", metrics.engram_query),
        (
            "deref_request",
            "Requests to read beyond a budget.",
            metrics.deref_request,
        ),
        (
            "deref_grant",
            "Grants that were given.",
            metrics.deref_grant,
        ),
        (
            "budget_reject",
            "Refusals of a budget.",
            metrics.budget_reject,
        ),
    ] {
        let name = format!("less_{name}_total");
        head(&mut text, &name, help, "counter");
        text.push_str(&format!("{name} {count}\n"));
    }
    let by_role = |text: &mut String, name: &str, help: &str, by: &BTreeMap<String, f64>| {
        labelled(text, name, help, "role", by.iter());
    };
    by_role(
        &mut text,
        "less_inline_tokens_per_turn",
        "Tokens of the messages of a turn, on average.",
        &metrics.inline_tokens_per_turn,
    );
    by_role(
        &mut text,
        "less_derefs_per_turn",
        "Dereferences that a turn paid for, on average.",
        &metrics.derefs_per_turn,
    );
    labelled(
        &mut text,
        "less_engrams",
        "Claims in the feed, with those that have ended.",
        "kind",
        metrics.engrams.iter(),
    );
    for (name, help, rate) in [
        (
            "contradiction",
            "Share of claims that are conflict risks.",
            metrics.contradiction_rate,
        ),
        (
            "resend",
            "Messages that were sent again after a refusal, of those accepted.",
            metrics.resend_rate,
        ),
    ] {
        let name = format!("less_{name}_rate");
        head(&mut text, &name, help, "gauge");
        text.push_str(&format!("{name} {rate}\n"));
    }
    text
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
}

fn labelled<'a>(
    text: &mut String,
    name: &str,
    help: &str,
    label: &str,
    values: impl Iterator<Item = (&'a String, impl std::fmt::Display)>,
) {
    head(text, name, help, "gauge");
    for (word, value) in values {
        text.push_str(&format!(
            "{name}{{{label}=\"{}\"}} {value}\n",
            escaped(word)
        ));
    }
}

/// What agents call their roles is theirs to say.
fn escaped(word: &str) -> String {
    word.replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_of_the_contract_is_there_and_no_role_breaks_a_line() {
        let role = "a\"b\\c\nd".to_owned();
        let metrics = MetricsReply {
            engram_put: 7,
            derefs_per_turn: [(role, 1.5)].into(),
            engrams: [("risk".to_owned(), 3)].into(),
            ..MetricsReply::default()
        };
        let text = text(&metrics);
        for line in [
            "less_engram_put_total 7",
            "less_engram_query_total 0",
            "less_deref_request_total 0",
            "less_deref_grant_total 0",
            "less_budget_reject_total 0",
            "# TYPE less_inline_tokens_per_turn gauge",
            r#"less_derefs_per_turn{role="a\"b\\c\nd"} 1.5"#,
            r#"less_engrams{kind="risk"} 3"#,
            "less_contradiction_rate 0",
            "less_resend_rate 0",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
    }
}
