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
        agent: None,
        by: String::new(),
        change,
    }
}

fn stored(seq: u64, claim: &str) -> Entry {
    entry(seq, Change::Stored(Box::new(engram(seq, claim))))
}

fn loaded(seqs: std::ops::RangeInclusive<u64>, next: Option<u64>) -> EngramList {
    let mut feed = EngramList::default();
    let head = *seqs.end();
    let entries = seqs
        .rev()
        .map(|seq| stored(seq, &format!("claim {seq}")))
        .collect();
    feed.load(
        FeedPage {
            entries,
            next,
            head,
            ..FeedPage::default()
        },
        Filter::default(),
    );
    feed
}

fn seqs(feed: &EngramList) -> Vec<u64> {
    feed.rows().iter().map(|it| it.seq).collect()
}

#[test]
fn what_the_person_wrote_is_not_new_to_them() {
    let mut feed = loaded(1..=4, None);
    let by_user = |seq: u64| {
        let mut engram = engram(seq, &format!("own {seq}"));
        engram.provenance.created_by = "user".to_owned();
        entry(seq, Change::Stored(Box::new(engram)))
    };
    feed.live(vec![by_user(5)], false);
    assert_eq!(feed.count_after(4), 0, "only their own came");
    feed.live(vec![stored(6, "of an agent"), by_user(7)], false);
    assert_eq!(feed.count_after(4), 2, "down to the agent's");
    let own = feed.iter().filter(|it| is_own(it)).count();
    assert_eq!(own, 2);
}

#[test]
fn live_entries_go_on_top_once() {
    let mut feed = loaded(3..=4, Some(3));
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
        next: None,
        head: 8,
        engrams: 5,
        ..FeedPage::default()
    };
    feed.add_older(page);
    assert_eq!((seqs(&feed), feed.next_page()), (vec![8, 7, 4, 3, 2], None));
}

/// A version of `old` with these words, at `place` if given.
fn version(seq: u64, old: u64, claim: &str, place: Option<u64>) -> Entry {
    let mut newer = engram(seq, claim);
    newer.lineage_id = engram(old, "").lineage_id;
    newer.supersedes = Some(engram(old, "").id);
    newer.place = place.map(|seq| engram_model::Place {
        seq,
        at: newer.valid_from,
    });
    entry(seq, Change::Stored(Box::new(newer)))
}

#[test]
fn a_confirmation_stays_where_its_claim_stood() {
    for (what, confirmed, hold, want) in [
        (
            "listed",
            vec![version(7, 3, "claim 3", Some(3))],
            false,
            vec![6, 5, 4, 7],
        ),
        (
            "while others are held back",
            vec![version(7, 3, "claim 3", Some(3))],
            true,
            vec![6, 5, 4, 7],
        ),
        (
            "twice, and sent again",
            vec![
                version(7, 3, "claim 3", Some(3)),
                version(8, 7, "claim 3", Some(3)),
                version(8, 7, "claim 3", Some(3)),
            ],
            false,
            vec![6, 5, 4, 8],
        ),
        (
            "all of them",
            (3..=6)
                .map(|it| version(it + 10, it, "same", Some(it)))
                .collect(),
            false,
            vec![16, 15, 14, 13],
        ),
        (
            "not loaded yet",
            vec![version(7, 2, "claim 2", Some(2))],
            false,
            vec![6, 5, 4, 3],
        ),
        (
            "in other words",
            vec![version(7, 3, "other", None)],
            false,
            vec![7, 6, 5, 4, 3],
        ),
    ] {
        let mut feed = loaded(3..=6, Some(3));
        let is_new = want.len() > 4;
        assert_eq!(feed.live(confirmed, hold), usize::from(is_new), "{what}");
        assert_eq!((seqs(&feed), feed.waiting()), (want, 0), "{what}");
        assert_eq!(feed.known.len(), feed.rows.len(), "{what}");
    }
}

