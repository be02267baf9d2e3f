//! Sends the team's messages, some of them first with a deliberate fault.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{Play, code_of};
use crate::trace::{
    record::{At, CallMade, RefusedMessage, SentMessage},
    team::{AnswerOrRefusal, LEAD},
    wrong::{Matter, Wrong},
};

impl Play<'_> {
    /// Sends a message, sometimes first with a fault. Returns what was accepted, and the reply.
    pub(super) fn send(
        &mut self,
        agent: usize,
        sound: Value,
        to: Option<String>,
        wrongs: &[Wrong],
    ) -> Result<(Value, Value)> {
        let mut message = sound.clone();
        if self.one_in(3) {
            let (what, spoil) = wrongs[self.chance.below(wrongs.len())];
            let (code, prose) = (self.code(agent), self.page());
            let matter = Matter {
                code: &code,
                prose: &prose,
            };
            spoil(&mut message, &matter);
            let refusal = match self.post(agent, &message, to.as_deref(), Some(what))? {
                Ok(said) => return Ok((message, said)),
                Err(refusal) => refusal,
            };
            // The refusal's skeleton passes unchanged; otherwise the sound message is sent.
            let skeleton = refusal.get("skeleton").filter(|it| it.is_object());
            message = match skeleton.filter(|_| self.one_in(2)) {
                Some(skeleton) => skeleton.clone(),
                None => sound,
            };
        }
        match self.post(agent, &message, to.as_deref(), None)? {
            Ok(said) => Ok((message, said)),
            Err(refusal) => bail!("a sound message was refused: {refusal}\n{message}"),
        }
    }

    /// Sends this message and records the outcome.
    fn post(
        &mut self,
        agent: usize,
        message: &Value,
        to: Option<&str>,
        wrong: Option<&str>,
    ) -> Result<AnswerOrRefusal> {
        let body = match (to, self.chance.below(4)) {
            (Some(to), _) => json!({ "message": message, "to": to }).to_string(),
            (None, 0) => as_text(message),
            (None, _) => message.to_string(),
        };
        let said = self.team.agents[agent].post("/message", &body)?;
        let did = match &said {
            Ok(said) => CallMade::Sent(Box::new(self.sent_message(agent, message, said, wrong)?)),
            Err(refusal) => {
                let id = refusal["refusal"].as_str();
                let id = id.with_context(|| format!("a refusal has no id: {refusal}"))?;
                self.refusals += 1;
                self.work[agent].refused = Some((id.to_owned(), self.refusals));
                CallMade::Refused(RefusedMessage {
                    refusal: self.refusals,
                    wrong: wrong.unwrap_or("nothing").to_owned(),
                    code: code_of(refusal),
                    tokens: refusal["figures"]["inline_tokens"]["used"].as_u64(),
                })
            }
        };
        self.calls.push(did);
        Ok(said)
    }

    fn sent_message(
        &mut self,
        agent: usize,
        message: &Value,
        said: &Value,
        wrong: Option<&str>,
    ) -> Result<SentMessage> {
        let ats = |list: &Value, key: &str| -> Result<Vec<At>> {
            let list = list.as_array().into_iter().flatten();
            list.map(|it| self.parse_at(it.get(key).unwrap_or(it)))
                .collect()
        };
        let engrams = message["engrams"].as_array().into_iter().flatten();
        let claims = engrams
            .map(|it| ats(&it["pointers"], ""))
            .collect::<Result<_>>()?;
        let mut pack = Vec::new();
        for key in [
            "pointer_pack",
            "deref_requests",
            "target_pointer_pack",
            "grants",
        ] {
            pack.extend(ats(&message[key], "pointer")?);
        }
        let budgets = message["budgets"].as_object().into_iter().flatten();
        let to = said["sent"].as_array().into_iter().flatten();
        let to = to.filter_map(|it| it["to"].as_str().map(str::to_owned));
        let refused = self.work[agent].refused.take();
        let resend_of = match (said["resend_of"].as_str(), refused) {
            (Some(id), Some((refused, number))) if id == refused => Some(number),
            (None, None) => None,
            (id, refused) => bail!("a message answers {id:?}, and {refused:?} was refused"),
        };
        Ok(SentMessage {
            tokens: said["tokens"].as_u64().context("a message has no tokens")?,
            to: match agent {
                0 => to.collect(),
                _ => vec![LEAD.to_owned()],
            },
            claims,
            pack,
            budgets: budgets
                .filter_map(|it| Some((it.0.clone(), it.1.as_u64()?)))
                .collect(),
            resend_of,
            wrong: wrong.map(str::to_owned),
        })
    }
}

/// Returns the text form of a message (docs/design.md#messages): headings, with YAML below them.
fn as_text(message: &Value) -> String {
    let mut text = String::new();
    for (key, value) in message.as_object().into_iter().flatten() {
        text.push_str(&format!("{}:", key.to_uppercase()));
        match value {
            Value::Array(items) if items.is_empty() => text.push_str(" []\n"),
            Value::Array(items) => {
                text.push('\n');
                items
                    .iter()
                    .for_each(|it| text.push_str(&format!("  - {it}\n")));
            }
            Value::Object(fields) if !fields.is_empty() => {
                text.push('\n');
                fields
                    .iter()
                    .for_each(|it| text.push_str(&format!("  {}: {}\n", it.0, it.1)));
            }
            value => text.push_str(&format!(" {value}\n")),
        }
    }
    text
}
