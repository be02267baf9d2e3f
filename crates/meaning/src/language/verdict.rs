//! Reads a verdict from what an endpoint answers.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{ModelError, text::printable};

/// The longest reason that is kept, in characters.
const MOST_REASON: usize = 200;

/// How two claims relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// Both cannot hold.
    Contradiction,
    /// They say different things, which can both hold.
    Compatible,
    /// They say the same.
    Same,
    /// The model cannot tell.
    Unclear,
}

/// What a language model says of two claims.
#[derive(Debug, Clone, PartialEq)]
pub struct LanguageVerdict {
    /// How the claims relate.
    pub judgement: Judgement,
    /// How sure the model says it is, from 0 to 1.
    pub sure: f64,
    /// The model's reason: at most 200 printable characters, foreign text.
    pub why: String,
}

/// The object that the model was told to write.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    verdict: Judgement,
    sure: f64,
    why: String,
}

/// The schema of the object, as endpoints take it.
pub(super) fn format() -> Value {
    json!({
        "type": "json_schema",
        "json_schema": {
            "name": "verdict",
            "strict": true,
            "schema": {
                "type": "object",
                "properties": {
                    "verdict": {
                        "type": "string",
                        "enum": ["contradiction", "compatible", "same", "unclear"],
                    },
                    "sure": { "type": "number" },
                    "why": { "type": "string" },
                },
                "required": ["verdict", "sure", "why"],
                "additionalProperties": false,
            },
        },
    })
}

/// Reads the whole answer of an endpoint.
pub(super) fn parse(answer: &[u8]) -> Result<LanguageVerdict, ModelError> {
    let answer: Value =
        serde_json::from_slice(answer).map_err(|_| ModelError::Rubbish("it is not JSON"))?;
    let content = answer
        .pointer("/choices/0/message/content")
        .and_then(Value::as_str)
        .ok_or(ModelError::Rubbish("it has no message"))?;
    // The parser would take a list for an object.
    let object = Some(inside_fence(content)).filter(|it| it.starts_with('{'));
    let written: Written =
        object
            .and_then(|it| serde_json::from_str(it).ok())
            .ok_or(ModelError::Rubbish(
                "the message is not an object with verdict, sure and why",
            ))?;
    if !(0.0..=1.0).contains(&written.sure) {
        return Err(ModelError::Rubbish("\"sure\" is not between 0 and 1"));
    }
    Ok(LanguageVerdict {
        judgement: written.verdict,
        // Turns -0 into 0.
        sure: written.sure.abs(),
        why: printable(&written.why, MOST_REASON),
    })
}

/// The text between code fences, if there are any around it.
fn inside_fence(content: &str) -> &str {
    let content = content.trim();
    let inside = content
        .strip_prefix("```")
        .and_then(|it| it.strip_suffix("```"));
    match inside {
        Some(inside) => inside.strip_prefix("json").unwrap_or(inside).trim(),
        None => content,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(content: &str) -> Result<LanguageVerdict, ModelError> {
        let answer = json!({ "id": "x", "choices": [{ "message": { "content": content } }] });
        parse(answer.to_string().as_bytes())
    }

    #[test]
    fn a_verdict_may_have_a_fence_around_it() {
        let verdict = r#"{"verdict":"contradiction","sure":0.9,"why":"80 is not 90"}"#;
        for content in [
            verdict.to_owned(),
            format!("\n {verdict}\n"),
            format!("```json\n{verdict}\n```"),
            format!("```\n{verdict}\n```\n"),
        ] {
            let read = answer(&content).unwrap();
            assert_eq!(read.judgement, Judgement::Contradiction, "{content}");
            assert_eq!((read.sure, read.why.as_str()), (0.9, "80 is not 90"));
        }
    }

    #[test]
    fn no_certainty_is_below_zero() {
        let read = answer(r#"{"verdict":"same","sure":-0.0,"why":""}"#).unwrap();
        assert_eq!(read.sure.to_string(), "0");
    }

    #[test]
    fn a_reason_is_short_and_printable() {
        let why = format!("\\u001b[2Ja\\u202eb\\u0000\\n{}", "é".repeat(300));
        let read = answer(&format!(r#"{{"verdict":"same","sure":1,"why":"{why}"}}"#)).unwrap();
        assert!(read.why.starts_with("[2Jab é"), "{}", read.why);
        assert_eq!(read.why.chars().count(), MOST_REASON);
    }

    #[test]
    fn anything_else_is_rubbish() {
        for content in [
            "",
            "contradiction",
            "[]",
            r#"["same",1,""]"#,
            "{}",
            r#"{"verdict":"contradiction","sure":0.9}"#,
            r#"{"verdict":"maybe","sure":0.9,"why":""}"#,
            r#"{"verdict":"same","sure":1.5,"why":""}"#,
            r#"{"verdict":"same","sure":-1,"why":""}"#,
            r#"{"verdict":"same","sure":"high","why":""}"#,
            r#"{"verdict":"same","sure":1,"why":"","extra":1}"#,
            r#"{"verdict":"same","sure":1,"why":""} and more"#,
            r#"Sure! {"verdict":"same","sure":1,"why":""}"#,
            "```json\n```",
            "```",
        ] {
            let read = answer(content);
            assert!(
                matches!(read, Err(ModelError::Rubbish(_))),
                "{content}: {read:?}"
            );
        }
        for whole in [
            "",
            "null",
            "<html>",
            "{}",
            r#"{"choices":[]}"#,
            r#"{"choices":[{}]}"#,
        ] {
            assert!(
                matches!(parse(whole.as_bytes()), Err(ModelError::Rubbish(_))),
                "{whole}"
            );
        }
        let refused = br#"{"choices":[{"message":{"content":null,"refusal":"no"}}]}"#;
        assert!(matches!(parse(refused), Err(ModelError::Rubbish(_))));
    }
}