#[test]
fn a_confirmation_of_what_is_held_back_waits_with_it() {
    let mut feed = loaded(1..=2, None);
    let entries = vec![
        stored(3, "c"),
        version(4, 3, "c", Some(3)),
        version(5, 1, "claim 1", Some(1)),
    ];
    assert_eq!(feed.live(entries, true), 1);
    assert_eq!((seqs(&feed), feed.waiting()), (vec![2, 5], 1));
    feed.release();
    assert_eq!(seqs(&feed), [4, 2, 5]);
    let id = |number| engram(number, "").id;
    assert_eq!(feed.newer(id(3)), Some(id(4)));
    // Pages begin at places, not at the entries that came last.
    let entries = vec![version(6, 4, "c", Some(3))];
    feed.live(entries, false);
    assert_eq!(
        [0, 1, 2, 3, 4].map(|place| feed.count_after(place)),
        [3, 2, 1, 0, 0]
    );
}

#[test]
fn a_claim_that_is_confirmed_comes_into_a_list_that_left_it_out_at_its_place() {
    let mut feed = loaded(3..=6, None);
    feed.filter.text = "again".to_owned();
    feed.live(vec![version(8, 2, "again", Some(2))], false);
    feed.live(vec![version(9, 1, "other", Some(1))], false);
    feed.older = Some(2);
    feed.live(vec![version(10, 1, "again", Some(1))], false);
    assert_eq!(seqs(&feed), [6, 5, 4, 3, 8]);
}

#[test]
fn a_claim_that_only_takes_its_place_again_waits_and_is_not_new() {
    let mut feed = loaded(3..=6, None);
    feed.filter.text = "again".to_owned();
    let entries = vec![
        version(8, 2, "again", Some(2)),
        stored(9, "again and again"),
    ];
    assert_eq!(feed.live(entries, true), 1);
    assert_eq!((feed.waiting(), feed.waiting_new()), (2, 1));
    feed.release();
    assert_eq!(seqs(&feed), [9, 6, 5, 4, 3, 8]);
    assert_eq!((feed.waiting(), feed.waiting_new()), (0, 0));
}

#[test]
fn what_is_held_back_moves_nothing_until_released() {
    let mut feed = loaded(1..=2, None);
    assert_eq!(feed.live(vec![stored(3, "c"), stored(4, "d")], true), 2);
    assert_eq!((seqs(&feed), feed.waiting()), (vec![2, 1], 2));
    feed.release();
    assert_eq!((seqs(&feed), feed.waiting()), (vec![4, 3, 2, 1], 0));
}

#[test]
fn closing_a_window_shows_on_the_row() {
    let now = "2026-11-20T12:00:00Z".parse().unwrap();
    let mut feed = loaded(1..=6, None);
    let twin = {
        let mut twin = engram(7, "claim 3");
        twin.supersedes = Some(engram(4, "").id);
        twin
    };
    let mut short = engram(8, "short");
    short.recorded_at = now - jiff::SignedDuration::from_hours(1);
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
        let engram = feed.get(engram(number, "").id).unwrap();
        assert_eq!(feed.state(&engram, now), want, "engram {number}");
        assert_eq!(
            engram.claim.is_empty(),
            want == State::Redacted,
            "engram {number}"
        );
    }
    // The clock was set back: nobody knows how much of its ttl is left.
    let back = now - jiff::SignedDuration::from_hours(48);
    let short = feed.get(engram(8, "").id).unwrap();
    assert_eq!(feed.state(&short, back), State::Expired);
    assert_eq!(
        feed.get(engram(1, "").id).unwrap().figures.corroborations,
        1
    );
    assert_eq!(feed.newer(engram(4, "").id), Some(engram(7, "").id));
}

