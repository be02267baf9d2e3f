//! Embeddings: one process of a home holds the model that the user chose, makes a vector of each claim,
//! and answers the questions of the home's other processes (`home/questions.rs`). No lock of the home
//! is held while the model works. Another model starts anew; a process that ended goes on where it was,
//! because what lacks a vector is what is left to do.

use std::{
    collections::HashMap,
    fs::File,
    sync::{Arc, mpsc::Sender},
    time::SystemTime,
};

use engram_meaning::{Embedder, ModelError, ModelInfo, Task, inspect, load_runtime};
use engram_model::{ListedModel, ModelState, ModelTask, ProjectId, Refusal};
use engram_store::{EmbeddingModel, Store, StoreError, StoredVector, Unembedded, Vectors};
use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::{
    Engine,
    follow::{Follower, Woken, models::take_model_lock},
    home::{
        failures,
        models::{FolderModel, Models},
        questions::{self, AskedByMeaning, Listening, NEAREST, QuestionMeaning, closeness, cosine},
    },
};

/// The file that the process with the model locks.
const LOCK: &str = "embed.lock";
/// How many claims are embedded for one transaction, and how many while no question gets a turn.
const BATCH: usize = 32;
const TURN: usize = 4;
/// A young project has too few claims to tell how close they usually are: so many that are far from
/// the question are assumed besides.
const YOUNG: usize = 20;
/// How many vectors are read at once.
const PAGE: usize = 2_000;

/// The follower that embeds.
pub(crate) struct VectorFollower {
    own: Sender<Woken>,
    chosen: Option<FolderModel>,
    written: Option<SystemTime>,
    held: Option<HeldModel>,
    /// Locked while this process holds the model, and until its socket is gone.
    _lock: File,
}

/// A loaded model, with what it made of this home's claims.
struct HeldModel {
    number: EmbeddingModel,
    shared: Arc<SharedModel>,
    /// What was looked at: versions before this place have a vector.
    embedded: u64,
    /// Whether something was embedded since questions were last answered from all vectors.
    is_behind: bool,
    /// Erasures up to this place of the journal were taken into account.
    erased: u64,
    _listening: Listening,
}

/// What answers questions.
struct SharedModel {
    info: ModelInfo,
    embedder: Mutex<Embedder>,
    /// `None` until every claim has a vector for the first time: half of them would make the other half
    /// look wrong.
    vectors: RwLock<Option<VectorsOfHome>>,
}

/// All vectors of a home, by project.
#[derive(Default)]
struct VectorsOfHome(HashMap<ProjectId, VectorsOfProject>);

#[derive(Default)]
struct VectorsOfProject {
    seqs: Vec<u64>,
    /// One after the other.
    bytes: Vec<i8>,
}

impl Follower for VectorFollower {
    const NAME: &'static str = "vectors";
    type Patience = ();

    fn begin(engine: &Arc<Engine>, own: &Sender<Woken>) -> Result<Option<Self>, Refusal> {
        let home = engine.store.home();
        if Models::read(home)?.embed.is_none() {
            return Ok(None);
        }
        let Some(lock) = take_model_lock::<Self>(engine, LOCK, own)? else {
            return Ok(None);
        };
        let mut follower = Self {
            own: own.clone(),
            chosen: None,
            written: None,
            held: None,
            _lock: lock,
        };
        follower.wake(engine, Vec::new())?;
        Ok(Some(follower))
    }

    fn wake(&mut self, engine: &Engine, _: Vec<Woken>) -> Result<(), Refusal> {
        let home = engine.store.home();
        let (chosen, written) = (Models::read(home)?.embed, Models::written(home));
        if chosen != self.chosen || written != self.written {
            let is_same = self.held.as_ref().zip(chosen.as_ref());
            if !is_same.is_some_and(|(held, chosen)| held.is_of(&chosen.in_home(home))) {
                // The model before makes room first.
                self.held = None;
                if let Some(model) = &chosen {
                    self.held = hold(engine, &model.in_home(home))?;
                }
                ring(engine);
            }
            (self.chosen, self.written) = (chosen, written);
        }
        let Some(held) = &mut self.held else {
            return Ok(());
        };
        held.forget_erased(&engine.store)?;
        if held.embed_next(engine)? {
            // New messages are read after each batch.
            let _ = self.own.send(Woken::Bell);
        } else if held.is_behind {
            held.publish(&engine.store)?;
            held.is_behind = false;
            ring(engine);
        }
        Ok(())
    }
}

