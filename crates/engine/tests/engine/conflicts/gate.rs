//! Whatever agents do, in any order: the user's claims hold until the user ends them, and the gate
//! is shut while they are contradicted and no person allowed that.

use engram_engine::{ClaimPair, detect};
use engram_model::{
    Allow, Caller, ConflictId, ConflictStatus, Draft, Engram, EngramId, FactType, Gate, Listed,
    Opening, Outcome, Promote, Resolve, Scope, Sending, Settle, Severity, ask,
};

use engram_store::{audience, conflict_id, side};

use crate::fixture::{
    Asked, Sandbox, USER,
    conflicts::{Dice, list_conflicts},
    correction_of, evidence,
    messages::report,
    on_topic,
};

const STEPS: usize = 40;
const SEEDS: u64 = 10;

fn draw_claim(dice: &mut Dice) -> Draft {
    let (topic, claim) = match dice.below(3) {
        0 => (
            "wallet",
            format!("The wallet lock lasts {} minutes.", 3 + dice.below(4)),
        ),
        1 => (
            "gateway",
            format!("The retry limit is {}.", 1 + dice.below(4)),
        ),
        _ => (
            "vault",
            format!(
                "The vault service listens on port {}.",
                4711 + dice.below(3)
            ),
        ),
    };
    let scope = [Scope::Project, Scope::Project, Scope::Run][dice.below(3)];
    let file = ["repo:src/lib.rs@HEAD", "repo:README.md@HEAD"][dice.below(2)];
    // Two inferences that contradict each other are less severe. Some claims end by themselves.
    let fact_type = [FactType::Observation, FactType::Inference][dice.below(2)];
    let ttl = [None, None, None, Some("PT20M")][dice.below(4)];
    Draft {
        scope: Some(scope),
        fact_type: Some(fact_type),
        ttl: ttl.map(str::to_owned),
        pointers: vec![evidence(file)],
        ..on_topic(topic, &claim)
    }
}

/// The same as a message carries it.
fn message(dice: &mut Dice) -> Sending {
    let draft = draw_claim(dice);
    let engram = serde_json::json!({
        "kind": "fact", "claim": draft.claim, "topic": draft.topic, "confidence": 0.8,
        "ttl": draft.ttl.as_deref().unwrap_or("P7D"), "scope": "project",
        "pointers": ["repo:src/lib.rs@HEAD"],
    });
    Sending {
        message: report(vec![engram], "Read the limits."),
        to: None,
    }
}

/// One action of an agent or the user. Most are refused, which this test ignores.
fn act(at: &Asked, who: &Caller, dice: &mut Dice, said: &mut Vec<EngramId>) {
    let any = |dice: &mut Dice, said: &[EngramId]| said.get(dice.below(said.len().max(1))).copied();
    match dice.below(12) {
        11 => {
            let sent = at.0.ask(who, ask::Send(message(dice)));
            if let Ok(Outcome::Reported { engrams, .. }) = sent.map(|sent| sent.outcome) {
                said.extend(engrams.iter().map(|stored| stored.id));
            }
        }
        10 => {
            let all = list_conflicts(at, who, Listed::Open);
            if let Some(found) = all.get(dice.below(all.len().max(1))) {
                let allow = Allow {
                    conflict: found.id,
                    why: "Known.".to_owned(),
                    undo: dice.below(3) == 0,
                };
                let _ = at.0.ask(who, ask::Allow(allow));
            }
        }
        0..=3 => said.extend(at.put(who, draw_claim(dice)).ok().map(|reply| reply.id)),
        4 => {
            if let Some(id) = any(dice, said) {
                let draft = Draft {
                    corrects_lineage: correction_of(id, "").corrects_lineage,
                    ..draw_claim(dice)
                };
                said.extend(at.put(who, draft).ok().map(|reply| reply.id));
            }
        }
        5 => {
            if let Some(id) = any(dice, said) {
                let _ = at.forget(who, id);
            }
        }
        6 => {
            if let Some(id) = any(dice, said) {
                let scope = Some(Scope::Project);
                let _ = at.0.ask(who, ask::Promote(Promote { id, scope }));
            }
        }
        _ => {
            let all = list_conflicts(at, who, Listed::All);
            if let Some(found) = all.get(dice.below(all.len().max(1))) {
                let how = match dice.below(7) {
                    0 => Settle::Newer,
                    1 => Settle::Winner(found.a.id),
                    2 => Settle::Dismiss,
                    3 => Settle::Merge(found.b.claim.clone()),
                    4 => Settle::Surer,
                    5 => Settle::MergedBy(said[dice.below(said.len())]),
                    _ => Settle::Undo,
                };
                let resolve = Resolve {
                    conflict: found.id,
                    how,
                    why: None,
                };
                let reply = at.0.ask(who, ask::Resolve(Box::new(resolve)));
                said.extend(reply.into_iter().flat_map(|reply| reply.stored));
            }
        }
    }
}

/// The claims that nobody ended and whose term is not over.
fn engrams_that_hold(sandbox: &Sandbox, at: &Asked, said: &[EngramId]) -> Vec<Engram> {
    let all = said.iter().filter_map(|id| at.get(&USER, *id).ok());
    let mut all: Vec<Engram> = all.map(|engram| *engram).collect();
    all.retain(|engram| engram.holds_now(sandbox.clock.now()));
    all.dedup_by_key(|engram| engram.id);
    all
}

