//! What the address says: the filter and the engram that is read, so that a link, going back and
//! loading again lead to the same screen.

use engram_model::{EngramId, Evidence, FactType, Filter, Kind, Scope};
use jiff::{SignedDuration, Timestamp, civil::Date, tz::Offset};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The views by their names in an address. The first is the one that needs no name.
pub const VIEWS: &[&str] = &["feed", "drift"];

/// A place in the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// What is shown: one of [`VIEWS`].
    pub view: &'static str,
    /// Which engrams are listed.
    pub filter: Filter,
    /// Which one is read.
    pub engram: Option<EngramId>,
}

impl Default for Route {
    fn default() -> Self {
        Self {
            view: VIEWS[0],
            filter: Filter::default(),
            engram: None,
        }
    }
}

impl Route {
    /// From the query of an address, which anybody may have written: what is not understood is left out.
    pub fn parse(query: &str, offset: Offset) -> Self {
        let mut it = Self::default();
        let pairs = query.trim_start_matches('?').split('&').take(64);
        for (key, value) in pairs.filter_map(|pair| pair.split_once('=')) {
            let value = decode(value);
            let filter = &mut it.filter;
            match key {
                "view" => it.view = view(&value).unwrap_or(it.view),
                "q" => filter.text = value,
                "kind" => filter.kinds.extend(value.parse::<Kind>().ok()),
                "scope" => filter.scopes.extend(value.parse::<Scope>().ok()),
                "type" => filter.fact_types.extend(value.parse::<FactType>().ok()),
                "role" => filter.roles.push(value),
                "agent" => filter.authors.push(value),
                "topic" => filter.topic = value,
                "verified" => {
                    filter.verified = (value == "yes" || value == "no").then(|| value == "yes")
                }
                "health" => filter.health.extend(value.parse::<Evidence>().ok()),
                "since" => filter.since = midnight(&value, offset),
                "until" => filter.until = end_of(&value, offset),
                "id" => it.engram = value.parse().ok(),
                _ => {}
            }
        }
        it
    }

    /// A link of ours to an engram.
    pub fn link_to(id: EngramId) -> String {
        format!("engram://engram/{id}")
    }

    /// The query of an address that a link of ours leads to: `engram://engram/ID`, `engram://feed?kind=risk`,
    /// `engram://drift`. Anybody may have written it.
    pub fn query_of_link(link: &str) -> Option<String> {
        let rest = link.trim().strip_prefix("engram://")?;
        if rest.len() > 2_000 {
            return None;
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let query = query.split('#').next().unwrap_or_default();
        let mut parts = path.trim_end_matches('/').split('/');
        let own = match (parts.next()?, parts.next(), parts.next()) {
            ("engram", Some(id), None) => format!("id={}", id.parse::<EngramId>().ok()?),
            ("", None, None) => String::new(),
            (view, None, None) if VIEWS.contains(&view) => format!("view={view}"),
            _ => return None,
        };
        // Through the parser and back: only what is understood comes near the address.
        let route = Self::parse(&format!("{own}&{query}"), Offset::UTC);
        Some(route.query(Offset::UTC))
    }

    /// The query that leads back here; empty for the plain feed.
    pub fn query(&self, offset: Offset) -> String {
        let it = &self.filter;
        let mut pairs: Vec<(&str, String)> = Vec::new();
        if self.view != VIEWS[0] {
            pairs.push(("view", self.view.to_owned()));
        }
        pairs.extend(it.kinds.iter().map(|it| ("kind", it.to_string())));
        pairs.extend(it.scopes.iter().map(|it| ("scope", it.to_string())));
        pairs.extend(it.fact_types.iter().map(|it| ("type", it.to_string())));
        pairs.extend(it.roles.iter().map(|it| ("role", it.clone())));
        pairs.extend(it.authors.iter().map(|it| ("agent", it.clone())));
        if !it.topic.is_empty() {
            pairs.push(("topic", it.topic.clone()));
        }
        if let Some(verified) = it.verified {
            pairs.push(("verified", if verified { "yes" } else { "no" }.to_owned()));
        }
        pairs.extend(it.health.iter().map(|it| ("health", it.to_string())));
        pairs.extend(it.since.map(|at| ("since", date_of(at, offset))));
        pairs.extend(it.until.map(|at| ("until", last_day(at, offset))));
        if !it.text.trim().is_empty() {
            pairs.push(("q", it.text.trim().to_owned()));
        }
        pairs.extend(self.engram.map(|id| ("id", id.to_string())));
        let mut query = String::new();
        for (key, value) in pairs {
            query.push(if query.is_empty() { '?' } else { '&' });
            query.push_str(key);
            query.push('=');
            query.extend(utf8_percent_encode(&value, PLAIN));
        }
        query
    }
}

/// A view by its name.
fn view(name: &str) -> Option<&'static str> {
    VIEWS.iter().find(|it| **it == name).copied()
}

