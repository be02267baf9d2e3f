//! A budget also limits what all descendants of an agent read in its turn, whichever turns they are
//! in.

use engram_engine::Treatment;
use engram_model::{AgentId, Caller, Code, Draft, NextTurn, PointerInput, Sending, ask};
use serde_json::json;

use crate::fixture::{
    Asked, POINTER, Sandbox, USER,
    agents::{agent_named, grant_wanted, issue_grant, open_agent},
    draft, refused,
};

const ARTIFACT: &str = "artifact:README.md#sec=Rules@HEAD";
const SAM: &str = "sam:decision:one@2026-01-08";

/// Opens `ada` and `bob` below `lead`, and `eve` below `ada`. Each may read one pointer of a kind
/// per turn, because `lead` may.
fn open_team() -> (Sandbox, Asked) {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    engine.note(&USER, "one", "We use one.");
    open_agent(&engine, &USER, "lead", None).unwrap();
    for (parent, child) in [("lead", "ada"), ("lead", "bob"), ("ada", "eve")] {
        open_agent(&engine, &agent_named(parent), child, None).unwrap();
    }
    let one = json!({ "max_repo_spans": 1, "max_artifact_sections": 1, "max_sam_items": 1 });
    let message = json!({
        "role": "programmer", "shared_brief_micro": ["Ship."], "budgets": one,
        "instructions": ["Read little."],
    });
    let to = Some(AgentId("lead".to_owned()));
    let sending = Sending { message, to };
    engine.0.ask(&USER, ask::Send(sending)).unwrap();
    (sandbox, engine)
}

fn begin_turn(engine: &Asked, who: &Caller, child: &str, turn: Option<&str>) {
    let next = NextTurn {
        agent: AgentId(child.to_owned()),
        turn: turn.map(str::to_owned),
    };
    engine.0.ask(who, ask::NextTurn(next)).unwrap();
}

/// How many of a child's reads succeed if each is in a new turn.
fn read_anew(engine: &Asked, who: &Caller, child: &str, pointer: &str, times: usize) -> usize {
    let reads = |_: &usize| {
        begin_turn(engine, who, child, None);
        engine.deref(&agent_named(child), pointer).is_ok()
    };
    (0..times).filter(reads).count()
}

#[track_caller]
fn assert_bound(engine: &Asked, child: &str, says: &str) {
    begin_turn(engine, &USER, child, None);
    let refusal = refused(
        engine.deref(&agent_named(child), POINTER),
        Code::DerefDenied,
    );
    assert!(refusal.message.contains(says), "{refusal}");
    assert!(refusal.hint.contains("the user"), "{refusal}");
    for name in ["lead", "bob", "eve"] {
        assert!(!refusal.to_string().contains(name), "{refusal}");
    }
    let figures = refusal.remedy.unwrap().figures;
    let spans = &figures["repo_spans"];
    assert_eq!((spans.used, spans.limit), (10, 10));
}

/// An agent that may read one span once read 120 through a child, whose turn it ended each time.
#[test]
fn an_agent_reads_through_a_child_ten_times_its_figures_at_most() {
    let (sandbox, engine) = open_team();
    let read: usize = (0..120)
        .map(|_| {
            // Slowly enough for the rates of beginning turns, without a pause that ends the
            // parent's own turn.
            sandbox.clock.turn(80);
            read_anew(&engine, &agent_named("lead"), "ada", POINTER, 1)
        })
        .sum();
    assert_eq!(read, 10);
    assert_bound(&engine, "ada", "your parent's turn");
    // Its own budget is separate.
    let own = engine.deref(&agent_named("lead"), POINTER).unwrap();
    assert_eq!(own.budget.unwrap().repo_spans.used, 1);
    let replay = Treatment {
        replay: true,
        reindex: false,
        rebuild: false,
    };
    assert!(engine.0.doctor(replay).unwrap().ok);
}

#[test]
fn each_kind_has_its_bound_and_so_have_tokens() {
    let (_sandbox, engine) = open_team();
    for pointer in [POINTER, ARTIFACT, SAM] {
        assert_eq!(
            read_anew(&engine, &USER, "ada", pointer, 11),
            10,
            "{pointer}"
        );
    }
    let (_sandbox, engine) = open_team();
    let message = json!({
        "role": "programmer", "instructions": ["Read less."], "budgets": { "max_repo_spans": 3, "max_tokens": 3 },
    });
    let to = Some(AgentId("lead".to_owned()));
    let sending = Sending { message, to };
    engine.0.ask(&USER, ask::Send(sending)).unwrap();
    let tokens = (0..10).map_while(|_| {
        begin_turn(&engine, &USER, "ada", None);
        let read = engine.deref(&agent_named("ada"), POINTER).ok()?;
        Some(read.tokens)
    });
    assert_eq!(tokens.sum::<u32>(), 30);
    begin_turn(&engine, &USER, "bob", None);
    let refusal = refused(
        engine.deref(&agent_named("bob"), POINTER),
        Code::DerefDenied,
    );
    assert!(refusal.message.contains("30 of 30"), "{refusal}");
}

