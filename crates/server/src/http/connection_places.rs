//! Places for connections. A connection that has shown no token is a stranger's. Strangers have few
//! places, and a new one replaces another. A connection that shows a token moves to the known
//! places: one agent may hold few, a tree of agents may not hold all, and the last ones are for the
//! user alone. When no place is free, the newcomer replaces the connection that has been idle for
//! longest, so that neither silent clients nor a crowd of them keep others out.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use engram_model::AgentId;
use parking_lot::{Mutex, MutexGuard};
use subtle::ConstantTimeEq;
use tokio::sync::Notify;

use super::connections::Bounds;

/// The digest of a token.
pub(super) type Digest = [u8; 32];

/// The holder of the token that a connection showed last.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum TokenHolder {
    User,
    /// An agent, by the digest of its token, and the root of its tree.
    Agent(Digest, AgentId),
}

/// All open connections.
pub(super) struct ConnectionPlaces {
    pub(super) bounds: Bounds,
    open: Mutex<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    /// A counter of events, which orders them without a clock.
    last: u64,
    /// In order of arrival.
    connections: BTreeMap<u64, OpenConnection>,
}

struct OpenConnection {
    holder: Option<TokenHolder>,
    /// The event since which it has been idle; none while a request is under way.
    idle: Option<u64>,
    signals: Arc<ConnectionSignals>,
}

/// Signals between a connection and its place.
#[derive(Default)]
pub(super) struct ConnectionSignals {
    /// Another connection took the place.
    pub(super) ended: Notify,
    /// Part of an answer waits for the client to take it.
    pub(super) is_unsent: AtomicBool,
}

impl OpenConnection {
    fn is_known(&self) -> bool {
        self.holder.is_some()
    }

    fn is_of_agent(&self) -> bool {
        matches!(self.holder, Some(TokenHolder::Agent(..)))
    }

    fn is_of_tree(&self, root: &AgentId) -> bool {
        matches!(&self.holder, Some(TokenHolder::Agent(_, of)) if of == root)
    }
}

impl OpenConnections {
    fn tick(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn count_where(&self, of: impl Fn(&OpenConnection) -> bool) -> usize {
        self.connections.values().filter(|it| of(it)).count()
    }

    fn longest_idle(&self, of: impl Fn(&OpenConnection) -> bool) -> Option<u64> {
        let since = |it: &OpenConnection| {
            it.idle
                .filter(|_| !it.signals.is_unsent.load(Ordering::Relaxed))
        };
        let idle = self.connections.iter().filter(|(_, it)| of(it));
        let idle = idle.filter_map(|(id, it)| Some((since(it)?, *id)));
        idle.min().map(|(_, id)| id)
    }

    fn close_connection(&mut self, id: u64) {
        if let Some(ended) = self.connections.remove(&id) {
            ended.signals.ended.notify_one();
        }
    }

    /// Whether there is room for one more connection with this token. May close an idle one to make
    /// room.
    fn make_room_for_holder(&mut self, holder: &TokenHolder, bounds: &Bounds) -> bool {
        let TokenHolder::Agent(_, root) = holder else {
            return self.make_room(
                OpenConnection::is_known,
                bounds.known,
                OpenConnection::is_known,
            );
        };
        let is_own = |it: &OpenConnection| it.holder.as_ref() == Some(holder);
        let is_of_tree = |it: &OpenConnection| it.is_of_tree(root);
        let common = bounds.known.saturating_sub(bounds.kept);
        self.make_room(is_own, bounds.each, is_own)
            && self.make_room(is_of_tree, bounds.tree, is_of_tree)
            && self.make_room(
                OpenConnection::is_known,
                common,
                OpenConnection::is_of_agent,
            )
    }

    /// Whether fewer than `most` connections are `counted`, or an idle one that `gives` way has
    /// been closed.
    fn make_room(
        &mut self,
        counted: impl Fn(&OpenConnection) -> bool,
        most: usize,
        gives: impl Fn(&OpenConnection) -> bool,
    ) -> bool {
        if self.count_where(counted) < most {
            return true;
        }
        let idle = self.longest_idle(gives);
        idle.inspect(|id| self.close_connection(*id)).is_some()
    }

    /// Makes room for one more stranger. If all are busy, the oldest is closed: a slow reader
    /// counts as busy too.
    fn make_room_for_a_stranger(&mut self, most: usize) {
        let is_stranger = |it: &OpenConnection| !it.is_known();
        if self.count_where(is_stranger) < most {
            return;
        }
        let oldest = || {
            let mut all = self.connections.iter();
            all.find(|(_, it)| is_stranger(it)).map(|(id, _)| *id)
        };
        if let Some(id) = self.longest_idle(is_stranger).or_else(oldest) {
            self.close_connection(id);
        }
    }
}

impl ConnectionPlaces {
    pub(super) fn new(bounds: Bounds) -> Arc<Self> {
        let open = Mutex::default();
        Arc::new(Self { bounds, open })
    }

