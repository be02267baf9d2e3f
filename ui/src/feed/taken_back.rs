//! Claims, corrections and to-dos that the person made and soon took back, as an undo does: the feed
//! leaves them out, since they are neither news nor anything that held. A search and a filter find
//! them.

use engram_model::Engram;
use jiff::SignedDuration;

use super::{EngramList, is_own};

/// How soon what the person wrote must end to count as taken back; later, it was forgotten.
const SOON: SignedDuration = SignedDuration::from_hours(1);

impl EngramList {
    /// How many engrams are listed, if these are all that the filter leaves: nothing is to be loaded
    /// or held back, and a search found no more.
    pub fn count_if_whole(&self) -> Option<u64> {
        let is_whole = self.is_read
            && self.ranked.is_none()
            && self.older.is_none()
            && self.newer.is_none()
            && self.waiting() == 0;
        is_whole.then(|| self.iter().count() as u64)
    }

    /// Whether the list leaves an engram out because the person took it back.
    pub(super) fn is_taken_back(&self, engram: &Engram) -> bool {
        let is_wanted = self.ranked.is_some()
            || self.filter.ended == Some(true)
            || self.filter.held_at.is_some();
        !is_wanted && self.was_taken_back(engram)
    }

    /// Whether the person wrote it and soon took it back.
    pub(super) fn was_taken_back(&self, engram: &Engram) -> bool {
        ended_soon(engram) && self.is_undone(engram)
    }

    /// Whether nothing came of it: of an addition, but its end; of a correction, but the version
    /// that it replaced, restored.
    pub(super) fn is_undone(&self, engram: &Engram) -> bool {
        let newer = self.replaced.get(&engram.id);
        let restores = |id| self.get(id).and_then(|it| it.restores);
        match engram.supersedes {
            None => newer.is_none(),
            // The restored version may be on a page that was not read yet.
            before => {
                self.undone.contains(&engram.id) || newer.is_some_and(|id| restores(*id) == before)
            }
        }
    }
}

