//! Models as judges: one process of a home asks the models that the user chose about possible
//! conflicts, one pair at a time, and records each word. So each model judges a pair once, also after
//! a restart. No lock of the home is held while a model thinks. Without models, nothing is loaded.

use std::{
    fs::File,
    path::Path,
    sync::{Arc, mpsc::Sender},
    time::SystemTime,
};

use engram_meaning::{CrossEncoder, LanguageModel, ModelError, load_runtime};
use engram_model::{ModelTask, PairVerdict, Refusal, Tier};
use engram_store::{NearPairs, PairToJudge, StoreError};
use jiff::{SignedDuration, Timestamp};

use crate::{
    Engine,
    context::Context,
    follow::{Follower, Woken, lock::take_lock},
    home::{
        failures,
        models::{EndpointModel, FolderModel, Models},
    },
    verdicts::by_model::{self, ModelWord, PATIENCE, hundredths},
};

/// A classifier calls a pair a contradiction, or the same, from these scores on
/// (docs/decisions/0027-models-answer-like-agents.md).
const CONTRADICTS: f32 = 0.75;
const SAME: f32 = 0.85;
/// How long an endpoint that failed is left in peace; twice as long after each further failure, up to
/// 32 minutes.
const PAUSE: SignedDuration = SignedDuration::from_mins(1);
const MAX_DOUBLED: u32 = 5;
/// The file that the judging process locks.
const LOCK: &str = "models.lock";

/// The follower that asks models.
pub(crate) struct ModelFollower {
    own: Sender<Woken>,
    /// Locked while this process judges.
    _lock: File,
    chosen: Models,
    written: Option<SystemTime>,
    judges: Vec<ModelJudge>,
}

struct ModelJudge {
    task: ModelTask,
    name: String,
    model: JudgeKind,
    /// Pairs up to this place of the journal were asked about.
    asked: u64,
    /// How often its endpoint failed since it last answered, and until when it is left in peace.
    failed: u32,
    paused_until: Timestamp,
}

enum JudgeKind {
    Classifier(Box<CrossEncoder>),
    Language(LanguageModel),
}

impl Follower for ModelFollower {
    const NAME: &'static str = "models";
    type Patience = ();

    fn begin(engine: &Arc<Engine>, own: &Sender<Woken>) -> Result<Option<Self>, Refusal> {
        let home = engine.store.home();
        if Models::read(home)? == Models::default() {
            return Ok(None);
        }
        let Some(lock) = take_model_lock::<Self>(engine, LOCK, own)? else {
            return Ok(None);
        };
        let mut follower = Self {
            own: own.clone(),
            _lock: lock,
            chosen: Models::default(),
            written: None,
            judges: Vec::new(),
        };
        follower.wake(engine, Vec::new())?;
        Ok(Some(follower))
    }

    fn wake(&mut self, engine: &Engine, _: Vec<Woken>) -> Result<(), Refusal> {
        let home = engine.store.home();
        let (chosen, written) = (Models::read(home)?, Models::written(home));
        let again = written != self.written;
        let has = |task| self.judges.iter().any(|it| it.task == task);
        let (nli, llm) = (has(ModelTask::Nli), has(ModelTask::Llm));
        if chosen.nli != self.chosen.nli || again && !nli {
            let judge = chosen.nli.as_ref();
            let judge = judge.map(|it| load_classifier(&it.in_home(home)));
            self.replace(ModelTask::Nli, judge, home);
        }
        if chosen.llm != self.chosen.llm || again && !llm {
            let judge = chosen.llm.as_ref().map(connect);
            self.replace(ModelTask::Llm, judge, home);
        }
        if again {
            // Models that were chosen again are asked again about what they gave no verdict on, and
            // their pause ends.
            for judge in &mut self.judges {
                (judge.asked, judge.failed) = (0, 0);
                judge.paused_until = Timestamp::UNIX_EPOCH;
            }
        }
        (self.chosen, self.written) = (chosen, written);
        let cx = Context::for_engine(engine);
        for at in 0..self.judges.len() {
            let judge = self.judges.get_mut(at);
            if judge.map_or(Ok(false), |it| it.judge_next(&cx, &self.chosen))? {
                // New messages are read after each pair, since a model may take a minute.
                let _ = self.own.send(Woken::Bell);
            }
        }
        Ok(())
    }
}

impl ModelFollower {
    /// Puts a model in the place of the one for its task. A model that cannot be loaded is left out; the
    /// log and the list of models say why.
    fn replace(
        &mut self,
        task: ModelTask,
        loaded: Option<Result<ModelJudge, ModelError>>,
        home: &Path,
    ) {
        self.judges.retain(|it| it.task != task);
        failures::forget(home, task);
        match loaded {
            None => {}
            Some(Ok(judge)) => self.judges.push(judge),
            Some(Err(why)) => failures::keep(home, task, &why),
        }
    }
}

