//! A cache in memory: the parsed content of claims, and the keys of the versions that the index has
//! not read yet (the tail). A new process parses the tail again.

use std::{collections::HashMap, sync::Arc};

use engram_consistency::{
    claim::Claim,
    near::{ClaimSketch, Gist},
    tier::{self, Said},
};
use engram_model::{Engram, EngramId, Operation, ProjectId};
use engram_store::{Derived, Reader, StoreError};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

/// How many claims are cached in parsed form, a few kilobytes each.
const KEPT: usize = 1_024;
/// The most claims after the index's cursor that are examined, newest first.
const TAIL: usize = 4_000;
/// The most claims whose keys are kept here before the tail restarts at the end of the index.
const LONG: usize = 4 * TAIL;

/// The content of a claim, and its keys: those to find others, and those by which others find it.
pub(crate) struct Parsed {
    pub(crate) claim: Claim,
    stored: Vec<u64>,
    pub(crate) asked: Vec<u64>,
    /// The keys of `asked`, restricted to the user's claims.
    pub(crate) asked_of_user: Vec<u64>,
    /// What it is about, and the keys by which the nearest claims are found: one for each word.
    pub(crate) gist: Arc<Gist>,
    pub(crate) gist_keys: Vec<u64>,
}

impl Parsed {
    pub(crate) fn of(engram: &Engram) -> Self {
        let claim = Claim::read(&engram.claim);
        let keys = tier::claim_keys(&claim, &engram.topic);
        let numbers = |keys: &[String]| -> Vec<u64> {
            keys.iter()
                .map(|it| stable_key(engram.project, it))
                .collect()
        };
        let (mut stored, asked) = (numbers(&keys.stored), numbers(&keys.asked));
        if engram.agent.is_none() {
            let users: Vec<u64> = stored.iter().map(|it| user_key(*it)).collect();
            stored.extend(users);
        }
        let gist = Gist::of(&engram.claim);
        let of_word = |stem: &str| stable_key(engram.project, &format!("word {stem}"));
        let gist_keys: Vec<u64> = gist.stems().map(of_word).collect();
        stored.extend(&gist_keys);
        Self {
            gist: Arc::new(gist),
            gist_keys,
            stored,
            asked_of_user: asked.iter().map(|it| user_key(*it)).collect(),
            asked,
            claim,
        }
    }

    /// The claim together with the relevant fields of its record.
    pub(crate) fn with_record<'a>(&'a self, engram: &'a Engram) -> Said<'a> {
        Said {
            claim: &self.claim,
            topic: &engram.topic,
            fact_type: engram.fact_type,
            confidence: engram.confidence,
            valid_from: engram.valid_from,
            valid_until: engram.valid_until.or(engram.expires_at),
        }
    }
}

/// What the index stores of a version besides its words.
pub(crate) fn derived(engram: &Engram) -> Derived {
    Derived {
        keys: Parsed::of(engram).stored,
        sketch: ClaimSketch::of(&engram.claim).to_numbers(),
    }
}

/// The key that finds only the user's claims, so that many other claims cannot crowd them out.
fn user_key(key: u64) -> u64 {
    key.rotate_left(32) ^ 0x75_73_65_72
}

