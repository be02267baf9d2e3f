//! The entities of a claim: what it names, and the values that it gives them
//! (docs/design.md#what-a-claim-names).

use serde::{Deserialize, Serialize, Serializer};

use crate::words::words;

words!(
    /// The type of an entity.
    EntityKind {
        /// A quantity.
        Numeric = "numeric",
        /// A setting, with its value if the claim states one.
        ConfigKey = "config_key",
        /// A version.
        Version = "version",
        /// A port.
        Port = "port",
        /// A day, a month, a quarter, a year, a time of day.
        Date = "date",
        /// On or off, true or false.
        Boolean = "boolean",
        /// A technology.
        Technology = "technology",
        /// A service.
        Service = "service",
        /// A file, a folder, an endpoint, an address.
        Path = "path",
        /// Any other name.
        Name = "name",
    }
);

/// What a claim names, with the value it gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entity {
    /// In lower case, parts joined by underscores: `rate_limit`.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: EntityKind,
    /// The value in its base unit, or as written; absent if the claim gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<EntityValue>,
    /// The unit of the value: `s`, `bit`, `1/s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// The value of an entity.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum EntityValue {
    /// On or off.
    Flag(bool),
    /// One number; always finite.
    Number(f64),
    /// A version, a date, a range such as `5..10`, a name.
    Text(String),
}

impl EntityValue {
    /// A number; as text if JSON cannot represent it.
    pub fn number(number: f64) -> Self {
        if number.is_finite() {
            Self::Number(number)
        } else {
            Self::Text(number.to_string())
        }
    }
}

impl Serialize for EntityValue {
    /// Writes a whole number as an integer: `1000`, not `1000.0`.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Self::Flag(flag) => to.serialize_bool(*flag),
            Self::Number(whole) if whole.fract() == 0.0 && whole.abs() <= EXACT => {
                to.serialize_i64(*whole as i64)
            }
            Self::Number(number) => to.serialize_f64(*number),
            Self::Text(text) => to.serialize_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entity_is_on_the_wire_as_the_seed_has_it() {
        for (value, wire) in [
            (EntityValue::number(1000.0), json!(1000)),
            (EntityValue::number(-2.5), json!(-2.5)),
            (EntityValue::number(1e300), json!(1e300)),
            (EntityValue::number(f64::INFINITY), json!("inf")),
            (EntityValue::Flag(true), json!(true)),
            (EntityValue::Text("5..10".to_owned()), json!("5..10")),
        ] {
            let entity = Entity {
                name: "rate_limit".to_owned(),
                kind: EntityKind::Numeric,
                value: Some(value),
                unit: Some("1/s".to_owned()),
            };
            let shown =
                json!({ "name": "rate_limit", "type": "numeric", "value": wire, "unit": "1/s" });
            assert_eq!(serde_json::to_value(&entity).unwrap(), shown);
            assert_eq!(serde_json::from_value::<Entity>(shown).unwrap(), entity);
        }
        let named = json!({ "name": "redis", "type": "technology" });
        let read: Entity = serde_json::from_value(named.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), named);
    }
}
