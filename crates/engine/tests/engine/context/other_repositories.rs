//! What belongs to another repository of the home: it is named, and not changed from here.

use std::fs;

use engram_model::{
    Clues, Code, Commit, Linkable, NewsKind, NewsSince, PinInstead, Pinnable, Pinning, Refusal,
    Request, Rewording, Settle, Whereabouts, ask,
};

use crate::fixture::{
    Asked, LONG, SHORT, Sandbox, USER, correction_of, draft, git, make_repository, refused,
};

/// A home with two repositories.
fn open_two() -> (Sandbox, Asked, Asked) {
    let sandbox = Sandbox::new();
    make_repository(&sandbox.path("other"));
    let (here, there) = (sandbox.open(), sandbox.open_at("other", 2));
    here.claim("It is here.");
    (sandbox, here, there)
}

fn locate(at: &Asked, clues: Clues) -> Option<Whereabouts> {
    at.0.ask(&USER, ask::Locate(clues)).unwrap().found
}

fn by_id(id: &impl ToString) -> Clues {
    Clues {
        id: Some(id.to_string()),
        ..Clues::default()
    }
}

#[test]
fn a_claim_of_another_repository_is_read_and_not_changed() {
    let (sandbox, here, there) = open_two();
    let id = there.claim("It is there.").id;
    let conflict = {
        there.claim(SHORT);
        there.claim(LONG).findings[0].conflict.unwrap()
    };
    let path = sandbox.path("other").canonicalize().unwrap();
    let found = locate(&here, by_id(&id)).unwrap();
    assert_eq!(found.path.as_deref(), path.to_str());
    assert_eq!((found.name.as_str(), found.is_here), ("other", false));
    let lower = by_id(&id.to_string().to_lowercase());
    assert_eq!(locate(&here, lower), locate(&here, by_id(&id)));
    assert!(locate(&there, by_id(&conflict)).unwrap().is_here);
    let names = |id: Clues| here.0.ask(&USER, ask::Locate(id)).unwrap().names;
    assert_eq!(names(by_id(&id)), Some(Linkable::Claim));
    assert_eq!(names(by_id(&conflict)), Some(Linkable::Conflict));
    assert_eq!(names(by_id(&"nothing")), None);
    assert_eq!(here.get(&USER, id).unwrap().id, id);
    let hint = format!("--repo {}", path.display());
    let changes = [
        Request::Forget(id),
        Request::Redact(id),
        Request::Restore(id),
        Request::Repin(id),
        Request::Reverify(id),
        Request::Pin(Pinning::Engram(id)),
        Request::Pin(Pinning::Instead(PinInstead {
            pin: 1,
            what: Pinnable::Engram(id),
        })),
        Request::Promote(engram_model::Promote { id, scope: None }),
        Request::Reword(Box::new(Rewording {
            dropped: Vec::new(),
            id,
            claim: "It was there.".to_owned(),
            seen: Vec::new(),
        })),
        Request::Put(Box::new(correction_of(id, "It was there."))),
        Request::Commit(Box::new(Commit {
            draft: correction_of(id, "It was there."),
            ..Commit::default()
        })),
    ];
    for change in changes {
        let told = format!("{change:?}");
        let refusal = here.0.handle(&USER, change).unwrap_err();
        assert_eq!(refusal.code, Code::NotFound, "{told}");
        assert!(refusal.message.contains("other"), "{told}: {refusal}");
        assert!(refusal.hint.contains(&hint), "{told}: {}", refusal.hint);
    }
    let refusal: Refusal = here.settle(&USER, conflict, Settle::Newer).unwrap_err();
    assert!(refusal.hint.contains(&hint), "{}", refusal.hint);
    // An agent learns nothing about another repository.
    let ada = here.agent("ada");
    for refusal in [
        here.get(&ada, id).unwrap_err(),
        here.forget(&ada, id).unwrap_err(),
    ] {
        assert_eq!(refusal.code, Code::NotFound);
        assert!(!format!("{refusal:?}").contains("other"), "{refusal:?}");
    }
    refused(here.0.ask(&ada, ask::Locate(by_id(&id))), Code::ScopeDenied);
    there.forget(&USER, id).unwrap();
}

