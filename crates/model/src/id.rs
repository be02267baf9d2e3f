//! Identifiers: each kind of thing has its own type, so that they cannot be mixed up.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{Code, Refusal};

macro_rules! ulid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transparent))]
        pub struct $name(
            #[cfg_attr(feature = "schema", schemars(with = "String", regex(pattern = r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$")))] pub ulid::Ulid,
        );

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = String::deserialize(from)?;
                text.parse().map_err(|it: Refusal| D::Error::custom(it.message))
            }
        }

        impl FromStr for $name {
            type Err = Refusal;

            fn from_str(text: &str) -> Result<Self, Refusal> {
                // 26 characters hold 130 bits, but an id has 128. The parser would silently drop
                // the rest.
                let fits = text.as_bytes().first().is_some_and(|it| *it <= b'7');
                let id = ulid::Ulid::from_string(text).ok().filter(|_| fits);
                id.map(Self).ok_or_else(|| {
                    Refusal::new(
                        Code::NotFound,
                        format!("{:?} is not an id", crate::text::shorten(text, 40)),
                        "Give all 26 characters of the id, as an answer shows it.",
                    )
                })
            }
        }
    };
}

ulid_id!(
    /// One version of one claim.
    EngramId
);
ulid_id!(
    /// All versions of one claim.
    LineageId
);
ulid_id!(
    /// A repository, minted once and kept in its common git folder.
    ProjectId
);
ulid_id!(
    /// An event: one immutable record of an act.
    EventId
);
ulid_id!(
    /// One orchestrated run; a connection without one is its own run.
    RunId
);

ulid_id!(
    /// A conflict: the beginning of a digest of its two sides, in the form of a ULID.
    ConflictId
);
/// A token that proves who calls, or what was granted. It is passed on to its holder, and shown
/// nowhere else: not in a log either.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The handle that the engine issued to an agent. Never what a client says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct AgentId(pub String);

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
