//! The counts, by history and class.

use std::collections::BTreeMap;

use super::references::Fate;

/// The counts of one class in one history.
#[derive(Default, Clone)]
struct Count {
    all: usize,
    lines: usize,
}

/// The counts of one history.
#[derive(Default)]
pub(crate) struct Row {
    classes: BTreeMap<&'static str, Count>,
    /// Spans called intact that were not.
    intact: usize,
    /// Spans placed where they do not exist, or in a place that shares no line with the true one.
    elsewhere: usize,
    /// Spans on which the references differ; `like_one` counts those on which engram agrees with
    /// one of them.
    apart: usize,
    like_one: usize,
}

impl Row {
    pub(crate) fn note(&mut self, ours: &Fate, truth: &Fate) {
        let count = self.classes.entry(truth.name()).or_default();
        count.all += 1;
        let is_same = ours.name() == truth.name() && ours.workload() == truth.workload();
        count.lines += usize::from(is_same);
        let intact = ours.name() == "intact" && truth.name() != "intact";
        self.intact += usize::from(intact);
        self.elsewhere += usize::from(is_elsewhere(ours, truth));
    }

    fn add(&mut self, other: &Row) {
        for (class, others) in &other.classes {
            let count = self.classes.entry(class).or_default();
            count.all += others.all;
            count.lines += others.lines;
        }
        self.intact += other.intact;
        self.elsewhere += other.elsewhere;
        self.apart += other.apart;
        self.like_one += other.like_one;
    }

    fn print(&self, name: &str, references: bool) {
        let classes = self.classes.values();
        let (all, lines) = classes.fold((0, 0), |sum, it| (sum.0 + it.all, sum.1 + it.lines));
        let class = |name: &str| match self.classes.get(name) {
            Some(counts) => format!("{} / {}", counts.lines, counts.all),
            None => String::new(),
        };
        let apart = if references {
            format!(" {} / {} |", self.like_one, self.apart)
        } else {
            String::new()
        };
        println!(
            "| {name} | {} | {} | {} | {} | {:.2} % | {} | {} |{apart}",
            all,
            class("intact"),
            class("edited"),
            class("deleted"),
            100.0 * lines as f64 / all.max(1) as f64,
            self.intact,
            self.elsewhere,
        );
    }
}

fn is_elsewhere(ours: &Fate, truth: &Fate) -> bool {
    match (ours.workload(), truth.workload()) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(a), Some(b)) => a.path != b.path || a.end < b.start || b.end < a.start,
    }
}

/// The rows by history.
#[derive(Default)]
pub(crate) struct Table {
    rows: BTreeMap<String, Row>,
}

impl Table {
    pub(crate) fn row(&mut self, name: &str) -> &mut Row {
        self.rows.entry(name.to_owned()).or_default()
    }

    /// Records a span on which the references differ, which says nothing about who is right.
    pub(crate) fn disagree(&mut self, name: &str, ours: &Fate, a: &Fate, b: &Fate) {
        let row = self.row(name);
        row.apart += 1;
        row.like_one += usize::from(ours == a || ours == b);
    }

    /// Prints the table. `spans` names what is counted; `references` says whether there are two
    /// references that may differ.
    pub(crate) fn print(&self, spans: &str, references: bool) {
        if self.rows.is_empty() {
            return;
        }
        let (title, rule) = if references {
            (" like one, where they differ |", "---|")
        } else {
            ("", "")
        };
        println!(
            "\n| history | {spans} | intact | edited | deleted | state and lines right | called intact, was not | wrong place |{title}"
        );
        println!("|---|---|---|---|---|---|---|---|{rule}");
        let mut sum = Row::default();
        for (name, row) in &self.rows {
            row.print(name, references);
            sum.add(row);
        }
        if references {
            sum.print("all", references);
        }
    }
}
