//! Records as a journal entry what homes of earlier schemas held only in tables, so that a replay
//! rebuilds it too. This runs once, when such a home is migrated.

use engram_model::{
    AgentId, EngramId, Operation, ProjectId, Spend,
    operation::{Carried, Located, Snapshot},
};
use rusqlite::{Connection, Row};

use super::{NewEntry, parse_id};
use crate::{Result, StoreError, Writer, tables::all_agents};

/// How many rows an entry holds.
const ROWS: usize = 500;

/// Records what the tables hold and no entry has.
pub(crate) fn carry(writer: &Writer<'_>) -> Result<()> {
    let all = Carried {
        projects: projects(writer.0)?,
        agents: all_agents(writer.0)?,
        spent: spent(writer.0)?,
        snapshots: snapshots(writer.0)?,
        hits: hits(writer.0)?,
    };
    // The tables already hold this. Where values add up, clear them first and let the entries fill
    // them.
    writer.0.execute("UPDATE figure SET query_hits = 0", [])?;
    writer.0.execute("DELETE FROM snapshot WHERE seq = 0", [])?;
    for part in split_parts(all) {
        writer.record(&NewEntry {
            project: ProjectId(writer.origin),
            shareable: false,
            agent: None,
            by: "",
            operation: &Operation::Carried(Box::new(part)),
        })?;
    }
    Ok(())
}

/// Splits the data into entries of bounded size.
fn split_parts(mut all: Carried) -> Vec<Carried> {
    let mut parts = Vec::new();
    loop {
        let part = Carried {
            projects: take_rows(&mut all.projects),
            agents: take_rows(&mut all.agents),
            spent: take_rows(&mut all.spent),
            snapshots: take_rows(&mut all.snapshots),
            hits: take_rows(&mut all.hits),
        };
        if part == Carried::default() {
            return parts;
        }
        parts.push(part);
    }
}

fn take_rows<T>(all: &mut Vec<T>) -> Vec<T> {
    let rest = all.split_off(all.len().min(ROWS));
    std::mem::replace(all, rest)
}

fn projects(connection: &Connection) -> Result<Vec<(ProjectId, Located)>> {
    rows(
        connection,
        "SELECT id, common_dir, name FROM project",
        |row| {
            let id: String = row.get(0)?;
            let (common_dir, name) = (row.get(1)?, row.get(2)?);
            Ok((parse_id(&id)?, Located { common_dir, name }))
        },
    )
}

fn spent(connection: &Connection) -> Result<Vec<(AgentId, String, Spend)>> {
    let sql = "SELECT agent, turn, repo_spans, artifact_sections, sam_items, tokens FROM spend";
    rows(connection, sql, |row| {
        let spend = Spend {
            repo_spans: row.get(2)?,
            artifact_sections: row.get(3)?,
            sam_items: row.get(4)?,
            tokens: row.get(5)?,
        };
        Ok((AgentId(row.get(0)?), row.get(1)?, spend))
    })
}

fn snapshots(connection: &Connection) -> Result<Vec<Snapshot>> {
    let sql = "SELECT digest, path, base, blob FROM snapshot WHERE seq = 0";
    rows(connection, sql, |row| {
        Ok(Snapshot {
            digest_hex: row.get(0)?,
            path: row.get(1)?,
            base: row.get(2)?,
            blob: row.get(3)?,
            bytes: Vec::new(),
        })
    })
}

fn hits(connection: &Connection) -> Result<Vec<(EngramId, u64)>> {
    let sql = "SELECT engram, query_hits FROM figure WHERE query_hits > 0";
    rows(connection, sql, |row| {
        let id: String = row.get(0)?;
        Ok((parse_id(&id)?, row.get::<_, i64>(1)? as u64))
    })
}

fn rows<T>(
    connection: &Connection,
    sql: &str,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>> {
    let mut found = connection.prepare(sql)?;
    let mut rows = found.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(row)?);
    }
    Ok(all)
}
