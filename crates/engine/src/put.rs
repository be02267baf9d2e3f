//! Put: parse, gather, decide, commit once.

use engram_consistency::screen;
use engram_model::{
    Caller, ChangeKind, Code, Draft, Engram, EngramId, Figures, Finding, LineageId, MemoryOp,
    NewEngram, Pointer, PointerType, ProjectId, Provenance, PutReply, Refusal, Source, Ttl,
};
use engram_pointers::{Repo, Snapshot, resolve};
use engram_store::{Agent, NewEntry, Writer};
use sha2::{Digest, Sha256};

use crate::{Engine, HomeShelf, agents::since, project, read::Eyes};

/// Evidence that was looked at.
struct Evidence {
    pointers: Vec<Pointer>,
    snapshots: Vec<Snapshot>,
    verified: bool,
    /// Labels of what reads otherwise than its sender says to have read it.
    phantoms: Vec<String>,
}

impl Engine {
    pub(crate) fn put(&self, caller: &Caller, draft: Draft) -> Result<PutReply, Refusal> {
        if draft.operation == Some(MemoryOp::Delete) {
            return self.retire(caller, draft);
        }
        let new = draft.validate(&self.config.limits)?;
        check_operation(&new)?;
        engram_gateway::may_write(caller, new.scope)?;
        screen_words(&new)?;
        let repo = self.repo()?;
        let known = project::find(&self.store, repo.as_ref())?;
        let evidence = self.look_at(&new.pointers, repo.as_ref(), known)?;
        let project = project::find_or_mint(&self.store, &self.world, repo.as_ref(), true)?;
        let idle = self.config.limits.deref.turn_idle_seconds;
        let agent = self
            .agents
            .call(&self.store, &self.world, caller, project, idle)?;
        let reply = self.store.write::<_, Refusal>(self.world.now(), |it| {
            self.admit_commit(it, agent.as_ref())?;
            self.commit(it, caller, project, agent.as_ref(), &new, &evidence)
        })?;
        if let Some(repo) = &repo {
            keep_commits(repo, &evidence.pointers);
        }
        self.ring();
        Ok(reply)
    }

    /// Resolves every pointer; one that does not resolve refuses the whole. A `url:` is kept as the
    /// address that it is: it is never fetched on the way in, and proves nothing.
    fn look_at(
        &self,
        pointers: &[Pointer],
        repo: Option<&Repo>,
        project: Option<ProjectId>,
    ) -> Result<Evidence, Refusal> {
        let shelf = HomeShelf {
            store: &self.store,
            project,
            urls: false,
        };
        let mut evidence = Evidence {
            pointers: Vec::with_capacity(pointers.len()),
            snapshots: Vec::new(),
            verified: false,
            phantoms: Vec::new(),
        };
        for pointer in pointers {
            if pointer.kind() == PointerType::Url {
                evidence.pointers.push(pointer.clone());
                continue;
            }
            let mut resolved = resolve(repo, &shelf, pointer)?;
            // What was read stays on record, so that every reader sees that it was something else.
            if pointer.digest.is_some() && pointer.digest != resolved.pointer.digest {
                evidence.phantoms.push(pointer.label());
                resolved.pointer.digest = pointer.digest.clone();
            }
            self.check_length(&resolved.pointer)?;
            if let Some(snapshot) = resolved.snapshot {
                screen_snapshot(&snapshot)?;
                evidence.snapshots.push(snapshot);
            }
            evidence.verified |= pointer.kind() != PointerType::Sam;
            if !evidence.pointers.contains(&resolved.pointer) {
                evidence.pointers.push(resolved.pointer);
            }
        }
        Ok(evidence)
    }

    /// Pinning makes an address longer: what is stored must still fit the published schema.
    fn check_length(&self, pointer: &Pointer) -> Result<(), Refusal> {
        let length = pointer.to_string().chars().count();
        match length <= self.config.limits.ref_chars {
            true => Ok(()),
            false => Err(Refusal::new(
                Code::PointerInvalid,
                format!(
                    "a pointer has {length} characters once pinned, {} are allowed",
                    self.config.limits.ref_chars
                ),
                "Point at a file with a shorter path, or note the finding with `engram note` and point at that.",
            )),
        }
    }

    fn admit_commit(&self, it: &Writer<'_>, agent: Option<&Agent>) -> Result<(), Refusal> {
        let Some(agent) = agent else {
            return Ok(());
        };
        let count =
            |seconds| it.count_by_agent(&agent.handle, ChangeKind::Stored, since(it.now, seconds));
        engram_gateway::admit_commit(&self.config.limits.rate, count(60)?, count(3_600)?)?;
        it.keep_agent(agent)?;
        Ok(())
    }

