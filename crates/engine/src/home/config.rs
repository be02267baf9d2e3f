//! A home's `config.toml`, which may change the defaults (docs/design.md#limits-and-defaults) and
//! nothing else.

use std::path::Path;

use engram_model::{Code, Limits, Refusal, Scopes, check_topic};
use engram_store::read_file;
use serde::Deserialize;

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The settings of `config.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Every limit.
    pub(crate) limits: Limits,
    /// How far agents' claims may reach.
    pub(crate) scopes: Scopes,
    /// What is asked about claims that may contradict each other.
    pub(crate) consistency: Consistency,
    /// Whether `url:` pointers may be fetched; off unless turned on.
    pub(crate) urls: bool,
}

/// `[consistency]` of `config.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Consistency {
    /// Topics whose possible conflicts are also put to an agent that wrote neither side.
    pub(crate) high_stakes: Vec<String>,
}

impl Config {
    /// Reads the file; returns the defaults if there is none.
    pub(crate) fn read(home: &Path) -> Result<Self, Refusal> {
        let path = home.join("config.toml");
        let text = match read_file(&path, MAX_FILE) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(unreadable_config(&path, &error.to_string())),
        };
        let config: Self =
            toml::from_str(&text).map_err(|error| unreadable_config(&path, error.message()))?;
        // Otherwise each query without a limit would be refused.
        let Limits {
            query_limit,
            query_max,
            ..
        } = config.limits;
        if query_limit == 0 || query_limit > query_max {
            let why =
                format!("query_limit is {query_limit}; it must be 1 to query_max, {query_max}");
            return Err(unreadable_config(&path, &why));
        }
        for topic in &config.consistency.high_stakes {
            check_topic(topic).map_err(|it| unreadable_config(&path, &it.message))?;
        }
        if (0.0..=1.0).contains(&config.scopes.promote_confidence) {
            Ok(config)
        } else {
            Err(unreadable_config(
                &path,
                "promote_confidence is not between 0 and 1",
            ))
        }
    }
}

fn unreadable_config(path: &Path, why: &str) -> Refusal {
    Refusal::new(
        Code::SchemaInvalid,
        format!("cannot read {}: {why}", path.display()),
        "Correct the file, or move it away to use the defaults.",
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    /// Reads a file with these bytes: the result is a configuration or a refusal that names the
    /// file.
    fn read(bytes: &[u8]) {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("config.toml"), bytes).unwrap();
        if let Err(refusal) = Config::read(home.path()) {
            assert!(refusal.message.contains("config.toml"), "{refusal}");
            assert!(!refusal.hint.is_empty());
        }
    }

    #[test]
    fn a_limit_that_every_query_would_exceed_is_refused_with_both_names() {
        for (text, is_read) in [
            ("query_limit = 60", false),
            ("query_max = 9", false),
            ("query_limit = 0", false),
            ("query_limit = 60\nquery_max = 60", true),
            ("query_limit = 50", true),
        ] {
            let home = tempfile::tempdir().unwrap();
            let file = home.path().join("config.toml");
            std::fs::write(file, format!("[limits]\n{text}\n")).unwrap();
            let refusal = Config::read(home.path()).err();
            assert_eq!(refusal.is_none(), is_read, "{text}: {refusal:?}");
            if let Some(refusal) = refusal {
                let names = ["query_limit", "query_max", "config.toml"];
                assert!(
                    names.iter().all(|it| refusal.message.contains(it)),
                    "{refusal}"
                );
            }
        }
    }

    /// Pieces of a file that is almost valid.
    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just("[limits.rate]\n".to_owned()),
            Just("[limits.deref]\n".to_owned()),
            Just("[scopes]\n".to_owned()),
            Just("agents_write = [\"run\"]\n".to_owned()),
            Just("promote_confidence = ".to_owned()),
            Just("[consistency]\n".to_owned()),
            Just("high_stakes = [\"payments\"]\n".to_owned()),
            Just("urls = true\n".to_owned()),
            Just("per_minute = ".to_owned()),
            Just("repo_spans = ".to_owned()),
            any::<i128>().prop_map(|it| format!("{it}\n")),
            any::<f64>().prop_map(|it| format!("{it}\n")),
            "[\"'\\[\\]{}=.,\\n]{1,8}",
            "\\PC{0,12}",
        ];
        prop::collection::vec(piece, 0..24).prop_map(|it| it.concat().into_bytes())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn no_configuration_ends_anything(bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            pieces(),
        ]) {
            read(&bytes);
        }
    }
}