impl ModelJudge {
    /// Asks about the next pair; returns whether there may be more.
    fn judge_next(&mut self, cx: &Context<'_>, chosen: &Models) -> Result<bool, Refusal> {
        let (store, now) = (&cx.engine.store, cx.engine.world.now());
        if now < self.paused_until {
            return Ok(false);
        }
        let (next, head) = store.read::<_, StoreError>(|tx| {
            let pairs = NearPairs::of(tx);
            let next = pairs.next_to_judge(&self.name, self.asked, self.is_here(), now)?;
            Ok((next, tx.head()?))
        })?;
        let Some(pair) = next else {
            // The next waking looks only at what is proposed from now on.
            self.asked = head;
            return Ok(false);
        };
        match self.ask(&pair) {
            Ok(word) => {
                failures::forget(store.home(), self.task);
                self.failed = 0;
                // It may have been turned off while it was thinking.
                if Models::read(store.home())? != *chosen {
                    return Ok(true);
                }
                by_model::record_word(cx, pair.project, pair.id, &word)?;
            }
            Err(why) => {
                failures::keep(store.home(), self.task, &why);
                if is_of_the_endpoint(&why) {
                    let pause = PAUSE * (1 << self.failed.min(MAX_DOUBLED));
                    self.failed += 1;
                    self.paused_until = now.saturating_add(pause).unwrap_or(now);
                    return Ok(false);
                }
            }
        }
        self.asked = pair.seq;
        Ok(true)
    }

    /// Whether it runs on this machine: what belongs to a run is not sent anywhere else.
    fn is_here(&self) -> bool {
        match &self.model {
            JudgeKind::Classifier(_) => true,
            JudgeKind::Language(model) => model.is_local(),
        }
    }

    fn ask(&mut self, pair: &PairToJudge) -> Result<ModelWord, ModelError> {
        let [a, b] = &pair.claims;
        match &mut self.model {
            JudgeKind::Language(model) => {
                let said = model.judge(a, b, PATIENCE)?;
                Ok(ModelWord::of_language_model(&self.name, said))
            }
            JudgeKind::Classifier(model) => {
                // Either may be the premise.
                let pairs = [(a.as_str(), b.as_str()), (b.as_str(), a.as_str())];
                let scores = model.judge(&pairs)?;
                let most = |of: fn(&engram_meaning::Scores) -> f32| {
                    scores.iter().map(of).fold(0.0, f32::max)
                };
                let least = scores.iter().map(|it| it.entailment).fold(1.0, f32::min);
                let contradiction = most(|it| it.contradiction);
                let (verdict, sure) = match (contradiction, least) {
                    (sure, _) if sure >= CONTRADICTS => (PairVerdict::Contradicts, sure),
                    (_, sure) if sure >= SAME => (PairVerdict::Same, sure),
                    _ => (PairVerdict::Unclear, 1.0 - contradiction),
                };
                Ok(ModelWord {
                    model: self.name.clone(),
                    tier: Tier::Nli,
                    verdict,
                    sure: hundredths(f64::from(sure)),
                    why: None,
                })
            }
        }
    }
}

/// Whether a model failed for a reason that is not about the pair: it is asked again after the first
/// change that follows a pause. About a pair that it refuses, or on which it takes too long, the next
/// process asks again.
fn is_of_the_endpoint(why: &ModelError) -> bool {
    match why {
        ModelError::Unreachable(_) => true,
        ModelError::Status(status) => !matches!(status, 400 | 413 | 415 | 422),
        _ => false,
    }
}

/// The right to use a model; `None` while another process has it.
pub(super) fn take_model_lock<F: Follower>(
    engine: &Engine,
    name: &str,
    own: &Sender<Woken>,
) -> Result<Option<File>, Refusal> {
    let path = engine.store.home().join(name);
    let lock = take_lock::<F>(engine, &path, own);
    Ok(lock.map_err(|source| StoreError::Io { path, source })?)
}

fn load_classifier(chosen: &FolderModel) -> Result<ModelJudge, ModelError> {
    load_runtime(&chosen.runtime)?;
    let model = CrossEncoder::load(&chosen.folder)?;
    Ok(ModelJudge {
        task: ModelTask::Nli,
        name: format!("{} {}", model.info().name, model.info().version),
        model: JudgeKind::Classifier(Box::new(model)),
        asked: 0,
        failed: 0,
        paused_until: Timestamp::UNIX_EPOCH,
    })
}

fn connect(chosen: &EndpointModel) -> Result<ModelJudge, ModelError> {
    Ok(ModelJudge {
        task: ModelTask::Llm,
        name: chosen.model.clone(),
        model: JudgeKind::Language(chosen.connect()?),
        asked: 0,
        failed: 0,
        paused_until: Timestamp::UNIX_EPOCH,
    })
}
