//! Grants to read beyond the budget: issuing, using, revoking, and expiry.

use engram_model::{
    AgentId, BudgetOf, Caller, Code, DenyAnswer, Deref, GrantAnswer, GrantState, GrantWanted, Hook,
    HookEvent, NextTurn, PointerInput, RagResult, Reply, Request, SamRead, Sending, ask,
};
use serde_json::json;

use super::read_requests::request;
use crate::fixture::{
    Asked, POINTER, USER,
    agents::{
        MINUTE, agent_named, grant_wanted, is_in_home, issue_grant, open_agent, open_family, read,
    },
    git, head, make_repository,
    messages::{order, report},
    refused,
};

fn states(engine: &Asked) -> Vec<GrantState> {
    let grants = engine.0.ask(&USER, ask::Grants).unwrap().grants;
    grants.into_iter().map(|it| it.state).collect()
}

#[test]
fn a_grant_is_for_one_agent_and_one_pointer_and_is_spent_once() {
    let (sandbox, engine) = open_family();
    let given = issue_grant(&engine, &agent_named("lead"), grant_wanted("ada", POINTER)).unwrap();
    let commit = head(&sandbox.path("repo"));
    let pointer = format!("repo:src/lib.rs#L2@{commit}");
    assert_eq!(given.pointer.as_deref(), Some(pointer.as_str()));
    assert_eq!(
        (given.cap_tokens, given.by),
        (Some(500), Some(AgentId("lead".to_owned())))
    );
    let token = given.budget_token.0.as_str();
    assert!(!is_in_home(&sandbox, token), "only its digest is kept");
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
    let before = engine.status(&agent_named("ada")).unwrap().budget;
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
        reason: None,
    };
    refused(engine.0.ask(&USER, ask::Deref(deref)), Code::DerefDenied);
}

/// Without a token, a grant is used only when the budget refuses; of two, the one that ends first.
#[test]
fn an_open_grant_serves_where_the_budget_refuses() {
    let (_sandbox, engine) = open_family();
    let late = GrantWanted {
        ttl: Some("PT1H".parse().unwrap()),
        ..grant_wanted("ada", POINTER)
    };
    issue_grant(&engine, &USER, late).unwrap();
    let soon = issue_grant(&engine, &USER, grant_wanted("ada", POINTER)).unwrap();
    let unused = issue_grant(&engine, &USER, grant_wanted("bob", POINTER)).unwrap();
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
    let spent = engine.status(&agent_named("bob")).unwrap().budget.unwrap();
    assert_eq!(spent.repo_spans.used, 1);
}

/// The new grant ends the one that it replaces, and the list says who has it now.
#[test]
fn a_grant_is_transferred_once_in_one_step() {
    let (_sandbox, engine) = open_family();
    let old = issue_grant(&engine, &USER, grant_wanted("ada", POINTER)).unwrap();
    let transfer = |to: &str| GrantWanted {
        replaces: Some(old.id.clone()),
        ..grant_wanted(to, POINTER)
    };
    refused(
        issue_grant(&engine, &agent_named("ada"), transfer("ada")),
        Code::ScopeDenied,
    );
    let new = issue_grant(&engine, &USER, transfer("bob")).unwrap();
    let told = engine.0.ask(&USER, ask::Grants).unwrap().grants;
    let of = |id: &str| told.iter().find(|it| it.id == id).unwrap();
    assert_eq!(of(&old.id).state, GrantState::Revoked);
    assert_eq!(of(&old.id).replaced_by.as_ref(), Some(&new.id));
    assert_eq!(of(&new.id).state, GrantState::Open);
    assert_eq!(of(&new.id).replaced_by, None);
    refused(issue_grant(&engine, &USER, transfer("bob")), Code::NotFound);
}

/// A grant has its own cap, whatever is left of the budget.
#[test]
fn a_grant_is_cut_at_its_cap() {
    let (_sandbox, engine) = open_family();
    let whole = "repo:src/lib.rs@HEAD";
    let capped = GrantWanted {
        cap_tokens: Some(2_000),
        ..grant_wanted("ada", whole)
    };
    refused(
        issue_grant(&engine, &agent_named("lead"), capped.clone()),
        Code::BudgetExceeded,
    );
    issue_grant(&engine, &USER, capped).unwrap();
    let shown = read(&engine, "ada", whole, None).unwrap();
    assert!(
        shown.truncated && (1_900..=2_000).contains(&shown.tokens),
        "{}",
        shown.tokens
    );
}

