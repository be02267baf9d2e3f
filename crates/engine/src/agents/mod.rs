//! Agents: how they are opened, what they may still read, their grants, what they were shown, and
//! what they did.

pub(crate) mod budgets;
pub(crate) mod changing;
pub(crate) mod grants;
pub(crate) mod message_cost;
pub(crate) mod metrics;
pub(crate) mod opening;
pub(crate) mod served;
pub(crate) mod timeline;

use crate::{Engine, decide};
use engram_model::{Operation, ProjectId, Refusal, operation::Served};

impl Engine {
    /// Takes what was shown since the last write. The caller must store it or put it back.
    pub(crate) fn take_served(&self) -> Vec<Served> {
        self.caches.served.take()
    }

    pub(crate) fn put_back_served(&self, served: Vec<Served>) {
        served.into_iter().for_each(|it| self.caches.served.add(it));
    }

    /// When a process ends, stores what agents were shown since the last write. Counts alone are
    /// not worth a write.
    pub(crate) fn store_served_prints(&self, project: ProjectId) -> Result<(), Refusal> {
        let (served, counts) = self
            .take_served()
            .into_iter()
            .partition(|it| !it.prints.is_empty());
        self.put_back_served(counts);
        self.write_served(project, served)
    }

    /// Stores everything that agents were shown so far, without waiting for the next write.
    pub(crate) fn store_all_served(&self, project: ProjectId) -> Result<(), Refusal> {
        self.write_served(project, self.take_served())
    }

    fn write_served(&self, project: ProjectId, served: Vec<Served>) -> Result<(), Refusal> {
        if served.is_empty() {
            return Ok(());
        }
        let operations = served.iter().cloned().map(Operation::Served).collect();
        decide::record_unplanned(self, project, None, |_| Ok(operations))
            .inspect_err(|_| self.put_back_served(served))
    }
}
