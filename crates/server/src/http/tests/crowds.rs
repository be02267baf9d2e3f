//! One agent's crowd of connections and requests keeps out only that agent.

use std::{
    sync::mpsc::{self, Receiver},
    time::Duration,
};

use engram_engine::World;
use engram_kit::Clock;
use parking_lot::Mutex;

use super::{
    bounds::{patient, reading_nothing},
    *,
};
use crate::permits::EACH;

const BUDGET: &str = "GET /budget HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer AGENT\r\n\r\n";
/// A request that stays under way until the last byte of its body arrives.
const HALF: &str = "POST /engram HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer AGENT\r\n\
                    content-type: application/json\r\ncontent-length: 2\r\n\r\n{";
const TOOLS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
const STATUS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"engram_status","arguments":{}}}"#;

impl Served {
    async fn crowded(bounds: Bounds, agents: &[&str]) -> (Self, Vec<String>) {
        let served = Self::within(bounds).await;
        let mut tokens = Vec::new();
        for name in agents {
            tokens.push(served.opened(name).await);
        }
        served.until_open(0).await;
        (served, tokens)
    }

    /// Opens an agent; returns its token.
    async fn opened(&self, name: &str) -> String {
        self.opened_below(None, name).await
    }

    async fn opened_below(&self, parent: Option<&str>, name: &str) -> String {
        let opening = json!({ "name": name, "parent": parent });
        bus::token(&self.post("/agent", opening).await.1)
    }

    async fn say_as(&self, agent: &str, text: &str) -> TcpStream {
        self.say(&text.replace("AGENT", agent)).await
    }

    /// Sends a request that stays under way and takes a place.
    async fn busy(&self, agent: &str) -> TcpStream {
        let before = self.places.count_of_agents();
        let stream = self.say_as(agent, HALF).await;
        until("no agent connects", || {
            self.places.count_of_agents() != before
        })
        .await;
        stream
    }

    /// Returns the statuses that the user's page and the user's command get.
    async fn of_user(&self) -> [u16; 2] {
        let page = self.post("/api/read", json!({ "do": "status" })).await.0;
        let user = BUDGET.replace("AGENT", "TOKEN");
        [page, status(&mut self.say(&user).await).await]
    }

    async fn until_taken(&self, permits: usize) {
        until("other permits are taken", || {
            self.permits.count_held() == permits
        })
        .await;
    }
}

/// Reads the status of the next answer and leaves the rest unread.
async fn status(stream: &mut TcpStream) -> u16 {
    let mut line = [0; 12];
    stream.read_exact(&mut line).await.unwrap();
    std::str::from_utf8(&line[9..]).unwrap().parse().unwrap()
}

