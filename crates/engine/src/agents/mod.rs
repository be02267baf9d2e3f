//! Agents: how they are opened, what they may still read, their grants, what they were shown, and
//! what they did.

pub(crate) mod budgets;
pub(crate) mod changing;
pub(crate) mod grants;
pub(crate) mod message_cost;
pub(crate) mod metrics;
pub(crate) mod opening;
pub(crate) mod requests;
pub(crate) mod served;
pub(crate) mod timeline;

use crate::{Engine, decide};
use engram_model::{Operation, ProjectId, Refusal, operation::Served};

impl Engine {
    /// When a process ends, stores what agents were shown since the last write. Counts alone are
    /// not worth a write.
    pub(crate) fn store_served_prints(&self, project: ProjectId) -> Result<(), Refusal> {
        let (served, counts) = self
            .caches
            .served
            .take()
            .into_iter()
            .partition(|it| !it.prints.is_empty());
        self.caches.served.put_back(counts);
        self.write_served(project, served)
    }

    /// Stores everything that agents were shown so far, without waiting for the next write.
    pub(crate) fn store_all_served(&self, project: ProjectId) -> Result<(), Refusal> {
        self.write_served(project, self.caches.served.take())
    }

    fn write_served(&self, project: ProjectId, served: Vec<Served>) -> Result<(), Refusal> {
        if served.is_empty() {
            return Ok(());
        }
        let operations = served.iter().cloned().map(Operation::Served).collect();
        decide::record_unplanned(self, project, None, |_| Ok(operations))
            .inspect_err(|_| self.caches.served.put_back(served))
    }
}
