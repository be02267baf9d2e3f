//! What a model says of a possible conflict. Its word has the weight of an agent's: it raises a
//! conflict without a report and without effect on the gate, until a person, or a root agent that
//! wrote neither side, agrees. It closes and hides nothing, and never overrules anybody.

use std::time::Duration;

use engram_gateway::quoted;
use engram_meaning::{Judgement, LanguageVerdict};
use engram_model::{
    ConflictId, ConflictStatus, Operation, PairVerdict, ProjectId, Refusal, Tier,
    operation::PairJudgment,
};
use engram_store::NearPairs;

use crate::{
    conflicts::conflict_view::visible_conflict,
    context::{
        ActiveProject, Context,
        names::ENGINE,
        plan::{Plan, Planned},
        screen::screen_text,
    },
    decide,
    verdicts::judge::{raised_on_a_word, sentence_of, voices_by_side},
};

/// How long a language model may think about one pair.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The word of a model on a pair.
pub(crate) struct ModelWord {
    /// Its name, with its version if it has one.
    pub(crate) model: String,
    pub(crate) tier: Tier,
    pub(crate) verdict: PairVerdict,
    /// How sure it is, from 0 to 1.
    pub(crate) sure: f64,
    pub(crate) why: Option<String>,
}

impl ModelWord {
    pub(crate) fn of_language_model(model: &str, said: LanguageVerdict) -> Self {
        Self {
            model: model.to_owned(),
            tier: Tier::Llm,
            verdict: match said.judgement {
                Judgement::Contradiction => PairVerdict::Contradicts,
                Judgement::Compatible => PairVerdict::Compatible,
                Judgement::Same => PairVerdict::Same,
                Judgement::Unclear => PairVerdict::Unclear,
            },
            sure: hundredths(said.sure),
            why: Some(said.why).filter(|it| !it.is_empty()),
        }
    }

    /// The entry of this word on a pair. A reason that looks like a credential is left out: the
    /// endpoint may send back what it was sent, or worse.
    pub(super) fn entry(&self, id: ConflictId) -> Planned {
        let is_clean = |why: &String| screen_text("the reason", why).is_ok();
        let judgment = PairJudgment {
            id,
            verdict: self.verdict,
            model: Some(self.model.clone()),
            sure: Some(self.sure),
            why: self.why.clone().filter(is_clean),
        };
        Planned::private(Operation::Judged(judgment), ENGINE)
    }
}

pub(crate) fn hundredths(sure: f64) -> f64 {
    (sure * 100.0).round() / 100.0
}

/// Records a model's word on a pair, unless the pair ended meanwhile, or an agent or a person answered.
pub(crate) fn record_word(
    cx: &Context<'_>,
    project: ProjectId,
    id: ConflictId,
    word: &ModelWord,
) -> Result<(), Refusal> {
    let visibility = cx.visibility_in(project)?;
    decide::plan_and_commit(cx, &ActiveProject::of(project), |tx, _| {
        let clock = cx.engine.world.now();
        let pair = tx.conflict(id)?.filter(|it| it.project == project);
        let found = pair.map_or(Ok(None), |pair| {
            visible_conflict(tx, pair, &visibility, clock)
        })?;
        let is_possible = |status| status == ConflictStatus::Possible;
        let Some(found) = found.filter(|it| it.pair.id == id && is_possible(it.conflict.status))
        else {
            return Ok(Plan::of(Vec::new(), ()));
        };
        // Somebody decided, or answered, and the model is too late.
        let said = NearPairs::of(tx).judgments(id)?;
        let is_answer =
            |it: &PairJudgment| it.model.is_none() || it.model.as_ref() == Some(&word.model);
        if found.pair.verdict.is_some() || said.iter().any(|it| is_answer(&it.1)) {
            return Ok(Plan::of(Vec::new(), ()));
        }
        let mut entries = vec![word.entry(id)];
        if word.verdict == PairVerdict::Contradicts
            && let Some(mut known) = tx.contradiction(found.pair.last)?
        {
            let by = format!("the model {}", quoted(&word.model));
            known.why = sentence_of(&found, &by);
            (known.tier, known.score) = (word.tier, Some(word.sure));
            let [one, two] = voices_by_side(&found);
            known.engrams = [one.id, two.id];
            known.id = id;
            entries.push(raised_on_a_word(known, [&one, &two], ENGINE));
        }
        Ok(Plan::of(entries, ()))
    })?;
    Ok(())
}
