//! Grants to read beyond the budget: issuing, using, revoking, and expiry.

use engram_model::{
    AgentId, Caller, Code, Deref, Dereferenced, GrantIssued, GrantState, GrantWanted, PointerInput,
    Refusal, ask,
};

use crate::{
    fixture::{Asked, Ground, POINTER, git, make_repository, refused},
    handles::{called, is_kept, open},
};

pub(crate) const USER: Caller = Caller::User;

pub(crate) const MINUTE: i64 = 60;

/// A parent with two children, one of them with a spent budget of spans.
pub(crate) fn family() -> (Ground, Asked) {
    let ground = Ground::new();
    let engine = ground.open();
    for (name, parent) in [("lead", None), ("ada", Some("lead")), ("bob", Some("lead"))] {
        open(&engine, &USER, name, parent).unwrap();
    }
    for _ in 0..3 {
        engine.deref(&called("ada"), POINTER).unwrap();
    }
    refused(engine.deref(&called("ada"), POINTER), Code::DerefDenied);
    (ground, engine)
}

pub(crate) fn wanted(to: &str, pointer: &str) -> GrantWanted {
    GrantWanted {
        to: AgentId(to.to_owned()),
        pointer: Some(PointerInput::Text(pointer.to_owned())),
        cap_tokens: None,
        code_chars: None,
        ttl: None,
        by: None,
    }
}

pub(crate) fn grant(
    engine: &Asked,
    who: &Caller,
    wanted: GrantWanted,
) -> Result<GrantIssued, Refusal> {
    engine.0.ask(who, ask::IssueGrant(wanted))
}

pub(crate) fn read(
    engine: &Asked,
    who: &str,
    pointer: &str,
    token: Option<&str>,
) -> Result<Dereferenced, Refusal> {
    let deref = Deref {
        pointer: PointerInput::Text(pointer.to_owned()),
        max_tokens: None,
        turn: None,
        budget_token: token.map(str::to_owned),
    };
    engine.0.ask(&called(who), ask::Deref(deref)).map(|it| *it)
}

fn states(engine: &Asked) -> Vec<GrantState> {
    let grants = engine.0.ask(&USER, ask::Grants).unwrap().grants;
    grants.into_iter().map(|it| it.state).collect()
}

#[test]
fn a_grant_is_for_one_agent_and_one_pointer_and_is_spent_once() {
    let (ground, engine) = family();
    let given = grant(&engine, &called("lead"), wanted("ada", POINTER)).unwrap();
    let commit = crate::fixture::head(&ground.path("repo"));
    let pointer = format!("repo:src/lib.rs#L2@{commit}");
    assert_eq!(given.pointer.as_deref(), Some(pointer.as_str()));
    assert_eq!(
        (given.cap_tokens, given.by),
        (Some(500), Some(AgentId("lead".to_owned())))
    );
    let token = given.budget_token.0.as_str();
    assert!(!is_kept(&ground, token), "only its digest is kept");
    // A named token must match: another agent, another pointer, or a forged token is refused.
    for (who, pointer, token) in [
        ("bob", POINTER, token),
        ("ada", "repo:src/lib.rs#L3@HEAD", token),
        ("ada", "repo:src/gone.rs#L3@HEAD", token),
        ("ada", POINTER, ""),
        ("ada", POINTER, given.id.as_str()),
        ("bob", POINTER, &"0".repeat(64)),
    ] {
        refused(read(&engine, who, pointer, Some(token)), Code::DerefDenied);
    }
    assert_eq!(
        states(&engine),
        [GrantState::Open],
        "a refused read spends nothing"
    );
    let before = engine.status(&called("ada")).unwrap().budget;
    let shown = read(&engine, "ada", POINTER, Some(token)).unwrap();
    assert_eq!(
        (shown.grant.as_deref(), &shown.budget),
        (Some(given.id.as_str()), &before)
    );
    assert_eq!(states(&engine), [GrantState::Spent]);
    refused(
        read(&engine, "ada", POINTER, Some(token)),
        Code::DerefDenied,
    );
    // The user reads as the user; a grant does not change the caller.
    let deref = Deref {
        pointer: PointerInput::Text(POINTER.to_owned()),
        max_tokens: None,
        turn: None,
        budget_token: Some(token.to_owned()),
    };
    refused(engine.0.ask(&USER, ask::Deref(deref)), Code::DerefDenied);
}

