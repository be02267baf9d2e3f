//! Tables of grants: who may issue one, and what it permits.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::tree::tests::{family, find, id};

const SHA: &str = "3f786850e387550fdab836ed7e6dc881de23001b";

fn now() -> Timestamp {
    "2026-11-22T12:00:00Z".parse().unwrap()
}

fn at(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

fn address() -> String {
    format!("repo:src/ledger.rs#L1-L20@{SHA}")
}

fn grant() -> GrantRecord {
    GrantRecord {
        id: "g1".to_owned(),
        to: id("child"),
        by: Some(id("root")),
        what: GrantKind::Read {
            pointer: address(),
            cap_tokens: 300,
        },
        issued_at: now(),
        expires_at: at(600),
        spent: false,
        revoked: false,
        replaced_by: None,
    }
}

fn read(cap_tokens: Option<u32>, pointer: &str) -> GrantWish {
    GrantWish::Read {
        pointer: pointer.parse().unwrap(),
        cap_tokens,
    }
}

#[test]
fn a_parent_and_the_user_grant_within_their_limits() {
    let all = family("root child<root other");
    let child = find(&all, &id("child")).unwrap();
    let limits = GrantLimits::default();
    let root = Caller::Agent(id("root"));
    let pinned = address();
    for (caller, wish, ttl, code) in [
        (&root, read(None, &pinned), None, None),
        (&root, read(Some(1200), &pinned), Some(86_400), None),
        (
            &Caller::User,
            read(Some(50_000), &pinned),
            Some(i64::MAX),
            None,
        ),
        (&root, GrantWish::Code { chars: 2000 }, None, None),
        (
            &root,
            read(None, &format!("diff:{SHA}..{SHA}#a.rs")),
            None,
            None,
        ),
        (
            &root,
            read(None, "sam:decision:publish@2026-01-08"),
            None,
            None,
        ),
        (
            &root,
            read(Some(1201), &pinned),
            None,
            Some(Code::BudgetExceeded),
        ),
        (
            &root,
            read(None, &pinned),
            Some(86_401),
            Some(Code::BudgetExceeded),
        ),
        (
            &root,
            GrantWish::Code { chars: 2001 },
            None,
            Some(Code::BudgetExceeded),
        ),
        (
            &root,
            read(Some(0), &pinned),
            None,
            Some(Code::SchemaInvalid),
        ),
        (
            &root,
            read(None, &pinned),
            Some(0),
            Some(Code::SchemaInvalid),
        ),
        (
            &root,
            read(None, &pinned),
            Some(-5),
            Some(Code::SchemaInvalid),
        ),
        (
            &root,
            read(None, "repo:a.rs@HEAD"),
            None,
            Some(Code::PointerUnpinned),
        ),
        (
            &root,
            read(None, "repo:a.rs@worktree"),
            None,
            Some(Code::PointerUnpinned),
        ),
        (
            &root,
            read(None, "url:https://example.com/a"),
            None,
            Some(Code::PointerUnpinned),
        ),
        (
            &Caller::User,
            read(None, "repo:a.rs@main"),
            None,
            Some(Code::PointerUnpinned),
        ),
        (
            &Caller::Agent(id("child")),
            read(None, &pinned),
            None,
            Some(Code::ScopeDenied),
        ),
        (
            &Caller::Agent(id("other")),
            read(None, &pinned),
            None,
            Some(Code::ScopeDenied),
        ),
    ] {
        let refusal = grant_terms(caller, &child, &wish, ttl, &limits, now()).err();
        assert!(refusal.as_ref().is_none_or(|it| !it.hint.is_empty()));
        assert_eq!(
            refusal.map(|it| it.code),
            code,
            "{caller:?} {wish:?} {ttl:?}"
        );
    }
    let terms = grant_terms(&root, &child, &read(None, &pinned), None, &limits, now()).unwrap();
    assert_eq!(terms.expires_at, at(600));
    let cap_tokens = 500;
    assert_eq!(
        terms.what,
        GrantKind::Read {
            pointer: pinned,
            cap_tokens
        }
    );
}

#[test]
fn a_grant_is_for_one_agent_and_one_pointer_and_once() {
    let spent = GrantRecord {
        spent: true,
        ..grant()
    };
    let revoked = GrantRecord {
        revoked: true,
        ..grant()
    };
    let code = GrantRecord {
        what: GrantKind::Code { chars: 80 },
        ..grant()
    };
    for (grant, agent, pointer, when, want) in [
        (grant(), "child", address(), 0, Ok(300)),
        (grant(), "child", address(), 599, Ok(300)),
        (grant(), "child", address(), 600, Err(Code::Expired)),
        // A clock that went back by more than the term does not extend the grant.
        (grant(), "child", address(), -601, Err(Code::Expired)),
        (grant(), "other", address(), 0, Err(Code::DerefDenied)),
        (
            grant(),
            "child",
            address().replace("L20", "L21"),
            0,
            Err(Code::DerefDenied),
        ),
        (spent, "child", address(), 0, Err(Code::DerefDenied)),
        (revoked, "child", address(), 0, Err(Code::DerefDenied)),
        (code, "child", address(), 0, Err(Code::DerefDenied)),
    ] {
        let agent = id(agent);
        let reading = PointerRead {
            agent: &agent,
            pointer: Some(&pointer),
            kind: PointerType::Repo,
            is_cut: false,
            ancestors: &[],
            now: at(when),
        };
        let (limits, spent) = (DerefLimits::default(), Spend::default());
        let allowed = admit_read(reading, &limits, &spent, Some(&grant), &[]);
        if let Ok(allowance) = &allowed {
            assert_eq!(allowance.paid, PaidBy::Grant("g1".to_owned()));
        }
        assert_eq!(
            allowed.map(|it| it.tokens).map_err(|it| it.code),
            want,
            "{agent} {pointer} {when}"
        );
    }
}

/// A fourth repo span without a grant is denied (docs/design.md#reads-stay-within-the-budget).
#[test]
fn a_grant_that_is_not_named_serves_where_the_budget_refuses() {
    let limits = DerefLimits::default();
    let full = Spend {
        repo_spans: 3,
        ..Spend::default()
    };
    let pointer = address();
    let agent = id("child");
    let reading = PointerRead {
        agent: &agent,
        pointer: Some(&pointer),
        kind: PointerType::Repo,
        is_cut: false,
        ancestors: &[],
        now: at(0),
    };
    let sooner = GrantRecord {
        id: "g2".to_owned(),
        expires_at: at(60),
        ..grant()
    };
    let foreign = GrantRecord {
        to: id("other"),
        ..grant()
    };
    let paid = |spent: &Spend, open: &[GrantRecord]| {
        admit_read(reading, &limits, spent, None, open)
            .map(|it| it.paid)
            .map_err(|it| it.code)
    };
    assert_eq!(paid(&Spend::default(), &[grant()]), Ok(PaidBy::Budget));
    assert_eq!(paid(&full, &[]), Err(Code::DerefDenied));
    assert_eq!(paid(&full, &[foreign]), Err(Code::DerefDenied));
    assert_eq!(
        paid(&full, &[grant(), sooner]),
        Ok(PaidBy::Grant("g2".to_owned()))
    );
    let refusal = admit_read(reading, &limits, &full, None, &[]).unwrap_err();
    let figures = refusal.remedy.unwrap().figures;
    assert_eq!(
        (figures["repo_spans"].used, figures["repo_spans"].limit),
        (3, 3)
    );
}

#[test]
fn what_the_budget_would_cut_a_larger_grant_pays() {
    let limits = DerefLimits::default();
    let pointer = address();
    let agent = id("child");
    let of_300 = Ok(PaidBy::Grant("g1".to_owned()));
    for (tokens_spent, is_cut, open, want) in [
        (1000, false, vec![grant()], Ok(PaidBy::Budget)),
        (1000, true, vec![grant()], of_300.clone()),
        // The budget allows more than the grant.
        (800, true, vec![grant()], Ok(PaidBy::Budget)),
        (1000, true, vec![], Ok(PaidBy::Budget)),
        // Two tokens left read what fits in them, and nothing that they would cut.
        (1198, false, vec![], Ok(PaidBy::Budget)),
        (1198, true, vec![], Err(Code::DerefDenied)),
        (1198, true, vec![grant()], of_300),
    ] {
        let reading = PointerRead {
            agent: &agent,
            pointer: Some(&pointer),
            kind: PointerType::Repo,
            is_cut,
            ancestors: &[],
            now: at(0),
        };
        let spent = Spend {
            tokens: tokens_spent,
            ..Spend::default()
        };
        let paid = admit_read(reading, &limits, &spent, None, &open);
        assert_eq!(
            paid.map(|it| it.paid).map_err(|it| it.code),
            want,
            "{tokens_spent} {is_cut}"
        );
    }
}

#[test]
fn code_is_granted_by_characters_and_taken_back() {
    let code = GrantRecord {
        what: GrantKind::Code { chars: 80 },
        ..grant()
    };
    let child = find(&family("child<root"), &id("child")).unwrap();
    assert_eq!(code_allowance(&id("child"), None, at(0)), Ok(0));
    assert_eq!(code_allowance(&id("child"), Some(&code), at(0)), Ok(80));
    for (agent, grant, when, want) in [
        ("other", &code, 0, Code::DerefDenied),
        ("child", &grant(), 0, Code::DerefDenied),
        ("child", &code, 601, Code::Expired),
    ] {
        let refusal = code_allowance(&id(agent), Some(grant), at(when)).unwrap_err();
        assert_eq!(refusal.code, want, "{agent} {when}");
    }
    for (caller, ok) in [
        (Caller::User, true),
        (Caller::Agent(id("root")), true),
        (Caller::Agent(id("child")), false),
    ] {
        assert_eq!(
            refuse_revoke(&caller, &code, &child).is_ok(),
            ok,
            "{caller:?}"
        );
    }
}