/// A key as a number that is the same in every build, because the index stores it.
fn stable_key(project: ProjectId, key: &str) -> u64 {
    let mut digest = Sha256::new();
    digest.update(project.0.to_bytes());
    digest.update(key);
    let first = digest.finalize();
    first
        .iter()
        .take(8)
        .fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

/// Recently parsed claims, including those that were about to be stored. None goes stale: versions
/// never change, and erased ones are not compared.
#[derive(Default)]
pub(crate) struct KeptClaims {
    parsed: Mutex<HashMap<EngramId, Arc<Parsed>>>,
    /// Of claims that were only compared with near ones, which needs no more.
    gists: Mutex<HashMap<EngramId, Arc<Gist>>>,
    tail: Mutex<Option<Tail>>,
}

/// The versions of a project from one place of the journal to another, by their keys.
struct Tail {
    project: ProjectId,
    after: u64,
    to: u64,
    count: usize,
    under: HashMap<u64, Vec<u64>>,
    sketches: HashMap<u64, ClaimSketch>,
    /// Some versions up to this place may be missing, because there were too many to read.
    skipped: u64,
}

impl KeptClaims {
    /// Clears the cache, because places in another journal belong to other versions.
    pub(crate) fn forget(&self) {
        self.parsed.lock().clear();
        self.gists.lock().clear();
        *self.tail.lock() = None;
    }

    /// The parsed content of a version.
    pub(crate) fn parse_once(&self, engram: &Engram) -> Arc<Parsed> {
        if let Some(parsed) = self.cached(engram.id) {
            return parsed;
        }
        let parsed = Arc::new(Parsed::of(engram));
        keep(&mut self.parsed.lock(), engram.id, &parsed);
        parsed
    }

    /// What a version is about: a fifth of the work of parsing it.
    pub(crate) fn gist_of(&self, engram: &Engram) -> Arc<Gist> {
        if let Some(parsed) = self.cached(engram.id) {
            return Arc::clone(&parsed.gist);
        }
        if let Some(gist) = self.gists.lock().get(&engram.id) {
            return Arc::clone(gist);
        }
        let gist = Arc::new(Gist::of(&engram.claim));
        keep(&mut self.gists.lock(), engram.id, &gist);
        gist
    }

    fn cached(&self, id: EngramId) -> Option<Arc<Parsed>> {
        self.parsed.lock().get(&id).map(Arc::clone)
    }

    /// The sketch of a version that the index has not read, if this process has.
    pub(crate) fn sketch_in_tail(&self, seq: u64) -> Option<ClaimSketch> {
        let tail = self.tail.lock();
        tail.as_ref()?.sketches.get(&seq).copied()
    }

    /// The places of versions that the index has not read, under each of these keys, unordered; and
    /// the place from which on none is missing.
    pub(crate) fn unindexed_places(
        &self,
        tx: &Reader<'_>,
        project: ProjectId,
        indexed: u64,
        keys: &[u64],
    ) -> Result<(Vec<Vec<u64>>, u64), StoreError> {
        let mut tail = self.tail.lock();
        let fits = |it: &Tail| it.project == project && it.after <= indexed && it.count < LONG;
        let mut known = tail.take().filter(fits).unwrap_or(Tail {
            project,
            after: indexed,
            to: indexed,
            count: 0,
            under: HashMap::new(),
            sketches: HashMap::new(),
            skipped: 0,
        });
        known.extend_to_head(tx, self)?;
        let behind = |key| {
            let under = known.under.get(key).into_iter().flatten().copied();
            under.filter(|seq| *seq > indexed).collect()
        };
        let found = keys.iter().map(behind).collect();
        let floor = if known.skipped > indexed {
            known.skipped
        } else {
            0
        };
        *tail = Some(known);
        Ok((found, floor))
    }
}

fn keep<T>(kept: &mut HashMap<EngramId, Arc<T>>, id: EngramId, value: &Arc<T>) {
    if kept.len() >= KEPT {
        kept.clear();
    }
    kept.insert(id, Arc::clone(value));
}

impl KeptClaims {
    /// Adds what this process has just recorded, so that it is not read back; `last` is the newest
    /// entry. Works only if the tail ended at the entry before.
    pub(crate) fn add_recorded<'a>(
        &self,
        project: ProjectId,
        last: u64,
        operations: impl ExactSizeIterator<Item = &'a Operation>,
    ) {
        let mut tail = self.tail.lock();
        let before = last.saturating_sub(operations.len() as u64);
        let Some(tail) = tail
            .as_mut()
            .filter(|it| it.project == project && it.to == before)
        else {
            return;
        };
        let stored = (before + 1..).zip(operations);
        let parsed: Option<Vec<_>> = stored
            .filter_map(|(seq, operation)| match operation {
                Operation::Stored(engram) if engram.project == project => {
                    Some(self.cached(engram.id).map(|it| (seq, it)))
                }
                _ => None,
            })
            .collect();
        // If a version was not compared, the next comparison parses it.
        let Some(parsed) = parsed else { return };
        for (seq, parsed) in parsed {
            tail.add(seq, &parsed);
        }
        tail.to = last;
    }
}

impl Tail {
    fn add(&mut self, seq: u64, parsed: &Parsed) {
        self.count += 1;
        self.sketches
            .insert(seq, ClaimSketch::of_gist(&parsed.gist));
        for key in &parsed.stored {
            self.under.entry(*key).or_default().push(seq);
        }
    }

    fn extend_to_head(&mut self, tx: &Reader<'_>, claims: &KeptClaims) -> Result<(), StoreError> {
        let head = tx.head()?;
        if head <= self.to {
            return Ok(());
        }
        let (fresh, older) = tx.traits_after(self.project, self.to, TAIL)?;
        if older > 0
            && let Some(first) = fresh.first()
        {
            self.skipped = first.seq;
        }
        for traits in fresh.iter().filter(|it| !it.redacted) {
            let parsed = match claims.cached(traits.id) {
                Some(parsed) => Some(parsed),
                None => match tx.engram_at(traits.seq) {
                    Ok(engram) => engram.map(|engram| claims.parse_once(&engram)),
                    Err(error) if error.is_of_one_record() => {
                        self.skipped = traits.seq.saturating_add(1);
                        None
                    }
                    Err(error) => return Err(error),
                },
            };
            if let Some(parsed) = parsed {
                self.add(traits.seq, &parsed);
            }
        }
        self.to = head;
        Ok(())
    }
}
