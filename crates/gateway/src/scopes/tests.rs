//! Tables of scopes and promotions.

use super::*;
use crate::tree::tests::{family, find, id};

#[test]
fn agents_write_what_is_configured() {
    let agent = Caller::Agent(id("a"));
    let none = Scopes {
        agents_write: vec![],
        ..Scopes::default()
    };
    let run = Scopes {
        agents_write: vec![Scope::Run],
        ..Scopes::default()
    };
    // Listed for agents, but not turned on
    let named = Scopes {
        agents_write: Scope::ALL.to_vec(),
        ..Scopes::default()
    };
    let org = Scopes {
        org: true,
        ..named.clone()
    };
    // Turned on, but not listed: agents reach them only by promotion
    let on = Scopes {
        org: true,
        global: true,
        ..Scopes::default()
    };
    for (scopes, open) in [
        (Scopes::default(), vec![Scope::Run, Scope::Project]),
        (none, vec![]),
        (run, vec![Scope::Run]),
        (named, vec![Scope::Run, Scope::Project]),
        (org, vec![Scope::Run, Scope::Project, Scope::Org]),
        (on, vec![Scope::Run, Scope::Project]),
    ] {
        for scope in Scope::ALL {
            assert!(refuse_scope(&Caller::User, *scope, &scopes).is_ok());
            let refusal = refuse_scope(&agent, *scope, &scopes).err();
            assert_eq!(
                refusal.is_none(),
                open.contains(scope),
                "{scope} in {scopes:?}"
            );
            assert!(refusal.is_none_or(|it| it.code == Code::ScopeDenied && !it.hint.is_empty()));
        }
    }
}

#[test]
fn topics_of_a_handle_are_its_borders() {
    let mut node = family("a").remove(0);
    assert!(refuse_topic(&node, "anything").is_ok() && may_read_topic(&node, "anything"));
    node.writes = vec!["payments".to_owned()];
    node.reads = vec!["payments".to_owned(), "docs".to_owned()];
    for (topic, writes, reads) in [
        ("payments", true, true),
        ("payments/webhooks", true, true),
        ("payments-old", false, false),
        ("docs/guide", false, true),
        ("", false, true),
    ] {
        assert_eq!(refuse_topic(&node, topic).is_ok(), writes, "{topic}");
        assert_eq!(may_read_topic(&node, topic), reads, "{topic}");
    }
}

#[test]
fn only_a_parent_promotes_from_a_confidence_on() {
    let all = family("root a<root b<a other");
    let on = Scopes {
        org: true,
        ..Scopes::default()
    };
    let off = Scopes::default();
    let agent = |name: &str| Caller::Agent(id(name));
    for (caller, author, from, to, confidence, scopes, code) in [
        (
            agent("root"),
            Some("a"),
            Scope::Run,
            Scope::Project,
            0.7,
            &off,
            None,
        ),
        (
            agent("root"),
            Some("b"),
            Scope::Run,
            Scope::Project,
            0.9,
            &off,
            None,
        ),
        (
            agent("a"),
            Some("b"),
            Scope::Project,
            Scope::Org,
            0.9,
            &on,
            None,
        ),
        (
            Caller::User,
            Some("b"),
            Scope::Run,
            Scope::Global,
            0.1,
            &off,
            None,
        ),
        (
            Caller::User,
            None,
            Scope::Project,
            Scope::Org,
            0.1,
            &off,
            None,
        ),
        (
            agent("root"),
            Some("a"),
            Scope::Run,
            Scope::Project,
            0.69,
            &off,
            Some(Code::ScopeDenied),
        ),
        (
            agent("root"),
            Some("a"),
            Scope::Run,
            Scope::Project,
            f64::NAN,
            &off,
            Some(Code::ScopeDenied),
        ),
        (
            agent("root"),
            Some("a"),
            Scope::Project,
            Scope::Org,
            0.9,
            &off,
            Some(Code::ScopeDenied),
        ),
        (
            agent("root"),
            Some("a"),
            Scope::Project,
            Scope::Global,
            0.9,
            &on,
            Some(Code::ScopeDenied),
        ),
        (
            agent("b"),
            Some("b"),
            Scope::Run,
            Scope::Project,
            0.9,
            &off,
            Some(Code::ScopeDenied),
        ),
        (
            agent("b"),
            Some("a"),
            Scope::Run,
            Scope::Project,
            0.9,
            &off,
            Some(Code::ScopeDenied),
        ),
        (
            agent("other"),
            Some("a"),
            Scope::Run,
            Scope::Project,
            0.9,
            &off,
            Some(Code::ScopeDenied),
        ),
        (
            agent("root"),
            Some("root"),
            Scope::Run,
            Scope::Project,
            0.9,
            &off,
            Some(Code::ScopeDenied),
        ),
        (
            agent("root"),
            None,
            Scope::Run,
            Scope::Project,
            0.9,
            &off,
            Some(Code::ScopeDenied),
        ),
        (
            Caller::User,
            Some("a"),
            Scope::Project,
            Scope::Project,
            0.9,
            &off,
            Some(Code::SchemaInvalid),
        ),
        (
            agent("root"),
            Some("a"),
            Scope::Org,
            Scope::Run,
            0.9,
            &on,
            Some(Code::SchemaInvalid),
        ),
    ] {
        let author = author.map(id);
        let claim = PromotedClaim {
            scope: from,
            confidence,
            author: author.as_ref(),
        };
        let refusal = refuse_promotion(&caller, &claim, to, scopes, |it| Ok(find(&all, it))).err();
        assert!(refusal.as_ref().is_none_or(|it| !it.hint.is_empty()));
        assert_eq!(
            refusal.map(|it| it.code),
            code,
            "{caller:?} {claim:?} to {to}"
        );
    }
}
