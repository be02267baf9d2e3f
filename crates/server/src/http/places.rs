//! Places for connections. One that has shown no token is a stranger's: those are few, and make room for each
//! other. A token that is shown takes a place among the known: few for one agent, and the last ones for the user
//! alone. Whoever finds no room takes the place of the one that has been idle for longest, so that neither
//! silence nor a crowd keeps anybody out.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use engram_model::AgentId;
use subtle::ConstantTimeEq;
use tokio::sync::Notify;

use super::connections::Bounds;
use crate::lock;

/// The digest of a token.
pub(super) type Digest = [u8; 32];

/// Whose token a connection showed last.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    User,
    Agent(Digest),
}

/// Every connection that is open.
pub(super) struct Places {
    pub(super) bounds: Bounds,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// Counts what happens: the order of things, without a clock.
    last: u64,
    /// In the order in which they came.
    connections: BTreeMap<u64, Connection>,
}

struct Connection {
    holder: Option<Holder>,
    /// Since when it has been idle; none while a request is under way.
    idle: Option<u64>,
    line: Arc<Line>,
}

/// What a connection and its place tell each other.
#[derive(Default)]
pub(super) struct Line {
    /// Another took the place.
    pub(super) ended: Notify,
    /// Something of an answer waits for the client to take it.
    pub(super) is_unsent: AtomicBool,
}

impl Connection {
    fn is_known(&self) -> bool {
        self.holder.is_some()
    }

    fn is_of_agent(&self) -> bool {
        matches!(self.holder, Some(Holder::Agent(_)))
    }
}

impl Open {
    fn tick(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn count(&self, of: impl Fn(&Connection) -> bool) -> usize {
        self.connections.values().filter(|it| of(it)).count()
    }

    fn longest_idle(&self, of: impl Fn(&Connection) -> bool) -> Option<u64> {
        let since = |it: &Connection| {
            it.idle
                .filter(|_| !it.line.is_unsent.load(Ordering::Relaxed))
        };
        let idle = self.connections.iter().filter(|(_, it)| of(it));
        let idle = idle.filter_map(|(id, it)| Some((since(it)?, *id)));
        idle.min().map(|(_, id)| id)
    }

    fn end(&mut self, id: u64) {
        if let Some(ended) = self.connections.remove(&id) {
            ended.line.ended.notify_one();
        }
    }

    /// Whether there is room for one more that shows this token.
    fn has_room(&mut self, holder: Holder, bounds: &Bounds) -> bool {
        if holder == Holder::User {
            return self.makes_room(Connection::is_known, bounds.known, Connection::is_known);
        }
        let is_own = |it: &Connection| it.holder == Some(holder);
        let common = bounds.known.saturating_sub(bounds.kept);
        self.makes_room(is_own, bounds.each, is_own)
            && self.makes_room(Connection::is_known, common, Connection::is_of_agent)
    }

    /// Whether fewer than `most` are `counted`, or one that `gives` way was idle.
    fn makes_room(
        &mut self,
        counted: impl Fn(&Connection) -> bool,
        most: usize,
        gives: impl Fn(&Connection) -> bool,
    ) -> bool {
        if self.count(counted) < most {
            return true;
        }
        let idle = self.longest_idle(gives);
        idle.inspect(|id| self.end(*id)).is_some()
    }

    /// Makes room for one more stranger. Where all are busy the oldest goes: who reads slowly is busy too.
    fn make_room_for_a_stranger(&mut self, most: usize) {
        let is_stranger = |it: &Connection| !it.is_known();
        if self.count(is_stranger) < most {
            return;
        }
        let oldest = || {
            let mut all = self.connections.iter();
            all.find(|(_, it)| is_stranger(it)).map(|(id, _)| *id)
        };
        if let Some(id) = self.longest_idle(is_stranger).or_else(oldest) {
            self.end(id);
        }
    }
}

impl Places {
    pub(super) fn new(bounds: Bounds) -> Arc<Self> {
        let open = Mutex::default();
        Arc::new(Self { bounds, open })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        lock(&self.open)
    }

    /// A place for whoever connects.
    pub(super) fn admit(self: &Arc<Self>) -> Arc<Place> {
        let mut open = self.open();
        open.make_room_for_a_stranger(self.bounds.strangers);
        let id = open.tick();
        let line = Arc::<Line>::default();
        let connection = Connection {
            holder: None,
            idle: Some(id),
            line: Arc::clone(&line),
        };
        open.connections.insert(id, connection);
        Arc::new(Place {
            id,
            line,
            places: Arc::clone(self),
            proven: Mutex::default(),
        })
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.open().count(|_| true)
    }

    /// Connections that agents hold.
    #[cfg(test)]
    pub(super) fn of_agents(&self) -> usize {
        self.open().count(Connection::is_of_agent)
    }
}

/// One connection's place, given back when it is dropped.
pub(super) struct Place {
    id: u64,
    pub(super) line: Arc<Line>,
    pub(super) places: Arc<Places>,
    /// The agent that was proven here last, with the digest of its token.
    proven: Mutex<Option<(Digest, AgentId)>>,
}

impl Place {
    /// A token was shown here: the place is its holder's from now on. False where there is no room.
    pub(super) fn keep(&self, holder: Holder) -> bool {
        let mut open = self.places.open();
        match open.connections.get(&self.id) {
            // Another took the place meanwhile.
            None => return false,
            Some(own) if own.holder == Some(holder) => return true,
            Some(_) => {}
        }
        let has_room = open.has_room(holder, &self.places.bounds);
        if let Some(own) = open.connections.get_mut(&self.id).filter(|_| has_room) {
            own.holder = Some(holder);
        }
        has_room
    }

    /// The agent that a token of this digest proved here.
    pub(super) fn proven(&self, digest: &Digest) -> Option<AgentId> {
        let proven = lock(&self.proven);
        let (_, agent) = proven.as_ref().filter(|it| it.0.ct_eq(digest).into())?;
        Some(agent.clone())
    }

    pub(super) fn prove(&self, digest: Digest, agent: AgentId) {
        *lock(&self.proven) = Some((digest, agent));
    }

    fn set_idle(&self, is_idle: bool) {
        let mut open = self.places.open();
        let now = open.tick();
        if let Some(own) = open.connections.get_mut(&self.id) {
            own.idle = is_idle.then_some(now);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.open().connections.remove(&self.id);
    }
}

/// A request under way on a connection, until its answer was given out.
pub(super) struct UnderWay(Arc<Place>);

impl UnderWay {
    pub(super) fn on(place: &Arc<Place>) -> Self {
        place.set_idle(false);
        Self(Arc::clone(place))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.set_idle(true);
    }
}
