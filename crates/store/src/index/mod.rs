//! The index finds the engrams that share terms with a query. It follows the journal and records
//! how far it has read. If its folder is deleted, it is rebuilt.
//!
//! Every version stays in it, closed or not, for questions about the past. Only redaction removes
//! versions.

mod query;
mod related;

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use engram_model::{Engram, Operation, OperationKind, ProjectId, hash_keys};
use parking_lot::Mutex;
use tantivy::{
    Directory, Index as Tantivy, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument,
    TantivyError, Term,
    directory::{DirectoryLock, INDEX_WRITER_LOCK, MmapDirectory, error::LockError},
    index::SegmentId,
    indexer::{LogMergePolicy, MergePolicy, NoMergePolicy},
    schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions},
};

pub use query::{IndexQuery, SearchMatch, SearchTerms, SearchWeights, TermFrequencies};
pub use related::{Derive, Derived, RelatedVersion, RelatedVersions};

use jiff::Timestamp;

use crate::{
    Due, Result, Store, StoreError, files::make_private_folder, home::pause, journal::Journalled,
    until::without_limit,
};

/// Changes when the fields or the keys change, so that an older build's index is not misread.
const VERSION: &str = "index-10";
/// Its earlier names.
const EARLIER: [&str; 9] = [
    "index-1", "index-2", "index-3", "index-4", "index-5", "index-6", "index-7", "index-8",
    "index-9",
];
/// The name of its cursor in the home. The index stores a cursor too, in the same commit as the
/// data; that one is decisive.
pub const INDEX_FOLLOWER: &str = "index";
/// The field that holds a version's place in the journal.
const SEQ: &str = "seq";
/// The field that holds a version's sketch ([`Derived`]).
const SKETCH: &str = "sketch";
/// tantivy's description of an index: its current segments, and how far it has read.
const META: &str = "meta.json";
/// tantivy's own minimum.
const WRITER_BYTES: usize = 15_000_000;
/// How many journal entries are read at once.
const BATCH: usize = 2_000;
/// Segments of up to this many versions are checked before they answer, which takes a millisecond.
/// `engram doctor` checks larger ones.
const CHECKED: u32 = 50_000;
/// How long to wait for another process that writes the index.
const PATIENCE: Duration = Duration::from_secs(10);

/// The index of one home.
pub struct Index {
    folder: PathBuf,
    tantivy: Tantivy,
    directory: MmapDirectory,
    reader: IndexReader,
    /// The description of the index that was loaded last, and how far that index had read.
    loaded: Mutex<Option<(MetaStamp, u64)>>,
    /// Segments whose files were checked here.
    checked: Mutex<HashSet<SegmentId>>,
    fields: Fields,
    origin: String,
    derive: Derive,
}

/// A stamp of the description of the index. It changes with each write, since each is a new file.
type MetaStamp = (u64, std::time::SystemTime, u64);

#[derive(Clone, Copy)]
struct Fields {
    seq: Field,
    project: Field,
    exact: Field,
    words: Field,
    grams: Field,
    said: Field,
    kin: Field,
    sketch: Field,
}

/// A term as stored, prefixed by its project. All ids have the same length.
fn project_term(project: ProjectId, key: &str) -> String {
    format!("{project}{key}")
}

impl Index {
    /// Opens the index of a home, or creates an empty one. An unreadable index is deleted and
    /// rebuilt: it holds nothing that the journal lacks. `derive` computes what else it stores of a
    /// version.
    pub fn open(store: &Store, derive: Derive) -> Result<Self> {
        let folder = Self::folder(store.home());
        match guarded(|| Self::open_at(&folder, store, derive)) {
            Ok(index) => Ok(index),
            Err(error) if !store.is_writable() => Err(error),
            Err(error) => {
                tracing::info!(%error, "cannot read the index; rebuilding it");
                Self::delete(store.home())?;
                Self::open_at(&folder, store, derive)
            }
        }
    }

    /// The folder of the index.
    pub fn folder(home: &Path) -> PathBuf {
        home.join(VERSION)
    }

    /// Whether the journal has entries that the index has not read, as far as this is known without
    /// opening the index.
    pub fn is_behind(store: &Store) -> Result<bool> {
        let (head, read) = head_and_cursor(store)?;
        Ok(read < head || !Self::is_there(store.home()))
    }

    /// Whether there is an index, sound or not.
    pub fn is_there(home: &Path) -> bool {
        Self::folder(home).join(META).exists()
    }

