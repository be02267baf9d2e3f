//! Actions by keys or by mouse beyond a single press, and what the page shows of them.

use serde_json::json;

use crate::window::Window;

pub(crate) const TAB: &str = "\u{E004}";
pub(crate) const ENTER: &str = "\u{E007}";
pub(crate) const ESCAPE: &str = "\u{E00C}";
pub(crate) const HOME: &str = "\u{E011}";
pub(crate) const DOWN: &str = "\u{E015}";
pub(crate) const DELETE: &str = "\u{E017}";
pub(crate) const SHIFT: char = '\u{E008}';
pub(crate) const CONTROL: char = '\u{E009}';

/// The device of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hand {
    Keys,
    Mouse,
}

/// Every action must work with both.
pub(crate) const BOTH: [Hand; 2] = [Hand::Keys, Hand::Mouse];

/// The condition that the page receives all changes.
pub(crate) const LIVE: &str =
    "document.querySelector('[data-testid=link]')?.dataset.state === 'live'";

/// The condition that a notice contains these words.
pub(crate) fn notice(words: &str) -> String {
    format!(
        "document.querySelector('[data-testid=notice]')?.textContent.includes({})",
        json!(words)
    )
}

/// The condition that `count` items are selected.
pub(crate) fn are_chosen(count: usize) -> String {
    format!(
        "document.querySelector('[data-testid=chosen-count]')?.textContent === '{count} selected'"
    )
}

/// The condition that `count` rows are listed.
pub(crate) fn rows(count: usize) -> String {
    format!("document.querySelectorAll('[data-testid=feed-row]').length === {count}")
}

/// The condition that exactly these are listed.
pub(crate) fn are_listed(ids: &[&String]) -> String {
    let mut ids: Vec<&str> = ids.iter().map(|it| it.as_str()).collect();
    ids.sort_unstable();
    format!(
        "[...document.querySelectorAll('[data-testid=feed-row]')].map(it => it.dataset.id).sort().join() === '{}'",
        ids.join(",")
    )
}

/// The condition that this engram is open.
pub(crate) fn is_open(id: &str) -> String {
    format!("document.querySelector('[data-testid=engram]')?.dataset.id === '{id}'")
}

/// The condition that this engram is open, with all its evidence.
pub(crate) fn is_read(id: &str) -> String {
    format!(
        "document.querySelector('[data-testid=engram][data-id=\"{id}\"] :is(.proof, .refused, .claim.erased)') && !document.querySelector('[data-testid=engram] [aria-busy=true]')"
    )
}

/// The selector of a row.
pub(crate) fn row(id: &str) -> String {
    format!("[data-testid=feed-row][data-id=\"{id}\"]")
}

/// The condition that a row shows this word for its evidence.
pub(crate) fn says(id: &str, word: &str) -> String {
    let row = row(id);
    format!("document.querySelector('{row} [data-testid=evidence]')?.textContent === '{word}'")
}

impl Window {
    /// Waits until a condition holds that may depend on the focus or on a scroll position, neither
    /// of which changes an element.
    pub(crate) fn wait_moved(&self, holds: &str) {
        let script = format!(
            "const done = arguments[0], over = new AbortController();
             const look = () => {{ if ({holds}) {{ watch.disconnect(); over.abort(); done(true); }} }};
             const watch = new MutationObserver(look);
             watch.observe(document, {{subtree: true, childList: true, attributes: true, characterData: true}});
             for (const name of ['focusin', 'focusout', 'scroll']) addEventListener(name, look, {{capture: true, signal: over.signal}});
             look();"
        );
        self.script_until(&script, json!([]));
    }

    /// Whether a condition of the page holds now.
    pub(crate) fn holds(&self, holds: &str) -> bool {
        self.script(&format!("return {holds}"), json!([])) == json!(true)
    }

    /// Suppresses longer timers of the page from now on: it does not retry, and notices stay.
    pub(crate) fn do_nothing_later(&self) {
        let script = "const real = window.setTimeout;
            window.setTimeout = (go, after, ...rest) => after >= 900 ? 0 : real(go, after, ...rest);";
        self.script(script, json!([]));
    }

