//! The address names the view, the repository, the filter and the open item, so that a link, *back*
//! and a reload lead to the same screen.

use engram_model::{Evidence, FactType, Filter, Kind, Scope};
use jiff::tz::Offset;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::{
    app::views::{VIEWS, View},
    days::{date_of, end_of_day, last_day, midnight},
};

/// Longest link that is read, in bytes: a path may take 4,096.
const MAX_ADDRESS: usize = 6_000;

/// How an address names a list that is shown as a timeline.
const TIMELINE: &str = "timeline";

/// A place in the window: a view of a repository, and the open item.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The view: one of [`VIEWS`].
    pub view: &'static str,
    /// The path of its repository, if a link names one.
    pub repository: Option<String>,
    /// The address of the remote of its repository, if a link names one: each clone has it.
    pub remote: Option<String>,
    /// Which engrams are listed.
    pub filter: Filter,
    /// Whether the list is shown as a timeline.
    pub is_timeline: bool,
    /// The name of the open item.
    pub open: Option<String>,
    /// What the address names that does not exist.
    pub missing: Option<Missing>,
}

/// What an address can name that does not exist.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// A view.
    View(String),
    /// An item, by a text that cannot be its name; holds the message about it.
    Name(String),
}

impl Default for Route {
    fn default() -> Self {
        Self {
            view: VIEWS[0].id,
            repository: None,
            remote: None,
            filter: Filter::default(),
            is_timeline: false,
            open: None,
            missing: None,
        }
    }
}

impl Route {
    /// Parses the query of an address, which anybody may have written: ignores what it does not
    /// understand.
    pub fn parse(query: &str, offset: Offset) -> Self {
        let mut route = Self::default();
        let pairs = query_pairs(query);
        route.read(&pairs, offset);
        let view = route.view();
        if let Some((_, name)) = pairs.iter().rfind(|(key, _)| key == view.address.key) {
            route.name(name);
        }
        route.of_its_view()
    }

