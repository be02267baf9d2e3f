//! What the list holds: engrams newest first, kept up to date from journal entries.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use engram_model::{Change, Engram, EngramId, Entry, FeedPage, Filter};
use jiff::Timestamp;

use crate::words::State;

/// Most engrams that stay in memory while the person is at the newest; older ones are paged in again.
pub const MOST: usize = 5_000;

/// The engrams of one project, newest first.
#[derive(Clone, Debug, Default)]
pub struct Feed {
    rows: VecDeque<Arc<Engram>>,
    /// Arrived while the person reads further down; newest first.
    waiting: VecDeque<Arc<Engram>>,
    known: HashSet<EngramId>,
    /// Old version to the newer one.
    replaced: HashMap<EngramId, EngramId>,
    head: u64,
    all_loaded: bool,
    /// What the list is limited to: new engrams that are not like this are not listed.
    filter: Filter,
}

impl Feed {
    /// Begins again from the newest page of what `filter` leaves.
    pub fn load(&mut self, page: FeedPage, asked: usize, filter: Filter) {
        *self = Self {
            filter,
            ..Self::default()
        };
        self.head = page.head;
        self.older(page, asked);
    }

    /// Adds a page of older entries, newest first.
    pub fn older(&mut self, page: FeedPage, asked: usize) {
        self.all_loaded = page.entries.len() < asked;
        for entry in page.entries {
            let (seq, change) = (entry.seq, entry.change);
            if let Change::Stored(engram) = change {
                self.head = self.head.max(seq);
                if self.learn(&engram) {
                    self.rows.push_back(Arc::from(engram));
                }
            }
        }
    }

    /// Applies entries from the live journal; `hold` keeps new engrams back until [`Feed::release`].
    /// Returns how many engrams are new.
    pub fn live(&mut self, entries: Vec<Entry>, hold: bool) -> usize {
        let mut new = 0;
        for entry in entries {
            if entry.seq <= self.head {
                continue; // sent again after a reconnect
            }
            self.head = entry.seq;
            match entry.change {
                Change::Stored(engram) => {
                    if self.learn(&engram) && self.filter.admits(&engram) {
                        let to = if hold {
                            &mut self.waiting
                        } else {
                            &mut self.rows
                        };
                        to.push_front(Arc::from(engram));
                        new += 1;
                    }
                }
                Change::Corroborated(id) => self.edit(id, |it| it.figures.corroborations += 1),
                Change::Forgotten(id) => self.edit(id, |it| it.valid_until = Some(entry.at)),
                Change::Redacted(id) => self.redact(id, entry.at),
                Change::Anchored { engrams, .. } => {
                    for it in engrams {
                        self.edit(it.id, |engram| engram.health = Some(it.health));
                    }
                }
                Change::Dereferenced { .. } | Change::Noted { .. } => {}
            }
        }
        if !hold && self.rows.len() > MOST {
            self.trim();
        }
        new
    }

    /// Shows what was held back.
    pub fn release(&mut self) {
        while let Some(engram) = self.waiting.pop_back() {
            self.rows.push_front(engram);
        }
    }

    /// How many engrams are held back.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Newest place in the journal that was seen.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The place before which older entries are asked for; nothing when all are here.
    pub fn next_page(&self) -> Option<u64> {
        match self.all_loaded {
            true => None,
            false => self.rows.back().map(|it| it.seq),
        }
    }

    /// Whether there is nothing at all, here or further back.
    pub fn is_empty(&self) -> bool {
        self.filter.is_empty() && self.rows.is_empty() && self.waiting.is_empty() && self.all_loaded
    }

