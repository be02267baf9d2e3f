//! Which lines of the brief reach which agent, and what the user is told about it.

use engram_model::{
    AnswerQuality, BriefPart, BudgetOf, Caller, Code, DenyAnswer, Deref, Draft, Durability,
    GrantAnswer, Kind, MemoryOp, OperationKind, Pinning, PointerInput, PutReply, Scope, Settle,
    ask,
};

use crate::fixture::{Asked, POINTER, Sandbox, USER, correction_of, draft, handle_of, refused};

impl Asked {
    fn new_lines(&self, who: &Caller) -> Vec<String> {
        let agent = who.agent().unwrap();
        let head = self.journal().head;
        let lines = self.0.take_new_lines(agent, 150).unwrap();
        // The answer does not wait for a write.
        assert_eq!(self.journal().head, head);
        self.0.leave_in_order().unwrap();
        lines
    }

    fn pin_for(&self, who: &Caller, text: &str) {
        self.0
            .ask(who, ask::Pin(Pinning::Text(text.to_owned())))
            .unwrap();
    }

    fn todo(&self, claim: &str) -> PutReply {
        let todo = Draft {
            kind: Some(Kind::Todo),
            ..draft(claim)
        };
        self.put(&USER, todo).unwrap()
    }
}

#[test]
fn the_user_sees_to_whom_a_line_was_sent_and_when() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let ada = engine.agent_in_role("ada", "programmer", None);
    engine.pin_for(&USER, "Ship on Friday.");
    let sent = |part: BriefPart| -> Vec<String> {
        let lines = engine.0.ask(&USER, ask::Brief).unwrap().lines;
        let line = lines.into_iter().find(|it| it.part == part).unwrap();
        line.sent.into_iter().map(|it| it.name).collect()
    };
    assert!(sent(BriefPart::Pin).is_empty());
    sandbox.clock.turn(60);
    assert_eq!(
        engine.new_lines(&ada),
        ["pin by the user: \"Ship on Friday.\""]
    );
    assert_eq!(sent(BriefPart::Pin), ["ada"]);
    let lines = engine.0.ask(&USER, ask::Brief).unwrap().lines;
    assert_eq!(lines[0].sent[0].at, engine.0.now());
    // Another process of the agent does not send it again.
    let head = engine.journal().head;
    assert!(sandbox.open_at("repo", 5).new_lines(&ada).is_empty());
    assert!(engine.new_lines(&ada).is_empty());
    assert_eq!(engine.journal().head, head);
    // A brief counts as sent once the agent was answered.
    engine.todo("Find out who calls post().");
    let bob = engine.agent_in_role("bob", "programmer", None);
    let status = engine.0.ask(&bob, ask::Status).unwrap();
    let texts = &status.brief;
    assert!(texts[1].starts_with("todo by the user: "), "{texts:?}");
    assert!(engine.new_lines(&bob).is_empty());
    assert_eq!(sent(BriefPart::Todo), ["bob"]);
    assert_eq!(sent(BriefPart::Pin), ["bob", "ada"]);
}

#[test]
fn who_was_only_sent_the_brief_is_in_none() {
    let engine = Sandbox::open_new();
    engine.pin_for(&USER, "Ship on Friday.");
    let bob = engine.agent("bob");
    engine.0.ask(&bob, ask::Status).unwrap();
    engine.0.leave_in_order().unwrap();
    let listed = engine.0.ask(&USER, ask::Budget(BudgetOf::default()));
    assert_eq!(listed.unwrap().agents.len(), 1, "it can be sent messages");
    let did = || {
        let agents = engine.0.ask(&USER, ask::Agents).unwrap().agents;
        let bob = agents.into_iter().find(|it| it.handle == handle_of(&bob));
        bob.and_then(|it| it.did)
    };
    assert!(did().is_none(), "to be sent a line is nothing that it did");
    let budgets = || {
        let lines = engine.0.ask(&USER, ask::Brief).unwrap().lines;
        let lines = lines.iter().filter(|it| it.part == BriefPart::Budget);
        lines.count()
    };
    assert_eq!(budgets(), 0);
    engine.put(&bob, draft("The port is 8080.")).unwrap();
    assert_eq!(budgets(), 0, "it has read nothing");
    engine.pin_for(&USER, "Ship on Monday.");
    engine.0.ask(&bob, ask::Status).unwrap();
    engine.0.leave_in_order().unwrap();
    assert_eq!(did(), Some(OperationKind::Stored));
    engine.deref(&bob, POINTER).unwrap();
    assert_eq!(budgets(), 1);
}

