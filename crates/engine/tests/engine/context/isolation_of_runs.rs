//! Two worlds that differ only in what one agent says and does in its own run look the same to
//! everybody else.

use engram_model::{
    Allow, Caller, Conflict, ConflictStatus, Draft, EngramId, FactType, Listed, PutReply, Query,
    Resolve, Scope, Settle, ask,
};

use crate::fixture::{
    Asked, Sandbox, USER,
    conflicts::{Dice, list_conflicts},
    on_topic, other_evidence, query,
};

const STEPS: usize = 30;
const SEEDS: u64 = 8;

fn draft_of_run(draft: Draft) -> Draft {
    Draft {
        scope: Some(Scope::Run),
        pointers: other_evidence(),
        ..draft
    }
}

/// One conflict as shown, without ids and times, which differ between worlds.
fn words_of_conflict(at: &Asked, who: &Caller, conflict: &Conflict) -> String {
    let Conflict {
        status,
        severity,
        tier,
        why,
        a,
        b,
        risk,
        settled,
        allowed,
        ..
    } = conflict;
    let settled = settled.as_ref().map(|settled| {
        let merged = settled.merged.map(|id| at.get(who, id).unwrap().claim);
        (settled.how, &settled.by, &settled.why, merged)
    });
    let allowed = allowed.as_ref().map(|it| (&it.by, &it.why));
    let risk = risk.map(|id| at.get(who, id).unwrap().valid_until.is_none());
    format!(
        "{status} {severity:?} {tier:?} {why} [{} by {}] [{} by {}] risk {risk:?} {settled:?} {allowed:?}",
        a.claim, a.by, b.claim, b.by
    )
}

/// Everything about conflicts that a caller sees.
fn view_of(at: &Asked, who: &Caller) -> Vec<String> {
    let mut all: Vec<String> = list_conflicts(at, who, Listed::All)
        .iter()
        .map(|conflict| words_of_conflict(at, who, conflict))
        .collect();
    for status in [
        Listed::Open,
        Listed::Closed,
        Listed::Resolved,
        Listed::Dismissed,
    ] {
        all.push(format!(
            "{status:?} {}",
            list_conflicts(at, who, status).len()
        ));
    }
    let asked = Query {
        k: Some(50),
        ..query("claims contradict each other: the wallet lock lasts minutes")
    };
    let found = at.ask(who, asked).unwrap().engrams;
    all.extend(found.iter().map(|engram| {
        let count = engram.conflicts.len();
        format!(
            "{:?} {} {count} {}",
            engram.kind, engram.claim, engram.topic
        )
    }));
    all.sort();
    all
}

fn words_of_reply(reply: &PutReply) -> String {
    let mut findings: Vec<String> = reply
        .findings
        .iter()
        .map(|it| format!("{:?} {} {:?}", it.what, it.note, it.claim))
        .collect();
    findings.sort();
    format!("{} {} {findings:?}", reply.conflicts, reply.due)
}

fn draw_claim(dice: &mut Dice) -> Draft {
    let minutes = 3 + dice.below(4);
    let fact_type = [FactType::Observation, FactType::Inference][dice.below(2)];
    let ttl = match dice.below(4) {
        0 => Some("PT20M".parse().unwrap()),
        1 => Some(format!("P{}D", 1 + dice.below(300)).parse().unwrap()),
        _ => None,
    };
    Draft {
        fact_type: Some(fact_type),
        ttl,
        ..on_topic(
            ["wallet", "Wallet"][dice.below(2)],
            &format!("The wallet lock lasts {minutes} minutes."),
        )
    }
}

fn settle(at: &Asked, who: &Caller, found: &Conflict, how: usize) -> String {
    let how = match how {
        0 => Settle::Newer,
        1 => Settle::Winner(found.a.id),
        2 => Settle::Dismiss,
        3 => Settle::Merge(format!("Either {} or {}", found.a.claim, found.b.claim)),
        _ => Settle::Undo,
    };
    let resolve = Resolve {
        conflict: found.id,
        how,
        why: Some("Known.".to_owned()),
    };
    match at.0.ask(who, ask::Resolve(Box::new(resolve))) {
        Ok(reply) => format!(
            "{} {}",
            reply.status,
            reply.closed.len() * usize::from(*who != USER)
        ),
        Err(refusal) => format!(
            "{} {}",
            refusal.code,
            refusal.message.replace(&found.id.to_string(), "ID")
        ),
    }
}

/// A stranger's conflict by its number, in the order of the shown text.
fn pick(at: &Asked, who: &Caller, number: usize) -> Option<Conflict> {
    let mut all = list_conflicts(at, who, Listed::All);
    all.sort_by_key(|one| words_of_conflict(at, who, one));
    let number = number % all.len().max(1);
    all.into_iter().nth(number)
}