    fn commit(
        &self,
        it: &Writer<'_>,
        caller: &Caller,
        project: ProjectId,
        agent: Option<&Agent>,
        new: &NewEngram,
        evidence: &Evidence,
    ) -> Result<PutReply, Refusal> {
        let by = spoken_by(new.agent.as_deref(), agent);
        let content_hash = format!("sha256:{}", hex::encode(Sha256::digest(&new.claim)));
        let eyes = Eyes::of(project, agent);
        let head = match new.corrects {
            Some(id) => Some(head_of(it, project, &eyes, id)?),
            None => None,
        };
        if let Some(head) = &head {
            engram_gateway::may_write(caller, head.scope)?;
        }
        let mut findings = Vec::new();
        if head.is_none() {
            let mut held = it.same_content(project, &content_hash, it.now)?;
            held.retain(|same| eyes.may_see(same));
            for same in held {
                if covers(&same, new, evidence) {
                    return self.repeat(it, &same, agent, &by);
                }
                findings.push(Finding {
                    what: "same_claim".to_owned(),
                    id: same.id,
                    note: "The same claim is held with other evidence.".to_owned(),
                });
            }
        }
        let engram = self.version(it, project, agent, new, evidence, by, content_hash, &head);
        let seq = it.append(&NewEntry {
            project,
            kind: ChangeKind::Stored,
            shareable: engram.scope != engram_model::Scope::Run,
            agent: agent.map(|agent| &agent.handle),
            by: &engram.provenance.created_by,
            subject: Some(engram.id.to_string()),
            body: it.journal_body(&engram)?,
        })?;
        it.add_engram(&Engram {
            seq,
            ..engram.clone()
        })?;
        for snapshot in &evidence.snapshots {
            keep_snapshot(it, snapshot)?;
        }
        for label in &evidence.phantoms {
            findings.push(Finding {
                what: "phantom_read".to_owned(),
                id: engram.id,
                note: format!("{label} does not read as its digest says: dereference it again."),
            });
        }
        if let Some(head) = head {
            it.close(head.id)?;
            findings.push(Finding {
                what: "superseded".to_owned(),
                id: head.id,
                note: "This version took its place.".to_owned(),
            });
        }
        self.flush_hits(it)?;
        Ok(PutReply {
            id: engram.id,
            seq,
            lineage_id: engram.lineage_id,
            verified: engram.verified,
            findings,
        })
    }

    /// The same claim on the same evidence is not stored twice; another voice is counted.
    fn repeat(
        &self,
        it: &Writer<'_>,
        same: &Engram,
        agent: Option<&Agent>,
        by: &str,
    ) -> Result<PutReply, Refusal> {
        if !it.has_said(agent.map(|agent| &agent.handle), by, same.id)? {
            it.append(&NewEntry {
                project: same.project,
                kind: ChangeKind::Corroborated,
                shareable: same.scope != engram_model::Scope::Run,
                agent: agent.map(|agent| &agent.handle),
                by,
                subject: Some(same.id.to_string()),
                body: serde_json::json!({}),
            })?;
            it.add_corroboration(same.id)?;
        }
        Ok(PutReply {
            id: same.id,
            seq: same.seq,
            lineage_id: same.lineage_id,
            verified: same.verified,
            findings: vec![Finding {
                what: "duplicate".to_owned(),
                id: same.id,
                note: "This claim is already held on this evidence.".to_owned(),
            }],
        })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one record from all that decides it"
    )]
    fn version(
        &self,
        it: &Writer<'_>,
        project: ProjectId,
        agent: Option<&Agent>,
        new: &NewEngram,
        evidence: &Evidence,
        by: String,
        content_hash: String,
        head: &Option<Engram>,
    ) -> Engram {
        let id = EngramId(self.world.id());
        let ephemeral = new.durability == engram_model::Durability::Ephemeral;
        let ttl = match (&new.ttl, ephemeral) {
            (None, true) => Ttl::seconds(self.config.limits.ephemeral_ttl_seconds).ok(),
            (ttl, _) => ttl.clone(),
        };
        Engram {
            id,
            seq: 0,
            lineage_id: head.as_ref().map_or(LineageId(id.0), |it| it.lineage_id),
            project,
            run: agent.map(|agent| agent.run),
            claim: new.claim.clone(),
            kind: new.kind,
            fact_type: new.fact_type,
            scope: new.scope,
            topic: new.topic.clone(),
            topic_key: None,
            pointers: evidence.pointers.clone(),
            confidence: new.confidence,
            expires_at: ttl.as_ref().map(|ttl| ttl.expires_at(it.now)),
            ttl,
            durability: new.durability,
            tags: new.tags.clone(),
            hash_keys: Vec::new(),
            entities: Vec::new(),
            provenance: Provenance {
                created_at: it.now,
                created_by: by,
                source: new.source.unwrap_or(match agent {
                    Some(_) => Source::Agent,
                    None => Source::Tool,
                }),
            },
            agent: agent.map(|agent| agent.handle.clone()),
            engineer: None,
            content_hash,
            valid_from: it.now,
            valid_until: None,
            recorded_at: it.now,
            memory_op: match head {
                Some(_) => MemoryOp::Update,
                None => MemoryOp::Add,
            },
            supersedes: head.as_ref().map(|it| it.id),
            verified: evidence.verified,
            redacted: false,
            figures: Figures::default(),
            health: None,
        }
    }

    /// `operation: delete`: the end of a lineage, without a successor.
    fn retire(&self, caller: &Caller, draft: Draft) -> Result<PutReply, Refusal> {
        let lineage: EngramId = match draft.corrects_lineage.as_deref() {
            Some(text) if !text.is_empty() => text.parse()?,
            _ => {
                return Err(Refusal::new(
                    Code::SchemaInvalid,
                    "operation delete names no lineage",
                    "Pass the lineage_id to retire as corrects_lineage.",
                ));
            }
        };
        let project = self.project_of(caller)?;
        let eyes = self.eyes(caller)?;
        let head = self
            .store
            .read::<_, Refusal>(|it| head_of(it, project, &eyes, lineage.0))?;
        let closed = self.forget(caller, head.id)?;
        Ok(PutReply {
            id: head.id,
            seq: closed.seq,
            lineage_id: head.lineage_id,
            verified: head.verified,
            findings: vec![Finding {
                what: "retired".to_owned(),
                id: head.id,
                note: "Its window is closed; it can still be asked for as of before.".to_owned(),
            }],
        })
    }
}