    /// Returns the view that it leads to.
    fn view(&self) -> &'static View {
        View::with_id(self.view)
    }

    /// Sets the name of the open item.
    fn name(&mut self, name: &str) {
        let address = &self.view().address;
        if (address.is_name)(name) {
            self.open = Some(name.to_owned());
        } else if let Some(no_name) = address.no_name {
            self.missing = Some(Missing::Name(no_name(name)));
        }
    }

    fn read(&mut self, pairs: &[(String, String)], offset: Offset) {
        for (key, value) in pairs {
            let filter = &mut self.filter;
            let yes_or_no = || (value == "yes" || value == "no").then(|| value == "yes");
            match key.as_str() {
                "view" => drop(self.turn_to(value)),
                "repo" => self.repository = Some(value.clone()),
                "remote" => self.remote = Some(value.clone()),
                "q" => filter.text.clone_from(value),
                "kind" => filter.kinds.extend(value.parse::<Kind>().ok()),
                "scope" => filter.scopes.extend(value.parse::<Scope>().ok()),
                "type" => filter.fact_types.extend(value.parse::<FactType>().ok()),
                "role" => filter.roles.push(value.clone()),
                "agent" => filter.authors.push(value.clone()),
                "topic" => filter.topic.clone_from(value),
                "verified" => filter.verified = yes_or_no(),
                "ended" => filter.ended = yes_or_no(),
                "health" => filter.health.extend(value.parse::<Evidence>().ok()),
                "since" => filter.since = midnight(value, offset),
                "until" => filter.until = end_of_day(value, offset),
                "at" => filter.held_at = value.parse().ok(),
                "as" => self.is_timeline = value == TIMELINE,
                _ => {}
            }
        }
    }

    /// Drops what its view does not read.
    fn of_its_view(mut self) -> Self {
        let tells_of_the_past = self.view().tells_of_the_past;
        self.filter.held_at = self.filter.held_at.filter(|_| tells_of_the_past);
        self.is_timeline &= self.view().timeline.is_some();
        self
    }

    /// Returns an `engram://` link to a view of a repository, and to an item in it.
    pub fn link(&self) -> String {
        let mut link = format!("engram://{}", self.view);
        if let Some(name) = &self.open {
            link.push('/');
            // The name is one part of the path, whatever an agent is called.
            let name = utf8_percent_encode(name, PLAIN).to_string();
            link.push_str(&name.replace('/', "%2F"));
        }
        let at = self.filter.held_at.map(|at| ("at", at.to_string()));
        let shape = self.is_timeline.then(|| ("as", TIMELINE.to_owned()));
        // A path means nothing on another machine, and reveals who made the link.
        let path = || self.repository.as_ref().map(|it| ("repo", it.clone()));
        let remote = self.remote.as_ref().map(|it| ("remote", it.clone()));
        let repository = remote.or_else(path);
        for (at, (key, value)) in at.into_iter().chain(shape).chain(repository).enumerate() {
            link.push_str(if at == 0 { "?" } else { "&" });
            link.push_str(key);
            link.push('=');
            link.extend(utf8_percent_encode(&value, PLAIN));
        }
        link
    }

    /// Parses an `engram://` link, which anybody may have written:
    /// `engram://feed/ID?repo=/code/shop`, `engram://feed?kind=risk`, `engram://drift`,
    /// `engram://conflicts/ID?remote=example.com/team/shop`, or the form of earlier builds,
    /// `engram://engram/ID`.
    pub fn of_link(link: &str, offset: Offset) -> Option<Self> {
        let rest = link.trim().strip_prefix("engram://")?;
        if rest.len() > MAX_ADDRESS {
            return None;
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut route = Self::default();
        route.read(
            &query_pairs(query.split('#').next().unwrap_or_default()),
            offset,
        );
        let mut parts = path.trim_end_matches('/').split('/');
        let (name, open) = (parts.next()?, parts.next().map(decode));
        match (name, &open) {
            ("", None) => {}
            ("engram", None) => return None,
            ("engram", Some(_)) => route.view = VIEWS[0].id,
            (name, _) => route.turn_to(name)?,
        }
        if let Some(open) = open.filter(|_| route.missing.is_none()) {
            if !(route.view().address.is_name)(&open) {
                return None;
            }
            route.open = Some(open);
        }
        parts.next().is_none().then(|| route.of_its_view())
    }

    /// Switches to a view by its name. A name without a view, such as one from a newer build, is
    /// noted; for a text that cannot be a name, returns none.
    fn turn_to(&mut self, name: &str) -> Option<()> {
        match VIEWS.iter().find(|it| it.id == name) {
            Some(view) => self.view = view.id,
            None => {
                let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
                if name.is_empty() || name.len() > 32 || !name.chars().all(is_name) {
                    return None;
                }
                self.missing = Some(Missing::View(name.to_owned()));
            }
        }
        Some(())
    }

    /// Returns the query that leads back here within its repository; empty for the plain feed.
    pub fn query(&self, offset: Offset) -> String {
        let filter = &self.filter;
        let mut pairs: Vec<(&str, String)> = Vec::new();
        if self.view != VIEWS[0].id {
            pairs.push(("view", self.view.to_owned()));
        }
        pairs.extend(filter.kinds.iter().map(|it| ("kind", it.to_string())));
        pairs.extend(filter.scopes.iter().map(|it| ("scope", it.to_string())));
        pairs.extend(filter.fact_types.iter().map(|it| ("type", it.to_string())));
        pairs.extend(filter.roles.iter().map(|it| ("role", it.clone())));
        pairs.extend(filter.authors.iter().map(|it| ("agent", it.clone())));
        if !filter.topic.is_empty() {
            pairs.push(("topic", filter.topic.clone()));
        }
        if let Some(verified) = filter.verified {
            pairs.push(("verified", if verified { "yes" } else { "no" }.to_owned()));
        }
        if let Some(ended) = filter.ended {
            pairs.push(("ended", if ended { "yes" } else { "no" }.to_owned()));
        }
        pairs.extend(filter.health.iter().map(|it| ("health", it.to_string())));
        pairs.extend(self.is_timeline.then(|| ("as", TIMELINE.to_owned())));
        pairs.extend(filter.held_at.map(|at| ("at", at.to_string())));
        pairs.extend(filter.since.map(|at| ("since", date_of(at, offset))));
        pairs.extend(filter.until.map(|at| ("until", last_day(at, offset))));
        if !filter.text.trim().is_empty() {
            pairs.push(("q", filter.text.trim().to_owned()));
        }
        let key = self.view().address.key;
        pairs.extend(self.open.clone().map(|name| (key, name)));
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

/// Returns the keys and values of a query; of a long query, only the first.
fn query_pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.trim_start_matches('?').split('&').take(64);
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(key, value)| (key.to_owned(), decode(value)))
        .collect()
}

/// The characters that an address does not escape.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b':');