#[test]
fn who_may_grant_what_to_whom() {
    let (sandbox, engine) = open_family();
    make_repository(&sandbox.path("other"));
    let there = sandbox.open_at("other", 2);
    open_agent(&there, &USER, "stranger", None).unwrap();
    let by_lead = GrantWanted {
        by: Some(AgentId("lead".to_owned())),
        ..grant_wanted("ada", POINTER)
    };
    let by_bob = GrantWanted {
        by: Some(AgentId("bob".to_owned())),
        ..grant_wanted("ada", POINTER)
    };
    let long = GrantWanted {
        ttl: Some("P30D".parse().unwrap()),
        ..grant_wanted("ada", POINTER)
    };
    let code = GrantWanted {
        pointer: None,
        code_chars: Some(300),
        ..grant_wanted("ada", POINTER)
    };
    let both = GrantWanted {
        code_chars: Some(300),
        ..grant_wanted("ada", POINTER)
    };
    let none = GrantWanted {
        pointer: None,
        ..grant_wanted("ada", POINTER)
    };
    let lead = agent_named("lead");
    for (who, wanted, code) in [
        (&USER, grant_wanted("lead", POINTER), None),
        (&USER, by_lead.clone(), None),
        (&USER, by_bob, Some(Code::ScopeDenied)),
        (&USER, long.clone(), None),
        (&lead, long, Some(Code::BudgetExceeded)),
        (&lead, by_lead, None),
        (&lead, code, None),
        (&lead, both, Some(Code::SchemaInvalid)),
        (&lead, none, Some(Code::SchemaInvalid)),
        (
            &lead,
            grant_wanted("lead", POINTER),
            Some(Code::ScopeDenied),
        ),
        (
            &agent_named("ada"),
            grant_wanted("ada", POINTER),
            Some(Code::ScopeDenied),
        ),
        (
            &agent_named("ada"),
            grant_wanted("bob", POINTER),
            Some(Code::NotFound),
        ),
        (
            &agent_named("ada"),
            grant_wanted("lead", POINTER),
            Some(Code::NotFound),
        ),
        (&USER, grant_wanted("ghost", POINTER), Some(Code::NotFound)),
        (
            &USER,
            grant_wanted("stranger", POINTER),
            Some(Code::NotFound),
        ),
        (
            &USER,
            grant_wanted("ada", "repo:src/lib.rs#L2"),
            Some(Code::PointerUnpinned),
        ),
        (
            &USER,
            grant_wanted("ada", "repo:src/gone.rs#L2@HEAD"),
            Some(Code::PointerNotFound),
        ),
        (
            &USER,
            grant_wanted("ada", "repo:src/lib.rs#L9999@HEAD"),
            Some(Code::PointerNotFound),
        ),
        (
            &USER,
            grant_wanted("ada", "nonsense"),
            Some(Code::PointerInvalid),
        ),
    ] {
        let head = engine.status(&USER).unwrap().head;
        let given = issue_grant(&engine, who, wanted.clone());
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
    let (_sandbox, engine) = open_family();
    let revoke = |who: &Caller, id: &str| engine.0.ask(who, ask::RevokeGrant(id.to_owned()));
    let given = issue_grant(&engine, &USER, grant_wanted("ada", POINTER)).unwrap();
    for (who, code) in [("ada", Code::ScopeDenied), ("bob", Code::NotFound)] {
        refused(revoke(&agent_named(who), &given.id), code);
    }
    assert_eq!(
        revoke(&agent_named("lead"), &given.id).unwrap().state,
        "revoked"
    );
    refused(revoke(&USER, &given.id), Code::NotFound);
    refused(revoke(&USER, "nothing"), Code::NotFound);
    for token in [Some(given.budget_token.0.as_str()), Some("nothing"), None] {
        refused(read(&engine, "ada", POINTER, token), Code::DerefDenied);
    }
    let spent = issue_grant(&engine, &USER, grant_wanted("ada", POINTER)).unwrap();
    read(&engine, "ada", POINTER, None).unwrap();
    refused(revoke(&USER, &spent.id), Code::NotFound);
    assert_eq!(states(&engine), [GrantState::Spent, GrantState::Revoked]);
}

/// What a call names: an agent, a grant or a request.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Named {
    Agent,
    Grant,
    Request,
}

