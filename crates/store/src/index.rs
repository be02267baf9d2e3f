//! The index: which engrams share terms with a query. A follower of the journal that says how far
//! it has read; delete its folder and it is rebuilt.
//!
//! Every version stays in it, closed or not, for questions about the past; only redaction removes.

use std::path::{Path, PathBuf};

use engram_model::{Engram, ProjectId, hash_keys};
use tantivy::{
    Index as Tantivy, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, TantivyError, Term,
    collector::TopDocs,
    directory::error::LockError,
    query::{BooleanQuery, BoostQuery, ConstScoreQuery, Occur, Query, TermQuery},
    schema::{
        FAST, Field, INDEXED, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions,
        Value,
    },
};

use crate::{Result, Store, StoreError};

/// Changes when the fields or the keys change, so that an older build's index is not misread.
const VERSION: &str = "index-1";
/// tantivy's own least.
const WRITER_BYTES: usize = 15_000_000;
/// Journal entries that are read at once.
const BATCH: usize = 2_000;

/// What a query looks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Identifiers, numbers, files.
    pub exact: Vec<String>,
    /// Stems.
    pub words: Vec<String>,
    /// Neighbouring words.
    pub grams: Vec<String>,
}

/// Engrams that share terms with a query, most likely first.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    /// Places in the journal.
    pub seqs: Vec<u64>,
    /// How far the index had read; anything after must be looked at by scan.
    pub indexed: u64,
    /// How many versions the index holds.
    pub total: u64,
    /// In how many versions each term occurs, in the order of `exact`, then `words`.
    pub frequencies: Vec<u64>,
}

/// The index of one home.
pub struct Index {
    tantivy: Tantivy,
    reader: IndexReader,
    fields: Fields,
    origin: String,
}

#[derive(Clone, Copy)]
struct Fields {
    seq: Field,
    project: Field,
    exact: Field,
    words: Field,
    grams: Field,
}

impl Index {
    /// Opens the index of a home, or begins an empty one. One that cannot be read is put aside
    /// and begun anew: nothing in it is not in the journal.
    pub fn open(store: &Store) -> Result<Self> {
        let folder = Self::folder(store.home());
        match Self::open_at(&folder, store) {
            Ok(index) => Ok(index),
            Err(error) => {
                tracing::warn!(%error, "the index cannot be read; it is built anew");
                Self::delete(store.home())?;
                Self::open_at(&folder, store)
            }
        }
    }

    /// Where it lies.
    pub fn folder(home: &Path) -> PathBuf {
        home.join(VERSION)
    }

