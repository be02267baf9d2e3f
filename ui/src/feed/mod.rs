//! The engrams of the list in the order of their places, newest first, kept up to date from journal
//! entries.

mod ranked;
mod taken_back;
mod unlisted;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use engram_model::{
    Change, ConflictId, Durability, Engram, EngramId, Entry, FeedPage, Filter, Health, How,
    LineageId, Lost, TodoAnswer, is_over,
};
use jiff::Timestamp;

pub use self::{ranked::Ranked, unlisted::last_unlisted_change};
use crate::words::State;

/// The most engrams that stay in memory; others are loaded again when scrolled to.
pub const MAX_ROWS: usize = 2_000;

/// A stretch of the engrams of one project, newest first; usually the newest.
#[derive(Clone, Debug, Default)]
pub struct EngramList {
    rows: VecDeque<Arc<Engram>>,
    /// Engrams that arrived while the person reads further down, newest first.
    waiting: VecDeque<Arc<Engram>>,
    /// How many others arrived and were not kept; they are read on request.
    missed: usize,
    known: HashSet<EngramId>,
    /// Maps an old version to the newer one.
    replaced: HashMap<EngramId, EngramId>,
    /// Corrections that were undone.
    undone: HashSet<EngramId>,
    head: u64,
    /// The place before which older engrams are requested; none when all are loaded.
    older: Option<u64>,
    /// The place after which newer engrams are requested; none while the list reaches the newest.
    newer: Option<u64>,
    /// Conflicts that may have closed or reopened: no entry reports this for every claim in them.
    doubtful: Vec<ConflictId>,
    /// Whether the first page has come.
    is_read: bool,
    /// The filter of the list: new engrams that do not match it are not listed.
    filter: Filter,
    /// What a search says about the engrams, which are then best first.
    ranked: Option<Ranked>,
}

impl EngramList {
    /// Starts again from the newest page of what `filter` leaves.
    pub fn load(&mut self, page: FeedPage, filter: Filter) {
        *self = Self {
            filter,
            head: page.head,
            is_read: true,
            ..Self::default()
        };
        self.add_older(page);
    }

    /// Lists nothing until the first page comes, since the current rows are of another time. The
    /// journal is still followed from where it is.
    pub fn clear(&mut self) {
        *self = Self {
            head: self.head,
            ..Self::default()
        };
    }

    /// Whether the first page has come.
    pub fn is_read(&self) -> bool {
        self.is_read
    }

    /// Starts again from the oldest page of what the filter leaves, oldest first.
    pub fn load_oldest(&mut self, page: FeedPage) {
        let (missed, newer) = (self.waiting_new(), page.next);
        *self = Self {
            filter: std::mem::take(&mut self.filter),
            head: self.head,
            is_read: true,
            missed,
            newer: Some(0),
            ..Self::default()
        };
        self.add_newer(page);
        if newer.is_none() {
            self.missed = 0;
        }
    }

    /// Adds a page of older entries, newest first.
    pub fn add_older(&mut self, page: FeedPage) {
        self.older = page.next;
        self.replaced.extend(page.replaced);
        self.undone.extend(page.undone);
        for entry in page.entries {
            if let Change::Stored(engram) = entry.change
                && self.learn(&engram)
            {
                self.rows.push_back(Arc::from(engram));
            }
        }
        if self.rows.len() > MAX_ROWS {
            let beyond = self.rows.len() - MAX_ROWS;
            let gone: Vec<_> = self.rows.drain(..beyond).collect();
            self.let_go(gone);
            self.miss_waiting();
            self.newer = self.newest();
        }
    }

    /// Adds a page of newer entries, oldest first.
    pub fn add_newer(&mut self, page: FeedPage) {
        self.replaced.extend(page.replaced);
        self.undone.extend(page.undone);
        for entry in page.entries {
            if let Change::Stored(engram) = entry.change
                && self.learn(&engram)
            {
                self.rows.push_front(Arc::from(engram));
            }
        }
        // What arrived after the page was read must be requested too.
        let is_newest = page.next.is_none() && page.head >= self.head;
        self.newer = if is_newest {
            None
        } else {
            page.next.or(self.newest()).or(Some(0))
        };
        if is_newest {
            self.missed = 0;
        }
        self.trim();
    }

    /// Counts a repetition, unless its claim came with it.
    fn corroborate(&mut self, id: EngramId, counted: &HashSet<EngramId>) {
        if !counted.contains(&id) {
            self.edit(id, |it| it.figures.corroborations += 1);
        }
    }

