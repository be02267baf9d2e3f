//! The output of a command, as text or as JSON.

use std::process::Output;

use serde_json::Value;

/// The result of a command.
#[derive(Debug)]
pub struct CommandOutput {
    /// Its exit code.
    pub code: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

/// Returns the result of a command that ended.
pub fn output_of(output: Output) -> CommandOutput {
    CommandOutput {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
    }
}

impl CommandOutput {
    /// Returns the one JSON object on standard output, and asserts exit 0 and an empty standard
    /// error.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert_eq!(self.err, "", "nothing on standard error");
        let value = serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"));
        assert_eq!(self.out.lines().count(), 1, "one line: {self:?}");
        value
    }

    /// Returns each line as a JSON object, and asserts exit 0.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }

    /// Returns the one error object on standard error, and asserts exit 1 and an empty standard
    /// output.
    #[track_caller]
    pub fn error(&self) -> Value {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
        assert_eq!(self.err.lines().count(), 1, "{self:?}");
        let value: Value = serde_json::from_str(&self.err).unwrap();
        assert_eq!(keys(&value), ["error"]);
        check_error(&value["error"]);
        value["error"].clone()
    }

    /// Asserts that the command was refused with this code.
    #[track_caller]
    pub fn refused(&self, code: &str) {
        let error = self.error();
        assert_eq!(error["code"], code, "{error}");
    }
}

/// Asserts that an error has a code, a message and a hint, and no other keys except those that say
/// how to pass.
#[track_caller]
pub fn check_error(error: &Value) {
    let remedy = ["cut", "figures", "refusal", "request", "skeleton"];
    let mut always = keys(error);
    always.retain(|it| !remedy.contains(it));
    assert_eq!(always, ["code", "hint", "message"], "{error}");
    for key in always {
        let text = error[key].as_str().unwrap();
        assert!(!text.is_empty() && text.len() < 600, "{error}");
        assert!(!text.contains(char::is_control), "{error}");
    }
}

/// Returns the keys of an object, in alphabetical order.
pub fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .unwrap_or_else(|| panic!("no object: {value}"))
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}
