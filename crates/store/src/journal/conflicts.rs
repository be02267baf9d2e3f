//! Applies what was found about pairs of claims to table `conflict`.

use engram_model::{
    ConflictStatus, LineageId,
    operation::{Contradiction, Ruling},
};
use rusqlite::params;

use super::apply::Applied;
use crate::Result;

impl Applied<'_> {
    /// Makes a pair an open conflict, with its report if it has one. A pair that was not open when
    /// it is found again loses its permission to pass the gate.
    pub(super) fn raise(&self, contradiction: &Contradiction) -> Result<()> {
        let again = "UPDATE SET status = 'open', last = ?5,
             allowed = CASE WHEN status = 'open' THEN allowed END, severity = excluded.severity,
             run = excluded.run, newer = excluded.newer, older = excluded.older";
        self.add_pair(contradiction, ConflictStatus::Open, again)?;
        let Some(risk) = contradiction.risk else {
            return Ok(());
        };
        let [one, other] = contradiction.engrams.map(|it| it.to_string());
        self.run(
            "INSERT OR REPLACE INTO report (risk, conflict, one, other) VALUES (?1, ?2, ?3, ?4)",
            params![risk.to_string(), contradiction.id.to_string(), one, other],
        )?;
        self.unlist(&[LineageId(risk.0)])
    }

    /// Makes a pair a possible conflict, unless it is known already.
    pub(super) fn propose(&self, pair: &Contradiction) -> Result<()> {
        self.add_pair(pair, ConflictStatus::Possible, "NOTHING")
    }

    /// Records a verdict, or that one was undone. A pair that is only possible again is what it was
    /// when it was proposed.
    pub(super) fn settle(&self, ruling: &Ruling) -> Result<()> {
        let ruled = ruling.how.map(|_| ruling.status.as_str());
        self.run(
            "UPDATE conflict SET status = ?2, verdict = ?3, ruled = ?4,
               last = CASE ?2 WHEN 'possible' THEN first ELSE last END,
               allowed = CASE ?2 WHEN 'possible' THEN NULL ELSE allowed END
             WHERE id = ?1",
            params![
                ruling.id.to_string(),
                ruling.status.as_str(),
                self.seq,
                ruled
            ],
        )
    }

    fn add_pair(&self, pair: &Contradiction, status: ConflictStatus, again: &str) -> Result<()> {
        let [a, b] = &pair.sides;
        self.run(
            &format!(
                "INSERT INTO conflict (id, project, a, b, status, first, last, severity, run, newer, older)
                 VALUES (?1, ?2, ?3, ?4, ?9, ?5, ?5, ?6,
                   (SELECT coalesce(run, '00000000000000000000000000') FROM engram
                    WHERE id IN (?7, ?8) AND scope = 'run' LIMIT 1),
                   coalesce((SELECT id FROM engram WHERE id IN (?7, ?8) ORDER BY place DESC, seq DESC LIMIT 1), ''),
                   coalesce((SELECT id FROM engram WHERE id IN (?7, ?8) ORDER BY place, seq LIMIT 1), ''))
                 ON CONFLICT (id) DO {again}"
            ),
            params![
                pair.id.to_string(),
                self.project.to_string(),
                a,
                b,
                self.seq,
                pair.severity as i64,
                pair.engrams[0].to_string(),
                pair.engrams[1].to_string(),
                status.as_str(),
            ],
        )
    }
}
