//! Tables `served` and `reading`: fingerprints of what each agent was shown, and which claims
//! agents read.

use engram_model::{AgentId, EngramId, ProjectId, RunId};
use rusqlite::{OptionalExtension, params};

use crate::{
    Reader, Result,
    journal::{SHOWN, parse_id},
};

/// Bytes of a fingerprint.
const PRINT: usize = 8;

/// The sorted fingerprints of what an agent was shown at one time.
pub struct Fingerprints(Vec<u8>);

impl Fingerprints {
    /// Whether a fingerprint is among them.
    pub fn contains(&self, print: u64) -> bool {
        let (prints, _) = self.0.as_chunks::<PRINT>();
        prints
            .binary_search_by_key(&print, |it| u64::from_be_bytes(*it))
            .is_ok()
    }
}

impl Reader<'_> {
    /// The newest showings of an agent.
    pub fn fingerprints_of(&self, agent: &AgentId) -> Result<Vec<Fingerprints>> {
        self.0
            .prepare_cached(
                "SELECT prints FROM served WHERE agent = ?1 ORDER BY seq DESC LIMIT ?2",
            )?
            .query_map(params![agent.0, SHOWN], |row| row.get(0).map(Fingerprints))?
            .map(|row| Ok(row?))
            .collect()
    }

    /// The claims that agents of a project read most, and how often agents of runs other than `run`
    /// read each.
    pub fn read_most(
        &self,
        project: ProjectId,
        run: Option<RunId>,
        most: usize,
    ) -> Result<Vec<(EngramId, u64)>> {
        let run = run.map(|it| it.to_string()).unwrap_or_default();
        let mut found = self.0.prepare_cached(
            "SELECT engram, reads - CASE run WHEN ?2 THEN own ELSE 0 END FROM reading
             WHERE project = ?1 AND EXISTS
               (SELECT 1 FROM engram WHERE engram.id = reading.engram
                AND (engram.scope <> 'run' OR engram.run = ?2))
             ORDER BY reading.reads DESC LIMIT ?3",
        )?;
        let rows = found.query_map(params![project.to_string(), run, most as i64], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
        })?;
        rows.map(|row| {
            let (id, reads) = row?;
            Ok((parse_id(&id)?, reads.max(0) as u64))
        })
        .collect()
    }

    /// How often agents of runs other than `run` read a claim.
    pub fn reads_of(&self, project: ProjectId, run: Option<RunId>, id: EngramId) -> Result<u64> {
        let run = run.map(|it| it.to_string()).unwrap_or_default();
        let reads: Option<i64> = self
            .0
            .prepare_cached(
                "SELECT reads - CASE run WHEN ?2 THEN own ELSE 0 END FROM reading
                 WHERE project = ?1 AND engram = ?3",
            )?
            .query_row(params![project.to_string(), run, id.to_string()], |row| {
                row.get(0)
            })
            .optional()?;
        Ok(reads.unwrap_or(0).max(0) as u64)
    }
}