/// One condition of a filter, as a chip that can be taken away.
#[derive(Clone, Debug, PartialEq)]
pub struct Chip {
    /// What it is about.
    pub what: &'static str,
    /// What it asks.
    pub value: String,
    /// The filter without it.
    pub without: Filter,
}

/// The conditions of a filter but its text, which stands in a field of its own.
pub fn chips(filter: &Filter, offset: Offset) -> Vec<Chip> {
    let mut chips = Vec::new();
    let mut add = |what, value: String, take: &dyn Fn(&mut Filter)| {
        let mut without = filter.clone();
        take(&mut without);
        chips.push(Chip {
            what,
            value,
            without,
        });
    };
    for kind in &filter.kinds {
        let word = crate::words::kind(*kind).to_owned();
        add("kind", word, &|it| it.kinds.retain(|other| other != kind));
    }
    for scope in &filter.scopes {
        add("scope", scope.to_string(), &|it| {
            it.scopes.retain(|other| other != scope)
        });
    }
    for fact_type in &filter.fact_types {
        add("type", fact_type.to_string(), &|it| {
            it.fact_types.retain(|other| other != fact_type);
        });
    }
    for role in &filter.roles {
        add("role", role.clone(), &|it| {
            it.roles.retain(|other| other != role);
        });
    }
    for author in &filter.authors {
        let name = author_name(author).to_owned();
        add("by", name, &|it| it.authors.retain(|other| other != author));
    }
    if !filter.topic.is_empty() {
        add("topic", filter.topic.clone(), &|it| it.topic.clear());
    }
    if let Some(verified) = filter.verified {
        let word = if verified { "verified" } else { "unverified" };
        add("as stored", word.to_owned(), &|it| it.verified = None);
    }
    for standing in &filter.health {
        let word = standing.words().to_owned();
        // “evidence gone” is what it is called where no other word stands before it.
        let word = word.trim_start_matches("evidence ").to_owned();
        add("evidence", word, &|it| {
            it.health.retain(|other| other != standing);
        });
    }
    if let Some(at) = filter.since {
        add("since", date_of(at, offset), &|it| it.since = None);
    }
    if let Some(at) = filter.until {
        add("until", last_day(at, offset), &|it| it.until = None);
    }
    chips
}

/// An author as the list names them.
pub fn author_name(author: &str) -> &str {
    match author {
        "" | "user" => "you",
        name => name,
    }
}

/// The midnight that began the day `days` before this one.
pub fn days_ago(now: Timestamp, days: i64, offset: Offset) -> Option<Timestamp> {
    let today = offset.to_datetime(now).date();
    let date = today
        .checked_sub(jiff::Span::new().try_days(days).ok()?)
        .ok()?;
    offset.to_timestamp(date.at(0, 0, 0, 0)).ok()
}

/// The midnight that begins a day, as `2026-11-21`; a year has four digits.
pub fn midnight(text: &str, offset: Offset) -> Option<Timestamp> {
    let date: Date = text.parse().ok()?;
    if date.year() < 1_000 {
        return None;
    }
    offset.to_timestamp(date.at(0, 0, 0, 0)).ok()
}

/// The midnight that ends a day: until a day means until it is over.
pub fn end_of(text: &str, offset: Offset) -> Option<Timestamp> {
    midnight(text, offset)?.checked_add(DAY).ok()
}