/// A named attempt.
type Way = (&'static str, fn(&Sandbox, &Asked));

/// No action of a team's agents begins a new turn for the agent at its head.
#[test]
fn the_bound_is_that_of_a_turn_which_no_agent_begins_for_itself() {
    let ways: [Way; 8] = [
        ("a sibling", |_, engine| {
            assert_eq!(read_anew(engine, &USER, "bob", POINTER, 1), 0);
        }),
        ("a child's child", |_, engine| {
            assert_eq!(read_anew(engine, &agent_named("ada"), "eve", POINTER, 1), 0);
        }),
        ("another child", |_, engine| {
            open_agent(engine, &agent_named("lead"), "new", None).unwrap();
            refused(
                engine.deref(&agent_named("new"), POINTER),
                Code::DerefDenied,
            );
        }),
        ("another token", |_, engine| {
            open_agent(engine, &agent_named("lead"), "ada", None).unwrap();
        }),
        ("a turn by its old name", |_, engine| {
            for turn in ["a", "b", "a"] {
                begin_turn(engine, &agent_named("lead"), "ada", Some(turn));
            }
        }),
        ("another process", |sandbox, _| {
            let there = sandbox.open_at("repo", 7);
            there.status(&agent_named("lead")).unwrap();
            there.deref(&agent_named("lead"), POINTER).unwrap();
            assert_bound(&there, "ada", "your parent's turn");
        }),
        ("a turn of one's own", |_, engine| {
            for (who, code) in [("lead", Code::ScopeDenied), ("ada", Code::NotFound)] {
                let own = NextTurn {
                    agent: AgentId("lead".to_owned()),
                    turn: None,
                };
                let began = engine.0.ask(&agent_named(who), ask::NextTurn(own));
                refused(began, code);
            }
            refused(
                open_agent(engine, &agent_named("lead"), "lead", None),
                Code::ScopeDenied,
            );
        }),
        ("a grant of the parent", |_, engine| {
            issue_grant(engine, &agent_named("lead"), grant_wanted("ada", POINTER)).unwrap();
        }),
    ];
    for (way, tries) in ways {
        println!("{way}");
        let (sandbox, engine) = open_team();
        assert_eq!(read_anew(&engine, &USER, "ada", POINTER, 11), 10);
        tries(&sandbox, &engine);
        assert_bound(&engine, "ada", "your parent's turn");
    }
}

/// A turn that its parent or the user begins, and one after ten minutes of silence, like any other
/// turn.
#[test]
fn the_next_turn_of_the_parent_has_its_own_bound() {
    let (sandbox, engine) = open_team();
    assert_eq!(read_anew(&engine, &USER, "ada", POINTER, 11), 10);
    begin_turn(&engine, &USER, "lead", None);
    assert_eq!(read_anew(&engine, &USER, "ada", POINTER, 11), 10);
    sandbox.clock.turn(601);
    // It has not called since, so its turn is not over yet.
    assert_bound(&engine, "ada", "your parent's turn");
    engine.deref(&agent_named("lead"), POINTER).unwrap();
    assert_eq!(read_anew(&engine, &USER, "ada", POINTER, 11), 10);
}

#[test]
fn what_a_childs_child_reads_counts_for_all_above_it() {
    let (_sandbox, engine) = open_team();
    assert_eq!(
        read_anew(&engine, &agent_named("ada"), "eve", POINTER, 11),
        10
    );
    assert_bound(&engine, "eve", "your parent's turn");
    begin_turn(&engine, &agent_named("lead"), "ada", None);
    assert_bound(&engine, "eve", "an agent above your parent");
    assert_bound(&engine, "ada", "your parent's turn");
    assert_bound(&engine, "bob", "your parent's turn");
}

/// A user's grant is always honoured; an agent's grant counts against the agent's own figures.
#[test]
fn grants_of_agents_count_and_those_of_the_user_do_not() {
    let (_sandbox, engine) = open_team();
    assert_eq!(read_anew(&engine, &USER, "ada", POINTER, 8), 8);
    for (by, ok) in [
        (USER, true),
        (agent_named("lead"), true),
        (agent_named("lead"), true),
        (agent_named("lead"), false),
        (USER, true),
    ] {
        issue_grant(&engine, &by, grant_wanted("ada", POINTER)).unwrap();
        let read = engine.deref(&agent_named("ada"), POINTER);
        assert_eq!(read.is_ok(), ok, "{by:?}: {read:?}");
    }
}

/// An agent that may read nothing more gets no hints about what exists, even if its own turn has
/// budget left.
#[test]
fn who_is_bound_gets_no_suggestions() {
    let (_sandbox, engine) = open_team();
    let is_told = || {
        begin_turn(&engine, &USER, "ada", None);
        let claim = Draft {
            pointers: vec![PointerInput::Text(ARTIFACT.replace("Rules", "Nothing"))],
            ..draft("There are rules.")
        };
        refused(
            engine.put(&agent_named("ada"), claim),
            Code::PointerNotFound,
        )
        .hint
        .contains("Notes")
    };
    assert!(is_told());
    read_anew(&engine, &USER, "ada", ARTIFACT, 10);
    assert!(!is_told());
}

/// Children read at the same time, each in its own process; together they get no more than is left.
#[test]
fn what_is_left_cannot_be_read_twice_at_once() {
    let (sandbox, engine) = open_team();
    assert_eq!(read_anew(&engine, &USER, "ada", POINTER, 8), 8);
    let children = ["c1", "c2", "c3", "c4", "c5", "c6"];
    let processes = children.map(|child| {
        open_agent(&engine, &agent_named("lead"), child, None).unwrap();
        (
            child,
            sandbox.open_at("repo", 10 + child.as_bytes()[1] as u64),
        )
    });
    let read = std::thread::scope(|scope| {
        let threads = processes.each_ref().map(|(child, process)| {
            scope.spawn(|| process.deref(&agent_named(child), POINTER).is_ok())
        });
        threads
            .map(|it| usize::from(it.join().unwrap()))
            .iter()
            .sum::<usize>()
    });
    assert_eq!(read, 2);
    assert_bound(&engine, "ada", "your parent's turn");
}