    /// Deletes the index; the next process that opens it rebuilds it. Waits for a process that is
    /// writing it, whose commit must not name missing files.
    pub fn delete(home: &Path) -> Result<()> {
        let folder = Self::folder(home);
        let _writing = match MmapDirectory::open(&folder) {
            Ok(directory) if refuse_strange(&folder).is_ok() => writer_lock(&directory)?,
            _ => None,
        };
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io(folder, error))
            }
            _ => Ok(()),
        }
    }

    /// Deletes the indexes of earlier builds, which redaction no longer reaches.
    fn delete_earlier(home: &Path) {
        for earlier in EARLIER {
            let _ = std::fs::remove_dir_all(home.join(earlier));
        }
    }

    fn open_at(folder: &Path, store: &Store, derive: Derive) -> Result<Self> {
        make_private_folder(folder).map_err(|e| StoreError::io(folder, e))?;
        if store.is_writable() {
            Self::delete_earlier(store.home());
        }
        refuse_strange(folder)?;
        let (schema, fields) = schema();
        let directory = MmapDirectory::open(folder).map_err(|e| StoreError::Index(e.into()))?;
        let tantivy = Tantivy::open_or_create(directory.clone(), schema)?;
        let reader = tantivy
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        let index = Self {
            folder: folder.to_owned(),
            tantivy,
            directory,
            reader,
            loaded: Mutex::default(),
            checked: Mutex::default(),
            fields,
            origin: store.origin().to_string(),
            derive,
        };
        let (cursor, (head, kept)) = (index.cursor()?, head_and_cursor(store)?);
        if cursor > head {
            // An older copy replaced the database.
            return Err(StoreError::ForeignIndex(
                "the index is ahead of the journal".into(),
            ));
        }
        if cursor < kept && store.is_writable() {
            // The index was rebuilt. Resets the stored cursor, so that `is_behind` returns true.
            store.keep_cursor(INDEX_FOLLOWER, cursor)?;
        }
        Ok(index)
    }

    /// How far the index has read.
    pub fn cursor(&self) -> Result<u64> {
        let payload = self.tantivy.load_metas()?.payload;
        match payload.as_deref().and_then(|it| it.split_once(' ')) {
            None => Ok(0),
            Some((origin, cursor)) if origin == self.origin => cursor.parse().map_err(|_| {
                StoreError::ForeignIndex(format!("the index has no cursor: {cursor:?}"))
            }),
            Some(_) => Err(StoreError::ForeignIndex(
                "the index is another home's".into(),
            )),
        }
    }

    /// Reads the journal to its end, unless another process is doing so. Returns the new cursor.
    pub fn catch_up(&self, store: &Store) -> Result<u64> {
        guarded(|| self.read_to_the_end(store))
    }

    fn read_to_the_end(&self, store: &Store) -> Result<u64> {
        let cursor = self.cursor()?;
        let (head, kept) = head_and_cursor(store)?;
        if head <= cursor && self.erased()?.is_empty() {
            if kept != cursor {
                store.keep_cursor(INDEX_FOLLOWER, cursor)?;
            }
            return Ok(cursor);
        }
        let mut writer: IndexWriter = match self.tantivy.writer_with_num_threads(1, WRITER_BYTES) {
            Ok(writer) => writer,
            Err(TantivyError::LockFailure(LockError::LockBusy, _)) => return Ok(cursor),
            Err(error) => return Err(error.into()),
        };
        // Merges are requested below: a background merge would be lost with its writer.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let cursor = self.read_on(store, &mut writer)?;
        self.tidy(&mut writer)?;
        drop(writer);
        store.keep_cursor(INDEX_FOLLOWER, cursor)?;
        self.forget_closed();
        Ok(cursor)
    }

    /// tantivy remembers each file that it ever mapped, until it is asked which are still mapped.
    fn forget_closed(&self) {
        let _ = self.directory.get_cache_info();
    }

    /// Reads the journal at least up to `seq`, waiting for another process that is doing so.
    /// Returns the new cursor, which is lower if the other process took too long.
    pub fn catch_up_to(&self, store: &Store, seq: u64) -> Result<u64> {
        let start = Instant::now();
        loop {
            let cursor = self.catch_up(store)?;
            if (cursor >= seq && self.erased()?.is_empty()) || start.elapsed() > PATIENCE {
                return Ok(cursor);
            }
            pause();
        }
    }

    fn read_on(&self, store: &Store, writer: &mut IndexWriter) -> Result<u64> {
        // The previous writer may have written since.
        let mut cursor = self.cursor()?;
        // A fixed end, since a process that writes faster than this reads would keep it busy
        // forever.
        let end = store.read::<_, StoreError>(|it| it.head())?;
        loop {
            let (entries, engrams, unread) = store.read::<_, StoreError>(|tx| {
                let entries = tx.journal_after(cursor, BATCH)?;
                let (mut engrams, mut unread) = (Vec::new(), Vec::new());
                let is_stored = |entry: &&Journalled| entry.kind() == Some(OperationKind::Stored);
                for entry in entries.iter().filter(is_stored) {
                    match tx.engram_at(entry.seq) {
                        Ok(engram) => engrams.extend(engram),
                        Err(error) if error.is_of_one_record() => {
                            tracing::warn!(%error, seq = entry.seq, "the index skipped a version");
                            unread.push((entry.project, entry.seq));
                        }
                        Err(error) => return Err(error),
                    }
                }
                Ok((entries, engrams, unread))
            })?;
            if !unread.is_empty() {
                // No key leads to this version, so it is compared from its own side once it can be
                // read.
                store.write::<_, StoreError>(Timestamp::UNIX_EPOCH, |tx| {
                    unread
                        .iter()
                        .try_for_each(|(project, seq)| tx.keep_due(*project, *seq, Due::ALL))
                })?;
            }
            let Some(last) = entries.last() else {
                return Ok(cursor);
            };
            for engram in engrams.iter().filter(|it| !it.redacted) {
                writer.add_document(self.document(engram))?;
            }
            for entry in entries
                .iter()
                .filter(|it| it.kind() == Some(OperationKind::Redacted))
            {
                if let Some(Operation::Redacted(redaction)) = entry.readable_operation() {
                    for seq in redaction.seqs {
                        writer.delete_term(Term::from_field_u64(self.fields.seq, seq));
                    }
                }
            }
            cursor = last.seq;
            let mut prepared = writer.prepare_commit()?;
            prepared.set_payload(&format!("{} {cursor}", self.origin));
            prepared.commit()?;
            if cursor >= end {
                return Ok(cursor);
            }
        }
    }

    /// Merges an index that grew into many segments, and the segments from which redaction deleted:
    /// deleted documents keep their terms on disk until their segment is merged.
    fn tidy(&self, writer: &mut IndexWriter) -> Result<()> {
        let erased = self.erased()?;
        if !erased.is_empty() {
            writer.merge(&erased).wait()?;
        }
        loop {
            let segments = self.tantivy.searchable_segment_metas()?;
            let pieces = LogMergePolicy::default().compute_merge_candidates(&segments);
            if pieces.is_empty() {
                break;
            }
            for piece in pieces {
                writer.merge(&piece.0).wait()?;
            }
        }
        writer.garbage_collect_files().wait()?;
        Ok(())
    }

    /// Segments from which redaction has deleted, and which still hold the words.
    fn erased(&self) -> Result<Vec<SegmentId>> {
        let segments = self.tantivy.searchable_segment_metas()?;
        let erased = segments.iter().filter(|it| it.has_deletes());
        Ok(erased.map(|it| it.id()).collect())
    }

    fn document(&self, engram: &Engram) -> TantivyDocument {
        let fields = self.fields;
        let keys = hash_keys(&engram.claim, &engram.pointers, &engram.topic, &engram.tags);
        let mut document = TantivyDocument::default();
        document.add_u64(fields.seq, engram.seq);
        document.add_text(fields.project, engram.project.to_string());
        let mut add =
            |field, key: &String| document.add_text(field, project_term(engram.project, key));
        let exact = keys.exact().chain(&keys.concepts);
        exact.for_each(|key| add(fields.exact, key));
        keys.words.iter().for_each(|key| add(fields.words, key));
        keys.grams.iter().for_each(|key| add(fields.grams, key));
        let said = hash_keys(&engram.claim, &[], "", &[]);
        let said = said.exact().chain(&said.concepts).chain(&said.words);
        said.for_each(|key| add(fields.said, key));
        let derived = (self.derive)(engram);
        for key in derived.keys {
            document.add_u64(fields.kin, key);
        }
        for number in derived.sketch {
            document.add_u64(fields.sketch, number);
        }
        document
    }

    /// Files whose bytes are not those that were written. Reads all files.
    pub fn damaged_files(&self) -> Result<Vec<PathBuf>> {
        guarded(|| {
            let mut damaged: Vec<PathBuf> = self.tantivy.validate_checksum()?.into_iter().collect();
            damaged.sort_unstable();
            Ok(damaged)
        })
    }

    /// Checks new segments: tantivy trusts its files, and a flipped bit could give wrong answers or
    /// allocate memory without end.
    fn check_new(&self) -> Result<()> {
        let segments = self.tantivy.searchable_segment_metas()?;
        let mut checked = self.checked.lock();
        checked.retain(|id| segments.iter().any(|it| it.id() == *id));
        for segment in segments.iter().filter(|it| it.max_doc() <= CHECKED) {
            if checked.contains(&segment.id()) && !segment.has_deletes() {
                continue;
            }
            let directory = self.tantivy.directory();
            let name = segment.id().uuid_string();
            let is_own = |it: &PathBuf| it.to_string_lossy().starts_with(&name);
            for file in directory.list_managed_files().into_iter().filter(is_own) {
                if directory.exists(&file).map_err(TantivyError::from)?
                    && !directory
                        .validate_checksum(&file)
                        .map_err(TantivyError::from)?
                {
                    let what = format!("{} is damaged", file.display());
                    return Err(StoreError::Index(TantivyError::InternalError(what)));
                }
            }
            checked.insert(segment.id());
        }
        Ok(())
    }

    /// The current index, for versions under a key.
    pub fn related_versions(&self) -> Result<RelatedVersions> {
        guarded(|| {
            let (searcher, indexed) = self.load()?;
            Ok(RelatedVersions::new(searcher, self.fields.kin, indexed))
        })
    }

    /// The current index, for a query about one project.
    pub fn query(&self, project: ProjectId, terms: &SearchTerms) -> Result<IndexQuery> {
        guarded(|| {
            let (searcher, indexed) = self.load()?;
            IndexQuery::new(searcher, self.fields, project, terms, indexed)
        })
    }
}