/// A call, what it names, and how it names it.
type NamingCall = (&'static str, Named, fn(String) -> Request);

/// The calls that name something of another agent.
const CALLS: [NamingCall; 12] = [
    ("revoke", Named::Grant, Request::RevokeGrant),
    ("allow", Named::Request, |id| {
        let (cap_tokens, ttl) = (None, None);
        Request::GrantRequest(GrantAnswer {
            id,
            cap_tokens,
            ttl,
        })
    }),
    ("deny", Named::Request, |id| {
        let why = Some("No.".to_owned());
        Request::DenyRequest(DenyAnswer { id, why })
    }),
    ("turn", Named::Agent, |id| {
        let (agent, turn) = (AgentId(id), None);
        Request::NextTurn(NextTurn { agent, turn })
    }),
    ("grant", Named::Agent, |id| {
        Request::IssueGrant(grant_wanted(&id, POINTER))
    }),
    ("grant of code", Named::Agent, |id| {
        Request::IssueGrant(GrantWanted {
            pointer: None,
            code_chars: Some(300),
            ..grant_wanted(&id, POINTER)
        })
    }),
    ("budget", Named::Agent, |id| {
        let agent = Some(AgentId(id));
        Request::Budget(BudgetOf { agent })
    }),
    ("message", Named::Agent, |id| {
        let (message, to) = (order(json!({})), Some(AgentId(id)));
        Request::Send(Sending { message, to })
    }),
    ("response", Named::Agent, |id| {
        hook(id, HookEvent::ChildResponse(report(vec![], "None.")))
    }),
    ("broadcast", Named::Agent, |id| {
        hook(id, HookEvent::ParentBroadcast(order(json!({}))))
    }),
    ("result", Named::Agent, |id| {
        let (question, results) = ("Why?".to_owned(), Vec::new());
        hook(id, HookEvent::RagResult(RagResult { question, results }))
    }),
    ("event", Named::Agent, |id| {
        let (kind, slug) = ("note".to_owned(), "plan".to_owned());
        hook(id, HookEvent::SamRead(SamRead { kind, slug }))
    }),
];

fn hook(id: String, event: HookEvent) -> Request {
    let agent = Some(AgentId(id));
    Request::Hook(Box::new(Hook { agent, event }))
}

/// The refusal of a call as its caller gets it, without the id that it names.
fn refusal_text(engine: &Asked, who: &str, ask: fn(String) -> Request, id: &str) -> String {
    let mut refusal = engine
        .0
        .handle(&agent_named(who), ask(id.to_owned()))
        .unwrap_err();
    if let Some(remedy) = &mut refusal.remedy {
        // A refused message gets an id of its own.
        remedy.refusal = None;
    }
    serde_json::to_string(&refusal).unwrap().replace(id, "ID")
}

/// An agent learns nothing about agents that are not below it, or their grants and requests: not
/// even that they exist, or that they have been answered.
#[test]
fn what_is_anothers_is_refused_like_what_is_missing() {
    const NONE: &str = "01J9Z3N8M6W0X4V5Y7K2QHPRTA";
    let (_sandbox, engine) = open_family();
    for (name, parent) in [("eve", None), ("kid", Some("ada"))] {
        open_agent(&engine, &USER, name, parent).unwrap();
    }
    let lead = agent_named("lead");
    let given = |ask: Request| match engine.0.handle(&lead, ask).unwrap() {
        Reply::Granted(given) => given.id,
        other => panic!("{other:?}"),
    };
    let line = |at: u32| format!("repo:src/lib.rs#L{at}@HEAD");
    let agents = ["ada", "kid", "lead"].map(str::to_owned);
    let grants = [1, 2, 3].map(|at| given(Request::IssueGrant(grant_wanted("ada", &line(at)))));
    engine
        .0
        .ask(&lead, ask::RevokeGrant(grants[1].clone()))
        .unwrap();
    read(&engine, "ada", &line(3), None).unwrap();
    let asked = [4, 5, 6].map(|at| request(&engine, "ada", &line(at)).unwrap());
    given(CALLS[1].2(asked[1].clone()));
    engine
        .0
        .handle(&lead, CALLS[2].2(asked[2].clone()))
        .unwrap();
    for (call, named, ask) in CALLS {
        let theirs = match named {
            Named::Agent => &agents,
            Named::Grant => &grants,
            Named::Request => &asked,
        };
        for who in ["eve", "bob"] {
            let none = refusal_text(&engine, who, ask, NONE);
            assert!(none.contains("NOT_FOUND") && none.contains("ID"), "{none}");
            for id in theirs {
                assert_eq!(
                    refusal_text(&engine, who, ask, id),
                    none,
                    "{call} {id} by {who}"
                );
            }
        }
        // Its holder is told why. So is an ancestor that is not the parent.
        if named != Named::Agent {
            assert!(refusal_text(&engine, "ada", ask, &theirs[0]).contains("SCOPE_DENIED"));
        } else if call != "budget" {
            assert!(refusal_text(&engine, "lead", ask, "kid").contains("ID is not your child"));
        }
    }
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
        let (sandbox, engine) = open_family();
        let given =
            issue_grant(&engine, &agent_named("lead"), grant_wanted("ada", POINTER)).unwrap();
        for step in steps {
            sandbox.clock.turn(*step);
            // An entry records each time that the clock shows.
            engine.claim(&format!("After {step} it is {}.", sandbox.clock.now()));
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
    let (sandbox, engine) = open_family();
    let given = issue_grant(&engine, &USER, grant_wanted("ada", POINTER)).unwrap();
    let engines: Vec<_> = (0..5).map(|at| sandbox.open_at("repo", 10 + at)).collect();
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
    let (sandbox, engine) = open_family();
    let file = sandbox.path("repo").join("src/lib.rs");
    std::fs::write(&file, "fn draft() {}\n").unwrap();
    let given = issue_grant(
        &engine,
        &USER,
        grant_wanted("ada", "repo:src/lib.rs#L1@worktree"),
    )
    .unwrap();
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
    git(&sandbox.path("repo"), &["checkout", "-q", "--", "."]);
}
