//! A slow judge: no write waits for it, and its findings are conflicts like any other.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use engram_consistency::tier::{Disagreement, Said};
use engram_engine::Judge;
use engram_model::{Gate, Severity, Tier};

use crate::fixture::{
    Asked, Sandbox, USER,
    conflicts::{count_due, open_conflicts},
    on_topic,
};

const LASTS: &str = "The wallet lock lasts 3 minutes.";
const AT_LEAST: &str = "The wallet lock lasts at least 2 minutes.";

/// How long to wait for what must happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reports a contradiction between a bound and a value, which the rules do not find. Each call
/// waits for permission.
struct Slow {
    go: Mutex<Receiver<()>>,
    asked: Sender<()>,
    calls: AtomicUsize,
}

impl Slow {
    fn judge(&self, one: &Said<'_>, two: &Said<'_>) -> Option<Disagreement> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let _ = self.asked.send(());
        let go = self.go.lock().unwrap();
        go.recv_timeout(PATIENCE).expect("a go");
        let is_bound = |said: &Said<'_>| said.claim.folded.contains("at least");
        (is_bound(one) != is_bound(two)).then(|| Disagreement {
            tier: Tier::Nli,
            severity: Severity::High,
            score: 0.9,
            why: "One is a value, the other a bound.".to_owned(),
            differs_a: Vec::new(),
            differs_b: Vec::new(),
        })
    }
}

fn open_judged_by(sandbox: &Sandbox, seed: u64, slow: &Arc<Slow>) -> Asked {
    let slow = Arc::clone(slow);
    let judge: Judge = Arc::new(move |one, two| slow.judge(one, two));
    sandbox.open_in("repo", sandbox.world(seed).judged_by(judge))
}

#[test]
fn nobody_waits_for_a_judge_that_takes_its_time() {
    let sandbox = Sandbox::new();
    let ((sender, go), (tell, asked)) = (channel(), channel());
    let slow = Arc::new(Slow {
        go: Mutex::new(go),
        asked: tell,
        calls: AtomicUsize::new(0),
    });
    let at = open_judged_by(&sandbox, 1, &slow);
    let old = at.put(&at.agent("ada"), on_topic("wallet", LASTS)).unwrap();
    let new = at.put(&USER, on_topic("wallet", AT_LEAST)).unwrap();
    assert_eq!((new.conflicts, new.due), (0, 1), "not judged yet");
    assert_eq!(
        at.gate(Severity::High).gate,
        Gate::Shut,
        "until it is judged"
    );
    // The process ends before anything is judged, and another continues.
    drop(at);
    let at = open_judged_by(&sandbox, 2, &slow);
    let behind = std::thread::spawn({
        let engine = Arc::clone(&at.0);
        move || engine.leave_in_order()
    });
    asked.recv_timeout(PATIENCE).expect("the judge is asked");
    // While it judges, others write and get replies.
    let eve = at.agent("eve");
    at.put(&eve, on_topic("gateway", "The retry limit is 3."))
        .unwrap();
    assert!(open_conflicts(&at).is_empty());
    for _ in 0..8 {
        sender.send(()).unwrap();
    }
    behind.join().unwrap().unwrap();
    at.0.leave_in_order().unwrap();
    let found = open_conflicts(&at);
    let sides: Vec<_> = found.iter().map(|it| [it.a.id, it.b.id]).collect();
    assert_eq!(sides, [[old.id, new.id]], "{found:?}");
    assert_eq!(found[0].tier, Tier::Nli);
    assert_eq!(count_due(&at, &USER), 0);
    // Each pair is judged once: none of the eight is judged again.
    let judged = slow.calls.load(Ordering::SeqCst);
    at.0.leave_in_order().unwrap();
    assert_eq!(slow.calls.load(Ordering::SeqCst), judged);
    assert!(judged <= 2, "{judged} calls");
}