/// Says that what the model answers has changed, so that lists of models and of claims are drawn anew.
fn ring(engine: &Engine) {
    if let Some(bell) = engine.bell.read().as_ref() {
        bell.ring();
    }
}

/// Adds how many claims an embedding model has read, until it has read all.
pub(crate) fn tell_progress(store: &Store, model: &mut ListedModel) -> Result<(), Refusal> {
    let (ModelTask::Embed, ModelState::On, None, Some(name), Some(version)) = (
        model.task,
        model.state,
        &model.why,
        &model.name,
        &model.version,
    ) else {
        return Ok(());
    };
    let count = store.read::<_, StoreError>(|tx| {
        let vectors = Vectors::of(tx);
        let number = vectors.model(name, version)?;
        number.map(|it| vectors.count(it)).transpose()
    })?;
    model.why = match count {
        None => Some("begins when the window or `engram serve` runs".to_owned()),
        Some(count) if count.embedded < count.all => Some(format!(
            "has read {} of {} claims; until it has read all, questions are answered by the built-in table",
            count.embedded, count.all
        )),
        Some(count) if count.unreadable > 0 => Some(format!(
            "cannot read {} of {} claims; the built-in table compares these",
            count.unreadable, count.all
        )),
        Some(_) => None,
    };
    Ok(())
}

/// Loads a model and listens for questions; `None`, with the reason in the list of models, if it cannot
/// be loaded.
fn hold(engine: &Engine, chosen: &FolderModel) -> Result<Option<HeldModel>, Refusal> {
    let embedder = load_runtime(&chosen.runtime).and_then(|()| Embedder::load(&chosen.folder));
    let embedder = match embedder {
        Ok(embedder) => embedder,
        Err(why) => {
            failures::keep(engine.store.home(), ModelTask::Embed, &why);
            return Ok(None);
        }
    };
    let info = embedder.info().clone();
    let number = engine
        .store
        .write::<_, StoreError>(Timestamp::UNIX_EPOCH, |tx| {
            tx.number_model(&info.name, &info.version)
        })?;
    let shared = Arc::new(SharedModel {
        info,
        embedder: Mutex::new(embedder),
        vectors: RwLock::new(None),
    });
    let home = engine.store.home();
    let answering = Arc::clone(&shared);
    let listening = match questions::listen(home, move |it| answering.answer(&it)) {
        Ok(listening) => listening,
        Err(error) => {
            let why = format!("cannot listen in {}: {error}", home.display());
            failures::keep(home, ModelTask::Embed, &why);
            return Ok(None);
        }
    };
    failures::forget(home, ModelTask::Embed);
    Ok(Some(HeldModel {
        number,
        shared,
        embedded: 0,
        is_behind: true,
        erased: engine.store.read::<_, StoreError>(|tx| tx.head())?,
        _listening: listening,
    }))
}

impl HeldModel {
    /// Whether it was loaded from this folder as the folder is now.
    fn is_of(&self, chosen: &FolderModel) -> bool {
        inspect(&chosen.folder, Task::Embedding).is_ok_and(|it| it == self.shared.info)
    }

    /// Embeds the next claims; returns whether there may be more.
    fn embed_next(&mut self, engine: &Engine) -> Result<bool, Refusal> {
        let store = &engine.store;
        let (next, head) = store.read::<_, StoreError>(|tx| {
            let next = Vectors::of(tx).lacking_after(self.number, self.embedded, BATCH)?;
            Ok((next, tx.head()?))
        })?;
        let Some(last) = next.last().map(|it| it.seq) else {
            self.embedded = head;
            return Ok(false);
        };
        let mut made = Vec::with_capacity(next.len());
        for turn in next.chunks(TURN) {
            made.extend(self.embed(engine, turn));
        }
        store.write::<_, StoreError>(Timestamp::UNIX_EPOCH, |tx| {
            let mut each = made.iter();
            each.try_for_each(|it| tx.keep_vector(self.number, it.seq, &it.vector))
        })?;
        if let Some(vectors) = self.shared.vectors.write().as_mut() {
            made.into_iter().for_each(|it| vectors.add(it));
        }
        self.embedded = last;
        self.is_behind = true;
        Ok(true)
    }