/// A claim that was repeated at once arrives with its repetition counted.
#[test]
fn a_repetition_that_comes_with_its_claim_counts_once() {
    let mut feed = loaded(1..=1, None);
    let mut said = engram(2, "said by two");
    said.figures.corroborations = 1;
    let id = said.id;
    let entries = vec![
        entry(2, Change::Stored(Box::new(said))),
        entry(3, Change::Corroborated(id)),
    ];
    feed.live(entries, false);
    assert_eq!(feed.get(id).unwrap().figures.corroborations, 1);
    feed.live(vec![entry(4, Change::Corroborated(id))], false);
    assert_eq!(feed.get(id).unwrap().figures.corroborations, 2);
}

#[test]
fn what_becomes_durable_shows_on_the_row() {
    let end = "2026-11-20T12:00:00Z".parse().unwrap();
    for (ends_term, want) in [(true, State::Holds), (false, State::Expired)] {
        let mut feed = loaded(1..=2, None);
        let mut short = engram(3, "short");
        short.durability = Durability::Ephemeral;
        short.expires_at = Some(end);
        let id = short.id;
        let promoted = Change::Promoted { id, ends_term };
        let entries = vec![
            entry(3, Change::Stored(Box::new(short))),
            entry(4, promoted),
        ];
        feed.live(entries, false);
        let engram = feed.get(id).unwrap();
        assert_eq!(engram.durability, Durability::Durable);
        assert_eq!(feed.state(&engram, end), want);
    }
}

/// A list of what holds drops what ends, and lists what replaces it.
#[test]
fn what_ends_leaves_a_list_of_what_holds() {
    let holding = Filter {
        ended: Some(false),
        ..Filter::default()
    };
    let mut feed = EngramList::default();
    let entries = (1..=4)
        .rev()
        .map(|seq| stored(seq, &format!("claim {seq}")));
    feed.load(
        FeedPage {
            entries: entries.collect(),
            head: 4,
            ..FeedPage::default()
        },
        holding,
    );
    let twin = {
        let mut twin = engram(5, "claim 1 in other words");
        twin.supersedes = Some(engram(1, "").id);
        twin
    };
    let news = vec![
        entry(5, Change::Stored(Box::new(twin))),
        entry(6, Change::Forgotten(engram(2, "").id)),
        entry(7, Change::Redacted(engram(3, "").id)),
    ];
    assert_eq!(feed.live(news, false), 1);
    assert_eq!(seqs(&feed), [5, 4]);
    assert_eq!(feed.newer(engram(1, "").id), Some(engram(5, "").id));
}

/// The rows of both claims show a conflict, and it is asked about once a side ended.
#[test]
fn conflicts_come_and_go_on_the_rows_of_their_claims() {
    let id: ConflictId = "01K0000000000000000000000C".parse().unwrap();
    let both = [engram(1, "").id, engram(3, "").id];
    let marked = |feed: &EngramList| -> Vec<u64> {
        let rows = feed.rows();
        let marked = rows.iter().filter(|it| it.conflicts == [id]);
        marked.map(|it| it.seq).collect()
    };
    let mut feed = loaded(1..=3, None);
    let found = Change::Conflict {
        id,
        engrams: both,
        tier: engram_model::Tier::Numeric,
        severity: engram_model::Severity::High,
        risk: None,
    };
    feed.live(vec![entry(4, found.clone()), entry(5, found)], false);
    assert_eq!(marked(&feed), [3, 1]);
    assert_eq!(feed.take_doubtful(), []);
    feed.live(vec![entry(6, Change::Forgotten(both[0]))], false);
    assert_eq!(feed.take_doubtful(), [id]);
    assert_eq!(feed.take_doubtful(), []);
    feed.learn_conflict(id, &[]);
    assert!(marked(&feed).is_empty());
    feed.learn_conflict(id, &both);
    assert_eq!(marked(&feed), [3, 1]);
}