/// History may be rewritten: what claims are pinned to must not be collected. Where the git folder
/// cannot be written, git's own time of grace has to do.
fn keep_commits(repo: &Repo, pointers: &[Pointer]) {
    for commit in pointers.iter().flat_map(Pointer::commits) {
        if let Err(error) = repo.keep(commit) {
            tracing::debug!(%error, "a pinned commit cannot be kept from being collected");
        }
    }
}

/// The bytes of a file that was not committed, and where it was.
pub(crate) fn keep_snapshot(it: &Writer<'_>, snapshot: &Snapshot) -> Result<(), Refusal> {
    it.keep_blob(&snapshot.digest_hex, &snapshot.bytes)?;
    Ok(it.keep_snapshot(
        &snapshot.digest_hex,
        &snapshot.path,
        snapshot.base.as_deref(),
        &snapshot.blob,
    )?)
}

fn check_operation(new: &NewEngram) -> Result<(), Refusal> {
    match (new.operation, new.corrects) {
        (MemoryOp::Update, None) => Err(Refusal::new(
            Code::SchemaInvalid,
            "operation update names no lineage",
            "Query for the claim that is out of date and pass its lineage_id as corrects_lineage.",
        )),
        (MemoryOp::None, _) => Err(Refusal::new(
            Code::SchemaInvalid,
            "operation none stores nothing",
            "Leave the call out, or use add, update or delete.",
        )),
        _ => Ok(()),
    }
}

/// No text that is stored may carry a credential.
fn screen_words(new: &NewEngram) -> Result<(), Refusal> {
    let words = std::iter::once(&new.claim)
        .chain(&new.tags)
        .chain(std::iter::once(&new.topic))
        .chain(&new.agent);
    for text in words {
        if let Some(secret) = screen(text) {
            return Err(secret_refusal(&format!(
                "the claim holds what looks like {}",
                secret.rule
            )));
        }
    }
    Ok(())
}

pub(crate) fn screen_snapshot(snapshot: &Snapshot) -> Result<(), Refusal> {
    match engram_consistency::screen_bytes(&snapshot.bytes) {
        Some(secret) => Err(secret_refusal(&format!(
            "{} holds what looks like {}",
            snapshot.path, secret.rule
        ))),
        None => Ok(()),
    }
}

pub(crate) fn secret_refusal(message: &str) -> Refusal {
    Refusal::new(
        Code::SecretDetected,
        message,
        "Say where the credential lives or what it is called, never what it is.",
    )
}

/// The version of a lineage that holds and that the caller may see, by the id of the lineage or of any of its versions.
fn head_of(
    it: &engram_store::Reader<'_>,
    project: ProjectId,
    eyes: &Eyes,
    id: ulid::Ulid,
) -> Result<Engram, Refusal> {
    let lineage = match it.engram(EngramId(id))? {
        Some(version) => version.lineage_id,
        None => LineageId(id),
    };
    it.lineage(lineage)?
        .into_iter()
        .find(|version| {
            version.project == project && version.valid_until.is_none() && eyes.may_see(version)
        })
        .ok_or_else(|| {
            Refusal::new(
                Code::NotFound,
                format!("no lineage {id} holds here"),
                "Query for the claim and pass its lineage_id.",
            )
        })
}

/// Who speaks: the name given with the claim, else the agent's label; empty for the user.
pub(crate) fn spoken_by(given: Option<&str>, agent: Option<&Agent>) -> String {
    given
        .or(agent.map(|agent| agent.label.as_str()))
        .unwrap_or("user")
        .to_owned()
}

/// Whether `same` already says this, of this scope and topic, on this evidence.
fn covers(same: &Engram, new: &NewEngram, evidence: &Evidence) -> bool {
    same.scope == new.scope
        && same.topic == new.topic
        && same.kind == new.kind
        && evidence
            .pointers
            .iter()
            .all(|pointer| same.pointers.contains(pointer))
}