impl Index {
    /// Makes the reader see the last commit, if it does not yet. Returns how far that commit has
    /// read.
    fn load(&self) -> Result<(Searcher, u64)> {
        let mut loaded = self.loaded.lock();
        let stamp = self.stamp()?;
        if let Some((of, indexed)) = &*loaded
            && *of == stamp
        {
            return Ok((self.reader.searcher(), *indexed));
        }
        self.check_new()?;
        // A commit between the two reads would count its additions twice.
        let mut indexed = self.cursor()?;
        loop {
            self.reader.reload()?;
            let after = self.cursor()?;
            if after == indexed {
                break;
            }
            indexed = after;
        }
        // Files of another process were mapped here too.
        self.forget_closed();
        // If it was written again meanwhile, the stamp is older and the next call loads it again.
        *loaded = Some((stamp, indexed));
        Ok((self.reader.searcher(), indexed))
    }

    fn stamp(&self) -> Result<MetaStamp> {
        let path = self.folder.join(META);
        let of = |it: std::fs::Metadata| Ok((file_number(&it), it.modified()?, it.len()));
        std::fs::metadata(&path)
            .and_then(of)
            .map_err(|e| StoreError::io(path, e))
    }
}

/// Runs `work` and turns a panic into an error: tantivy trusts its files, and panics on some
/// damaged ones. No time limit of a request applies: the index keeps what it reads of the journal,
/// and a failing index is deleted.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let work = || without_limit(work);
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let what = "a file of the index is damaged".to_owned();
        Err(StoreError::Index(TantivyError::InternalError(what)))
    })
}