#[test]
fn a_claim_of_a_repository_that_is_gone_can_be_erased_from_anywhere() {
    let (sandbox, here, there) = open_two();
    let id = there.claim("The words to erase.").id;
    drop(there);
    fs::rename(sandbox.path("other"), sandbox.path("away")).unwrap();
    assert!(locate(&here, by_id(&id)).unwrap().is_gone);
    here.redact(&USER, id).unwrap();
}

#[test]
fn a_repository_is_found_by_its_remote_and_by_a_commit() {
    let (sandbox, here, there) = open_two();
    there.claim("It is there.");
    let other = sandbox.path("other");
    git(
        &other,
        &[
            "remote",
            "add",
            "origin",
            "https://ada:s3cret@example.com/team/Shop.git",
        ],
    );
    let told = there.status(&USER).unwrap().project.unwrap().remote;
    assert_eq!(told.as_deref(), Some("example.com/team/Shop"));
    let ada = there.agent("ada");
    assert_eq!(there.status(&ada).unwrap().project.unwrap().remote, None);
    let by_remote = |remote: &str| Clues {
        remote: Some(remote.to_owned()),
        ..Clues::default()
    };
    let found = locate(&here, by_remote("example.com/team/shop")).unwrap();
    assert_eq!((found.name.as_str(), found.is_here), ("other", false));
    assert!(
        locate(&there, by_remote("example.com/team/shop"))
            .unwrap()
            .is_here
    );
    assert_eq!(locate(&here, by_remote("example.com/team/bank")), None);
    fs::write(other.join("new"), "new").unwrap();
    git(&other, &["add", "."]);
    git(&other, &["commit", "-qm", "new"]);
    let commit = Some(crate::fixture::head(&other));
    let clues = Clues {
        commit,
        ..Clues::default()
    };
    assert_eq!(locate(&here, clues).unwrap().name, "other");
}

