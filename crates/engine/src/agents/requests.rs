//! Lists requests to read beyond a budget, each with what became of it.

use engram_model::{
    AnsweredBy, GrantTold, ProjectId, Refusal, RequestState, RequestTold, RequestsReply,
    WhichRequests,
};
use engram_store::{ReadRequest, Reader};
use jiff::Timestamp;

use super::grants::{MAX_LISTED, expire_overdue, shown_grant};
use crate::context::{
    Context,
    names::{self, TakenNames},
};

/// The requests of the caller and its children (for the user: of all agents): all, or those that
/// wait.
pub(crate) fn list_requests(
    cx: &Context<'_>,
    which: &WhichRequests,
) -> Result<RequestsReply, Refusal> {
    let (project, now) = (cx.project()?, cx.engine.world.now());
    cx.engine.store.read::<_, Refusal>(|tx| {
        let mut requests = Vec::new();
        let of = cx.caller.agent();
        let found = tx.grants().requests(project, of, which.all, MAX_LISTED)?;
        let count = tx.grants().count_requests(project, of, which.all)?;
        let beyond = count.saturating_sub(found.len() as u64);
        let taken = TakenNames::of(tx, project)?;
        for asked in found {
            let agent = tx.agent(&asked.agent)?;
            let grant = match asked.state {
                RequestState::Granted => {
                    grant_of_request(tx, project, &asked, of.is_none().then_some(&taken), now)?
                }
                _ => None,
            };
            requests.push(RequestTold {
                id: asked.id,
                label: agent
                    .as_ref()
                    .map_or_else(String::new, |it| taken.distinguish(it, &it.label)),
                parent: agent.as_ref().and_then(|it| it.parent.clone()),
                role: agent.and_then(|it| it.role),
                agent: asked.agent,
                asked_at: asked.asked_at,
                pointer: asked.pointer,
                reason: asked.reason,
                intended_use: asked.intended_use,
                tokens: asked.tokens,
                state: asked.state,
                why: asked.why,
                answer: asked.answer.map(|attribution| AnsweredBy {
                    by: author_or_user(&names::author_of_entry(&attribution)).to_owned(),
                    at: attribution.at,
                }),
                grant,
            });
        }
        let omitted = Some(beyond).filter(|it| *it > 0);
        Ok(RequestsReply { requests, omitted })
    })
}

/// The grant of a request; for the user, whose names are then known, the one that it was last
/// transferred to.
fn grant_of_request(
    tx: &Reader<'_>,
    project: ProjectId,
    asked: &ReadRequest,
    names: Option<&TakenNames>,
    now: Timestamp,
) -> Result<Option<GrantTold>, Refusal> {
    let mut next = Some(asked.id.clone());
    let mut grant = None;
    for _ in 0..MAX_LISTED {
        let Some(id) = next.take() else { break };
        let Some(found) = tx.grants().find(project, &id)? else {
            break;
        };
        next = found.replaced_by.clone().filter(|_| names.is_some());
        grant = Some(found);
    }
    let Some(grant) = grant else { return Ok(None) };
    let to = tx.agent(&grant.to)?.filter(|it| it.handle != asked.agent);
    let holder = to
        .zip(names)
        .map(|(to, taken)| taken.distinguish(&to, &to.label));
    let told = shown_grant(expire_overdue(tx, grant, now)?, now);
    Ok(Some(GrantTold { holder, ..told }))
}

/// The name of an author, as surfaces show it.
fn author_or_user(by: &str) -> &str {
    match by {
        "" => "user",
        name => name,
    }
}
