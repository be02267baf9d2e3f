//! What a command said, as text or as JSON.

use std::process::Output;

use serde_json::Value;

/// What a command did.
#[derive(Debug)]
pub struct CommandOutput {
    /// What it exited with.
    pub code: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

/// What came of a command that ended.
pub fn ran(output: Output) -> CommandOutput {
    CommandOutput {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
    }
}

impl CommandOutput {
    /// One JSON object, alone on standard output, with exit 0.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert_eq!(self.err, "", "nothing on standard error");
        let value = serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"));
        assert_eq!(self.out.lines().count(), 1, "one line: {self:?}");
        value
    }

    /// Each line as a JSON object, with exit 0.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }

    /// The error object, alone on standard error, with exit 1 and nothing on standard output.
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

    /// It was refused with this code.
    #[track_caller]
    pub fn refused(&self, code: &str) {
        let error = self.error();
        assert_eq!(error["code"], code, "{error}");
    }
}

/// An error has a code, a message and a hint; how to pass may stand beside them, and nothing else.
#[track_caller]
pub fn check_error(error: &Value) {
    let remedy = ["cut", "figures", "refusal", "skeleton"];
    let mut always = keys(error);
    always.retain(|it| !remedy.contains(it));
    assert_eq!(always, ["code", "hint", "message"], "{error}");
    for key in always {
        let text = error[key].as_str().unwrap();
        assert!(!text.is_empty() && text.len() < 600, "{error}");
        assert!(!text.contains(char::is_control), "{error}");
    }
}

/// The keys of an object, in alphabetical order.
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