/// The day that ends at this midnight.
pub fn last_day(end: Timestamp, offset: Offset) -> String {
    date_of(end.checked_sub(DAY).unwrap_or(end), offset)
}

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// The day of a time.
pub fn date_of(at: Timestamp, offset: Offset) -> String {
    offset.to_datetime(at).date().to_string()
}

/// What stands for itself in an address.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

fn decode(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HERE: Offset = Offset::constant(2);

    #[test]
    fn an_address_leads_back_to_the_same_place() {
        for query in [
            "",
            "?kind=risk&kind=fact&scope=project&type=decision&role=programmer&agent=Claude%20Code&topic=ledger/locks&verified=no\
             &since=2026-11-20&until=2026-11-22&q=50%25%20%26%20more&id=01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "?verified=yes",
            "?view=drift&kind=risk",
            "?health=needs_reverification&health=evidence_gone",
            "?q=%C3%A9%F0%9F%A6%80",
        ] {
            let route = Route::parse(query, HERE);
            assert_eq!(route.query(HERE), query);
            assert_eq!(Route::parse(&route.query(HERE), HERE), route);
        }
    }

    #[test]
    fn a_link_leads_to_a_place_or_nowhere() {
        for (link, want) in [
            (
                "engram://engram/01ARZ3NDEKTSV4RRFFQ69G5FAV",
                Some("?id=01ARZ3NDEKTSV4RRFFQ69G5FAV"),
            ),
            ("engram://feed", Some("")),
            ("engram://", Some("")),
            (
                "engram://feed/?kind=risk&q=a%20b&evil=1",
                Some("?kind=risk&q=a%20b"),
            ),
            ("engram://drift", Some("?view=drift")),
            ("engram://engram/<script>", None),
            ("engram://engram", None),
            ("engram://feed/x/y", None),
            ("javascript:alert(1)", None),
            ("", None),
        ] {
            assert_eq!(Route::query_of_link(link).as_deref(), want, "{link}");
        }
        let id: EngramId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        assert_eq!(
            Route::query_of_link(&Route::link_to(id)),
            Some(format!("?id={id}"))
        );
        assert_eq!(
            Route::query_of_link(&format!("engram://feed?q={}", "x".repeat(9_000))),
            None
        );
    }

    #[test]
    fn what_is_not_understood_is_left_out() {
        for query in [
            "?kind=nonsense&verified=maybe&since=yesterday&until=0002-11-20&id=1&x=y&&=&q",
            "?%",
            "????",
            "#token=abc",
        ] {
            assert_eq!(Route::parse(query, HERE), Route::default(), "{query}");
        }
        assert_eq!(Route::parse("?q=a+b%2", HERE).filter.text, "a b%2");
    }

    #[test]
    fn each_chip_takes_its_condition_away() {
        let query = "?kind=risk&kind=fact&agent=user&health=evidence_gone&since=2026-11-20&until=2026-11-21";
        let filter = Route::parse(query, HERE).filter;
        let chips = chips(&filter, HERE);
        let told: Vec<_> = chips
            .iter()
            .map(|it| format!("{} {}", it.what, it.value))
            .collect();
        assert_eq!(
            told,
            [
                "kind risk",
                "kind fact",
                "by you",
                "evidence gone",
                "since 2026-11-20",
                "until 2026-11-21"
            ]
        );
        assert_eq!(chips[0].without.kinds.len(), 1);
        assert_eq!(chips[3].without.health, []);
        assert_eq!(chips[4].without.since, None);
        assert_eq!(chips[5].without.until, None);
        // Until a day is until it is over.
        let end: Timestamp = "2026-11-21T22:00:00Z".parse().unwrap();
        assert_eq!(filter.until, Some(end));
        let now: Timestamp = "2026-11-20T23:30:00Z".parse().unwrap();
        assert_eq!(date_of(days_ago(now, 0, HERE).unwrap(), HERE), "2026-11-21");
        assert_eq!(days_ago(now, i64::MAX, HERE), None);
    }
}