/// Without a token, a grant is used only when the budget refuses; of two, the one that ends first.
#[test]
fn an_open_grant_serves_where_the_budget_refuses() {
    let (_ground, engine) = family();
    let late = GrantWanted {
        ttl: Some("PT1H".parse().unwrap()),
        ..wanted("ada", POINTER)
    };
    grant(&engine, &USER, late).unwrap();
    let soon = grant(&engine, &USER, wanted("ada", POINTER)).unwrap();
    let unused = grant(&engine, &USER, wanted("bob", POINTER)).unwrap();
    assert_eq!(
        read(&engine, "ada", POINTER, None).unwrap().grant,
        Some(soon.id)
    );
    let other = "repo:src/lib.rs#L7@HEAD";
    for pointer in [other, "repo:src/nowhere.rs#L1@HEAD"] {
        let refusal = refused(read(&engine, "ada", pointer, None), Code::DerefDenied);
        let figure = refusal.remedy.unwrap().figures["repo_spans"];
        assert_eq!(
            (figure.used, figure.limit),
            (3, 3),
            "nothing is told of {pointer}"
        );
    }
    assert_eq!(
        read(&engine, "bob", POINTER, None).unwrap().grant,
        None,
        "its budget pays"
    );
    assert!(read(&engine, "ada", POINTER, None).unwrap().grant.is_some());
    refused(read(&engine, "ada", POINTER, None), Code::DerefDenied);
    // A named grant is spent even if the budget would pay.
    let token = unused.budget_token.0;
    assert!(
        read(&engine, "bob", POINTER, Some(&token))
            .unwrap()
            .grant
            .is_some()
    );
    let spent = engine.status(&called("bob")).unwrap().budget.unwrap();
    assert_eq!(spent.repo_spans.used, 1);
}

/// A grant has its own cap, whatever is left of the budget.
#[test]
fn a_grant_is_cut_at_its_cap() {
    let (_ground, engine) = family();
    let whole = "repo:src/lib.rs@HEAD";
    let capped = GrantWanted {
        cap_tokens: Some(2_000),
        ..wanted("ada", whole)
    };
    refused(
        grant(&engine, &called("lead"), capped.clone()),
        Code::BudgetExceeded,
    );
    grant(&engine, &USER, capped).unwrap();
    let shown = read(&engine, "ada", whole, None).unwrap();
    assert!(
        shown.truncated && (1_900..=2_000).contains(&shown.tokens),
        "{}",
        shown.tokens
    );
}

#[test]
fn who_may_grant_what_to_whom() {
    let (ground, engine) = family();
    make_repository(&ground.path("other"));
    let there = ground.open_at("other", 2);
    open(&there, &USER, "stranger", None).unwrap();
    let by_lead = GrantWanted {
        by: Some(AgentId("lead".to_owned())),
        ..wanted("ada", POINTER)
    };
    let by_bob = GrantWanted {
        by: Some(AgentId("bob".to_owned())),
        ..wanted("ada", POINTER)
    };
    let long = GrantWanted {
        ttl: Some("P30D".parse().unwrap()),
        ..wanted("ada", POINTER)
    };
    let code = GrantWanted {
        pointer: None,
        code_chars: Some(300),
        ..wanted("ada", POINTER)
    };
    let both = GrantWanted {
        code_chars: Some(300),
        ..wanted("ada", POINTER)
    };
    let none = GrantWanted {
        pointer: None,
        ..wanted("ada", POINTER)
    };
    let lead = called("lead");
    for (who, wanted, code) in [
        (&USER, wanted("lead", POINTER), None),
        (&USER, by_lead.clone(), None),
        (&USER, by_bob, Some(Code::ScopeDenied)),
        (&USER, long.clone(), None),
        (&lead, long, Some(Code::BudgetExceeded)),
        (&lead, by_lead, None),
        (&lead, code, None),
        (&lead, both, Some(Code::SchemaInvalid)),
        (&lead, none, Some(Code::SchemaInvalid)),
        (&lead, wanted("lead", POINTER), Some(Code::ScopeDenied)),
        (
            &called("ada"),
            wanted("ada", POINTER),
            Some(Code::ScopeDenied),
        ),
        (
            &called("ada"),
            wanted("bob", POINTER),
            Some(Code::ScopeDenied),
        ),
        (
            &called("ada"),
            wanted("lead", POINTER),
            Some(Code::ScopeDenied),
        ),
        (&USER, wanted("ghost", POINTER), Some(Code::NotFound)),
        (&USER, wanted("stranger", POINTER), Some(Code::NotFound)),
        (
            &USER,
            wanted("ada", "repo:src/lib.rs#L2"),
            Some(Code::PointerUnpinned),
        ),
        (
            &USER,
            wanted("ada", "repo:src/gone.rs#L2@HEAD"),
            Some(Code::PointerNotFound),
        ),
        (
            &USER,
            wanted("ada", "repo:src/lib.rs#L9999@HEAD"),
            Some(Code::PointerNotFound),
        ),
        (&USER, wanted("ada", "nonsense"), Some(Code::PointerInvalid)),
    ] {
        let head = engine.status(&USER).unwrap().head;
        let given = grant(&engine, who, wanted.clone());
        assert_eq!(
            given.as_ref().err().map(|it| it.code),
            code,
            "{who:?} {wanted:?}"
        );
        if let Err(refusal) = given {
            assert!(!refusal.hint.is_empty());
            let moved = engine.status(&USER).unwrap().head - head;
            // Only an exceeded budget is counted.
            assert_eq!(moved, u64::from(code == Some(Code::BudgetExceeded)));
        }
    }
}