/// Whatever contradiction the rules find between two holding claims, the gate accounts for it at
/// every severity up to that of the contradiction: it blocks, a person allowed it, it was dismissed
/// (by a person, if one side is the user's), or a comparison is still due.
fn assert_known_to_the_gate(at: &Asked, holding: &[Engram], when: &str) {
    for severity in [Severity::Low, Severity::Medium, Severity::High] {
        let gate = at.gate(severity);
        let is_shut = !gate.blocking.is_empty() || gate.due > 0;
        assert_eq!(gate.gate == Gate::Shut, is_shut, "{when}, {severity:?}");
        if gate.due == 0 {
            assert_accounts_for_all(at, holding, &gate.blocking, severity, when);
        }
    }
}

fn assert_accounts_for_all(
    at: &Asked,
    holding: &[Engram],
    blocking: &[ConflictId],
    severity: Severity,
    when: &str,
) {
    for (number, one) in holding.iter().enumerate() {
        for other in &holding[..number] {
            let is_apart =
                (one.scope, other.scope) == (Scope::Run, Scope::Run) && one.run != other.run;
            if is_apart || one.lineage_id == other.lineage_id {
                continue;
            }
            let pair = ClaimPair {
                a: other.claim.clone(),
                b: one.claim.clone(),
                topic_a: Some(other.topic.clone()),
                topic_b: Some(one.topic.clone()),
            };
            let rules = detect(&pair).unwrap();
            let is_mild = [one, other].map(|it| it.fact_type) == [FactType::Inference; 2];
            let found_at = if is_mild {
                Severity::Medium
            } else {
                Severity::High
            };
            if !rules.conflict || found_at < severity {
                continue;
            }
            let run = audience(one).or(audience(other));
            let [a, b] = [one, other].map(|it| side(&it.topic, &it.claim));
            let id = conflict_id(one.project, run, &a, &b);
            // The conflict that covers it, if there is one.
            let Ok(known) = at.0.ask(&USER, ask::Conflict(id)) else {
                let is_known = run.is_some() && is_dismissed_by_the_user(at, [&a, &b]);
                assert!(is_known, "{when}: {one:#?} {other:#?}");
                continue;
            };
            if known.status == ConflictStatus::Open {
                let passes = blocking.contains(&known.id) || known.allowed.is_some();
                assert!(passes, "{when}: {known:#?}");
                continue;
            }
            assert_eq!(
                known.status,
                ConflictStatus::Dismissed,
                "{when}: {known:#?}"
            );
            let is_users = one.agent.is_none() || other.agent.is_none();
            let by = known.settled.as_ref().unwrap().by.as_str();
            assert!(by == "user" || !is_users, "{when}: {known:#?}");
        }
    }
}

/// The store selects and counts conflicts in SQL; the engine decides about one. Both agree.
fn assert_lists_agree(at: &Asked, when: &str) {
    for listed in [
        Listed::Open,
        Listed::Closed,
        Listed::Resolved,
        Listed::Dismissed,
    ] {
        let all = list_conflicts(at, &USER, listed);
        for one in &all {
            let shown = at.0.ask(&USER, ask::Conflict(one.id)).unwrap();
            assert_eq!(shown.id, one.id, "{when}: it is covered, {shown:#?}");
            assert!(listed.admits(shown.status), "{when}: {shown:#?}");
        }
        if listed == Listed::Open {
            let counted = at.0.ask(&USER, ask::Status).unwrap().conflicts;
            assert_eq!(counted, Some(all.len() as u64), "{when}");
        }
    }
}

/// A person who dismissed a conflict for one run dismissed it for every run.
fn is_dismissed_by_the_user(at: &Asked, sides: [&String; 2]) -> bool {
    list_conflicts(at, &USER, Listed::Dismissed)
        .iter()
        .any(|conflict| {
            let of = [&conflict.a, &conflict.b].map(|it| side(&it.topic, &it.claim));
            let by = conflict.settled.as_ref().map(|settled| settled.by.as_str());
            sides.iter().all(|side| of.contains(side)) && by == Some("user")
        })
}

#[test]
fn whatever_agents_do_the_users_claims_hold_and_the_gate_knows() {
    for seed in 0..SEEDS {
        let sandbox = Sandbox::new();
        let at = sandbox.open_at("repo", 100 + seed);
        let mut dice = Dice(seed);
        let mut agents = vec![at.agent("ada"), at.agent("bob"), at.agent("eve")];
        let mut said = vec![at.put(&USER, draw_claim(&mut dice)).unwrap().id];
        for step in 0..STEPS {
            let when = format!("seed {seed}, step {step}");
            sandbox.clock.turn(120);
            let is_user = dice.below(5) == 0;
            let before: Vec<EngramId> = engrams_that_hold(&sandbox, &at, &said)
                .into_iter()
                .filter(|engram| engram.agent.is_none())
                .map(|engram| engram.id)
                .collect();
            let who = if is_user {
                &USER
            } else {
                &agents[dice.below(agents.len())].clone()
            };
            if !is_user && dice.below(12) == 0 {
                let opening = Opening {
                    name: format!("child-{step}"),
                    parent: None,
                    ..Opening::default()
                };
                let opened = at.0.ask(who, ask::OpenAgent(opening));
                agents.extend(opened.map(|opened| Caller::Agent(opened.agent)));
            }
            act(&at, who, &mut dice, &mut said);
            if !is_user {
                for id in before {
                    let held = at.get(&USER, id).unwrap().valid_until.is_none();
                    assert!(held, "{when}: an agent ended {id} of the user");
                }
            }
            if dice.below(3) == 0 {
                at.0.leave_in_order().unwrap();
                assert_lists_agree(&at, &when);
            }
            assert_known_to_the_gate(&at, &engrams_that_hold(&sandbox, &at, &said), &when);
        }
    }
}