/// The end of the journal, and how far the index is known to have read.
fn head_and_cursor(store: &Store) -> Result<(u64, u64)> {
    store.read(|it| Ok((it.head()?, it.cursor(INDEX_FOLLOWER)?)))
}

/// The inode of a file, which changes with each rewrite.
#[cfg(unix)]
fn file_number(file: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(file)
}

#[cfg(not(unix))]
fn file_number(_: &std::fs::Metadata) -> u64 {
    0
}

/// Refuses a folder with anything but regular files: tantivy blocks on a pipe in place of one of
/// its files.
fn refuse_strange(folder: &Path) -> Result<()> {
    let failed = |error| StoreError::io(folder, error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().is_ok_and(|it| !it.is_file()) {
            let why = std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a file");
            return Err(StoreError::io(entry.path(), why));
        }
    }
    Ok(())
}

/// The right to write the index; `None` if its lock cannot be used. Fails if it is not free in
/// time.
fn writer_lock(directory: &MmapDirectory) -> Result<Option<DirectoryLock>> {
    let start = Instant::now();
    loop {
        match directory.acquire_lock(&INDEX_WRITER_LOCK) {
            Ok(lock) => return Ok(Some(lock)),
            Err(LockError::LockBusy) if start.elapsed() < PATIENCE => pause(),
            Err(LockError::LockBusy) => return Err(StoreError::Locked(PATIENCE)),
            Err(LockError::IoError(_)) => return Ok(None),
        }
    }
}

fn schema() -> (Schema, Fields) {
    let keys = || {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer("raw")
                .set_fieldnorms(false)
                .set_index_option(IndexRecordOption::Basic),
        )
    };
    let mut builder = Schema::builder();
    let fields = Fields {
        seq: builder.add_u64_field(SEQ, INDEXED | FAST),
        project: builder.add_text_field("project", keys()),
        exact: builder.add_text_field("exact", keys()),
        words: builder.add_text_field("words", keys()),
        grams: builder.add_text_field("grams", keys()),
        said: builder.add_text_field("said", keys()),
        kin: builder.add_u64_field("kin", INDEXED),
        sketch: builder.add_u64_field(SKETCH, FAST),
    };
    (builder.build(), fields)
}
