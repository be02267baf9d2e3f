//! Follows many spans in one step from one state of the repository to another.

use std::{collections::HashMap, ops::Range};

use engram_model::Refusal;

use super::{
    cache::Cache,
    moves::{Additions, Blocks, MovedSpan},
    place::{SpanPlace, exact_nearby, place_of},
    repo_state::{ChangedFile, FoundState, StateFile},
};

/// If less than this share of a span is found at its place, it is first searched for elsewhere.
const DOUBTFUL: f32 = 0.5;
/// A place elsewhere must match this much more of the span than the text at its own place.
const CLEARLY_MORE: f32 = 0.2;
/// A span with a smaller share left is gone, unless one of the lines left is significant.
const TRACE: f32 = 0.12;
const TELLING_TRACE: f32 = 0.03;
/// A less significant span is weak evidence on its own: its bytes are not searched for nearby, and
/// it counts as having left its file only with the lines around it.
const FEW_WORDS: u32 = 20;

/// Lines of a file, counted from 0.
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
        /// The share of it that is still there.
        kept: f32,
        /// Whether the bytes are equal.
        same: bool,
        /// Whether the file itself is the same, or was only renamed.
        whole_file: bool,
        ambiguous: bool,
        /// Whether a neighbouring line went with it.
        anchored: bool,
        /// Set if the span left its file other than by a rename of the file: the share of it that
        /// went there, or of it and its surrounding lines.
        away: Option<f32>,
    },
    /// The span is gone, alone or with its file.
    Gone { with_file: bool },
    /// Something that had to be read is unreadable.
    Unknown(Refusal),
}

/// The step from `old` to `new`, which differ by `changes`.
pub(super) struct Step<'s> {
    pub(super) old: FoundState,
    pub(super) new: FoundState,
    pub(super) changes: &'s [ChangedFile],
    by_path: HashMap<&'s str, &'s ChangedFile>,
    additions: Option<Additions>,
    /// The blocks that were moved out of a file, by its path.
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

    /// Returns whether the step changed or removed the file at this path.
    pub(super) fn touches(&self, path: &str) -> bool {
        self.by_path.contains_key(path)
    }

    pub(super) fn follow(&mut self, cache: &mut Cache<'_>, spot: &Spot) -> Fate {
        let Some(change) = self.by_path.get(spot.file.path.as_str()) else {
            return fate_of_unmoved(spot.clone(), spot.file.clone());
        };
        let Some(new) = &change.new else {
            return self.elsewhere(cache, spot, None);
        };
        if new.blob == spot.file.blob {
            return fate_of_unmoved(spot.clone(), new.clone());
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
        // The file became a binary, so its lines are gone.
        let Some(after) = cache.read_text(self.new, new)? else {
            return Ok((new.clone(), None));
        };
        let file = StateFile {
            path: new.path.clone(),
            blob: after.blob,
        };
        let map = cache.map(&before, &after);
        let mut found = place_of(&before.text, &after.text, &map, &spot.lines);
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
            Some(place) if place.same || place.kept >= DOUBTFUL => {
                fate_at(file, place, false, None)
            }
            Some(place) => self.elsewhere(cache, spot, Some((file, place))),
            None => self.elsewhere(cache, spot, None),
        }
    }

    /// Searches the lines that the step added. If nothing is found, takes the text at the span's
    /// own place, if there is any.
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
                // A few words are weak evidence on their own.
                let few = before.text.all_telling(spot.lines.clone()) < FEW_WORDS;
                let away = away.then(|| {
                    if few {
                        together
                    } else {
                        together.max(place.kept)
                    }
                });
                fate_at(file, place, ambiguous, away)
            }
            (_, Some((file, place)))
                if place.kept >= TRACE || place.telling && place.kept >= TELLING_TRACE =>
            {
                fate_at(file, place, false, None)
            }
            _ => Fate::Gone {
                with_file: natural.is_none(),
            },
        }
    }
}

fn fate_of_unmoved(spot: Spot, file: StateFile) -> Fate {
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

fn fate_at(file: StateFile, place: SpanPlace, ambiguous: bool, away: Option<f32>) -> Fate {
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