/// A grant is revoked by its giver, its holder's parent or the user; one that is not open stays as
/// it is.
#[test]
fn a_grant_is_taken_back_while_it_is_open() {
    let (_ground, engine) = family();
    let revoke = |who: &Caller, id: &str| engine.0.ask(who, ask::RevokeGrant(id.to_owned()));
    let given = grant(&engine, &USER, wanted("ada", POINTER)).unwrap();
    for who in ["ada", "bob"] {
        refused(revoke(&called(who), &given.id), Code::ScopeDenied);
    }
    assert_eq!(revoke(&called("lead"), &given.id).unwrap().state, "revoked");
    refused(revoke(&USER, &given.id), Code::NotFound);
    refused(revoke(&USER, "nothing"), Code::NotFound);
    for token in [Some(given.budget_token.0.as_str()), Some("nothing"), None] {
        refused(read(&engine, "ada", POINTER, token), Code::DerefDenied);
    }
    let spent = grant(&engine, &USER, wanted("ada", POINTER)).unwrap();
    read(&engine, "ada", POINTER, None).unwrap();
    refused(revoke(&USER, &spent.id), Code::NotFound);
    assert_eq!(states(&engine), [GrantState::Spent, GrantState::Revoked]);
}

/// A grant ends with its time. Setting the clock back, by any amount and any number of times, does
/// not extend it. A jump ahead and back leaves it usable.
#[test]
fn a_clock_that_is_set_back_extends_no_grant() {
    for (steps, is_over) in [
        (&[9 * MINUTE][..], false),
        (&[10 * MINUTE], true),
        (&[9 * MINUTE, -9 * MINUTE, 9 * MINUTE], true),
        (&[6 * MINUTE, -MINUTE, 6 * MINUTE, -10 * MINUTE], true),
        (&[-MINUTE, 5 * MINUTE], false),
        (&[-1_000 * MINUTE, 11 * MINUTE], true),
        (&[10_000_000 * MINUTE, -10_000_000 * MINUTE, MINUTE], false),
    ] {
        let (ground, engine) = family();
        let given = grant(&engine, &called("lead"), wanted("ada", POINTER)).unwrap();
        for step in steps {
            ground.clock.turn(*step);
            // An entry records each time that the clock shows.
            engine.claim(&format!("After {step} it is {}.", ground.clock.now()));
        }
        let state = states(&engine);
        let token = given.budget_token.0.as_str();
        let shown = read(&engine, "ada", POINTER, Some(token));
        if is_over {
            refused(shown, Code::Expired);
            assert_eq!(state, [GrantState::Expired], "{steps:?}");
        } else {
            assert!(
                shown.is_ok() && !state.contains(&GrantState::Expired),
                "{steps:?}"
            )
        }
    }
}

/// A hundred processes read with one grant at the same time; only one succeeds.
#[test]
fn a_grant_is_spent_by_one_of_many() {
    let (ground, engine) = family();
    let given = grant(&engine, &USER, wanted("ada", POINTER)).unwrap();
    let engines: Vec<_> = (0..5).map(|at| ground.open_at("repo", 10 + at)).collect();
    let token = given.budget_token.0.as_str();
    let read_ok: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .map(|at| {
                let engine = &engines[at % engines.len()];
                scope.spawn(move || {
                    let named = (at % 2 == 0).then_some(token);
                    (0..5)
                        .filter(|_| read(engine, "ada", POINTER, named).is_ok())
                        .count()
                })
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(read_ok, 1);
    assert_eq!(states(&engine), [GrantState::Spent]);
}

/// An uncommitted file is stored when it is granted, and is read as it was then.
#[test]
fn what_was_granted_of_a_working_tree_is_read_as_it_was() {
    let (ground, engine) = family();
    let file = ground.path("repo").join("src/lib.rs");
    std::fs::write(&file, "fn draft() {}\n").unwrap();
    let given = grant(&engine, &USER, wanted("ada", "repo:src/lib.rs#L1@worktree")).unwrap();
    let pointer = given.pointer.unwrap();
    assert!(pointer.contains("@sha256:"), "{pointer}");
    std::fs::write(&file, "fn later() {}\n").unwrap();
    let token = given.budget_token.0.as_str();
    refused(
        read(&engine, "ada", "repo:src/lib.rs#L1@worktree", Some(token)),
        Code::DerefDenied,
    );
    let shown = read(&engine, "ada", &pointer, Some(token)).unwrap();
    assert_eq!(shown.excerpt, "fn draft() {}\n");
    git(&ground.path("repo"), &["checkout", "-q", "--", "."]);
}
