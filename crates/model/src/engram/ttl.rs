//! How long a claim holds: an ISO 8601 duration such as `PT6H` or `P7D`.

use std::{fmt, str::FromStr};

use jiff::{Span, Timestamp, tz::TimeZone};
use serde::{Deserialize, Serialize};

use crate::{Code, Refusal};

/// A positive ISO 8601 duration, in canonical spelling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ttl(String);

impl Ttl {
    /// The ttl that the v0.1 form, which requires one, shows for an engram without expiry: `P100Y`.
    pub fn forever() -> Self {
        Self("P100Y".to_owned())
    }

    /// A ttl of whole days.
    pub fn days(days: u32) -> Result<Self, Refusal> {
        format!("P{days}D").parse()
    }

    /// A ttl of whole seconds.
    pub fn seconds(seconds: i64) -> Result<Self, Refusal> {
        format!("PT{seconds}S").parse()
    }

    /// Returns when a claim made at `from` stops holding. Calendar units are counted in UTC.
    pub fn expires_at(&self, from: Timestamp) -> Timestamp {
        self.0
            .parse::<Span>()
            .ok()
            .and_then(|span| from.to_zoned(TimeZone::UTC).checked_add(span).ok())
            .map_or(Timestamp::MAX, |at| at.timestamp())
    }
}

impl FromStr for Ttl {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let refuse = |why: &str| {
            Refusal::new(
                Code::SchemaInvalid,
                format!("ttl {:?} {why}", crate::text::shorten(text, 40)),
                "Use an ISO 8601 duration such as PT6H, P7D or P1Y (the command also takes 7d, 12h and 30m); omit ttl for no expiry.",
            )
        };
        if !text.starts_with('P') || text.len() > 40 {
            return Err(refuse("is not an ISO 8601 duration"));
        }
        let span: Span = text
            .parse()
            .map_err(|_| refuse("is not an ISO 8601 duration"))?;
        if !span.is_positive() {
            return Err(refuse("is not positive"));
        }
        Ok(Self(span.to_string()))
    }
}

impl TryFrom<String> for Ttl {
    type Error = Refusal;

    fn try_from(text: String) -> Result<Self, Refusal> {
        text.parse()
    }
}

impl From<Ttl> for String {
    fn from(ttl: Ttl) -> String {
        ttl.0
    }
}

impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Ttl {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Ttl".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "ISO-8601 duration, e.g. PT6H, P7D"
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_a_duration_and_what_is_not() {
        for (text, canonical) in [
            ("PT6H", Some("PT6H")),
            ("P7D", Some("P7D")),
            ("P1Y2M3W4DT5H6M7S", Some("P1Y2M3W4DT5H6M7S")),
            ("P100Y", Some("P100Y")),
            ("PT0S", None),
            ("-P1D", None),
            ("P-1D", None),
            ("7 days", None),
            ("P", None),
            ("", None),
            ("P1D\0", None),
            ("P99999999999999999999D", None),
        ] {
            let got = text.parse::<Ttl>().ok().map(|ttl| ttl.to_string());
            assert_eq!(got.as_deref(), canonical, "{text:?}");
        }
    }

    #[test]
    fn a_ttl_past_the_end_of_time_never_expires() {
        let now = Timestamp::from_second(1_700_000_000).unwrap();
        let ttl: Ttl = "P9999Y".parse().unwrap();
        assert!(ttl.expires_at(now) >= now);
    }

    proptest! {
        #[test]
        fn canonical_spelling_is_a_fixed_point(days in 1u32..30_000, seconds in 1i64..100_000_000) {
            for ttl in [Ttl::days(days).unwrap(), Ttl::seconds(seconds).unwrap()] {
                let again: Ttl = ttl.to_string().parse().unwrap();
                prop_assert_eq!(&again, &ttl);
                let json = serde_json::to_string(&ttl).unwrap();
                prop_assert_eq!(serde_json::from_str::<Ttl>(&json).unwrap(), ttl);
            }
        }

        #[test]
        fn no_text_panics(text in ".{0,60}") {
            let _ = text.parse::<Ttl>();
        }
    }
}