    /// Applies entries from the live journal; `hold` keeps new engrams back until
    /// [`EngramList::release`]. Returns how many engrams are new.
    pub fn live(&mut self, entries: Vec<Entry>, hold: bool) -> usize {
        let mut new = 0;
        let counted = stored_in(&entries);
        for entry in entries {
            if entry.seq <= self.head {
                continue; // sent again after a reconnect
            }
            self.head = entry.seq;
            // What held at a past time stays as it was, except for erasures.
            let is_past = self.filter.held_at.is_some() || !self.is_read;
            if is_past && !matches!(entry.change, Change::Redacted(_)) {
                continue;
            }
            match entry.change {
                Change::Stored(engram) => {
                    self.doubt(engram.supersedes);
                    match engram.asks {
                        Some(about) if engram.is_question() => self.ask(about, engram.id),
                        Some(about) => self.take_answer(about, &engram),
                        None => {}
                    }
                    new += usize::from(self.arrive(engram, hold));
                }
                Change::Corroborated(id) => self.corroborate(id, &counted),
                Change::Forgotten(id) => {
                    self.doubt([id]);
                    self.edit(id, |it| it.valid_until = Some(entry.at));
                    self.answer(id);
                }
                Change::Unlisted(all) => self.unlist(&all),
                Change::Redacted(id) => {
                    self.doubt([id]);
                    self.redact(id, entry.at);
                }
                Change::Promoted { id, ends_term } => self.edit(id, |engram| {
                    engram.durability = Durability::Durable;
                    if ends_term {
                        (engram.ttl, engram.expires_at) = (None, None);
                    }
                }),
                // The repository became available or unavailable: what is shown is then read again.
                Change::Anchored { engrams, .. } if engrams.is_empty() => {
                    for engram in self.rows.iter_mut().chain(&mut self.waiting) {
                        Arc::make_mut(engram).health = None;
                    }
                }
                Change::Anchored { engrams, .. } => {
                    for anchored in engrams {
                        self.edit(anchored.id, |engram| engram.health = Some(anchored.health));
                    }
                }
                Change::Conflict { id, engrams, .. } => self.dispute(id, &engrams),
                // What a verdict closes and stores has entries of its own; this entry says why it
                // closed.
                Change::Resolved {
                    id, how, closed, ..
                } => {
                    self.doubtful.push(id);
                    let lost = how.map(|how| Lost { conflict: id, how });
                    closed
                        .into_iter()
                        .for_each(|closed| self.edit(closed, |it| it.lost = lost));
                }
                Change::Dereferenced { .. }
                | Change::Noted { .. }
                | Change::Allowed(_)
                | Change::Disallowed(_)
                | Change::Between { .. } => {}
            }
        }
        if self.filter.ended == Some(false) {
            self.drop_ended();
        }
        if self.waiting.len() > MAX_ROWS {
            self.miss_waiting();
            self.newer = self.newest().or(Some(0));
        }
        self.trim();
        new
    }

    /// Records that conflicts of these ended engrams may have closed.
    fn doubt(&mut self, ended: impl IntoIterator<Item = EngramId>) {
        for id in ended {
            let conflicts = self.get(id).map(|it| it.conflicts.clone());
            self.doubtful.extend(conflicts.unwrap_or_default());
        }
    }