#[test]
fn a_parents_pin_reaches_only_the_agents_below_it() {
    let engine = Sandbox::open_new();
    let lead = engine.agent_in_role("lead", "architect", None);
    let ada = engine.agent_in_role("ada", "programmer", Some(&lead));
    let other = engine.agent_in_role("other", "programmer", None);
    engine.pin_for(&lead, "Obey \"me\".");
    assert!(engine.new_lines(&lead).is_empty());
    assert!(engine.new_lines(&other).is_empty());
    assert_eq!(engine.new_lines(&ada), ["pin by lead: \"Obey 'me'.\""]);
}

#[test]
fn an_answer_stands_beside_the_claim_that_its_todo_asked_about() {
    let engine = Sandbox::open_new();
    let claim = engine.put(&USER, draft("The port is 8080.")).unwrap();
    let ada = engine.agent_in_role("ada", "programmer", None);
    let todo = engine.0.ask(&USER, ask::Reverify(claim.id)).unwrap();
    let get = || engine.0.ask(&USER, ask::Get(claim.id)).unwrap();
    assert_eq!((get().asked, get().answer), (Some(todo.id), None));
    let answer = Draft {
        corrects_lineage: Some(todo.lineage_id.to_string()),
        ..draft("The port is now set by PORT.")
    };
    let answered = engine.put(&ada, answer).unwrap();
    assert_eq!(answered.supersedes, Some(todo.id));
    let told = get();
    assert_eq!(told.asked, None);
    let answer = told.answer.unwrap();
    assert_eq!(
        (answer.id, &*answer.by, &*answer.claim),
        (answered.id, "ada", "The port is now set by PORT.")
    );
    // The claim is still the user's, and holds until the user decides.
    assert_eq!(told.valid_until, None);
    // An agent that corrects its answer still answers.
    let better = "The port is set by PORT, 8080 without it.";
    let corrected = engine
        .put(&ada, correction_of(answered.lineage_id, better))
        .unwrap();
    let answer = get().answer.unwrap();
    assert_eq!((answer.id, &*answer.claim), (corrected.id, better));
    let lines = engine.0.ask(&USER, ask::Brief).unwrap().lines;
    let is_answer = |text: &str| text.contains(better) && text.contains(", answering ");
    assert!(lines.iter().any(|it| is_answer(&it.text)), "{lines:?}");
    refused(engine.forget(&ada, corrected.id), Code::ScopeDenied);
    let newer = engine
        .put(&USER, correction_of(claim.id, "The port is 9090."))
        .unwrap();
    let now = engine.0.ask(&USER, ask::Get(newer.id)).unwrap();
    assert_eq!(now.answer, None);
    // With the decision undone, the answer is back; done again, it is gone.
    let undone = engine.0.ask(&USER, ask::Restore(claim.id)).unwrap();
    let again = engine.0.ask(&USER, ask::Get(undone.id)).unwrap();
    assert_eq!(again.answer.unwrap().id, corrected.id);
    let redone = engine.0.ask(&USER, ask::Restore(newer.id)).unwrap();
    let now = engine.0.ask(&USER, ask::Get(redone.id)).unwrap();
    assert_eq!(now.answer, None);
}

/// The user is shown an answer as one until they have judged it, but for a week at most.
#[test]
fn an_answer_leaves_the_todos_once_it_is_judged_or_a_week_old() {
    type Judge = fn(&Asked, &PutReply, &PutReply);
    const PORT: &str = "The relay listens on port 8080.";
    const MOVED: &str = "The relay listens on port 9090.";
    let judges: [(&str, Judge); 8] = [
        ("confirmed", |at, _, answer| {
            at.0.ask(&USER, ask::Repin(answer.id)).unwrap();
        }),
        ("corrected", |at, _, answer| {
            let words = "The relay listens on port 9191.";
            at.put(&USER, correction_of(answer.lineage_id, words))
                .unwrap();
        }),
        ("forgotten", |at, _, answer| {
            at.forget(&USER, answer.id).map(drop).unwrap()
        }),
        ("the claim confirmed", |at, claim, _| {
            at.0.ask(&USER, ask::Repin(claim.id)).unwrap();
        }),
        ("the claim corrected", |at, claim, _| {
            let words = "The relay listens on a socket.";
            at.put(&USER, correction_of(claim.lineage_id, words))
                .unwrap();
        }),
        ("the claim forgotten", |at, claim, _| {
            at.forget(&USER, claim.id).map(drop).unwrap();
        }),
        ("settled", |at, _, answer| {
            let conflict = answer.findings.iter().find_map(|it| it.conflict);
            at.settle(&USER, conflict.unwrap(), Settle::Dismiss)
                .unwrap();
        }),
        ("a week passes", |_, _, _| {}),
    ];
    for (what, judge) in judges {
        let sandbox = Sandbox::new();
        let at = sandbox.open();
        let ada = at.agent("ada");
        let claim = at.put(&USER, draft(PORT)).unwrap();
        let todo = at.0.ask(&USER, ask::Reverify(claim.id)).unwrap();
        let answer = at.put(&ada, correction_of(todo.lineage_id, MOVED)).unwrap();
        let is_shown = || {
            let lines = at.0.ask(&USER, ask::Brief).unwrap().lines;
            lines.iter().any(|it| it.text.contains(", answering "))
        };
        sandbox.clock.turn(6 * 86_400);
        assert!(is_shown(), "{what}");
        judge(&at, &claim, &answer);
        if what == "a week passes" {
            sandbox.clock.turn(2 * 86_400);
        }
        assert!(!is_shown(), "{what}");
    }
}

