//! Progress: the number of each step, how long it took, and how to run a failed one alone.

use std::time::{Duration, Instant};

use anyhow::Result;

/// The steps of one task, run in order.
pub struct Steps {
    total: usize,
    begun: usize,
    started: Instant,
    failures: Vec<String>,
}

impl Steps {
    pub fn new(total: usize) -> Self {
        Self {
            total,
            begun: 0,
            started: Instant::now(),
            failures: Vec::new(),
        }
    }

    /// Runs one step. A failure is shown with `again`, the line that runs this step alone.
    pub fn step<T>(
        &mut self,
        name: &str,
        again: &str,
        work: impl FnOnce() -> Result<T>,
    ) -> Option<T> {
        self.begun += 1;
        let place = format!("[{}/{}]", self.begun, self.total);
        println!(
            "\n{place} {name} ({} so far)",
            human_duration(self.started.elapsed())
        );
        let begun = Instant::now();
        match work() {
            Ok(value) => {
                println!("{place} {name}: ok in {}", human_duration(begun.elapsed()));
                Some(value)
            }
            Err(error) => {
                println!(
                    "{place} {name}: FAILED after {}: {error:#}",
                    human_duration(begun.elapsed())
                );
                println!("      again, alone: {again}");
                self.failures
                    .push(format!("{name} (again, alone: {again})"));
                None
            }
        }
    }

    /// The steps that failed, in order.
    pub fn failures(&self) -> &[String] {
        &self.failures
    }

    /// The time since the first step.
    pub fn elapsed(&self) -> String {
        human_duration(self.started.elapsed())
    }
}

/// Formats a duration as `8 s` or `3 min 20 s`.
pub fn human_duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_kept_with_the_way_back() {
        let mut steps = Steps::new(2);
        assert_eq!(steps.step("one", "one!", || Ok(1)), Some(1));
        assert_eq!(
            steps.step("two", "two!", || anyhow::bail!("no") as Result<()>),
            None
        );
        assert_eq!(steps.failures(), ["two (again, alone: two!)"]);
    }

    #[test]
    fn times_read_well() {
        for (seconds, expected) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min 00 s"),
            (3605, "60 min 05 s"),
        ] {
            assert_eq!(human_duration(Duration::from_secs(seconds)), expected);
        }
    }
}