/// Whether the person wrote it, and it ended soon after.
fn ended_soon(engram: &Engram) -> bool {
    let ended = engram.valid_until.filter(|_| !engram.redacted);
    let soon = ended.is_some_and(|at| at.duration_since(engram.recorded_at) < SOON);
    soon && is_own(engram) && engram.restores.is_none() && engram.lost.is_none()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use engram_model::{Change, EngramId, Entry, FeedPage, Filter};
    use serde_json::{Value, json};

    use super::*;
    use crate::words::State;

    /// A claim of 10:00 by this author, with these fields.
    fn engram(seq: u64, by: &str, more: &Value) -> Engram {
        let (id, at) = (format!("{seq:026}"), "2026-11-20T10:00:00Z");
        let mut engram = json!({
            "id": id, "seq": seq, "lineage_id": id, "project": id, "claim": "It holds.", "kind": "fact",
            "fact_type": "observation", "scope": "project", "topic": "", "pointers": [],
            "confidence": 0.7, "durability": "durable", "tags": [], "hash_keys": [], "entities": [],
            "provenance": {"created_at": at, "created_by": by, "source": "agent"},
            "content_hash": "sha256:00", "valid_from": at, "recorded_at": at, "memory_op": "add",
            "verified": false,
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            engram[name] = value.clone();
        }
        serde_json::from_value(engram).unwrap()
    }

    fn page_of(engrams: Vec<Engram>) -> FeedPage {
        let entry = |engram: Engram| Entry {
            seq: engram.seq,
            at: engram.recorded_at,
            agent: None,
            by: String::new(),
            change: Change::Stored(Box::new(engram)),
        };
        FeedPage {
            entries: engrams.into_iter().map(entry).collect(),
            head: 9,
            ..FeedPage::default()
        }
    }

    fn listed(engrams: Vec<Engram>, filter: Filter) -> Vec<u64> {
        let mut feed = EngramList::default();
        feed.load(page_of(engrams), filter);
        feed.iter().map(|it| it.seq).collect()
    }

    #[test]
    fn only_what_the_person_added_and_soon_ended_is_left_out() {
        let soon = json!({"valid_until": "2026-11-20T10:05:00Z"});
        let late = json!({"valid_until": "2026-11-20T12:00:00Z"});
        let lost = json!({"valid_until": "2026-11-20T10:05:00Z",
            "lost": {"conflict": format!("{:026}", 7), "how": "winner"}});
        for (by, more, is_left_out) in [
            ("user", &soon, true),
            ("user", &json!({}), false),
            ("user", &late, false),
            ("user", &lost, false),
            ("ada", &soon, false),
        ] {
            let left_out = listed(vec![engram(1, by, more)], Filter::default()).is_empty();
            assert_eq!(left_out, is_left_out, "{by} {more}");
        }
    }

    #[test]
    fn what_was_corrected_soon_stays_and_a_filter_lists_what_was_taken_back() {
        let soon = json!({"valid_until": "2026-11-20T10:05:00Z"});
        let before: EngramId = format!("{:026}", 1).parse().unwrap();
        let newer = engram(2, "user", &json!({"supersedes": before}));
        let both = vec![newer, engram(1, "user", &soon)];
        assert_eq!(listed(both, Filter::default()), [2, 1]);
        let ended = Filter {
            ended: Some(true),
            ..Filter::default()
        };
        let mut feed = EngramList::default();
        let late = json!({"valid_until": "2026-11-20T12:00:00Z"});
        let all = [engram(3, "user", &soon), engram(2, "ada", &soon)];
        let all: Vec<Engram> = all.into_iter().chain([engram(1, "user", &late)]).collect();
        feed.load(page_of(all.clone()), ended);
        assert_eq!(feed.iter().count(), 3);
        let states = all.iter().map(|it| feed.state(it, it.recorded_at));
        let want = [State::Undone, State::Forgotten, State::Forgotten];
        assert_eq!(states.collect::<Vec<_>>(), want);
    }

    #[test]
    fn a_correction_that_was_undone_soon_is_left_out_once_the_old_words_hold_again() {
        let soon = json!({"valid_until": "2026-11-20T10:05:00Z"});
        let id = |seq: u64| format!("{seq:026}");
        let mut corrected = soon.clone();
        corrected["supersedes"] = json!(id(1));
        let old = || engram(1, "ada", &soon);
        let undone = || engram(2, "user", &corrected);
        let restored = |restores: u64| {
            engram(
                3,
                "user",
                &json!({"supersedes": id(2), "restores": id(restores)}),
            )
        };
        let mut page = page_of(vec![undone(), engram(0, "ada", &json!({}))]);
        page.undone = vec![undone().id];
        let mut feed = EngramList::default();
        feed.load(page, Filter::default());
        assert_eq!(feed.iter().map(|it| it.seq).collect::<Vec<_>>(), [0]);
        let state = feed.state(&undone(), undone().recorded_at);
        assert_eq!(state, State::Undone, "it is not replaced");
        let all = |third: Engram| listed(vec![third, undone(), old()], Filter::default());
        assert_eq!(all(restored(1)), [3, 1]);
        assert_eq!(
            all(engram(3, "ada", &json!({"supersedes": id(2)}))),
            [3, 2, 1]
        );
    }

    /// It leaves the list as it ends, and is no longer counted among those held back.
    #[test]
    fn an_undone_addition_leaves_the_feed() {
        for hold in [false, true] {
            let mut feed = EngramList::default();
            feed.load(FeedPage::default(), Filter::default());
            let own = engram(1, "user", &json!({}));
            let id = own.id;
            let at = own.recorded_at;
            let entry = |seq, change| Entry {
                seq,
                at,
                agent: None,
                by: "user".to_owned(),
                change,
            };
            assert_eq!(feed.count_if_whole(), Some(0));
            feed.live(vec![entry(1, Change::Stored(Box::new(own)))], hold);
            assert_eq!(feed.count_if_whole(), (!hold).then_some(1));
            assert_eq!(feed.iter().count() + feed.waiting_new(), 1, "{hold}");
            feed.live(vec![entry(2, Change::Forgotten(id))], hold);
            assert_eq!(feed.iter().count() + feed.waiting_new(), 0, "{hold}");
            assert!(feed.get(id).is_some(), "the open claim stays");
            // It is not counted either.
            feed.release();
            assert_eq!(feed.count_if_whole(), Some(0));
        }
    }
}
