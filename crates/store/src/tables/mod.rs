//! The other tables that operations and followers write. Each file has the queries about one table,
//! or about a few that belong together.

mod agent_records;
mod agents;
mod brief_pins;
mod due;
mod engrams;
mod events;
mod everywhere;
mod followers;
mod grants;
mod messages;
mod metrics;
mod projects;
mod served;
mod snapshots;
mod vectors;

pub use agents::{AgentActivity, FamilyOf, NameOwner, NamesOf, RowsOf, Spender};
pub(crate) use agents::{all_agents, topics_json};
pub use brief_pins::StoredPin;
pub use due::Due;
pub(crate) use due::all_are_due;
pub use engrams::{EngramCount, Traits};
pub(crate) use engrams::{NOT_OVER, engrams_where};
pub use events::Events;
pub use everywhere::{NewsEntries, ProjectWaiting};
pub use followers::WorktreeState;
pub use grants::{Grants, ReadRequest};
pub use messages::{DeliveredFiles, MessageTotals, Messages};
pub use metrics::ProjectActivity;
pub use projects::Projects;
pub use served::Fingerprints;
pub use snapshots::Snapshots;
pub use vectors::{EmbeddedCount, EmbeddingModel, StoredVector, Unembedded, Vectors};
