//! Entities as stored in the record (docs/design.md#what-a-claim-names):
//! `{name, type, value, unit}`.

use engram_model::{Entity, EntityKind, EntityValue};

use super::{
    statement::{Statement, Term},
    values::{
        unit::Dimension,
        value::{Value, ValueKind},
    },
    words::{
        lexicon::{self, Meaning},
        name,
        token::Token,
    },
};

/// The most entities of one claim.
const MAX_ENTITIES: usize = 32;

/// The entities of a claim, in order of its statements, each once.
pub(crate) fn entities(tokens: &[Token], statements: &[Statement]) -> Vec<Entity> {
    let mut found: Vec<Entity> = Vec::new();
    let mut add = |entity: Entity| {
        if found.len() < MAX_ENTITIES && !entity.name.is_empty() && !found.contains(&entity) {
            found.push(entity);
        }
    };
    for said in statements {
        let subject = subject_of(said, tokens);
        for value in &said.values {
            add(entity_of_value(said, &subject, value));
        }
        if said.has("=enable") {
            let value = Some(EntityValue::Flag(!said.negative));
            add(Entity {
                name: subject.clone(),
                kind: EntityKind::Boolean,
                value,
                unit: None,
            });
        }
        for term in said
            .terms
            .iter()
            .filter(|it| it.kind.is_some() || it.traits.path)
        {
            let kind = if term.traits.path {
                EntityKind::Path
            } else {
                EntityKind::Technology
            };
            add(Entity {
                name: term.key.clone(),
                kind,
                value: None,
                unit: None,
            });
        }
        if said.values.is_empty() && !said.settings.is_empty() {
            add(Entity {
                name: subject.clone(),
                kind: EntityKind::ConfigKey,
                value: None,
                unit: None,
            });
        }
    }
    for pair in tokens.windows(2) {
        if let [word, next] = pair
            && next.lower == "service"
            && !word.mark
            && lexicon::meaning_of(&word.lower).is_none()
        {
            let name = format!("{}_service", name::name_parts(&word.text).join("_"));
            add(Entity {
                name,
                kind: EntityKind::Service,
                value: None,
                unit: None,
            });
        }
    }
    found
}

/// What a value belongs to: the setting, or else the words of the subject, as written.
fn subject_of(said: &Statement, tokens: &[Token]) -> String {
    const WORDS: usize = 4;
    let nouns = || {
        let terms = said.terms.iter();
        terms.filter(|it| !it.traits.verb && !it.key.starts_with('='))
    };
    let token_of = |it: &Term| tokens.iter().find(|token| token.from == it.from);
    let setting = nouns()
        .filter_map(token_of)
        .find(|it| name::is_setting(&it.text));
    if let Some(setting) = setting.filter(|_| !said.settings.is_empty()) {
        return name::name_parts(&setting.text).join("_");
    }
    let mut words: Vec<String> = Vec::new();
    for term in nouns() {
        let written = token_of(term).map_or(term.key.as_str(), |it| it.lower.as_str());
        let concept = matches!(lexicon::meaning_of(written), Some(Meaning::Concept(_)));
        let word = if term.kind.is_some() || concept {
            term.key.clone()
        } else {
            name::name_parts(written.trim_end_matches("'s")).join("_")
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.truncate(WORDS);
    words.join("_")
}

fn entity_of_value(said: &Statement, subject: &str, value: &Value) -> Entity {
    use EntityValue::Text;
    let name = subject.to_owned();
    let of = |kind, value: EntityValue, unit: Option<&str>| Entity {
        name: name.clone(),
        kind,
        value: Some(value),
        unit: unit.map(str::to_owned),
    };
    let kind = if said.settings.is_empty() {
        EntityKind::Numeric
    } else {
        EntityKind::ConfigKey
    };
    match &value.kind {
        ValueKind::Quantity {
            low,
            high,
            dimension,
            ..
        } => {
            let port =
                said.settings.is_empty() && said.has("port") && *dimension == Dimension::Count;
            let number = if low == high {
                EntityValue::number(low.as_f64())
            } else {
                EntityValue::Text(format!("{}..{}", low.as_f64(), high.as_f64()))
            };
            of(
                if port { EntityKind::Port } else { kind },
                number,
                dimension.base(),
            )
        }
        ValueKind::Version(parts) => {
            let text: Vec<String> = parts.iter().map(u64::to_string).collect();
            of(EntityKind::Version, Text(text.join(".")), None)
        }
        ValueKind::Days(days) if days.first == days.last => {
            of(EntityKind::Date, Text(days.first.to_string()), None)
        }
        ValueKind::Days(days) => of(
            EntityKind::Date,
            Text(format!("{}..{}", days.first, days.last)),
            None,
        ),
        ValueKind::Clock(minutes) => of(
            EntityKind::Date,
            Text(format!("{:02}:{:02}", minutes / 60, minutes % 60)),
            None,
        ),
        ValueKind::Name(text) => of(
            if said.settings.is_empty() {
                EntityKind::Name
            } else {
                EntityKind::ConfigKey
            },
            match text.as_str() {
                "true" => EntityValue::Flag(true),
                "false" => EntityValue::Flag(false),
                _ => Text(text.clone()),
            },
            None,
        ),
    }
}