/// Returns an agent's request with its body.
fn whole(to: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{to} HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer AGENT\r\n{JSON}\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

async fn budget(served: &Served, agent: &str) -> u16 {
    status(&mut served.say_as(agent, BUDGET).await).await
}

#[tokio::test]
async fn three_hundred_idle_connections_of_an_agent_make_room() {
    let (served, tokens) = Served::crowded(patient(), &["ada", "bob"]).await;
    let mut crowd = Vec::new();
    for _ in 0..300 {
        let mut stream = served.say_as(&tokens[0], BUDGET).await;
        assert_eq!(status(&mut stream).await, 200);
        crowd.push(stream);
    }
    assert_eq!(served.places.count_of_agents(), 16);
    assert_eq!(served.of_user().await, [200, 200]);
    assert_eq!(budget(&served, &tokens[1]).await, 200);
    assert_eq!(budget(&served, &tokens[0]).await, 200);
    // The server closed the oldest of them.
    for stream in &mut crowd[..284] {
        answer(stream).await;
    }
}

#[tokio::test]
async fn three_hundred_busy_connections_of_an_agent_keep_out_it_alone() {
    let (served, tokens) = Served::crowded(patient(), &["ada", "bob"]).await;
    let mut crowd = Vec::new();
    for _ in 0..16 {
        crowd.push(served.busy(&tokens[0]).await);
    }
    for _ in 16..300 {
        let (code, head, body) = answer(&mut served.say_as(&tokens[0], HALF).await).await;
        assert_eq!(code, 503, "{body}");
        assert!(body.contains("RATE_LIMITED") && head.contains("connection: close"));
    }
    assert_eq!(served.of_user().await, [200, 200]);
    assert_eq!(budget(&served, &tokens[1]).await, 200);
    assert_eq!(budget(&served, &tokens[0]).await, 503);
    // A connection that closes leaves room.
    drop(crowd);
    while budget(&served, &tokens[0]).await != 200 {}
}

#[tokio::test]
async fn the_last_places_are_the_users_and_idle_ones_make_room() {
    let bounds = Bounds {
        known: 6,
        each: 2,
        kept: 2,
        ..patient()
    };
    let (served, tokens) = Served::crowded(bounds, &["ada", "bob", "eve"]).await;
    let mut crowd = Vec::new();
    for agent in [0, 0, 1, 1] {
        crowd.push(served.busy(&tokens[agent]).await);
    }
    assert_eq!(budget(&served, &tokens[2]).await, 503);
    served.post("/api/change", note("Hello.")).await;
    // An event stream is a request that does not end.
    let follow = "GET /api/subscribe?after=0&token=TOKEN HTTP/1.1\r\nhost: HOST";
    let mut streams = Vec::new();
    for _ in 0..2 {
        let mut stream = served.connect(follow, b"").await;
        events::event(&mut stream).await;
        streams.push(stream);
    }
    assert_eq!(served.of_user().await, [503, 503]);
    // One of the agent's requests is answered, so its connection is idle: another takes its place.
    crowd[0].write_all(b"}").await.unwrap();
    assert_eq!(status(&mut crowd[0]).await, 400);
    assert_eq!(budget(&served, &tokens[2]).await, 200);
    answer(&mut crowd[0]).await;
    assert_eq!(served.of_user().await, [200, 200]);
}

/// While other connections are idle, even a connection without a token is not cut off: neither
/// while its answer is read from a file, nor while all of it waits to be sent.
#[tokio::test]
async fn nobody_is_cut_off_in_the_middle_of_an_answer() {
    const LONG: usize = 64 * 1024 * 1024;
    let folder = tempfile::tempdir().unwrap();
    let page = std::fs::File::create(folder.path().join("index.html")).unwrap();
    page.set_len(LONG as u64).unwrap();
    let built: &[u8] = vec![0; LONG].leak();
    let built = Pages::Built(vec![("index.html", built)].leak());
    for pages in [Pages::Folder(folder.path().to_owned()), built] {
        let bounds = Bounds {
            strangers: 2,
            ..patient()
        };
        let home = tempfile::tempdir().unwrap();
        let served = Served::over(engine(home.path()), pages, bounds, home).await;
        let last = "GET / HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n";
        let mut slow = reading_nothing(&served, last).await;
        assert_eq!(status(&mut slow).await, 200);
        let mut crowd = Vec::new();
        for _ in 0..8 {
            crowd.push(served.say("").await);
        }
        for stream in &mut crowd[..6] {
            answer(stream).await;
        }
        let mut rest = Vec::new();
        slow.read_to_end(&mut rest).await.unwrap();
        assert!(rest.len() > LONG, "{}", rest.len());
    }
}

/// An agent and all agents below it have few places together: their connections, idle or busy,
/// leave room for others.
#[tokio::test]
async fn the_connections_of_a_tree_leave_room_for_another() {
    let bounds = Bounds {
        known: 8,
        each: 2,
        tree: 4,
        kept: 2,
        ..patient()
    };
    let (served, mut tokens) = Served::crowded(bounds, &["lead", "bob"]).await;
    for (parent, name) in [("lead", "ada"), ("ada", "kid")] {
        tokens.push(served.opened_below(Some(parent), name).await);
    }
    served.until_open(0).await;
    let mut crowd = Vec::new();
    for agent in [0, 0, 2, 2] {
        crowd.push(served.busy(&tokens[agent]).await);
    }
    assert_eq!(budget(&served, &tokens[3]).await, 503);
    assert_eq!(budget(&served, &tokens[1]).await, 200);
    assert_eq!(served.of_user().await, [200, 200]);
    // An idle connection of the tree makes room, whichever agent of the tree holds it.
    crowd[0].write_all(b"}").await.unwrap();
    assert_eq!(status(&mut crowd[0]).await, 400);
    assert_eq!(budget(&served, &tokens[3]).await, 200);
    answer(&mut crowd[0]).await;
}

/// A client that has sent half a request holds no permit.
#[tokio::test]
async fn half_sent_bodies_of_a_tree_keep_nobody_waiting() {
    let bounds = Bounds {
        permit_wait: Duration::ZERO,
        ..patient()
    };
    let (served, mut tokens) = Served::crowded(bounds, &["lead", "bob"]).await;
    for name in ["ada", "eve"] {
        tokens.push(served.opened_below(Some("lead"), name).await);
    }
    served.until_open(0).await;
    let mut crowd = Vec::new();
    for agent in [0, 2, 3].repeat(EACH) {
        crowd.push(served.busy(&tokens[agent]).await);
    }
    assert_eq!(served.permits.count_held(), 0);
    let brief = BUDGET.replace("/budget", "/brief");
    for agent in &tokens {
        assert_eq!(status(&mut served.say_as(agent, &brief).await).await, 200);
    }
    // The rest of a body that comes late is read.
    crowd[0].write_all(b"}").await.unwrap();
    assert_eq!(status(&mut crowd[0]).await, 400);
}

/// A home whose lock somebody holds: whatever writes is under way until it is free.
struct Locked {
    served: Served,
    writing: std::fs::File,
}

impl Locked {
    async fn new(bounds: Bounds) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("home/write.lock");
        let engine = engine(folder.path());
        let served = Served::over(engine, Pages::Built(BUILT), bounds, folder).await;
        // The first write makes the file.
        served.opened("first").await;
        let writing = std::fs::File::open(lock).unwrap();
        Self { served, writing }
    }

    /// Sends requests of an agent that write, and waits until each holds a permit.
    async fn writes(&self, agent: &str, count: usize) -> Vec<TcpStream> {
        let before = self.served.permits.count_held();
        let mut busy = Vec::new();
        for at in 1..=count {
            let name = format!("child {before} {at}");
            let opens = whole("POST /agent", &json!({ "name": name }).to_string());
            busy.push(self.served.say_as(agent, &opens).await);
            self.served.until_taken(before + at).await;
        }
        busy
    }
}

