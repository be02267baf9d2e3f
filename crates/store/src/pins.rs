//! Table `pin`, and the claims that a brief may name: a bounded number of each sort.

use engram_model::{AgentId, Engram, Kind, LineageId, ProjectId};
use jiff::Timestamp;
use rusqlite::params;

use crate::{Reader, Result, engrams::NOT_OVER, journal::parse_id};

/// Most pins of a project that are read.
const PINS: i64 = 500;
/// Versions read for each one returned, since some have ended.
const LOOKED: usize = 8;

/// What is pinned to a brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// Its place in the journal, which orders the pins.
    pub seq: u64,
    /// Who pinned it; none for the user.
    pub agent: Option<AgentId>,
    /// The claim; none for a line of text.
    pub lineage: Option<LineageId>,
    /// The line of text; none for a claim, or once it was erased.
    pub text: Option<String>,
}

impl Reader<'_> {
    /// The pins of a project, oldest first.
    pub fn pins(&self, project: ProjectId) -> Result<Vec<Pinned>> {
        let mut found = self.0.prepare_cached(
            "SELECT pin.seq, pin.agent, pin.lineage, said.text
             FROM pin LEFT JOIN said USING (seq) WHERE pin.project = ?1 ORDER BY pin.seq LIMIT ?2",
        )?;
        let rows = found.query_map(params![project.to_string(), PINS], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, Option<String>>(1)?,
                row.get::<_, Option<String>>(2)?,
                row.get(3)?,
            ))
        })?;
        rows.map(|row| {
            let (seq, agent, lineage, text) = row?;
            Ok(Pinned {
                seq: seq as u64,
                agent: agent.map(AgentId),
                lineage: lineage.as_deref().map(parse_id).transpose()?,
                text,
            })
        })
        .collect()
    }

    /// The newest durable versions that hold, searched among the newest stored.
    pub fn newest_lasting(
        &self,
        project: ProjectId,
        now: Timestamp,
        most: usize,
    ) -> Result<Vec<Engram>> {
        self.engrams_where(
            &format!(
                "WHERE engram.seq IN
                   (SELECT seq FROM engram WHERE project = ?1 ORDER BY seq DESC LIMIT ?3)
                 AND engram.valid_until IS NULL AND engram.durability = 'durable' AND {NOT_OVER}
                 ORDER BY engram.seq DESC LIMIT ?4"
            ),
            params![
                project.to_string(),
                now.as_microsecond(),
                most.saturating_mul(LOOKED) as i64,
                most as i64
            ],
        )
    }

    /// The newest durable versions of a kind that hold: a constraint, a policy or a risk.
    pub fn newest_of_kind(
        &self,
        project: ProjectId,
        kind: Kind,
        now: Timestamp,
        most: usize,
    ) -> Result<Vec<Engram>> {
        self.engrams_where(
            &format!(
                "WHERE engram.seq IN
                   (SELECT seq FROM engram INDEXED BY engram_lasting
                    WHERE project = ?1 AND kind = ?3 AND valid_until IS NULL
                      AND kind IN ('constraint', 'policy', 'risk')
                    ORDER BY seq DESC LIMIT ?4)
                 AND engram.durability = 'durable' AND {NOT_OVER}
                 ORDER BY engram.seq DESC LIMIT ?5"
            ),
            params![
                project.to_string(),
                now.as_microsecond(),
                kind.as_str(),
                most.saturating_mul(LOOKED) as i64,
                most as i64
            ],
        )
    }
}