#[test]
fn news_of_all_repositories_is_told_by_agent() {
    let (sandbox, here, there) = open_two();
    let (ada, bob) = (here.agent("ada"), there.agent("bob"));
    let before = here.head();
    here.put(&ada, draft("The parser is slow.")).unwrap();
    here.put(&ada, draft("The printer is fast.")).unwrap();
    there.put(&bob, draft(SHORT)).unwrap();
    there.put(&bob, draft(LONG)).unwrap();
    // Newer, but nothing asks for a person there.
    here.put(&ada, draft("The lexer is small.")).unwrap();
    // The user's own claims are not news.
    here.claim("The user knows this.");
    let news = |since: NewsSince| here.0.ask(&USER, ask::News(since)).unwrap();
    let since = NewsSince {
        seq: before,
        at: None,
    };
    let reply = news(since);
    assert!(!reply.is_cut);
    let told: Vec<(&str, NewsKind, &str, u64, bool)> = reply
        .rows
        .iter()
        .map(|it| {
            (
                it.repository.as_str(),
                it.what,
                it.by.as_str(),
                it.count,
                it.is_here,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("other", NewsKind::Contradicted, "bob", 1, false),
            ("other", NewsKind::Learned, "bob", 2, false),
            ("repo", NewsKind::Learned, "ada", 3, true),
        ]
    );
    assert_eq!(reply.rows[2].text, "The lexer is small.");
    let seq = reply.head;
    assert_eq!(news(NewsSince { seq, at: None }).rows, []);
    // A conflict that was settled is no longer news.
    let conflict = reply.rows[0].id.parse().unwrap();
    there.settle(&USER, conflict, Settle::Newer).unwrap();
    let left: Vec<NewsKind> = news(since).rows.iter().map(|it| it.what).collect();
    assert_eq!(left, [NewsKind::Learned, NewsKind::Learned]);
    drop(sandbox);
}

/// The agent that spoke last contradicts, whichever claim is which side; its row says what differs.
#[test]
fn a_conflict_is_news_by_who_spoke_last() {
    for (first, second) in [(SHORT, LONG), (LONG, SHORT)] {
        let (sandbox, here, _there) = open_two();
        here.put(&here.agent("ada"), draft(first)).unwrap();
        here.put(&here.agent("bob"), draft(second)).unwrap();
        let reply = here.0.ask(&USER, ask::News(NewsSince::default())).unwrap();
        let row = reply
            .rows
            .iter()
            .find(|it| it.what == NewsKind::Contradicted);
        let row = row.unwrap();
        assert_eq!(row.by, "bob", "{first}");
        assert!(row.text.starts_with("They disagree about"), "{}", row.text);
        drop(sandbox);
    }
}

/// What an agent ended of somebody else's is news until the user undoes it; a conflict that the undo
/// finds again is not.
#[test]
fn a_verdict_that_ended_the_claim_of_another_is_news() {
    let (sandbox, here, _there) = open_two();
    let (ada, bob) = (here.agent("ada"), here.agent("bob"));
    here.put(&ada, draft(SHORT)).unwrap();
    here.put(&bob, draft(LONG)).unwrap();
    let news = || {
        let reply = here.0.ask(&USER, ask::News(NewsSince::default())).unwrap();
        let rows = reply.rows.into_iter();
        let rows = rows.filter(|it| it.what != NewsKind::Learned);
        rows.map(|it| (it.what, it.by, it.count, it.text, it.id))
            .collect::<Vec<_>>()
    };
    let (what, by, count, _, id) = news().remove(0);
    assert_eq!(
        (what, by.as_str(), count),
        (NewsKind::Contradicted, "bob", 1)
    );
    let conflict = id.parse().unwrap();
    // What an agent concedes is no news, what it takes is.
    here.settle(&bob, conflict, Settle::Newer).unwrap();
    let told = [(NewsKind::Settled, "bob".to_owned(), 1, SHORT.to_owned(), id)];
    assert_eq!(news(), told);
    for _ in 0..2 {
        here.settle(&USER, conflict, Settle::Undo).unwrap();
        let counts: Vec<_> = news().iter().map(|it| (it.0, it.2)).collect();
        assert_eq!(counts, [(NewsKind::Contradicted, 1)], "it waits again");
        here.settle(&USER, conflict, Settle::Dismiss).unwrap();
        assert_eq!(news(), []);
    }
    drop(sandbox);
}

/// What ended by itself or was forgotten needs no attention; the user stored the sample.
#[test]
fn what_is_over_is_no_news() {
    let (sandbox, here, _there) = open_two();
    let ada = here.agent("ada");
    let news = || {
        let reply = here.0.ask(&USER, ask::News(NewsSince::default())).unwrap();
        let rows = reply.rows.iter();
        rows.map(|it| (it.what, it.count)).collect::<Vec<_>>()
    };
    here.put(&ada, draft(SHORT)).unwrap();
    let second = here.put(&here.agent("bob"), draft(LONG)).unwrap();
    let both = [
        (NewsKind::Contradicted, 1),
        (NewsKind::Learned, 1),
        (NewsKind::Learned, 1),
    ];
    assert_eq!(news(), both);
    here.forget(&USER, second.id).unwrap();
    assert_eq!(news(), [(NewsKind::Learned, 1)]);
    here.0.ask(&USER, ask::LoadSample).unwrap();
    assert_eq!(news(), [(NewsKind::Learned, 1)]);
    drop(sandbox);
}

/// The window counts what waits in every repository, in its title and its rail.
#[test]
fn what_waits_in_any_repository_is_told_at_a_change() {
    let (sandbox, here, there) = open_two();
    let (sender, told) = std::sync::mpsc::channel();
    let _following = here
        .0
        .follow_waiting(move |all| drop(sender.send(all)))
        .unwrap();
    let next = || {
        told.recv_timeout(std::time::Duration::from_secs(30))
            .unwrap()
    };
    assert_eq!(next(), []);
    there.claim(SHORT);
    let conflict = there.claim(LONG).findings[0].conflict.unwrap();
    let waiting = next();
    assert_eq!(waiting.len(), 1);
    let path = sandbox.path("other").canonicalize().unwrap();
    assert_eq!(waiting[0].path.as_deref(), Some(path.as_path()));
    assert_eq!((waiting[0].conflicts, waiting[0].requests), (1, 0));
    let (project, holding, _) = there.0.count_holding().unwrap().unwrap();
    assert_eq!((project, holding), (waiting[0].project, 2));
    there.settle(&USER, conflict, Settle::Newer).unwrap();
    assert_eq!(next(), []);
}