/// The requests of an agent and of all agents below it leave a permit for others.
#[tokio::test]
async fn the_requests_of_a_tree_leave_a_permit_for_another() {
    let bounds = Bounds {
        permit_wait: Duration::ZERO,
        ..patient()
    };
    let locked = Locked::new(bounds).await;
    let served = &locked.served;
    let lead = served.opened("lead").await;
    let mut below = Vec::new();
    for (parent, name) in [("lead", "ada"), ("ada", "kid")] {
        below.push(served.opened_below(Some(parent), name).await);
    }
    let bob = served.opened("bob").await;
    locked.writing.lock().unwrap();
    let mut busy = locked.writes(&lead, EACH).await;
    busy.extend(locked.writes(&below[0], EACH).await);
    assert_eq!(budget(served, &below[1]).await, 429);
    assert_eq!(budget(served, &bob).await, 200);
    locked.writing.unlock().unwrap();
    for stream in &mut busy {
        assert_eq!(status(stream).await, 200);
    }
    served.until_taken(0).await;
    assert_eq!(budget(served, &below[1]).await, 200);
}

#[tokio::test]
async fn a_third_request_of_an_agent_waits_its_turn_and_not_for_ever() {
    for third in [whole("GET /budget", ""), whole("POST /mcp", TOOLS)] {
        for (permit_wait, expected) in [(Duration::ZERO, 429), (patient().permit_wait, 200)] {
            let bounds = Bounds {
                permit_wait,
                ..patient()
            };
            let locked = Locked::new(bounds).await;
            let served = &locked.served;
            let tokens = [served.opened("ada").await, served.opened("bob").await];
            served.until_open(0).await;
            locked.writing.lock().unwrap();
            let _busy = locked.writes(&tokens[0], EACH).await;
            let before = served.places.count_of_agents();
            let mut third = served.say_as(&tokens[0], &third).await;
            let is_in = || expected != 200 || served.places.count_of_agents() != before;
            until("no third connection", is_in).await;
            assert_eq!(budget(served, &tokens[1]).await, 200);
            assert_eq!(served.of_user().await, [200, 200]);
            served.until_taken(EACH).await;
            if expected == 200 {
                locked.writing.unlock().unwrap();
            }
            assert_eq!(status(&mut third).await, expected);
        }
    }
}

/// An agent that leaves and asks again starts no more work than its permits allow.
#[tokio::test]
async fn a_turn_lasts_as_long_as_the_work_that_was_begun() {
    let locked = Locked::new(patient()).await;
    let served = &locked.served;
    let ada = served.opened("ada").await;
    served.until_open(0).await;
    locked.writing.lock().unwrap();
    let left = locked.writes(&ada, 1).await;
    drop(left);
    served.until_open(0).await;
    assert_eq!(served.permits.count_held(), 1);
    locked.writing.unlock().unwrap();
    served.until_taken(0).await;
}

/// The server of this test has one thread.
#[tokio::test]
async fn a_tool_that_takes_long_holds_up_no_other_connection() {
    let folder = tempfile::tempdir().unwrap();
    let (clock, gate) = (
        Clock::default(),
        Arc::<Mutex<Option<Receiver<()>>>>::default(),
    );
    let shut = Arc::clone(&gate);
    let look = move || {
        let held = shut.lock().take();
        // The time limit only ends a test that fails.
        let _ = held.map(|it| it.recv_timeout(Duration::from_secs(60)));
        clock.now()
    };
    let options = Options {
        home: folder.path().join("home"),
        repo: None,
        from: folder.path().to_owned(),
    };
    let engine = Engine::open_in(options, World::seeded(1, look)).unwrap();
    let served = Served::over(engine, Pages::Built(BUILT), patient(), folder).await;
    let ada = served.opened("ada").await;
    let (go_on, held) = mpsc::channel();
    *gate.lock() = Some(held);
    let mut late = served.say_as(&ada, &whole("POST /mcp", STATUS)).await;
    until("nobody took the gate", || gate.lock().is_none()).await;
    assert_eq!(served.of_user().await, [200, 200]);
    go_on.send(()).unwrap();
    assert_eq!(status(&mut late).await, 200);
}