    /// Newest first, as they lie.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Engram>> {
        self.rows.iter()
    }

    /// Newest first.
    pub fn rows(&self) -> Vec<Arc<Engram>> {
        self.rows.iter().cloned().collect()
    }

    /// One engram, as it is now.
    pub fn get(&self, id: EngramId) -> Option<Arc<Engram>> {
        self.rows
            .iter()
            .chain(&self.waiting)
            .find(|it| it.id == id)
            .cloned()
    }

    /// What became of an engram by `now`.
    pub fn state(&self, engram: &Engram, now: Timestamp) -> State {
        if engram.redacted {
            State::Redacted
        } else if self.replaced.contains_key(&engram.id) {
            State::Replaced
        } else if engram.valid_until.is_some() {
            State::Forgotten
        } else if engram.expires_at.is_some_and(|end| end <= now) {
            State::Expired
        } else {
            State::Holds
        }
    }

    /// The version that took the place of this one.
    pub fn newer(&self, id: EngramId) -> Option<EngramId> {
        self.replaced.get(&id).copied()
    }

    fn learn(&mut self, engram: &Engram) -> bool {
        if let Some(old) = engram.supersedes {
            self.replaced.insert(old, engram.id);
            let from = engram.valid_from;
            self.edit(old, |it| {
                it.valid_until.get_or_insert(from);
            });
        }
        self.known.insert(engram.id)
    }

    fn edit(&mut self, id: EngramId, change: impl FnOnce(&mut Engram)) {
        let mut all = self.rows.iter_mut().chain(&mut self.waiting);
        if let Some(engram) = all.find(|it| it.id == id) {
            change(Arc::make_mut(engram));
        }
    }

    /// Redaction erases the text in every version that carries it.
    fn redact(&mut self, id: EngramId, at: Timestamp) {
        let Some(hash) = self.get(id).map(|it| it.content_hash.clone()) else {
            return;
        };
        for engram in self.rows.iter_mut().chain(&mut self.waiting) {
            if engram.id == id || engram.content_hash == hash {
                let engram = Arc::make_mut(engram);
                engram.claim.clear();
                engram.redacted = true;
                engram.valid_until.get_or_insert(at);
            }
        }
    }

    fn trim(&mut self) {
        for engram in self.rows.drain(MOST..) {
            self.known.remove(&engram.id);
            self.replaced.remove(&engram.id);
        }
        self.all_loaded = false;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn engram(number: u64, claim: &str) -> Engram {
        let id = format!("{number:026}");
        serde_json::from_value(serde_json::json!({
            "id": id, "seq": number, "lineage_id": id, "project": id, "claim": claim, "kind": "fact",
            "fact_type": "observation", "scope": "project", "topic": "ledger/locks",
            "pointers": [{"type": "repo", "ref": "src/a.rs@HEAD", "span": "L1-L2"}],
            "confidence": 0.7, "durability": "durable", "tags": ["Slow"], "hash_keys": [], "entities": [],
            "provenance": {"created_at": "2026-11-20T10:00:00Z", "created_by": "Architect", "source": "agent"},
            "content_hash": format!("sha256:{claim}"), "valid_from": "2026-11-20T10:00:00Z",
            "recorded_at": "2026-11-20T10:00:00Z", "memory_op": "add", "verified": true
        }))
        .unwrap()
    }

    fn entry(seq: u64, change: Change) -> Entry {
        Entry {
            seq,
            at: "2026-11-20T11:00:00Z".parse().unwrap(),
            by: String::new(),
            change,
        }
    }

    fn stored(seq: u64, claim: &str) -> Entry {
        entry(seq, Change::Stored(Box::new(engram(seq, claim))))
    }

    fn loaded(seqs: std::ops::RangeInclusive<u64>, asked: usize) -> Feed {
        let mut feed = Feed::default();
        let head = *seqs.end();
        let entries = seqs
            .rev()
            .map(|seq| stored(seq, &format!("claim {seq}")))
            .collect();
        feed.load(
            FeedPage {
                entries,
                head,
                engrams: 0,
            },
            asked,
            Filter::default(),
        );
        feed
    }

    fn seqs(feed: &Feed) -> Vec<u64> {
        feed.rows().iter().map(|it| it.seq).collect()
    }

    #[test]
    fn live_entries_go_on_top_once() {
        let mut feed = loaded(3..=4, 2);
        assert_eq!(
            feed.live(
                vec![stored(4, "again"), stored(7, "new"), stored(8, "newer")],
                false
            ),
            2
        );
        assert_eq!(
            feed.live(vec![stored(7, "new"), stored(8, "newer")], false),
            0,
            "sent again"
        );
        assert_eq!((seqs(&feed), feed.head()), (vec![8, 7, 4, 3], 8));
        assert_eq!(feed.next_page(), Some(3));
        let page = FeedPage {
            entries: vec![stored(2, "old")],
            head: 8,
            engrams: 5,
        };
        feed.older(page, 2);
        assert_eq!((seqs(&feed), feed.next_page()), (vec![8, 7, 4, 3, 2], None));
    }

    #[test]
    fn what_is_held_back_moves_nothing_until_released() {
        let mut feed = loaded(1..=2, 100);
        assert_eq!(feed.live(vec![stored(3, "c"), stored(4, "d")], true), 2);
        assert_eq!((seqs(&feed), feed.waiting()), (vec![2, 1], 2));
        feed.release();
        assert_eq!((seqs(&feed), feed.waiting()), (vec![4, 3, 2, 1], 0));
    }

    #[test]
    fn closing_a_window_shows_on_the_row() {
        let now = "2026-11-20T12:00:00Z".parse().unwrap();
        let mut feed = loaded(1..=6, 100);
        let twin = {
            let mut it = engram(7, "claim 3");
            it.supersedes = Some(engram(4, "").id);
            it
        };
        let mut short = engram(8, "short");
        short.expires_at = Some(now);
        feed.live(
            vec![
                entry(9, Change::Stored(Box::new(twin))),
                entry(10, Change::Stored(Box::new(short))),
                entry(11, Change::Forgotten(engram(2, "").id)),
                entry(12, Change::Redacted(engram(3, "").id)),
                entry(13, Change::Corroborated(engram(1, "").id)),
                entry(14, Change::Forgotten(engram(99, "").id)),
            ],
            false,
        );
        for (number, want) in [
            (1, State::Holds),
            (2, State::Forgotten),
            (3, State::Redacted),
            (4, State::Replaced),
            (5, State::Holds),
            (7, State::Redacted),
            (8, State::Expired),
        ] {
            let it = feed.get(engram(number, "").id).unwrap();
            assert_eq!(feed.state(&it, now), want, "engram {number}");
            assert_eq!(
                it.claim.is_empty(),
                want == State::Redacted,
                "engram {number}"
            );
        }
        assert_eq!(
            feed.get(engram(1, "").id).unwrap().figures.corroborations,
            1
        );
        assert_eq!(feed.newer(engram(4, "").id), Some(engram(7, "").id));
    }

    #[test]
    fn what_a_filter_leaves_out_does_not_arrive() {
        let words = |text: &str| Filter {
            text: text.to_owned(),
            ..Filter::default()
        };
        for (text, want) in [
            ("", vec![2, 1]),
            ("LOCKS held", vec![2]),
            ("src/a.rs", vec![2, 1]),
            ("architect retries", vec![1]),
            ("slow nothing", vec![]),
            ("  ", vec![2, 1]),
            ("ledger/", vec![2, 1]),
        ] {
            let mut feed = Feed::default();
            feed.load(FeedPage::default(), 9, words(text));
            let entries = vec![stored(1, "Retries"), stored(2, "Locks are held")];
            assert_eq!(feed.live(entries, false), want.len(), "{text:?}");
            assert_eq!((seqs(&feed), feed.head()), (want, 2), "{text:?}");
        }
    }

    #[test]
    fn memory_stays_bounded() {
        let mut feed = loaded(1..=2, 100);
        let many = (3..=(MOST as u64 + 10))
            .map(|seq| stored(seq, "x"))
            .collect();
        feed.live(many, false);
        assert_eq!(feed.rows().len(), MOST);
        assert_eq!(
            feed.next_page(),
            Some(11),
            "what was dropped can be paged in again"
        );
    }
}
