//! What Engram keeps: one SQLite file in WAL mode (journal, tables, blobs) that many processes share
//! without a daemon, and a tantivy index that follows the journal and can be dropped at any time.
//!
//! - [`Store::write`] is the only way in: one short transaction, queued fairly between processes,
//!   durable when it returns. Everything that changes is an operation that [`Writer::record`]
//!   appends to the journal and applies to the tables; [`Store::replay`] does it all again and
//!   compares.
//! - [`Store::read`] gives a [`Reader`] on one snapshot. It answers most questions itself;
//!   [`Events`], [`Grants`], [`Messages`], [`Projects`] and [`Snapshots`] answer those of one
//!   subject.
//! - [`Index`] answers which engrams share terms with a query, and how far it has read.
//! - A database that is not ours is refused before it is touched; [`Vacant`] holds a home that
//!   moves.
//! - [`Doorbell`] tells other processes that the journal moved.
//! - What a home holds is made for its owner alone, and opened without being held up (`files.rs`).
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

pub use conflicts::{Attribution, Listing, Pair, Report, audience, conflict_id, side};
pub use doorbell::{Doorbell, Listener};
pub use error::StoreError;
pub use files::{
    Links, append_private, close_to_others, is_open_to_others, make_private_folder, open_file,
    open_private, read_file, read_text, sync_folder, update_private, write_private,
};
pub use home::{Reader, Recovered, Store, Vacant, Writer, is_home, recover};
pub use index::{
    Frequencies, INDEX_FOLLOWER, Index, Kin, Look, Match, Related, SearchTerms, Worth,
};
pub use journal::{Erasable, Journalled, NewEntry, Replayed};
pub use tables::{
    AgentActivity, DeliveredFiles, Due, EngramCount, Events, Fingerprints, Grants, MessageTotals,
    Messages, NameOwner, Pinned, ProjectActivity, Projects, ReadRequest, Snapshots, Spender,
    Traits, WorktreeState,
};
pub use until::read_until;

/// What every call here returns.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