fn decode(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::words::say;

    const HERE: Offset = Offset::constant(2);

    #[test]
    fn an_address_leads_back_to_the_same_place() {
        for query in [
            "",
            "?kind=risk&kind=fact&scope=project&type=decision&role=programmer&agent=Claude%20Code&topic=ledger/locks&verified=no\
             &since=2026-11-20&until=2026-11-22&q=50%25%20%26%20more&id=01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "?verified=yes",
            "?ended=no&health=holds",
            "?ended=yes",
            "?view=drift&kind=risk",
            "?health=needs_reverification&health=evidence_gone",
            "?q=%C3%A9%F0%9F%A6%80",
            "?view=knowledge",
            "?view=knowledge&topic=wallet&at=2026-11-20T09:00:07.000123Z",
            "?view=knowledge&as=timeline",
            "?view=knowledge&kind=risk&as=timeline&at=2026-11-20T09:00:00Z",
        ] {
            let route = Route::parse(query, HERE);
            assert_eq!(route.query(HERE), query);
            assert_eq!(Route::parse(&route.query(HERE), HERE), route);
        }
    }

    #[test]
    fn a_link_leads_to_a_place_or_nowhere() {
        const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let here = |query: &str| Some((query.to_owned(), None));
        for (link, want) in [
            (format!("engram://engram/{ID}"), here(&format!("?id={ID}"))),
            (
                format!("engram://drift/{ID}?repo=/code/the%20shop"),
                Some((
                    format!("?view=drift&id={ID}"),
                    Some("/code/the shop".to_owned()),
                )),
            ),
            ("engram://feed".to_owned(), here("")),
            ("engram://".to_owned(), here("")),
            (
                "engram://feed/?kind=risk&q=a%20b&evil=1".to_owned(),
                here("?kind=risk&q=a%20b"),
            ),
            ("engram://drift".to_owned(), here("?view=drift")),
            (
                format!("engram://requests/{ID}"),
                here(&format!("?view=requests&request={ID}")),
            ),
            ("engram://requests/<script>".to_owned(), None),
            (
                format!("engram://conflicts/{ID}"),
                here(&format!("?view=conflicts&conflict={ID}")),
            ),
            (
                format!("engram://knowledge/{ID}?at=2026-11-20T09:00:00Z&repo=/code/shop"),
                Some((
                    format!("?view=knowledge&at=2026-11-20T09:00:00Z&id={ID}"),
                    Some("/code/shop".to_owned()),
                )),
            ),
            // Only the knowledge view shows another time.
            ("engram://feed?at=2026-11-20T09:00:00Z".to_owned(), here("")),
            ("engram://feed?as=timeline".to_owned(), here("")),
            (
                format!("engram://knowledge/{ID}?as=timeline"),
                here(&format!("?view=knowledge&as=timeline&id={ID}")),
            ),
            (
                "engram://knowledge?as=cloud".to_owned(),
                here("?view=knowledge"),
            ),
            (
                "engram://knowledge?at=then".to_owned(),
                here("?view=knowledge"),
            ),
            ("engram://conflicts/<script>".to_owned(), None),
            ("engram://engram/<script>".to_owned(), None),
            ("engram://feed/<script>".to_owned(), None),
            ("engram://<script>".to_owned(), None),
            ("engram://engram".to_owned(), None),
            ("engram://feed/x/y".to_owned(), None),
            (format!("engram://feed/{ID}/y"), None),
            ("javascript:alert(1)".to_owned(), None),
            (String::new(), None),
            (format!("engram://feed?q={}", "x".repeat(9_000)), None),
        ] {
            let route = Route::of_link(&link, HERE);
            let told = route.map(|it| (it.query(HERE), it.repository));
            assert_eq!(told, want, "{link}");
        }
        let route = Route {
            view: "drift",
            repository: Some("/code/größe & more".to_owned()),
            open: Some(ID.to_owned()),
            ..Route::default()
        };
        let link = route.link();
        assert!(link.is_ascii(), "{link}");
        assert_eq!(Route::of_link(&link, HERE), Some(route.clone()));
        // A remote means the same on another machine; a path does not.
        let remote = Some("example.com/team/shop".to_owned());
        let link = Route { remote, ..route }.link();
        let told = format!("engram://drift/{ID}?remote=example.com/team/shop");
        assert_eq!(link, told);
        let read = Route::of_link(&link, HERE).unwrap();
        assert_eq!(read.remote.as_deref(), Some("example.com/team/shop"));
    }

    #[test]
    fn an_agent_is_an_object_of_its_view() {
        let agents = Route {
            view: "agents",
            open: Some("a-1/é".to_owned()),
            ..Route::default()
        };
        let query = agents.query(HERE);
        assert_eq!(query, "?view=agents&handle=a-1/%C3%A9");
        assert_eq!(Route::parse(&query, HERE), agents);
        assert_eq!(Route::of_link(&agents.link(), HERE), Some(agents));
        assert_eq!(Route::parse("?handle=a-1", HERE), Route::default());
    }

    #[test]
    fn what_is_not_there_is_noted_and_the_feed_is_shown() {
        for (address, want) in [
            ("?view=budgets", Missing::View("budgets".to_owned())),
            ("?id=1", Missing::Name(say::repositories::no_id("1"))),
        ] {
            let route = Route::parse(address, HERE);
            assert_eq!(route.missing, Some(want), "{address}");
            assert_eq!((route.view, route.query(HERE).as_str()), ("feed", ""));
        }
        let route = Route::parse("?view=conflicts&conflict=garbage", HERE);
        assert_eq!(
            route.missing,
            Some(Missing::Name(say::repositories::no_conflict("garbage")))
        );
        assert_eq!(route.query(HERE), "?view=conflicts");
        let route = Route::of_link("engram://budgets", HERE).unwrap();
        assert_eq!(route.missing, Some(Missing::View("budgets".to_owned())));
    }

    #[test]
    fn what_is_not_understood_is_left_out() {
        for query in [
            "?kind=nonsense&verified=maybe&ended=maybe&since=yesterday&until=0002-11-20&view=Drift!&x=y&&=&q",
            "?%",
            "????",
            "#token=abc",
            "?conflict=01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "?request=01ARZ3NDEKTSV4RRFFQ69G5FAV",
        ] {
            assert_eq!(Route::parse(query, HERE), Route::default(), "{query}");
        }
        assert_eq!(Route::parse("?q=a+b%2", HERE).filter.text, "a b%2");
    }
}