    /// Returns the conflicts to ask about since the last call.
    pub fn take_doubtful(&mut self) -> Vec<ConflictId> {
        let mut all = std::mem::take(&mut self.doubtful);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Sets the engrams between which a conflict is open, as just read; none if it is not open.
    pub fn learn_conflict(&mut self, id: ConflictId, between: &[EngramId]) {
        for engram in self.rows.iter_mut().chain(&mut self.waiting) {
            if engram.conflicts.contains(&id) {
                Arc::make_mut(engram).conflicts.retain(|other| *other != id);
            }
        }
        self.dispute(id, between);
    }

    fn dispute(&mut self, id: ConflictId, between: &[EngramId]) {
        for &side in between {
            self.edit(side, |engram| {
                if !engram.conflicts.contains(&id) {
                    engram.conflicts.push(id);
                }
            });
        }
    }

    /// Adds a new engram; returns whether it is listed as new.
    fn arrive(&mut self, engram: Box<Engram>, hold: bool) -> bool {
        // Only another search can say whether it answers.
        let is_ranked = self.ranked.is_some();
        if !is_ranked && !self.filter.admits(&engram, engram.recorded_at) {
            self.replace(&engram);
            return false;
        }
        if engram.place.is_some() {
            self.stand_in(engram, hold);
            return false;
        }
        if is_ranked {
            self.replace(&engram);
            return false;
        }
        if self.newer.is_some() {
            self.replace(&engram);
            self.missed += 1;
            return true;
        }
        if !self.learn(&engram) {
            return false;
        }
        self.insert(Arc::from(engram), hold);
        true
    }

    /// Puts a version with the words of an earlier one in its place, so that nothing moves.
    fn stand_in(&mut self, engram: Box<Engram>, hold: bool) {
        self.replace(&engram);
        if self.known.contains(&engram.id) {
            return;
        }
        let place = engram.list_place();
        let is_it = |it: &&mut Arc<Engram>| it.list_place() == place;
        let mut all = self.rows.iter_mut().chain(&mut self.waiting);
        if let Some(row) = all.find(is_it) {
            self.known.remove(&row.id);
            self.known.insert(engram.id);
            *row = Arc::from(engram);
            return;
        }
        // A version beyond either end comes with its page.
        let is_within = self.ranked.is_none()
            && self.older.is_none_or(|older| place >= older)
            && self.newer.is_none_or(|newer| place <= newer);
        if is_within {
            self.known.insert(engram.id);
            self.insert(Arc::from(engram), hold);
        }
    }

    /// Inserts an engram at its place, in the list or among those held back.
    fn insert(&mut self, engram: Arc<Engram>, hold: bool) {
        let to = if hold {
            &mut self.waiting
        } else {
            &mut self.rows
        };
        let place = engram.list_place();
        let at = to.partition_point(|it| it.list_place() > place);
        to.insert(at, engram);
    }

    /// The place of the newest listed engram.
    fn newest(&self) -> Option<u64> {
        self.rows.front().map(|it| it.list_place())
    }

    /// Shows what was held back; returns false if that must be read, since it was not kept.
    pub fn release(&mut self) -> bool {
        if self.newer.is_some() {
            return false;
        }
        while let Some(engram) = self.waiting.pop_back() {
            self.insert(engram, false);
        }
        self.trim();
        true
    }

    /// How many engrams are held back.
    pub fn waiting(&self) -> usize {
        self.waiting.len() + self.missed
    }

    /// How many of those held back are new: a confirmed claim only takes its place again.
    pub fn waiting_new(&self) -> usize {
        let is_new = |it: &&Arc<Engram>| it.place.is_none() && !self.is_taken_back(it);
        self.waiting.iter().filter(is_new).count() + self.missed
    }

    /// How many rows at the top were first recorded after this place, down to the last one that is
    /// not the person's own; none if the rows are best first.
    pub fn count_after(&self, place: u64) -> usize {
        if self.ranked.is_some() {
            return 0;
        }
        let new = self.iter().take_while(|it| it.list_place() > place);
        let of_others = new.enumerate().filter(|(_, it)| !is_own(it));
        of_others.last().map_or(0, |(row, _)| row + 1)
    }

    /// The newest known entry of the journal.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The place before which older entries are requested; none when all are loaded.
    pub fn next_page(&self) -> Option<u64> {
        self.older
    }

    /// The place after which newer entries are requested; none while the list reaches the newest.
    pub fn newer_page(&self) -> Option<u64> {
        self.newer
    }

    /// Whether there is nothing at all, loaded or not.
    pub fn is_empty(&self) -> bool {
        self.is_read
            && self.filter.is_empty()
            && self.iter().next().is_none()
            && self.waiting_new() == 0
            && self.older.is_none()
    }

    /// Iterates over the listed engrams, newest first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Engram>> {
        self.rows.iter().filter(|it| !self.is_taken_back(it))
    }

    /// Returns the listed engrams, newest first.
    pub fn rows(&self) -> Vec<Arc<Engram>> {
        self.iter().cloned().collect()
    }

