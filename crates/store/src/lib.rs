//! What Engram keeps: one SQLite file in WAL mode (journal, tables, blobs) that many processes share
//! without a daemon, and a tantivy index that follows the journal and can be dropped at any time.
//!
//! - [`Store::write`] is the only way in: one short transaction, queued fairly between processes,
//!   durable when it returns. Everything that changes is an operation that [`Writer::record`] appends
//!   to the journal and applies to the tables; [`Store::replay`] does it all again and compares.
//! - [`Store::read`] gives a [`Reader`] on one snapshot.
//! - [`Index`] answers which engrams share terms with a query, and how far it has read.
//! - A database that is not ours is refused before it is touched; [`Vacant`] holds a home that moves.
//! - [`Doorbell`] tells other processes that the journal moved.
//! - What a home holds is made for its owner alone, and opened without being held up (`files.rs`).
//!
//! **Never:** no policy (who may write, what ranks first, what a budget allows), no git, no models.

mod agents;
mod apply;
mod beside;
mod carry;
mod conflicts;
mod db;
mod doorbell;
mod due;
mod engrams;
mod erasable;
mod error;
mod events;
mod facets;
mod feed;
mod files;
mod filter;
mod followers;
mod grants;
mod index;
mod inodes;
mod journal;
mod messages;
mod metrics;
mod ours;
mod pins;
mod projects;
mod readers;
mod recover;
mod replay;
mod served;
mod sides;
mod snapshots;
mod until;
mod vacant;

pub use agents::{Holder, Seen, Spender};
pub use conflicts::{Deed, Listing, Pair, Report, audience};
pub use db::{Reader, Store, Writer};
pub use doorbell::{Doorbell, Listener};
pub use due::Due;
pub use engrams::{CommitCount, Traits};
pub use erasable::Erasable;
pub use error::StoreError;
pub use files::{
    Links, append_private, close_to_others, is_open_to_others, make_private_folder, open_file,
    open_private, read_file, read_text, sync_folder, update_private, write_private,
};
pub use followers::Looked;
pub use grants::Request;
pub use index::{Frequencies, INDEX_FOLLOWER, Index, Kin, Look, Match, Related, Terms, Worth};
pub use journal::{Journalled, NewEntry};
pub use messages::{Delivered, Files};
pub use metrics::Counts;
pub use ours::is_home;
pub use pins::Pinned;
pub use recover::{Recovered, recover};
pub use replay::Replayed;
pub use served::Shown;
pub use sides::{conflict_id, side};
pub use until::read_until;
pub use vacant::Vacant;

/// What every call here returns.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
