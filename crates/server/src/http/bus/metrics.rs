//! The metrics in the text form of Prometheus.

use std::collections::BTreeMap;

use engram_model::MetricsReply;

/// Returns the metrics as text.
#[rustfmt::skip]
pub(super) fn prometheus_text(metrics: &MetricsReply) -> String {
    let one = |value: String| vec![(String::new(), value)];
    let count = |count: u64| one(count.to_string());
    let rate = |rate: f64| one(rate.to_string());
    let by_role = |by: &BTreeMap<String, f64>| label_values("role", by.iter());
    let all = [
        ("engram_put_total", "counter", "Versions of claims that were stored.", count(metrics.engram_put)),
        ("engram_query_total", "counter", "Agent queries.", count(metrics.engram_query)),
        ("deref_request_total", "counter", "Requests to read beyond a budget.", count(metrics.deref_request)),
        ("deref_grant_total", "counter", "Grants issued.", count(metrics.deref_grant)),
        ("budget_reject_total", "counter", "Refusals by a budget.", count(metrics.budget_reject)),
        ("inline_tokens_per_turn", "gauge", "Tokens of the messages of a turn, on average.",
            by_role(&metrics.inline_tokens_per_turn)),
        ("derefs_per_turn", "gauge", "Dereferences that a turn paid for, on average.",
            by_role(&metrics.derefs_per_turn)),
        ("engrams", "gauge", "Claims in the feed, including those that have ended.",
            label_values("kind", metrics.engrams.iter())),
        ("contradiction_rate", "gauge", "Share of claims that are conflict risks.", rate(metrics.contradiction_rate)),
        ("resend_rate", "gauge", "Share of accepted messages that were sent again after a refusal.",
            rate(metrics.resend_rate)),
    ];
    let mut text = String::new();
    for (name, kind, help, values) in all {
        text.push_str(&format!("# HELP less_{name} {help}\n# TYPE less_{name} {kind}\n"));
        for (label, value) in values {
            text.push_str(&format!("less_{name}{label} {value}\n"));
        }
    }
    text
}

/// Pairs each value with its label.
fn label_values<'a>(
    label: &str,
    values: impl Iterator<Item = (&'a String, impl ToString)>,
) -> Vec<(String, String)> {
    let one = |(word, value): (&String, _)| {
        let label = format!("{{{label}=\"{}\"}}", escape_label(word));
        (label, ToString::to_string(&value))
    };
    values.map(one).collect()
}

/// Escapes a label value: agents choose the names of their roles.
fn escape_label(word: &str) -> String {
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
        let text = prometheus_text(&metrics);
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
