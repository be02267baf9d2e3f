//! A person asks the language model how the sides of a conflict relate. Its answer is noted beside the
//! conflict, as its word, and changes nothing else. No lock is held while it thinks.

use engram_gateway::quoted;
use engram_meaning::ModelError;
use engram_model::{Code, Conflict, ConflictId, Refusal};
use engram_store::{NearPairs, Reader, StoreError};

use crate::{
    conflicts::{
        conflict_view::{ShownConflict, conflict_to_show, visible_conflict},
        list::{self, no_conflict},
    },
    context::{ActiveProject, Context, plan::Plan},
    decide,
    home::models::Models,
    verdicts::by_model::{ModelWord, PATIENCE},
};

/// Asks the model, unless it has answered for this pair, and returns the conflict with what was said.
pub(crate) fn explain_conflict(cx: &Context<'_>, id: ConflictId) -> Result<Box<Conflict>, Refusal> {
    let chosen = Models::read(cx.engine.store.home())?.llm;
    let (project, visibility) = (cx.project()?, cx.visibility()?);
    let clock = cx.engine.world.now();
    let read = |tx: &Reader<'_>| -> Result<(ShownConflict, bool), Refusal> {
        let pair = tx.conflict(id)?.filter(|it| it.project == project);
        let pair = pair
            .map(|pair| conflict_to_show(tx, pair, &visibility, clock))
            .transpose()?;
        let found = pair.map_or(Ok(None), |pair| {
            visible_conflict(tx, pair, &visibility, clock)
        })?;
        let found = found.ok_or_else(|| no_conflict(id))?;
        let said = NearPairs::of(tx).judgments(found.pair.id)?;
        let has_answered = said.iter().any(|(_, said)| match &chosen {
            Some(chosen) => said.model.as_ref() == Some(&chosen.model),
            None => said.model.is_some(),
        });
        Ok((found, has_answered))
    };
    let (found, has_answered) = cx.engine.store.read::<_, Refusal>(read)?;
    if has_answered {
        return Ok(Box::new(found.conflict));
    }
    let chosen = chosen.as_ref().ok_or_else(no_model)?;
    if !cx.engine.store.is_writable() {
        // Its answer could not be noted, so the claims stay here.
        return Err(StoreError::ReadOnly(cx.engine.store.home().to_owned()).into());
    }
    let model = chosen.connect().map_err(|it| no_answer(&it))?;
    if found.pair.run.is_some() && !model.is_local() {
        return Err(Refusal::new(
            Code::ModelInvalid,
            format!("{} is not on this machine", chosen.url),
            "Claims of a run never leave this machine: choose a model on it, or compare the claims yourself.",
        ));
    }
    let [a, b] = [&found.conflict.a, &found.conflict.b].map(|it| it.claim.as_str());
    let said = model.judge(a, b, PATIENCE);
    let said = said.map_err(|it| no_answer(&it))?;
    let word = ModelWord::of_language_model(&chosen.model, said);
    decide::plan_and_commit(cx, &ActiveProject::of(project), |tx, _| {
        // Meanwhile, another process may have asked it too, or a claim was erased that its reason quotes.
        let (now, has_answered) = read(tx)?;
        let claims =
            |it: &ShownConflict| [it.conflict.a.claim.clone(), it.conflict.b.claim.clone()];
        let is_current = !has_answered && claims(&now) == claims(&found);
        let entry = is_current.then(|| word.entry(now.pair.id));
        Ok(Plan::of(entry.into_iter().collect(), ()))
    })?;
    list::find_conflict(cx, id)
}

fn no_model() -> Refusal {
    Refusal::new(
        Code::ModelInvalid,
        "no language model is chosen",
        "Choose one: engram models use llm URL --model NAME. It is sent the two claims, and nothing else.",
    )
}

fn no_answer(why: &ModelError) -> Refusal {
    Refusal::new(
        Code::ModelInvalid,
        format!(
            "the language model gave no answer: {}",
            quoted(&why.to_string())
        ),
        "Nothing was recorded. `engram models` shows the endpoint and the model: correct them, or ask again later.",
    )
}
