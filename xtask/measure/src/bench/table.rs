//! The table: one row per measure, with engram's figures, the baseline, and whether the bar is met.

use std::time::Duration;

/// The maximum ratio of our time to the other's.
pub(super) struct Bar {
    pub(super) most: f64,
    pub(super) goal: Option<f64>,
}

impl Bar {
    pub(super) const fn at_most(most: f64) -> Self {
        Self { most, goal: None }
    }
}

/// The name of a baseline, and its times.
pub(super) type Beside<'a> = (&'a str, &'a [Duration]);

pub(super) fn print_head() {
    println!("| measure | p50 | p95 | baseline: p50 | p95 | ratio | bar | what the baseline is |");
    println!("|---|---|---|---|---|---|---|---|");
}

/// Prints a row with our times, and the ratio to the baseline at the same quantile.
pub(super) fn print_row(
    what: &str,
    times: &[Duration],
    beside: Beside<'_>,
    at: f64,
    bar: Option<Bar>,
) {
    let seconds = |times| quantile(times, at).as_secs_f64();
    let ratio = seconds(times) / seconds(beside.1);
    let ratio_of = match at {
        0.5 => String::new(),
        at => format!(" (p{:.0})", at * 100.0),
    };
    println!(
        "| {what} | {} | {} | {} | {} | {ratio:.2}{ratio_of} | {} | {} |",
        ms(quantile(times, 0.5)),
        ms(quantile(times, 0.95)),
        ms(quantile(beside.1, 0.5)),
        ms(quantile(beside.1, 0.95)),
        bar.map(|it| it.words(ratio)).unwrap_or_default(),
        beside.0,
    );
}

/// Prints times without a baseline.
pub(super) fn print_plain_row(what: &str, times: &[Duration], remark: &str) {
    println!(
        "| {what} | {} | {} | | | | | {remark} |",
        ms(quantile(times, 0.5)),
        ms(quantile(times, 0.95)),
    );
}

/// Prints a single number.
pub(super) fn print_figure(what: &str, value: &str, bar: &str) {
    println!("| {what} | {value} | | | | | {bar} | |");
}

/// Returns a bar with whether it was met; a missed one stands out.
pub(super) fn bar_outcome(is_met: bool, bar: &str) -> String {
    if is_met {
        format!("{bar}: met")
    } else {
        format!("{bar}: **missed**")
    }
}

impl Bar {
    fn words(&self, ratio: f64) -> String {
        let bar = bar_outcome(ratio <= self.most, &format!("at most {}", self.most));
        match self.goal {
            None => bar,
            Some(goal) if ratio <= goal => format!("{bar}, and the goal of {goal}"),
            Some(goal) => format!("{bar}; the goal is {goal}"),
        }
    }
}

pub(super) fn quantile(times: &[Duration], q: f64) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    let at = (sorted.len().saturating_sub(1) as f64 * q).round() as usize;
    sorted.get(at).copied().unwrap_or_default()
}

pub(super) fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_bar_stands_out() {
        let bar = |most, goal| Bar { most, goal };
        for (bar, ratio, expected) in [
            (
                bar(4.0, Some(2.5)),
                10.8,
                "at most 4: **missed**; the goal is 2.5",
            ),
            (bar(4.0, Some(2.5)), 3.9, "at most 4: met; the goal is 2.5"),
            (
                bar(4.0, Some(2.5)),
                2.5,
                "at most 4: met, and the goal of 2.5",
            ),
            (bar(2.0, None), 2.0, "at most 2: met"),
        ] {
            assert_eq!(bar.words(ratio), expected);
        }
    }

    #[test]
    fn quantiles_are_of_what_was_measured() {
        let times: Vec<Duration> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(ms(quantile(&times, 0.5)), "51.00 ms");
        assert_eq!(ms(quantile(&times, 0.95)), "95.00 ms");
        assert_eq!(quantile(&[], 0.5), Duration::ZERO);
    }
}
