//! The keys of versions that the index has not read, as ranking compares them: as numbers instead
//! of words. They are cached, because the same versions are ranked again until the index has them,
//! and splitting a claim into keys is the slowest part of a query.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use engram_consistency::near::ClaimSketch;
use engram_model::{Engram, hash_keys};
use parking_lot::Mutex;

/// How many versions have cached keys, about a kilobyte each.
const KEPT: usize = 4_096;

/// Turns a key into a number.
pub(crate) fn hash_of_key(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// The keys of one version; each list is sorted.
#[derive(Debug, Default)]
pub(crate) struct VersionKeys {
    /// Identifiers, files and concepts.
    exact: Box<[u64]>,
    words: Box<[u64]>,
    numbers: Box<[u64]>,
    grams: Box<[u64]>,
    /// The keys of its claim, as opposed to its topic, tags or pointers.
    said: Box<[u64]>,
    pub(crate) sketch: ClaimSketch,
}

impl VersionKeys {
    fn of(engram: &Engram) -> Self {
        let keys = hash_keys(&engram.claim, &engram.pointers, &engram.topic, &engram.tags);
        let own = hash_keys(&engram.claim, &[], "", &[]);
        Self {
            exact: sorted_hashes(keys.names().chain(&keys.concepts)),
            words: sorted_hashes(keys.words.iter()),
            numbers: sorted_hashes(keys.numbers.iter()),
            grams: sorted_hashes(keys.grams.iter()),
            said: sorted_hashes(own.exact().chain(&own.concepts).chain(&own.words)),
            sketch: ClaimSketch::of(&engram.claim),
        }
    }

    pub(crate) fn has_exact(&self, key: u64) -> bool {
        has(&self.exact, key)
    }

    pub(crate) fn has_word(&self, key: u64) -> bool {
        has(&self.words, key)
    }

    pub(crate) fn has_number(&self, key: u64) -> bool {
        has(&self.numbers, key)
    }

    pub(crate) fn has_gram(&self, key: u64) -> bool {
        has(&self.grams, key)
    }

    pub(crate) fn says(&self, key: u64) -> bool {
        has(&self.said, key)
    }
}

fn sorted_hashes<'k>(keys: impl Iterator<Item = &'k String>) -> Box<[u64]> {
    let mut numbers: Vec<u64> = keys.map(|it| hash_of_key(it)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into()
}

fn has(sorted: &[u64], key: u64) -> bool {
    sorted.binary_search(&key).is_ok()
}

/// The keys of recently ranked versions, by their place in the journal. Versions never change, and
/// erased ones are not ranked.
#[derive(Default)]
pub(crate) struct KeptKeys(Mutex<HashMap<u64, Arc<VersionKeys>>>);

impl KeptKeys {
    /// Clears the cache, because places in another journal belong to other versions.
    pub(crate) fn forget(&self) {
        self.0.lock().clear();
    }

    /// The keys of the version at `seq`; `None` if `load` finds none.
    pub(crate) fn keys_at<E>(
        &self,
        seq: u64,
        load: impl FnOnce() -> Result<Option<Engram>, E>,
    ) -> Result<Option<Arc<VersionKeys>>, E> {
        let kept = || self.0.lock();
        if let Some(keys) = kept().get(&seq) {
            return Ok(Some(Arc::clone(keys)));
        }
        let Some(engram) = load()? else {
            return Ok(None);
        };
        let keys = Arc::new(VersionKeys::of(&engram));
        let mut kept = kept();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(seq, Arc::clone(&keys));
        Ok(Some(keys))
    }
}