    fn embed(&self, engine: &Engine, claims: &[Unembedded]) -> Vec<StoredVector> {
        let texts: Vec<&str> = claims.iter().map(|it| it.claim.as_str()).collect();
        let mut embedder = self.shared.embedder.lock();
        let vectors = embedder.embed(&texts).or_else(|_| {
            // One of them is to blame, which alone stays without a direction.
            let mut each = texts.iter();
            each.try_fold(Vec::new(), |mut made, text| match embedder.embed(&[text]) {
                Ok(vector) => {
                    made.extend(vector);
                    Ok(made)
                }
                Err(ModelError::Failed(why)) => {
                    tracing::info!(why, "the embedding model cannot read a claim");
                    made.push(Vec::new());
                    Ok(made)
                }
                Err(why) => Err(why),
            })
        });
        MutexGuard::unlock_fair(embedder);
        let vectors = vectors.unwrap_or_else(|why| {
            failures::keep(engine.store.home(), ModelTask::Embed, &why);
            Vec::new()
        });
        let made = claims.iter().zip(vectors);
        made.map(|(claim, vector)| StoredVector {
            seq: claim.seq,
            project: claim.project,
            vector: to_bytes(&vector),
        })
        .collect()
    }

    /// Reads the vectors, once every claim has one.
    fn publish(&self, store: &Store) -> Result<(), Refusal> {
        if self.shared.vectors.read().is_some() {
            return Ok(());
        }
        let mut all = VectorsOfHome::default();
        let mut after = 0;
        loop {
            let page = store
                .read::<_, StoreError>(|tx| Vectors::of(tx).after(self.number, after, PAGE))?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            page.into_iter().for_each(|it| all.add(it));
        }
        *self.shared.vectors.write() = Some(all);
        Ok(())
    }

    /// Drops all vectors after an erasure, so that they are read anew without those of erased claims.
    fn forget_erased(&mut self, store: &Store) -> Result<(), Refusal> {
        let (is_erased, head) = store.read::<_, StoreError>(|tx| {
            Ok((Vectors::of(tx).is_erased_after(self.erased)?, tx.head()?))
        })?;
        if is_erased && self.shared.vectors.write().take().is_some() {
            self.is_behind = true;
        }
        self.erased = head;
        Ok(())
    }
}

impl SharedModel {
    /// What the model makes of a question; `None` while claims lack vectors.
    fn answer(&self, asked: &AskedByMeaning) -> Option<QuestionMeaning> {
        self.vectors.read().as_ref()?;
        let vectors = self.embedder.lock().embed(&[&asked.text]);
        let made = vectors.inspect_err(|why| tracing::debug!(%why, "a question was not embedded"));
        let vector = to_bytes(made.ok()?.first()?);
        let vectors = self.vectors.read();
        let (usual, nearest) = vectors.as_ref()?.nearest(asked.project, &vector);
        Some(QuestionMeaning {
            name: self.info.name.clone(),
            version: self.info.version.clone(),
            vector,
            usual,
            nearest,
        })
    }
}

impl VectorsOfHome {
    /// Adds a vector, unless the model could not make one.
    fn add(&mut self, made: StoredVector) {
        if made.vector.is_empty() {
            return;
        }
        let of = self.0.entry(made.project).or_default();
        of.seqs.push(made.seq);
        of.bytes.extend(made.vector);
    }

    /// How close the claims of a project are on average, and the nearest.
    fn nearest(&self, project: ProjectId, vector: &[i8]) -> (f32, Vec<(u64, f32)>) {
        let Some(of) = self.0.get(&project) else {
            return (0.0, Vec::new());
        };
        let each = of.bytes.chunks_exact(vector.len().max(1));
        let mut near: Vec<(u64, f32)> = of
            .seqs
            .iter()
            .zip(each)
            .map(|(seq, it)| (*seq, cosine(vector, it)))
            .collect();
        let sum: f32 = near.iter().map(|it| it.1).sum();
        let usual = sum / (near.len() + YOUNG) as f32;
        let nearest_first =
            |a: &(u64, f32), b: &(u64, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if near.len() > NEAREST {
            near.select_nth_unstable_by(NEAREST, nearest_first);
            near.truncate(NEAREST);
        }
        near.sort_unstable_by(nearest_first);
        let near = near.into_iter();
        (
            usual,
            near.map(|it| (it.0, closeness(it.1, usual))).collect(),
        )
    }
}

/// A direction in bytes: the cosine of two of them differs from the exact one by less than 0.01.
fn to_bytes(vector: &[f32]) -> Vec<i8> {
    vector.iter().map(|it| (it * 127.0).round() as i8).collect()
}