    /// Returns an engram, as it is now.
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
        } else if self.filter.held_at.is_some_and(|at| engram.holds_at(at)) {
            State::Held
        } else if self.replaced.contains_key(&engram.id) && !self.is_undone(engram) {
            State::Replaced
        } else if let Some(lost) = engram.lost {
            match lost.how {
                How::Merge => State::Merged,
                _ => State::Lost,
            }
        } else if self.was_taken_back(engram) {
            State::Undone
        } else if engram.valid_until.is_some() {
            State::Forgotten
        } else if is_over(engram.recorded_at, engram.expires_at, now) {
            State::Expired
        } else {
            State::Holds
        }
    }

    /// Returns the version that replaced this one.
    pub fn newer(&self, id: EngramId) -> Option<EngramId> {
        self.replaced.get(&id).copied()
    }

    /// Records which versions of a claim replaced which.
    pub fn learn_versions<'e>(&mut self, versions: impl Iterator<Item = &'e Engram>) {
        versions.for_each(|it| self.replace(it));
    }

    /// Sets the state of an engram's evidence, as just read.
    pub fn learn_health(&mut self, id: EngramId, health: Option<Health>) {
        self.edit(id, |it| it.health = health);
    }

    /// Records an engram; returns whether it was not listed before.
    fn learn(&mut self, engram: &Engram) -> bool {
        self.replace(engram);
        self.known.insert(engram.id)
    }

    /// Closes the version that this one replaces.
    fn replace(&mut self, engram: &Engram) {
        let Some(old) = engram.supersedes.or(engram.restores) else {
            return;
        };
        self.replaced.insert(old, engram.id);
        let from = engram.valid_from;
        self.edit(old, |replaced| {
            replaced.valid_until.get_or_insert(from);
        });
    }

    fn edit(&mut self, id: EngramId, change: impl FnOnce(&mut Engram)) {
        let mut all = self.rows.iter_mut().chain(&mut self.waiting);
        if let Some(engram) = all.find(|it| it.id == id) {
            change(Arc::make_mut(engram));
        }
    }

    /// Records that a to-do asks about a claim.
    fn ask(&mut self, about: LineageId, todo: EngramId) {
        let all = self.rows.iter_mut().chain(&mut self.waiting);
        for engram in all.filter(|it| it.lineage_id == about && it.valid_until.is_none()) {
            Arc::make_mut(engram).asked = Some(todo);
        }
    }

    /// Records what was answered to the to-do about a claim.
    fn take_answer(&mut self, about: LineageId, answer: &Engram) {
        let given = TodoAnswer {
            id: answer.id,
            claim: answer.claim.clone(),
            by: answer.provenance.created_by.clone(),
            at: answer.recorded_at,
        };
        let all = self.rows.iter_mut().chain(&mut self.waiting);
        for engram in all.filter(|it| it.lineage_id == about && it.valid_until.is_none()) {
            let engram = Arc::make_mut(engram);
            engram.asked = None;
            engram.answer = Some(Box::new(given.clone()));
        }
    }

    /// Records that a to-do is answered.
    fn answer(&mut self, todo: EngramId) {
        let all = self.rows.iter_mut().chain(&mut self.waiting);
        for engram in all.filter(|it| it.asked == Some(todo)) {
            Arc::make_mut(engram).asked = None;
        }
    }

    /// Erases the text, and what an erased version loses with it, in every version that has it.
    fn redact(&mut self, id: EngramId, at: Timestamp) {
        let Some(hash) = self.get(id).map(|it| it.content_hash.clone()) else {
            return;
        };
        for engram in self.rows.iter_mut().chain(&mut self.waiting) {
            if engram.id == id || engram.content_hash == hash {
                let engram = Arc::make_mut(engram);
                engram.claim.clear();
                engram.topic.clear();
                engram.tags.clear();
                engram.pointers.clear();
                engram.provenance.created_by.clear();
                engram.health = None;
                engram.redacted = true;
                engram.valid_until.get_or_insert(at);
            }
        }
    }

    /// Removes ended engrams from a list of what holds.
    fn drop_ended(&mut self) {
        for rows in [&mut self.rows, &mut self.waiting] {
            for ended in rows.iter().filter(|it| it.valid_until.is_some()) {
                self.known.remove(&ended.id);
            }
            rows.retain(|it| it.valid_until.is_none());
        }
    }

    /// Removes the versions of these lineages from the list.
    fn unlist(&mut self, lineages: &[LineageId]) {
        for rows in [&mut self.rows, &mut self.waiting] {
            rows.retain(|engram| {
                let stays = !lineages.contains(&engram.lineage_id);
                if !stays {
                    self.known.remove(&engram.id);
                }
                stays
            });
        }
    }

    /// Drops the oldest engrams beyond [`MAX_ROWS`].
    fn trim(&mut self) {
        if self.rows.len() > MAX_ROWS {
            let gone: Vec<_> = self.rows.drain(MAX_ROWS..).collect();
            self.let_go(gone);
            self.older = self.rows.back().map(|it| it.list_place());
        }
        // Forgets replaced versions that were never listed.
        if self.replaced.len() > 2 * MAX_ROWS {
            self.replaced.retain(|old, _| self.known.contains(old));
            self.undone.retain(|old| self.known.contains(old));
        }
    }

    fn let_go(&mut self, gone: impl IntoIterator<Item = Arc<Engram>>) {
        for engram in gone {
            self.known.remove(&engram.id);
            self.replaced.remove(&engram.id);
            self.undone.remove(&engram.id);
        }
    }

    fn miss_waiting(&mut self) {
        self.missed = self.waiting_new();
        let gone = std::mem::take(&mut self.waiting);
        self.let_go(gone);
    }
}

/// The claims that entries store. They come as they are when the entries are read, with what was
/// said about them since.
fn stored_in(entries: &[Entry]) -> HashSet<EngramId> {
    let stored = entries.iter().filter_map(|it| it.change.stored());
    stored.map(|it| it.id).collect()
}

/// Whether the person at the window wrote it.
pub fn is_own(engram: &Engram) -> bool {
    engram.agent.is_none() && engram.provenance.created_by == "user"
}

#[cfg(test)]
mod tests;