/// What held at a past time stays as it was while the journal goes on, except for erasures.
#[test]
fn the_past_changes_by_erasing_alone() {
    let at: Timestamp = "2026-11-20T10:30:00Z".parse().unwrap();
    let now = "2026-11-21T12:00:00Z".parse().unwrap();
    let then = Filter {
        held_at: Some(at),
        ..Filter::default()
    };
    let ended = |number, until: &str| {
        let mut engram = engram(number, &format!("claim {number}"));
        engram.valid_until = until.parse().ok();
        entry(number, Change::Stored(Box::new(engram)))
    };
    let mut feed = EngramList::default();
    feed.load(
        FeedPage {
            entries: vec![ended(2, "2026-11-20T11:00:00Z"), stored(1, "claim 1")],
            head: 5,
            ..FeedPage::default()
        },
        then,
    );
    let twin = {
        let mut twin = engram(7, "claim 1");
        twin.supersedes = Some(engram(1, "").id);
        twin
    };
    let news = vec![
        stored(6, "new"),
        entry(7, Change::Stored(Box::new(twin))),
        entry(8, Change::Forgotten(engram(1, "").id)),
        entry(9, Change::Corroborated(engram(1, "").id)),
    ];
    assert_eq!(feed.live(news, false), 0);
    assert_eq!((seqs(&feed), feed.head()), (vec![2, 1], 9));
    let first = feed.get(engram(1, "").id).unwrap();
    assert_eq!((first.valid_until, first.figures.corroborations), (None, 0));
    for number in [1, 2] {
        let engram = feed.get(engram(number, "").id).unwrap();
        assert_eq!(feed.state(&engram, now), State::Held, "engram {number}");
    }
    feed.live(vec![entry(10, Change::Redacted(engram(2, "").id))], false);
    let erased = feed.get(engram(2, "").id).unwrap();
    assert_eq!(feed.state(&erased, now), State::Redacted);
    assert!(erased.claim.is_empty());
    // Another time is read again, and nothing arrives before its first page.
    feed.clear();
    assert!(!feed.is_read() && !feed.is_empty());
    assert_eq!(feed.live(vec![stored(11, "later")], false), 0);
    assert_eq!((seqs(&feed), feed.head()), (vec![], 11));
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
        let mut feed = EngramList::default();
        feed.load(FeedPage::default(), words(text));
        let entries = vec![stored(1, "Retries"), stored(2, "Locks are held")];
        assert_eq!(feed.live(entries, false), want.len(), "{text:?}");
        assert_eq!((seqs(&feed), feed.head()), (want, 2), "{text:?}");
    }
}

fn page(seqs: impl Iterator<Item = u64>, next: Option<u64>, head: u64) -> FeedPage {
    FeedPage {
        entries: seqs.map(|seq| stored(seq, "x")).collect(),
        next,
        head,
        ..FeedPage::default()
    }
}

/// First and last row, number of rows, where the pages before and after begin, number of new rows.
fn stretch(feed: &EngramList) -> (u64, u64, usize, Option<u64>, Option<u64>, usize) {
    let all = seqs(feed);
    let (first, last) = (all[0], all[all.len() - 1]);
    (
        first,
        last,
        all.len(),
        feed.newer_page(),
        feed.next_page(),
        feed.waiting(),
    )
}