    /// Deletes the index; the next to open it builds it anew.
    pub fn delete(home: &Path) -> Result<()> {
        let folder = Self::folder(home);
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io(folder, error))
            }
            _ => Ok(()),
        }
    }

    fn open_at(folder: &Path, store: &Store) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|e| StoreError::io(folder, e))?;
        let (schema, fields) = schema();
        let directory = tantivy::directory::MmapDirectory::open(folder)
            .map_err(|e| StoreError::Index(e.into()))?;
        let tantivy = Tantivy::open_or_create(directory, schema)?;
        let reader = tantivy
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        let index = Self {
            tantivy,
            reader,
            fields,
            origin: store.origin().to_string(),
        };
        match index.cursor()? <= store.read(|it| it.head())? {
            true => Ok(index),
            // The database was replaced by an older copy.
            false => Err(StoreError::Record(
                "the index is ahead of the journal".into(),
            )),
        }
    }

    /// How far the index has read.
    pub fn cursor(&self) -> Result<u64> {
        let payload = self.tantivy.load_metas()?.payload;
        match payload.as_deref().and_then(|it| it.split_once(' ')) {
            None => Ok(0),
            Some((origin, cursor)) if origin == self.origin => cursor
                .parse()
                .map_err(|_| StoreError::Record(format!("index cursor {cursor:?}"))),
            Some(_) => Err(StoreError::Record("the index is another home's".into())),
        }
    }

    /// Reads the journal up to its end, unless another process is doing so. The cursor after.
    pub fn catch_up(&self, store: &Store) -> Result<u64> {
        let mut cursor = self.cursor()?;
        if store.read(|it| it.head())? <= cursor {
            return Ok(cursor);
        }
        let mut writer: IndexWriter = match self.tantivy.writer_with_num_threads(1, WRITER_BYTES) {
            Ok(writer) => writer,
            Err(TantivyError::LockFailure(LockError::LockBusy, _)) => return Ok(cursor),
            Err(error) => return Err(error.into()),
        };
        // The one before may have written since.
        cursor = self.cursor()?;
        loop {
            let (entries, engrams) = store.read::<_, StoreError>(|it| {
                let entries = it.journal_after(cursor, BATCH)?;
                let mut engrams = Vec::new();
                for entry in entries.iter().filter(|it| it.kind == "stored") {
                    engrams.extend(it.engram_at(entry.seq)?);
                }
                Ok((entries, engrams))
            })?;
            let Some(last) = entries.last() else {
                return Ok(cursor);
            };
            for engram in engrams.iter().filter(|it| !it.redacted) {
                writer.add_document(self.document(engram))?;
            }
            let erased: Vec<u64> = entries
                .iter()
                .filter(|it| it.kind == "redacted")
                .filter_map(|it| it.body.get("seqs")?.as_array())
                .flatten()
                .filter_map(serde_json::Value::as_u64)
                .collect();
            for seq in &erased {
                writer.delete_term(Term::from_field_u64(self.fields.seq, *seq));
            }
            cursor = last.seq;
            let mut prepared = writer.prepare_commit()?;
            prepared.set_payload(&format!("{} {cursor}", self.origin));
            prepared.commit()?;
            if !erased.is_empty() {
                // Deleted documents keep their terms on disk until their segment is merged.
                let segments = self.tantivy.searchable_segment_ids()?;
                writer.merge(&segments).wait()?;
                writer.garbage_collect_files().wait()?;
            }
        }
    }

    fn document(&self, engram: &Engram) -> TantivyDocument {
        let fields = self.fields;
        let keys = hash_keys(&engram.claim, &engram.pointers, &engram.topic, &engram.tags);
        let mut document = TantivyDocument::default();
        document.add_u64(fields.seq, engram.seq);
        document.add_text(fields.project, engram.project.to_string());
        for key in keys.exact().chain(&keys.concepts) {
            document.add_text(fields.exact, key);
        }
        for key in &keys.words {
            document.add_text(fields.words, key);
        }
        for key in &keys.grams {
            document.add_text(fields.grams, key);
        }
        document
    }

    /// Up to `limit` versions of `project` that share a term, most likely first.
    pub fn search(&self, project: ProjectId, terms: &Terms, limit: usize) -> Result<Candidates> {
        let indexed = self.cursor()?;
        self.reader.reload()?;
        let searcher = self.reader.searcher();
        let fields = self.fields;
        let groups = [
            (fields.exact, 3.0, &terms.exact),
            (fields.words, 1.0, &terms.words),
            (fields.grams, 0.5, &terms.grams),
        ];
        let mut any: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let mut frequencies = Vec::new();
        for (field, weight, keys) in groups {
            for key in keys {
                let term = Term::from_field_text(field, key);
                if field != fields.grams {
                    frequencies.push(searcher.doc_freq(&term)?);
                }
                let query = TermQuery::new(term, IndexRecordOption::Basic);
                any.push((
                    Occur::Should,
                    Box::new(BoostQuery::new(Box::new(query), weight)),
                ));
            }
        }
        let own = TermQuery::new(
            Term::from_field_text(fields.project, &project.to_string()),
            IndexRecordOption::Basic,
        );
        let query = BooleanQuery::new(vec![
            (
                Occur::Must,
                Box::new(ConstScoreQuery::new(Box::new(own), 0.0)) as Box<dyn Query>,
            ),
            (Occur::Must, Box::new(BooleanQuery::new(any))),
        ]);
        let found = searcher.search(&query, &TopDocs::with_limit(limit.max(1)).order_by_score())?;
        let mut seqs = Vec::with_capacity(found.len());
        for (_, address) in found {
            let document: TantivyDocument = searcher.doc(address)?;
            seqs.extend(document.get_first(fields.seq).and_then(|it| it.as_u64()));
        }
        Ok(Candidates {
            seqs,
            indexed,
            total: searcher.num_docs(),
            frequencies,
        })
    }
}

fn schema() -> (Schema, Fields) {
    let keys = || {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer("raw")
                .set_index_option(IndexRecordOption::Basic),
        )
    };
    let mut builder = Schema::builder();
    let fields = Fields {
        seq: builder.add_u64_field("seq", INDEXED | FAST | STORED),
        project: builder.add_text_field("project", keys()),
        exact: builder.add_text_field("exact", keys()),
        words: builder.add_text_field("words", keys()),
        grams: builder.add_text_field("grams", keys()),
    };
    (builder.build(), fields)
}