/// One to-do, one answer: a second agent learns of the first, and replaces it only by its own id.
#[test]
fn a_second_answer_does_not_replace_the_first_unawares() {
    let engine = Sandbox::open_new();
    let [ada, bob] = ["ada", "bob"].map(|name| engine.agent(name));
    let todo = engine.todo("Find out whether pay() keeps its reservation.");
    let answer = |claim| correction_of(todo.lineage_id, claim);
    let first = engine
        .put(&ada, answer("pay() keeps its reservation."))
        .unwrap();
    let said = refused(
        engine.put(&bob, answer("pay() releases it on any error.")),
        Code::AlreadySettled,
    );
    let (message, hint) = (said.message, said.hint);
    assert!(
        message.contains("ada") && message.contains("keeps"),
        "{message}"
    );
    assert!(hint.contains(&first.id.to_string()), "{hint}");
    engine
        .put(&ada, answer("pay() keeps it on a KeyError."))
        .unwrap();
    let holds = engine.query(&bob, "pay reservation KeyError").engrams[0].id;
    let corrected = correction_of(holds, "pay() releases it on any error.");
    engine.put(&bob, corrected).unwrap();
}

/// Whoever asked to read more learns of the answer with the next reply, once.
#[test]
fn an_answer_to_a_request_reaches_the_agent_that_asked() {
    let engine = Sandbox::open_new();
    let ada = engine.agent("ada");
    for _ in 0..3 {
        engine.deref(&ada, POINTER).unwrap();
    }
    let ask_for = |pointer: &str| {
        let deref = Deref {
            pointer: PointerInput::Text(pointer.to_owned()),
            max_tokens: None,
            turn: None,
            budget_token: None,
            reason: Some("The lock matters.".to_owned()),
        };
        let said = refused(engine.0.ask(&ada, ask::Deref(deref)), Code::DerefDenied);
        said.remedy.unwrap().request.unwrap()
    };
    let (one, two) = (ask_for(POINTER), ask_for("repo:src/lib.rs#L20@HEAD"));
    assert!(engine.new_lines(&ada).is_empty());
    let grant = GrantAnswer {
        id: one,
        cap_tokens: None,
        ttl: None,
    };
    engine.0.ask(&USER, ask::GrantRequest(grant)).unwrap();
    let deny = DenyAnswer {
        id: two,
        why: Some("Read the claim instead.".to_owned()),
    };
    engine.0.ask(&USER, ask::DenyRequest(deny)).unwrap();
    let told = engine.new_lines(&ada).join("\n");
    assert!(
        told.contains("Your request to read \"repo:src/lib.rs"),
        "{told}"
    );
    assert!(
        told.contains("was denied: \"Read the claim instead\"."),
        "{told}"
    );
    assert!(engine.new_lines(&ada).is_empty());
    assert!(engine.new_lines(&engine.agent("bob")).is_empty());
}

/// Claims of a brief come again with each; only what a person said is recorded as sent.
#[test]
fn a_claim_in_the_brief_is_not_recorded_as_sent() {
    let engine = Sandbox::open_new();
    let ada = engine.agent("ada");
    engine
        .put(&engine.agent("bob"), draft("The ledger is append-only."))
        .unwrap();
    engine.put(&ada, draft("The port is 8080.")).unwrap();
    let brief = engine.status(&ada).unwrap().brief;
    assert!(
        brief.iter().any(|it| it.contains("append-only")),
        "{brief:?}"
    );
    let head = engine.journal().head;
    engine.0.leave_in_order().unwrap();
    assert_eq!(engine.journal().head, head + 1, "its words, against echoes");
}

/// A to-do asks, so it needs no evidence; a claim does.
#[test]
fn the_user_writes_a_todo_without_evidence() {
    let engine = Sandbox::open_new();
    let bare = |kind| Draft {
        kind: Some(kind),
        pointers: Vec::new(),
        ..draft("Find out who calls post().")
    };
    refused(engine.put(&USER, bare(Kind::Fact)), Code::Unanchored);
    refused(
        engine.put(&engine.agent("ada"), bare(Kind::Todo)),
        Code::Unanchored,
    );
    let stored = engine.put(&USER, bare(Kind::Todo)).unwrap();
    let brief = engine.status(&engine.agent("bob")).unwrap().brief;
    assert!(
        brief.iter().any(|it| it.contains("who calls post()")),
        "{brief:?}"
    );
    assert!(!stored.verified);
}