#[test]
fn memory_stays_bounded_however_far_one_goes() {
    let most = MAX_ROWS as u64;
    let mut feed = loaded(10_001..=10_200, Some(10_001));
    // Scrolls down further than is kept.
    for below in (1..=10_000).rev().step_by(200) {
        feed.add_older(page((below - 199..=below).rev(), Some(below - 199), 10_200));
        assert!(feed.rows().len() <= MAX_ROWS && feed.known.len() <= MAX_ROWS);
    }
    assert_eq!(stretch(&feed), (most, 1, MAX_ROWS, Some(most), Some(1), 0));
    // What arrives now is counted, not kept.
    assert_eq!(feed.live(vec![stored(10_201, "new")], true), 1);
    assert!(!feed.release(), "it must be read");
    assert_eq!(stretch(&feed), (most, 1, MAX_ROWS, Some(most), Some(1), 1));
    // Scrolls up again: a page that was read before the newest arrived is not the last.
    feed.add_newer(page(most + 1..=most + 200, Some(most + 200), 10_201));
    assert_eq!(
        stretch(&feed),
        (most + 200, 201, MAX_ROWS, Some(most + 200), Some(201), 1)
    );
    feed.add_newer(page(most + 201..=most + 300, None, 10_200));
    assert_eq!(feed.newer_page(), Some(most + 300));
    feed.add_newer(page(10_201..=10_201, None, 10_201));
    assert_eq!(stretch(&feed), (10_201, 302, MAX_ROWS, None, Some(302), 0));
    // At the newest end, old engrams are dropped.
    let many = (10_202..=20_000).map(|seq| stored(seq, "x")).collect();
    feed.live(many, false);
    let last = 20_001 - most;
    assert_eq!(
        stretch(&feed),
        (20_000, last, MAX_ROWS, None, Some(last), 0)
    );
    // While the person is further down, at most `MAX_ROWS` are held back; the others are counted.
    let many = (20_001..=20_000 + most + 1)
        .map(|seq| stored(seq, "x"))
        .collect();
    feed.live(many, true);
    assert_eq!(
        stretch(&feed),
        (
            20_000,
            last,
            MAX_ROWS,
            Some(20_000),
            Some(last),
            MAX_ROWS + 1
        )
    );
    assert_eq!(feed.known.len(), MAX_ROWS);
    // Jumps to the oldest end.
    feed.load_oldest(page(1..=200, Some(200), 20_000));
    assert_eq!(stretch(&feed), (200, 1, 200, Some(200), None, MAX_ROWS + 1));
}

#[test]
fn what_the_filter_leaves_out_is_not_remembered() {
    let mut feed = EngramList::default();
    let nothing = Filter {
        text: "nothing".to_owned(),
        ..Filter::default()
    };
    feed.load(FeedPage::default(), nothing);
    let new = |seq: u64| {
        let mut newer = engram(seq, "new");
        newer.supersedes = Some(engram(seq - 1, "").id);
        entry(seq, Change::Stored(Box::new(newer)))
    };
    for from in (1..=10 * MAX_ROWS as u64).step_by(500) {
        feed.live((from..from + 500).map(new).collect(), false);
        assert!(feed.known.is_empty() && feed.replaced.len() <= 2 * MAX_ROWS + 500);
    }
}

/// A row shows that a verdict ended its claim, from the entry of the verdict.
#[test]
fn a_claim_that_lost_a_conflict_says_so() {
    let conflict = "01K0000000000000000000000C".parse().unwrap();
    for (how, state) in [(How::Winner, State::Lost), (How::Merge, State::Merged)] {
        let mut feed = loaded(1..=2, None);
        let closed = engram(1, "").id;
        feed.live(
            vec![
                entry(3, Change::Forgotten(closed)),
                entry(
                    4,
                    Change::Resolved {
                        id: conflict,
                        status: engram_model::ConflictStatus::Resolved,
                        how: Some(how),
                        closed: vec![closed],
                        stored: Vec::new(),
                    },
                ),
            ],
            false,
        );
        let rows = feed.rows();
        let told: Vec<State> = rows
            .iter()
            .map(|it| feed.state(it, Timestamp::MAX))
            .collect();
        assert_eq!(told, [State::Holds, state]);
    }
}

#[test]
fn a_sample_that_was_removed_leaves_the_list() {
    let mut feed = loaded(1..=3, None);
    let gone = engram(2, "").lineage_id;
    feed.live(
        vec![
            entry(4, Change::Forgotten(engram(2, "").id)),
            entry(5, Change::Unlisted(vec![gone])),
        ],
        false,
    );
    assert_eq!(seqs(&feed), [3, 1]);
}