    /// Presses Tab until `holds` is true for the focused element, `it`; returns the number of
    /// presses.
    pub(crate) fn tab_until(&self, holds: &str) -> usize {
        let script = format!(
            "const it = document.activeElement; return ({holds}) ? '' : it.dataset.testid ?? it.tagName"
        );
        let mut seen = Vec::new();
        loop {
            assert!(seen.len() < 80, "no {holds} among {seen:?}");
            self.keys(TAB);
            let at = self.script(&script, json!([]));
            match at.as_str() {
                Some("") => return seen.len() + 1,
                at => seen.push(at.unwrap_or_default().to_owned()),
            }
        }
    }

    /// Opens a view by its key, or by its button in the rail.
    pub(crate) fn go(&self, hand: Hand, view: &str) {
        let css = format!("[data-testid={view}-view]");
        self.find(&css);
        match hand {
            Hand::Keys => self.keys(&self.attribute(&css, "aria-keyshortcuts")),
            Hand::Mouse => self.click(&css),
        }
    }

    /// Presses a key, or clicks the element with this test id.
    pub(crate) fn by(&self, hand: Hand, key: &str, testid: &str) {
        match hand {
            Hand::Keys => self.keys(key),
            Hand::Mouse => self.click(&format!("[data-testid={testid}]")),
        }
    }

    /// Activates the element with this test id.
    pub(crate) fn press_on(&self, hand: Hand, testid: &str) {
        self.press_any(hand, &format!("[data-testid={testid}]"));
    }

    /// Activates the matching element.
    pub(crate) fn press_any(&self, hand: Hand, css: &str) {
        // Waits for an element that is about to appear.
        self.find(css);
        match hand {
            Hand::Keys => {
                self.press_by_keys(css);
            }
            Hand::Mouse => self.click(css),
        }
    }

    /// Activates the matching element by Tab and Enter; returns the number of keys.
    pub(crate) fn press_by_keys(&self, css: &str) -> usize {
        let tabs = self.tab_until(&format!("it.matches('{css}')"));
        self.keys(ENTER);
        tabs + 1
    }

    /// Opens an engram of the list.
    pub(crate) fn open_row(&self, hand: Hand, id: &str) {
        let css = row(id);
        self.find(&css);
        match hand {
            Hand::Keys => {
                let place = self.attribute(&css, "aria-posinset");
                let steps = place.parse::<usize>().unwrap() - 1;
                self.script("document.getElementById('feed').focus()", json!([]));
                self.keys(&format!("{HOME}{}", "j".repeat(steps)));
            }
            Hand::Mouse => self.click(&css),
        }
        self.wait(&is_read(id));
    }

    /// Presses a key while Shift is held.
    pub(crate) fn shift(&self, key: char) {
        self.press_with(SHIFT, key);
    }

    /// Clicks the matching element while a key is held.
    pub(crate) fn click_with(&self, key: char, css: &str) {
        let at = self.script("const it = document.querySelector(arguments[0]).getBoundingClientRect(); return [it.x + it.width / 2, it.y + it.height / 2]", json!([css]));
        let [x, y] = [0, 1].map(|it| at[it].as_f64().unwrap().round() as i64);
        let pause = json!({"type": "pause"});
        let down = json!({"type": "keyDown", "value": key});
        let up = json!({"type": "keyUp", "value": key});
        let keys = [&down, &pause, &pause, &pause, &up];
        let to = json!({"type": "pointerMove", "duration": 0, "x": x, "y": y});
        let press = json!({"type": "pointerDown", "button": 0});
        let release = json!({"type": "pointerUp", "button": 0});
        let pointer = [&pause, &to, &press, &release, &pause];
        self.post(
            "/actions",
            json!({"actions": [
                {"type": "key", "id": "keys", "actions": keys},
                {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": pointer},
            ]}),
        );
    }

    /// Whether the first matching element is visible.
    pub(crate) fn sees(&self, css: &str) -> bool {
        self.find(css);
        let script = "return document.querySelector(arguments[0]).checkVisibility({visibilityProperty: true})";
        self.script(script, json!([css])) == json!(true)
    }

    /// Returns the text of each matching element.
    pub(crate) fn texts(&self, css: &str) -> Vec<String> {
        let script =
            "return [...document.querySelectorAll(arguments[0])].map(it => it.textContent)";
        serde_json::from_value(self.script(script, json!([css]))).unwrap()
    }

    /// Returns the query of the address.
    pub(crate) fn query(&self) -> String {
        let query = self.script("return location.search", json!([]));
        query.as_str().unwrap().to_owned()
    }
}
