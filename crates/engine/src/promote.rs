//! Claims reach further. Ephemeral ones become durable: by hand, or once others were answered with them (seed
//! 002, phase 8). A parent or the user gives them a wider scope (seed 001, 4.3).

use engram_gateway::{Promoted, may_promote};
use engram_model::{
    AgentId, Caller, Code, Durability, Engram, EngramId, Figures, MemoryOp, Operation, ProjectId,
    Promote, PromoteReply, Refusal, Scope, Ttl, is_over, operation::Promotion,
};

use crate::{
    agents::{in_project, kin_of},
    context::{Context, Ground},
    decide::{Plan, Planned},
    findings::{Compared, Telling},
    lineage::{head_of, superseded},
    put::answered,
};

fn outlived(head: &Engram) -> Refusal {
    Refusal::new(
        Code::Expired,
        format!("engram {} has expired", head.id),
        "Nothing was changed. Commit the claim again as durable.",
    )
}

/// Who promotes what others were answered with.
const ENGRAM: &str = "engram";

/// Whether it counts that an agent was answered with this: what is ephemeral, only if another said it.
pub(crate) fn counts(it: &Engram, asks: &AgentId) -> bool {
    it.durability == Durability::Durable || it.agent.as_ref() != Some(asks)
}

impl Context<'_> {
    /// The version of a claim that holds becomes durable. One that is durable already stays as it is.
    pub(crate) fn promote_claim(&self, ask: &Promote) -> Result<PromoteReply, Refusal> {
        let found = self.find(ask.id)?;
        match ask.scope {
            None => self.make_durable(&found, &self.speaker(None)?),
            Some(scope) => self.widen(&found, scope),
        }
    }

    /// A version of the claim that holds, with a wider scope: its words, its evidence and its author stay.
    fn widen(&self, found: &Engram, to: Scope) -> Result<PromoteReply, Refusal> {
        let (eyes, by) = (self.eyes_in(found.project)?, self.speaker(None)?);
        let clock = self.engine.world.now();
        self.before_comparing();
        let ((mut reply, after), seq) = self.decide(&Ground::of(found.project), |it, now| {
            let head = head_of(it, found.project, &eyes, found.id.0)?;
            let claim = Promoted {
                scope: head.scope,
                confidence: head.confidence,
                author: head.agent.as_ref(),
            };
            let known = |id: &AgentId| {
                let agent = in_project(it, found.project, id).ok().flatten();
                agent.map(kin_of)
            };
            may_promote(self.caller, &claim, to, &self.engine.config.scopes, known)?;
            if is_over(head.recorded_at, head.expires_at, clock) {
                return Err(outlived(&head));
            }
            self.admit(it)?;
            let wider = Engram {
                id: EngramId(self.engine.world.id()),
                seq: 0,
                scope: to,
                valid_from: now,
                recorded_at: clock,
                memory_op: MemoryOp::Update,
                supersedes: Some(head.id),
                restores: None,
                figures: Figures::default(),
                health: None,
                asked: None,
                place: None,
                score: None,
                ..head.clone()
            };
            // More may meet it there: claims of two runs never do.
            let compared = self.compare(it, &wider, &Telling::of(now, &by, &[head.id]));
            let due = compared.told_due();
            let mut findings = vec![superseded(&head)];
            findings.extend(compared.findings);
            let answer = PromoteReply {
                id: wider.id,
                durability: wider.durability,
                scope: to,
                lineage_id: wider.lineage_id,
                seq: 0,
                due,
                findings,
            };
            let mut entries = answered(it, head.lineage_id, &by)?;
            entries.push(Planned {
                due: compared.due.map(|due| (None, due)),
                operation: Operation::Stored(Box::new(wider)),
                by: by.clone(),
                shareable: true,
            });
            let after = compared.entries.len() as u64;
            entries.extend(compared.entries);
            Ok(Plan {
                entries,
                answer: (answer, after),
            })
        })?;
        reply.seq = seq.map_or(reply.seq, |seq| seq - after);
        Ok(reply)
    }

    fn make_durable(&self, found: &Engram, by: &str) -> Result<PromoteReply, Refusal> {
        let eyes = self.eyes_in(found.project)?;
        self.before_comparing();
        let ((mut reply, after), seq) = self.decide(&Ground::of(found.project), |it, now| {
            let head = head_of(it, found.project, &eyes, found.id.0)?;
            engram_gateway::may_write_scope(self.caller, head.scope, &self.engine.config.scopes)?;
            self.may_write_topic(&head.topic)?;
            if is_over(head.recorded_at, head.expires_at, self.engine.world.now()) {
                return Err(outlived(&head));
            }
            let mut entries = Vec::new();
            let mut compared = Compared::default();
            if head.durability == Durability::Ephemeral {
                self.admit(it)?;
                let lasting = Engram {
                    durability: Durability::Durable,
                    ..head.clone()
                };
                compared = self.compare(it, &lasting, &Telling::of(now, by, &[]));
                entries.push(Planned {
                    due: compared.due.map(|due| (Some(head.seq), due)),
                    operation: Operation::Promoted(Promotion {
                        id: head.id,
                        ends_term: head.ttl == self.default_term(),
                    }),
                    by: by.to_owned(),
                    shareable: head.scope != Scope::Run,
                });
            }
            let answer = PromoteReply {
                id: head.id,
                durability: Durability::Durable,
                scope: head.scope,
                lineage_id: head.lineage_id,
                seq: head.seq,
                due: compared.told_due(),
                findings: compared.findings,
            };
            let after = compared.entries.len() as u64;
            entries.extend(compared.entries);
            Ok(Plan {
                entries,
                answer: (answer, after),
            })
        })?;
        reply.seq = seq.map_or(reply.seq, |seq| seq - after);
        Ok(reply)
    }

    /// The term of an ephemeral claim that came without one; none if such claims do not expire.
    pub(crate) fn default_term(&self) -> Option<Ttl> {
        Ttl::seconds(self.engine.config.limits.ephemeral_ttl_seconds).ok()
    }

    /// What was ephemeral when another agent was answered with it may have become durable by that. The
    /// count is written at once: agents ask from processes of their own, none of which alone would know of
    /// the second answer. By then it is durable, so few answers wait for a write.
    pub(crate) fn promote_answered(&self, engrams: &[Engram]) {
        let Caller::Agent(asks) = self.caller else {
            return;
        };
        let is_ephemeral = |it: &&Engram| it.durability == Durability::Ephemeral;
        let asked = engrams.iter().filter(|it| counts(it, asks));
        let asked: Vec<&Engram> = asked.filter(is_ephemeral).collect();
        let Some(project) = asked.first().map(|it| it.project) else {
            return;
        };
        // An answer never fails by what is counted.
        if let Err(refusal) = self.promote_asked(project, &asked) {
            tracing::info!(%refusal, "an ephemeral claim was asked for and is not promoted yet");
        }
    }

    fn promote_asked(&self, project: ProjectId, asked: &[&Engram]) -> Result<(), Refusal> {
        self.engine.store_served(project)?;
        let wanted = self.engine.config.limits.ephemeral_hits;
        let own = Context::own(self.engine);
        for engram in asked {
            let store = &self.engine.store;
            let now = store.read::<_, Refusal>(|it| Ok(it.engram(engram.id)?))?;
            let is_due = |it: &Engram| {
                (1..=it.figures.query_hits).contains(&wanted)
                    && it.holds_now(self.engine.world.now())
            };
            if now.as_ref().is_some_and(is_due) {
                own.make_durable(engram, ENGRAM)?;
            }
        }
        Ok(())
    }
}