/// One action that everybody may see, the same in both worlds; returns its author's reply.
fn act(
    at: &Asked,
    who: &Caller,
    stranger: &Caller,
    dice: &mut Dice,
    said: &mut Vec<EngramId>,
) -> String {
    let (kind, number, draft, how) = (
        dice.below(9),
        dice.below(1000),
        draw_claim(dice),
        dice.below(5),
    );
    let known = said.get(number % said.len().max(1)).copied();
    let stored = |said: &mut Vec<EngramId>, draft: Draft| match at.put(who, draft) {
        Ok(reply) => {
            said.push(reply.id);
            words_of_reply(&reply)
        }
        Err(refusal) => refusal.code.to_string(),
    };
    match (kind, known) {
        (0..=3, _) => stored(said, draft),
        (4, Some(id)) => stored(
            said,
            Draft {
                corrects_lineage: Some(id.to_string()),
                ..draft
            },
        ),
        (5, Some(id)) => match at.forget(who, id) {
            Ok(_) => "closed".to_owned(),
            Err(refusal) => refusal.code.to_string(),
        },
        _ => match pick(at, stranger, number) {
            // For the user, a hidden claim may keep the conflict open, and what the user does then
            // is visible to all.
            Some(found) if *who == USER && found.status != ConflictStatus::Open => String::new(),
            Some(found) => settle(at, who, &found, how),
            None => "nothing".to_owned(),
        },
    }
}

/// An action of the hidden agent in its own run, or of the user about it.
fn act_hidden(at: &Asked, who: &Caller, dice: &mut Dice, said: &mut Vec<EngramId>) {
    match dice.below(6) {
        0 => {
            if let Some(id) = said.pop() {
                let _ = at.forget(who, id);
            }
        }
        1 => {
            let mut own = list_conflicts(at, who, Listed::Open);
            own.retain(|one| said.contains(&one.a.id) || said.contains(&one.b.id));
            if let Some(found) = own.first() {
                let who = [who, &USER][dice.below(2)];
                settle(at, who, found, [2, 4][dice.below(2)]);
            }
        }
        2 => {
            let mut own = list_conflicts(at, &USER, Listed::Open);
            own.retain(|one| said.contains(&one.a.id) || said.contains(&one.b.id));
            if let Some(found) = own.first() {
                let allow = Allow {
                    conflict: found.id,
                    why: "Nobody is to know.".to_owned(),
                    undo: false,
                };
                let _ = at.0.ask(&USER, ask::Allow(allow));
            }
        }
        3 => {
            for _ in 0..20 {
                said.extend(
                    at.put(&USER, draft_of_run(draw_claim(dice)))
                        .ok()
                        .map(|reply| reply.id),
                );
            }
        }
        _ => said.extend(
            at.put(who, draft_of_run(draw_claim(dice)))
                .ok()
                .map(|reply| reply.id),
        ),
    }
}

#[test]
fn what_an_agent_does_in_its_run_is_seen_by_nobody_else() {
    for seed in 0..SEEDS {
        let sandboxes = [Sandbox::new(), Sandbox::new()];
        let worlds = sandboxes
            .each_ref()
            .map(|sandbox| sandbox.open_at("repo", 100 + seed));
        let mut dice = [Dice(seed), Dice(seed)];
        let mut chance = Dice(seed + 1000);
        let mut said = [Vec::new(), Vec::new()];
        let mut hidden = Vec::new();
        for step in 0..STEPS {
            sandboxes.iter().for_each(|sandbox| sandbox.clock.turn(120));
            let who = chance.below(5);
            let catch_up = chance.below(3) == 0;
            if chance.below(2) == 0 {
                act_hidden(
                    &worlds[0],
                    &worlds[0].agent("hid"),
                    &mut chance,
                    &mut hidden,
                );
            }
            let mut seen = Vec::new();
            for (world, at) in worlds.iter().enumerate() {
                let stranger = at.agent("eve");
                let who = match who {
                    0 => USER,
                    1 | 2 => at.agent("ada"),
                    _ => at.agent("bob"),
                };
                let answer = act(at, &who, &stranger, &mut dice[world], &mut said[world]);
                if catch_up {
                    at.0.leave_in_order().unwrap();
                }
                // The user's replies depend on what is hidden.
                let answer = if who == USER { String::new() } else { answer };
                seen.push((answer, view_of(at, &stranger)));
            }
            assert_eq!(seen[0], seen[1], "seed {seed}, step {step}");
        }
    }
}