    fn lock_connections(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock()
    }

    /// Returns a place for a new connection.
    pub(super) fn admit(self: &Arc<Self>) -> Arc<ConnectionPlace> {
        let mut open = self.lock_connections();
        open.make_room_for_a_stranger(self.bounds.strangers);
        let id = open.tick();
        let signals = Arc::<ConnectionSignals>::default();
        let connection = OpenConnection {
            holder: None,
            idle: Some(id),
            signals: Arc::clone(&signals),
        };
        open.connections.insert(id, connection);
        Arc::new(ConnectionPlace {
            id,
            signals,
            places: Arc::clone(self),
            proven: Mutex::default(),
        })
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock_connections().count_where(|_| true)
    }

    /// Counts the connections that agents hold.
    #[cfg(test)]
    pub(super) fn count_of_agents(&self) -> usize {
        self.lock_connections()
            .count_where(OpenConnection::is_of_agent)
    }
}

/// An agent that a token proved.
#[derive(Clone)]
pub(super) struct ProvenAgent {
    pub(super) digest: Digest,
    pub(super) handle: AgentId,
    /// The root of its tree.
    pub(super) root: AgentId,
}

/// One connection's place, given back on drop.
pub(super) struct ConnectionPlace {
    id: u64,
    pub(super) signals: Arc<ConnectionSignals>,
    pub(super) places: Arc<ConnectionPlaces>,
    /// The agent that was proved on this connection last.
    proven: Mutex<Option<ProvenAgent>>,
}

impl ConnectionPlace {
    /// Gives the place to the holder of a token that was shown here. Returns false if there is no
    /// room.
    pub(super) fn assign_to(&self, holder: TokenHolder) -> bool {
        let mut open = self.places.lock_connections();
        match open.connections.get(&self.id) {
            // Another connection took the place meanwhile.
            None => return false,
            Some(own) if own.holder.as_ref() == Some(&holder) => return true,
            Some(_) => {}
        }
        let has_room = open.make_room_for_holder(&holder, &self.places.bounds);
        if let Some(own) = open.connections.get_mut(&self.id).filter(|_| has_room) {
            own.holder = Some(holder);
        }
        has_room
    }

    /// Returns the agent that a token with this digest has proved on this connection.
    pub(super) fn proven_agent(&self, digest: &Digest) -> Option<ProvenAgent> {
        let proven = self.proven.lock();
        proven
            .as_ref()
            .filter(|it| it.digest.ct_eq(digest).into())
            .cloned()
    }

    pub(super) fn remember_proven(&self, agent: ProvenAgent) {
        *self.proven.lock() = Some(agent);
    }

    fn set_idle(&self, is_idle: bool) {
        let mut open = self.places.lock_connections();
        let now = open.tick();
        if let Some(own) = open.connections.get_mut(&self.id) {
            own.idle = is_idle.then_some(now);
        }
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.places.lock_connections().connections.remove(&self.id);
    }
}

/// Marks a request as under way on a connection until its answer is handed out.
pub(super) struct UnderWay(Arc<ConnectionPlace>);

impl UnderWay {
    pub(super) fn start_request(place: &Arc<ConnectionPlace>) -> Self {
        place.set_idle(false);
        Self(Arc::clone(place))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.set_idle(true);
    }
}