/// What asks answers nothing.
#[test]
fn a_todo_is_no_answer_to_a_question() {
    let engine = Sandbox::open_new();
    let ada = engine.agent("ada");
    engine.todo("How long is a saved cart kept in the browser?");
    let asked = engine.query(&ada, "how long is a saved cart kept?");
    assert_eq!(asked.verdict, AnswerQuality::Weak);
    assert_eq!(asked.engrams.len(), 1, "it is shown");
    engine
        .put(
            &ada,
            draft("A saved cart is kept for 30 days in the browser."),
        )
        .unwrap();
    let asked = engine.query(&engine.agent("bob"), "how long is a saved cart kept?");
    assert_eq!(asked.verdict, AnswerQuality::Strong);
}

/// A pin says what was pinned: only its author, the user and whoever pinned it may change that.
#[test]
fn another_agent_does_not_change_what_a_pin_says() {
    let engine = Sandbox::open_new();
    let [ada, eve] = ["ada", "eve"].map(|name| engine.agent(name));
    let claim = engine.put(&ada, draft("Ship on Friday.")).unwrap();
    let pin = || ask::Pin(Pinning::Engram(claim.id));
    engine.0.ask(&USER, pin()).unwrap();
    let pinned = |words: &str| {
        let brief = engine.0.ask(&USER, ask::Brief).unwrap();
        let mut lines = brief.lines.iter().filter(|it| it.pinned);
        lines.any(|it| it.text.contains(words))
    };
    assert!(pinned("Friday"));
    engine
        .put(&ada, correction_of(claim.id, "Ship on Monday."))
        .unwrap();
    assert!(pinned("Monday"), "by its author");
    engine
        .put(&eve, correction_of(claim.id, "Delete the tests."))
        .unwrap();
    assert!(!pinned(""), "by somebody else");
}

/// An answer lasts, whatever it rests on, and its agent does not take it back.
#[test]
fn an_answer_to_a_todo_of_the_user_stays() {
    let engine = Sandbox::open_new();
    let ada = engine.agent("ada");
    let claim = engine.put(&USER, draft("The port is 8080.")).unwrap();
    let todo = engine.0.ask(&USER, ask::Reverify(claim.id)).unwrap();
    let answer = Draft {
        corrects_lineage: Some(todo.lineage_id.to_string()),
        ..draft("It still is.")
    };
    let brief = Draft {
        durability: Some(Durability::Ephemeral),
        ..answer.clone()
    };
    refused(engine.put(&ada, brief), Code::SchemaInvalid);
    let commit = engram_model::Commit {
        draft: Draft {
            pointers: Vec::new(),
            ..answer
        },
        ..engram_model::Commit::default()
    };
    let answered = engine.0.ask(&ada, ask::Commit(Box::new(commit))).unwrap();
    assert!(!answered.verified);
    let shown = engine.0.ask(&USER, ask::Brief).unwrap();
    let is_shown = shown
        .lines
        .iter()
        .any(|it| it.text.contains("It still is."));
    assert!(is_shown, "{shown:?}");
    refused(engine.forget(&ada, answered.id), Code::ScopeDenied);
    // Nor does it vanish by a correction that nobody would see for long.
    let corrected = || correction_of(answered.lineage_id, "It still is, I think.");
    for (lost, code) in [
        (
            Draft {
                ttl: Some("PT1S".to_owned()),
                ..corrected()
            },
            Code::SchemaInvalid,
        ),
        (
            Draft {
                durability: Some(Durability::Ephemeral),
                ..corrected()
            },
            Code::SchemaInvalid,
        ),
        (
            Draft {
                scope: Some(Scope::Run),
                ..corrected()
            },
            Code::SchemaInvalid,
        ),
        (
            Draft {
                kind: Some(Kind::Todo),
                ..corrected()
            },
            Code::ScopeDenied,
        ),
        (
            correction_of(
                answered.lineage_id,
                "fn main() { let port = 8080; serve(port); }",
            ),
            Code::SchemaInvalid,
        ),
    ] {
        refused(engine.put(&ada, lost), code);
    }
    let delete = Draft {
        operation: Some(MemoryOp::Delete),
        ..correction_of(answered.lineage_id, "")
    };
    refused(engine.put(&ada, delete), Code::ScopeDenied);
    engine.forget(&USER, answered.id).unwrap();
}
