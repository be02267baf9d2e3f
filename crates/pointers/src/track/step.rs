//! One step: from one state of the repository to another, for many spans at once.

use std::{collections::HashMap, ops::Range};

use engram_model::Refusal;

use super::{
    cache::Cache,
    moves::{Additions, Blocks, MovedSpan},
    place::{SpanPlace, exact_nearby, place},
    repo_state::{ChangedFile, FoundState, StateFile},
};

/// Below this share a span that stands in its place is first looked for elsewhere.
const DOUBTFUL: f32 = 0.5;
/// What is elsewhere must be this much more of the span than what stands in its place.
const CLEARLY_MORE: f32 = 0.2;
/// A span of which less is left is gone, unless a line of it is left that says something.
const TRACE: f32 = 0.12;
const TELLING_TRACE: f32 = 0.03;
/// Less significant spans than this are not searched for away from their place.
const FEW_WORDS: u32 = 20;

/// Lines of a file, from 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spot {
    pub(super) file: StateFile,
    pub(super) lines: Range<usize>,
}

/// What became of a span in one step.
#[derive(Clone, Debug)]
pub(super) enum Fate {
    At {
        spot: Spot,
        /// How much of it is still there.
        kept: f32,
        /// Byte for byte the same.
        same: bool,
        /// The file itself is the same, or only has another name.
        whole_file: bool,
        ambiguous: bool,
        /// A neighbouring line went with it.
        anchored: bool,
        /// It left its file for one that this was not renamed to: how much of it, or of it with
        /// the lines around it, went that way.
        away: Option<f32>,
    },
    /// Gone, alone or with its file.
    Gone { with_file: bool },
    /// Something that had to be read cannot be.
    Unknown(Refusal),
}

/// From `old` to `new`, which differ by `changes`.
pub(super) struct Step<'s> {
    pub(super) old: FoundState,
    pub(super) new: FoundState,
    pub(super) changes: &'s [ChangedFile],
    by_path: HashMap<&'s str, &'s ChangedFile>,
    additions: Option<Additions>,
    /// What was moved out of a file, by its path.
    blocks: HashMap<String, Blocks>,
}

impl<'s> Step<'s> {
    pub(super) fn new(old: FoundState, new: FoundState, changes: &'s [ChangedFile]) -> Self {
        let named = |it: &'s ChangedFile| Some((it.old.as_ref()?.path.as_str(), it));
        Self {
            old,
            new,
            changes,
            by_path: changes.iter().filter_map(named).collect(),
            additions: None,
            blocks: HashMap::new(),
        }
    }

    /// Whether the file at this path is another, or gone, after the step.
    pub(super) fn touches(&self, path: &str) -> bool {
        self.by_path.contains_key(path)
    }

    pub(super) fn follow(&mut self, cache: &mut Cache<'_>, spot: &Spot) -> Fate {
        let Some(change) = self.by_path.get(spot.file.path.as_str()) else {
            return stays(spot.clone(), spot.file.clone());
        };
        let Some(new) = &change.new else {
            return self.elsewhere(cache, spot, None);
        };
        if new.blob == spot.file.blob {
            return stays(spot.clone(), new.clone());
        }
        match self.in_file(cache, spot, new) {
            Ok((file, found)) => self.judge(cache, spot, file, found),
            Err(refusal) => Fate::Unknown(refusal),
        }
    }

    fn in_file(
        &self,
        cache: &mut Cache<'_>,
        spot: &Spot,
        new: &StateFile,
    ) -> Result<(StateFile, Option<SpanPlace>), Refusal> {
        let before = cache.read(self.old, &spot.file)?;
        // It became a binary: its lines are gone.
        let Some(after) = cache.read_text(self.new, new)? else {
            return Ok((new.clone(), None));
        };
        let file = StateFile {
            path: new.path.clone(),
            blob: after.blob,
        };
        let map = cache.map(&before, &after);
        let mut found = place(&before.text, &after.text, &map, &spot.lines);
        if let Some(place) = &mut found
            && !place.same
            && before.text.all_telling(spot.lines.clone()) >= FEW_WORDS
            && let Some(exact) =
                exact_nearby(&before.text, &after.text, &map, &spot.lines, &place.lines)
        {
            *place = exact;
        }
        Ok((file, found))
    }

    fn judge(
        &mut self,
        cache: &mut Cache<'_>,
        spot: &Spot,
        file: StateFile,
        found: Option<SpanPlace>,
    ) -> Fate {
        match found {
            Some(place) if place.same || place.kept >= DOUBTFUL => at(file, place, false, None),
            Some(place) => self.elsewhere(cache, spot, Some((file, place))),
            None => self.elsewhere(cache, spot, None),
        }
    }

    /// Looks among the lines that the step added; else what stands in its place, if anything does.
    fn elsewhere(
        &mut self,
        cache: &mut Cache<'_>,
        spot: &Spot,
        here: Option<(StateFile, SpanPlace)>,
    ) -> Fate {
        let before = match cache.read(self.old, &spot.file) {
            Ok(read) => read,
            Err(refusal) => return Fate::Unknown(refusal),
        };
        let (old, new, changes) = (self.old, self.new, self.changes);
        let additions = self
            .additions
            .get_or_insert_with(|| Additions::of(cache, old, new, changes));
        let own = spot.file.path.as_str();
        if !self.blocks.contains_key(own) {
            let after = self.by_path.get(own).and_then(|it| it.new.as_ref());
            let after = after.and_then(|it| cache.read(new, it).ok());
            let map = after.map(|it| cache.map(&before, &it));
            let blocks = additions.blocks(&before.text, map.as_deref(), own);
            self.blocks.insert(own.to_owned(), blocks);
        }
        let carried = self
            .blocks
            .get(own)
            .and_then(|it| additions.carried(&before.text, &spot.lines, it));
        let natural = self.by_path.get(own).and_then(|it| it.new.as_ref());
        let natural = natural.map(|it| it.path.as_str());
        let moved = carried.or_else(|| additions.find(&before.text, &spot.lines, own));
        match (moved, here) {
            (
                Some(MovedSpan {
                    file,
                    place,
                    ambiguous,
                    together,
                }),
                here,
            ) if here
                .as_ref()
                .is_none_or(|(_, it)| place.kept >= it.kept + CLEARLY_MORE) =>
            {
                let away = natural.is_none_or(|it| file.path != it);
                // Few words say little by themselves.
                let few = before.text.all_telling(spot.lines.clone()) < FEW_WORDS;
                let away = away.then(|| {
                    if few {
                        together
                    } else {
                        together.max(place.kept)
                    }
                });
                at(file, place, ambiguous, away)
            }
            (_, Some((file, place)))
                if place.kept >= TRACE || place.telling && place.kept >= TELLING_TRACE =>
            {
                at(file, place, false, None)
            }
            _ => Fate::Gone {
                with_file: natural.is_none(),
            },
        }
    }
}

fn stays(spot: Spot, file: StateFile) -> Fate {
    Fate::At {
        spot: Spot { file, ..spot },
        kept: 1.0,
        same: true,
        whole_file: true,
        ambiguous: false,
        anchored: true,
        away: None,
    }
}

fn at(file: StateFile, place: SpanPlace, ambiguous: bool, away: Option<f32>) -> Fate {
    Fate::At {
        spot: Spot {
            file,
            lines: place.lines,
        },
        kept: place.kept,
        same: place.same,
        whole_file: false,
        ambiguous,
        anchored: place.anchored,
        away,
    }
}
