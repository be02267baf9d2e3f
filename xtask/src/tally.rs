//! Counts what the test binaries of `cargo test` report.

/// Totals over all test binaries.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
    pub ignored: u64,
    /// Binaries that ended without a summary.
    pub crashed: u64,
    /// The tests that failed, by name.
    pub names: Vec<String>,
    /// Whether a binary has started whose summary is still missing.
    running: bool,
}

impl Tally {
    /// Reads one line of output; lines without results change nothing.
    pub fn read(&mut self, line: &str) {
        let line = line.trim();
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.running = false;
            self.count(counts);
        } else if line.starts_with("Running ") || line.starts_with("Doc-tests ") {
            self.close();
            self.running = true;
        } else if let Some(test) = line.strip_prefix("test ")
            && let Some(name) = test.strip_suffix(" ... FAILED")
        {
            self.names.push(name.to_owned());
        }
    }

    /// Ends the input.
    pub fn close(&mut self) {
        self.crashed += u64::from(std::mem::take(&mut self.running));
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.crashed += other.crashed;
        self.names.extend(other.names);
    }

    /// Failed tests and crashed binaries.
    pub fn failures(&self) -> u64 {
        self.failed + self.crashed
    }

    fn count(&mut self, counts: &str) {
        for part in counts.split([';', '.']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(word)) = (words.next(), words.next()) else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        lines.iter().for_each(|line| tally.read(line));
        tally.close();
        tally
    }

    #[test]
    fn summaries_are_summed() {
        let tally = read(&[
            "     Running unittests src/lib.rs (target/debug/deps/a-1)",
            "test store::put ... ok",
            "test store::query ... FAILED",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s",
            "     Running tests/journey/main.rs (target/debug/deps/b-2)",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.50s",
            "   Doc-tests engram_model",
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "5 passed, but said by somebody else",
        ]);
        let expected = Tally {
            passed: 17,
            failed: 2,
            ignored: 1,
            names: vec!["store::query".to_owned()],
            ..Tally::default()
        };
        assert_eq!(tally, expected);
    }

    #[test]
    fn a_binary_without_a_summary_is_a_failure() {
        let ok = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        for (lines, crashed) in [
            (vec!["Running a", "Running b", ok], 1),
            (vec!["Running a", ok, "Running b"], 1),
            (vec!["Doc-tests a", ok, ok, "Running b", "Running c"], 2),
        ] {
            assert_eq!(read(&lines).failures(), crashed, "{lines:?}");
        }
    }
}
