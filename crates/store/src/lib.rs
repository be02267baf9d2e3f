//! The storage of Engram: one SQLite file in WAL mode (journal, tables, blobs) that many processes
//! share without a daemon, and a tantivy index that follows the journal and can be deleted at any
//! time.
//!
//! - [`Store::write`] is the only way to write: one short transaction, queued fairly between
//!   processes, durable when it returns. Every change, except of what
//!   followers and counters can rebuild, is an operation that [`Writer::record`] appends to the
//!   journal and applies to the tables. [`Store::replay`] repeats all operations and compares.
//! - [`Store::read`] gives a [`Reader`] on one snapshot. It answers most queries itself;
//!   [`Events`], [`Grants`], [`Messages`], [`Projects`] and [`Snapshots`] answer those on one
//!   subject.
//! - [`Index`] finds the engrams that share terms with a query, and records how far it has read.
//! - A foreign database is refused before it is touched. [`Vacant`] holds a home while it is moved.
//! - [`Doorbell`] notifies other processes of new journal entries.
//! - The files of a home are created for their owner alone, and opening them never blocks
//!   (`files.rs`).
//!
//! **Never:** no policy (who may write, what ranks first, what a budget allows), no git, no models.

mod conflicts;
mod doorbell;
mod error;
mod feed;
mod files;
mod home;
mod index;
mod journal;
mod tables;
mod until;

pub use conflicts::{
    Attribution, ListedConflict, NearPairs, Pair, PairToJudge, Report, audience, conflict_id, side,
};
pub use doorbell::{Doorbell, Listener};
pub use error::StoreError;
pub use files::{
    Links, append_private, close_to_others, is_open_to_others, make_private_folder, open_file,
    open_private, read_file, read_text, sync_folder, update_private, write_private,
};
pub use home::{Reader, Recovered, Store, Vacant, Writer, is_home, recover, write_in_turn};
pub use index::{
    Derive, Derived, INDEX_FOLLOWER, Index, IndexQuery, RelatedVersion, RelatedVersions,
    SearchMatch, SearchTerms, SearchWeights, TermFrequencies,
};
pub use journal::{Erasable, Journalled, NewEntry, Replayed};
pub use tables::{
    AgentActivity, DeliveredFiles, Due, EmbeddedCount, EmbeddingModel, EngramCount, Events,
    FamilyOf, Fingerprints, Grants, MessageTotals, Messages, NameOwner, NamesOf, NewsEntries,
    ProjectActivity, ProjectWaiting, Projects, ReadRequest, RowsOf, Snapshots, Spender, StoredPin,
    StoredVector, Traits, Unembedded, Vectors, WorktreeState,
};
pub use until::read_until;

/// The result of every call of this crate.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
