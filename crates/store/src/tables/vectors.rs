//! Tables `vector` and `embedding_model`: what a model that embeds made of each version's claim.

use engram_model::{EngramId, ProjectId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{Reader, Result, Writer, journal::parse_id};

/// A model that embeds, as this home numbers it. Vectors of two models are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddingModel(i64);

/// A version whose claim has no vector of a model yet.
#[derive(Clone, Debug)]
pub struct Unembedded {
    /// Its place.
    pub seq: u64,
    /// Its project.
    pub project: ProjectId,
    /// Its claim.
    pub claim: String,
}

/// The vector of a version.
#[derive(Clone, Debug)]
pub struct StoredVector {
    /// The version's place.
    pub seq: u64,
    /// The version's project.
    pub project: ProjectId,
    /// A direction: its length is about 127.
    pub vector: Vec<i8>,
}

/// How many versions have a vector of a model, and how many have words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedCount {
    /// Versions with a vector.
    pub embedded: u64,
    /// Those of them whose vector is empty, because the model could not read the claim.
    pub unreadable: u64,
    /// Versions with words.
    pub all: u64,
}

/// Queries about vectors.
pub struct Vectors<'a>(&'a Connection);

impl<'a> Vectors<'a> {
    /// The queries about vectors.
    pub fn of(reader: &'a Reader<'_>) -> Self {
        Self(reader.0)
    }

    /// The number of a model, if it embedded anything in this home.
    pub fn model(&self, name: &str, version: &str) -> Result<Option<EmbeddingModel>> {
        Ok(self
            .0
            .prepare_cached("SELECT id FROM embedding_model WHERE name = ?1 AND version = ?2")?
            .query_row([name, version], |row| row.get(0).map(EmbeddingModel))
            .optional()?)
    }

    /// The first versions after a place that have words, but no vector of this model.
    pub fn lacking_after(
        &self,
        model: EmbeddingModel,
        after: u64,
        most: usize,
    ) -> Result<Vec<Unembedded>> {
        self.0
            .prepare_cached(
                "SELECT engram.seq, engram.project, content.claim
                 FROM engram CROSS JOIN content ON content.engram = engram.id
                 WHERE engram.seq > ?2 AND NOT EXISTS
                   (SELECT 1 FROM vector WHERE vector.seq = engram.seq AND vector.model = ?1)
                 ORDER BY engram.seq LIMIT ?3",
            )?
            .query_and_then(params![model.0, after as i64, most as i64], |row| {
                Ok(Unembedded {
                    seq: row.get::<_, i64>(0)? as u64,
                    project: parse_id(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?)?,
                    claim: row.get(2)?,
                })
            })?
            .collect()
    }

    /// The first vectors of this model after a place.
    pub fn after(
        &self,
        model: EmbeddingModel,
        after: u64,
        most: usize,
    ) -> Result<Vec<StoredVector>> {
        self.0
            .prepare_cached(
                "SELECT vector.seq, engram.project, vector.bytes
                 FROM vector CROSS JOIN engram ON engram.seq = vector.seq
                 WHERE vector.seq > ?2 AND vector.model = ?1 ORDER BY vector.seq LIMIT ?3",
            )?
            .query_and_then(params![model.0, after as i64, most as i64], |row| {
                Ok(StoredVector {
                    seq: row.get::<_, i64>(0)? as u64,
                    project: parse_id(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?)?,
                    vector: signed(row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?),
                })
            })?
            .collect()
    }

    /// The vector that this model made of a version.
    pub fn at(&self, model: EmbeddingModel, seq: u64) -> Result<Option<Vec<i8>>> {
        self.0
            .prepare_cached("SELECT bytes FROM vector WHERE seq = ?2 AND model = ?1")?
            .query_row(params![model.0, seq as i64], |row| {
                Ok(signed(row.get_ref(0)?.as_blob()?))
            })
            .optional()
            .map_err(Into::into)
    }

    /// The name and version of the model that made the vector of a version.
    pub fn made_by(&self, id: EngramId) -> Result<Option<(String, String)>> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT embedding_model.name, embedding_model.version
                 FROM engram JOIN vector USING (seq)
                 JOIN embedding_model ON embedding_model.id = vector.model
                 WHERE engram.id = ?1 AND length(vector.bytes) > 0",
            )?
            .query_row([id.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?)
    }

    /// How far a model is.
    pub fn count(&self, model: EmbeddingModel) -> Result<EmbeddedCount> {
        let count = |sql, bound: &[i64]| -> Result<u64> {
            let bound = rusqlite::params_from_iter(bound);
            let found: i64 = self
                .0
                .prepare_cached(sql)?
                .query_row(bound, |row| row.get(0))?;
            Ok(found as u64)
        };
        Ok(EmbeddedCount {
            embedded: count("SELECT count(*) FROM vector WHERE model = ?1", &[model.0])?,
            unreadable: count(
                "SELECT count(*) FROM vector WHERE model = ?1 AND length(bytes) = 0",
                &[model.0],
            )?,
            all: count("SELECT count(*) FROM content", &[])?,
        })
    }

    /// Whether words were erased after a place.
    pub fn is_erased_after(&self, after: u64) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM journal WHERE seq > ?1 AND kind = 'redacted')",
            )?
            .query_row([after as i64], |row| row.get(0))?)
    }
}

impl Writer<'_> {
    /// The number of a model, given to it if it has none.
    pub fn number_model(&self, name: &str, version: &str) -> Result<EmbeddingModel> {
        self.0
            .prepare_cached(
                "INSERT OR IGNORE INTO embedding_model (name, version) VALUES (?1, ?2)",
            )?
            .execute([name, version])?;
        Ok(self
            .0
            .prepare_cached("SELECT id FROM embedding_model WHERE name = ?1 AND version = ?2")?
            .query_row([name, version], |row| row.get(0).map(EmbeddingModel))?)
    }

    /// Stores the vector of a version, instead of another model's, unless its words were erased in the
    /// meantime.
    pub fn keep_vector(&self, model: EmbeddingModel, seq: u64, vector: &[i8]) -> Result<()> {
        let bytes: Vec<u8> = vector.iter().map(|it| it.cast_unsigned()).collect();
        self.0
            .prepare_cached(
                "INSERT OR REPLACE INTO vector (seq, model, bytes)
                 SELECT engram.seq, ?2, ?3 FROM engram JOIN content ON content.engram = engram.id
                 WHERE engram.seq = ?1",
            )?
            .execute(params![seq as i64, model.0, bytes])?;
        Ok(())
    }
}

fn signed(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|it| it.cast_signed()).collect()
}
