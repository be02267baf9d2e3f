//! Claims near the vector of a known claim. A reference names the model too, so that vectors of two
//! models are never compared: `NAME@VERSION/ENGRAM_ID`.

use engram_model::{AnswerQuality, Code, Engram, EngramId, QueryReply, Refusal};
use engram_store::{Reader, Traits, Vectors};

use crate::{
    asking::query::{QueryFilter, result_limit},
    context::Context,
    home::questions::cosine,
};

/// How many vectors are read at once.
const PAGE: usize = 2_000;

/// Answers with the claims that are nearest to an embedding, best first.
pub(crate) fn nearest_claims(
    cx: &Context<'_>,
    reference: &str,
    filter: &QueryFilter<'_>,
) -> Result<QueryReply, Refusal> {
    let limit = result_limit(cx, filter.query)?;
    let (name, version, id) = parse(reference).ok_or_else(|| no_embedding(reference))?;
    let project = cx.project()?;
    let engrams = cx.engine.store.read::<_, Refusal>(|tx| {
        let vectors = Vectors::of(tx);
        let of = tx.engram(id)?.filter(|it| filter.shows(&Traits::from(it)));
        let (Some(of), Some(model)) = (of, vectors.model(name, version)?) else {
            return Err(no_embedding(reference));
        };
        let vector = vectors.at(model, of.seq)?;
        let vector = vector.ok_or_else(|| no_embedding(reference))?;
        let mut near = Vec::new();
        let mut after = 0;
        loop {
            let page = vectors.after(model, after, PAGE)?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            let of_project = page.iter().filter(|it| it.project == project);
            near.extend(of_project.map(|it| (it.seq, cosine(&vector, &it.vector))));
        }
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut found: Vec<Engram> = Vec::new();
        for (seq, score) in near {
            if found.len() == limit {
                break;
            }
            if tx.traits_at([seq])?.iter().any(|it| filter.admits(tx, it)) {
                let engram = tx.engrams_at([seq])?.pop();
                let score = Some(f64::from(score.clamp(0.0, 1.0)));
                found.extend(engram.map(|it| Engram { score, ..it }));
            }
        }
        fill_references(tx, &mut found)?;
        Ok(found)
    })?;
    Ok(QueryReply {
        verdict: if engrams.is_empty() {
            AnswerQuality::None
        } else {
            AnswerQuality::Weak
        },
        relaxed: true,
        unread: None,
        omitted: None,
        embedded_by: Some(name.to_owned()),
        near: None,
        engrams,
    })
}

/// Adds the reference of its vector to each record that has one.
pub(crate) fn fill_references(tx: &Reader<'_>, engrams: &mut [Engram]) -> Result<(), Refusal> {
    for engram in engrams {
        let made = Vectors::of(tx).made_by(engram.id)?;
        let id = engram.id;
        engram.embedding_ref = made.map(|(name, version)| format!("{name}@{version}/{id}"));
    }
    Ok(())
}

fn parse(reference: &str) -> Option<(&str, &str, EngramId)> {
    let (model, id) = reference.rsplit_once('/')?;
    let (name, version) = model.rsplit_once('@')?;
    Some((name, version, id.parse().ok()?))
}

fn no_embedding(reference: &str) -> Refusal {
    Refusal::new(
        Code::NotFound,
        format!("there is no embedding {reference:?}"),
        "Take `embedding_ref` of an engram from GET /engram/query. It is there once a model has \
         embedded the engram, and changes with the model; the user chooses one with `engram models`.",
    )
}
