//! Caches texts and line maps by blob id, so that no file is read or compared twice.

use std::{collections::HashMap, rc::Rc};

use engram_model::Refusal;
use git2::Oid;

use crate::{Repo, refuse};

use super::{
    linemap::LineMap,
    repo_state::{self, FoundState, StateFile},
    text::Text,
};

/// The most bytes that texts and maps may take before all are dropped.
const MAX_HELD: usize = 64 << 20;

/// A text and the id of its blob.
#[derive(Clone)]
pub(super) struct ReadText {
    pub(super) blob: Oid,
    pub(super) text: Rc<Text>,
}

pub(super) struct Cache<'r> {
    pub(super) repo: &'r Repo,
    texts: HashMap<Oid, Option<Rc<Text>>>,
    maps: HashMap<(Oid, Oid), Rc<LineMap>>,
    /// Files read from disk, by path, so that one batch sees one state of each file.
    disk: HashMap<String, Oid>,
    held: usize,
}

impl<'r> Cache<'r> {
    pub(super) fn new(repo: &'r Repo) -> Self {
        Self {
            repo,
            texts: HashMap::new(),
            maps: HashMap::new(),
            disk: HashMap::new(),
            held: 0,
        }
    }

    /// Refuses a binary, which has no lines.
    pub(super) fn read(&mut self, side: FoundState, file: &StateFile) -> Result<ReadText, Refusal> {
        let text = self.read_text(side, file)?;
        text.ok_or_else(|| refuse::binary(&file.path))
    }

    /// None for a binary.
    pub(super) fn read_text(
        &mut self,
        side: FoundState,
        file: &StateFile,
    ) -> Result<Option<ReadText>, Refusal> {
        let known = match side {
            FoundState::Worktree => self.disk.get(&file.path).copied(),
            _ => Some(file.blob),
        };
        if let Some(blob) = known
            && let Some(text) = self.texts.get(&blob)
        {
            return Ok(text.clone().map(|text| ReadText { blob, text }));
        }
        self.repo.stop().check()?;
        let (blob, bytes) = repo_state::read(self.repo, side, file)?;
        if side == FoundState::Worktree {
            self.disk.insert(file.path.clone(), blob);
        }
        let text = Text::of(bytes).map(Rc::new);
        self.hold(text.as_ref().map_or(0, |it| it.size()));
        self.texts.insert(blob, text.clone());
        Ok(text.map(|text| ReadText { blob, text }))
    }

    pub(super) fn map(&mut self, old: &ReadText, new: &ReadText) -> Rc<LineMap> {
        let key = (old.blob, new.blob);
        if let Some(map) = self.maps.get(&key) {
            return map.clone();
        }
        let map = Rc::new(LineMap::between(&old.text, &new.text));
        self.hold(map.size());
        self.maps.insert(key, map.clone());
        map
    }

    fn hold(&mut self, size: usize) {
        self.held += size;
        if self.held > MAX_HELD {
            self.texts.clear();
            self.maps.clear();
            self.held = size;
        }
    }
}
