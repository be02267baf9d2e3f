//! The acceptance criteria (docs/design.md#acceptance-criteria): one function for each, which runs
//! on every surface that has the features. Each function is named like its test.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::keys;

/// The requested value, or the error.
pub type Answer = Result<Value, Value>;

/// A new home and repository, where `lead` is an architect and `ada`, who makes the requests, its
/// programmer.
pub trait Surface {
    /// Returns a pointer to lines of a committed file.
    fn pointer(&self) -> &str;
    /// Stores an engram.
    fn put(&mut self, draft: Value) -> Answer;
    /// Reads what a pointer addresses.
    fn deref(&mut self, pointer: &str, token: Option<&str>) -> Answer;
    /// Returns the engrams that match.
    fn query(&mut self, word: &str) -> Vec<Value>;
    /// Returns the matching engrams of kind risk.
    fn risks(&mut self, word: &str) -> Vec<Value>;
    /// Makes a grant by the user to ada: of a pointer, or of this many characters of code.
    fn grant(&mut self, pointer: Option<&str>, code_chars: Option<u32>) -> Value;
    /// Lets this many seconds pass.
    fn wait(&mut self, seconds: u64);
}

/// A surface over which agents send each other messages.
pub trait Bus: Surface {
    /// Sends a message as this agent.
    fn send(&mut self, agent: &str, message: Value) -> Answer;
    /// Returns the brief of the parent.
    fn brief(&mut self) -> Value;
    /// Returns what ada spent.
    fn budget(&mut self) -> Value;
}

/// Defines a test for each criterion, on the surface that `$make` creates.
#[macro_export]
macro_rules! criteria {
    ($make:expr; $($line:ident)+) => {
        $(#[test] fn $line() { engram_kit::criteria::$line(&mut $make); })+
    };
}

/// The criteria for every surface.
#[macro_export]
macro_rules! criteria_of_agents {
    ($make:expr) => {
        $crate::criteria! { $make;
            at_most_3_repo_dereferences_a_turn
            every_engram_has_a_pointer
            excerpts_are_tied_to_pointers_by_their_digest
            a_4th_repo_dereference_without_a_grant_is_denied
            a_pointer_without_a_sha_is_rejected
            a_pointer_to_no_file_fails_with_a_clear_error
            an_engram_without_pointers_is_rejected
            an_engram_that_is_too_long_is_rejected
            an_engram_whose_ttl_is_over_is_not_found
            every_decision_and_risk_has_pointers
            dereferences_beyond_the_budget_need_a_grant
            dereferenced_content_is_traceable_by_its_digest
            a_contradiction_is_one_risk_that_points_at_both_sources
        }
    };
}

/// The criteria for messages.
#[macro_export]
macro_rules! criteria_of_messages {
    ($make:expr) => {
        $crate::criteria! { $make;
            at_most_800_inline_tokens_a_message
            no_inline_code_unless_granted
            a_parent_broadcasts_at_most_30_lines
            an_oversized_message_is_rejected_and_resent
            a_message_of_1200_inline_tokens_is_rejected
            inline_code_without_a_grant_is_rejected
            a_typical_run_takes_at_most_800_inline_tokens_a_turn
        }
    };
}

fn draft(pointers: Value) -> Value {
    json!({
        "claim": "Vendors retry for thirty days.", "kind": "fact", "confidence": 0.9, "ttl": "P7D",
        "scope": "project", "pointers": pointers,
    })
}

fn report(engrams: Value, summary: &str) -> Value {
    json!({
        "role": "programmer", "task_status": "done", "engrams": engrams,
        "output": { "summary": summary, "next": "" },
    })
}

fn order(brief: usize) -> Value {
    let lines: Vec<String> = (0..brief).map(|at| format!("Goal {at}.")).collect();
    json!({ "role": "programmer", "shared_brief_micro": lines, "instructions": ["Confirm the retries."] })
}

/// Returns the addresses of an engram's pointers, in either form that surfaces use.
fn addresses(engram: &Value) -> impl Iterator<Item = &str> {
    let pointers = engram["pointers"].as_array().unwrap().iter();
    pointers.map(|it| it["ref"].as_str().or(it.as_str()).unwrap())
}

/// Returns the code of a refusal, without the surface's prefix; asserts that it has a hint.
#[track_caller]
fn refused(answer: Answer) -> String {
    let error = answer.expect_err("a refusal");
    assert!(keys(&error).contains(&"hint"), "{error}");
    let code = error["code"].as_str().unwrap();
    code.trim_start_matches("LESS_").to_owned()
}

/// docs/design.md#messages-stay-small.
pub fn at_most_800_inline_tokens_a_message(bus: &mut impl Bus) {
    let sent = bus
        .send(
            "ada",
            report(json!([draft(json!([bus.pointer()]))]), "One fact."),
        )
        .unwrap();
    assert!(
        (1..=800).contains(&sent["tokens"].as_u64().unwrap()),
        "{sent}"
    );
    let words = |count| "word ".repeat(count);
    assert!(bus.send("ada", report(json!([]), &words(700))).is_ok());
    let over = bus.send("ada", report(json!([]), &words(790)));
    assert_eq!(refused(over), "BUDGET_EXCEEDED");
}

/// docs/design.md#reads-stay-within-the-budget.
pub fn at_most_3_repo_dereferences_a_turn(surface: &mut impl Surface) {
    let pointer = surface.pointer().to_owned();
    let read = (0..9)
        .filter(|_| surface.deref(&pointer, None).is_ok())
        .count();
    assert_eq!(read, 3);
}

/// docs/design.md#messages-stay-small.
pub fn no_inline_code_unless_granted(bus: &mut impl Bus) {
    let code = || report(json!([]), "let mut left = self.left - n;\nreturn left;");
    assert_eq!(refused(bus.send("ada", code())), "BUDGET_EXCEEDED");
    bus.grant(None, Some(200));
    assert!(bus.send("ada", code()).is_ok());
    // One message spends the grant.
    assert_eq!(refused(bus.send("ada", code())), "BUDGET_EXCEEDED");
}

/// docs/design.md#messages-stay-small.
pub fn a_parent_broadcasts_at_most_30_lines(bus: &mut impl Bus) {
    let told = bus.send("lead", order(30)).unwrap();
    assert_eq!(told["sent"][0]["to"], "ada");
    assert_eq!(refused(bus.send("lead", order(31))), "BUDGET_EXCEEDED");
    let brief = bus.brief();
    assert!(brief["lines"].as_array().unwrap().len() <= 30);
    assert!(brief["tokens"].as_u64().unwrap() <= 800);
}

/// docs/design.md#claims-stay-anchored.
pub fn every_engram_has_a_pointer(surface: &mut impl Surface) {
    let stored = surface.put(draft(json!([surface.pointer()]))).unwrap();
    assert_eq!(stored["verified"], true);
    let found = surface.query("vendors");
    assert_eq!(found.len(), 1);
    assert!(!found[0]["pointers"].as_array().unwrap().is_empty());
    assert_eq!(refused(surface.put(draft(json!([])))), "UNANCHORED");
}

/// docs/design.md#evidence-stays-traceable.
pub fn excerpts_are_tied_to_pointers_by_their_digest(surface: &mut impl Surface) {
    let pointer = surface.pointer().to_owned();
    let read = surface.deref(&pointer, None).unwrap();
    let digest = read["content_digest"].as_str().unwrap();
    assert!(
        digest.starts_with("sha256:") && digest.len() == 71,
        "{read}"
    );
    // The reply pins the pointer to a commit, and reading that pointer gives the same text.
    let pinned = read["pointer"].as_str().unwrap().to_owned();
    assert!(!pinned.ends_with("@HEAD"), "{pinned}");
    let again = surface.deref(&pinned, None).unwrap();
    assert_eq!(
        (&again["content_digest"], &again["excerpt"]),
        (&read["content_digest"], &read["excerpt"])
    );
}

/// docs/design.md#messages-stay-small.
pub fn an_oversized_message_is_rejected_and_resent(bus: &mut impl Bus) {
    let long = report(
        json!([draft(json!([bus.pointer()]))]),
        &"word ".repeat(1_200),
    );
    let error = bus.send("ada", long).unwrap_err();
    assert_eq!(error["code"], "BUDGET_EXCEEDED");
    let sent = bus.send("ada", error["skeleton"].clone()).unwrap();
    assert_eq!(sent["resend_of"], error["refusal"]);
    assert_eq!(bus.query("vendors").len(), 1);
}

/// docs/design.md#messages-stay-small.
pub fn a_message_of_1200_inline_tokens_is_rejected(bus: &mut impl Bus) {
    let answer = bus.send("ada", report(json!([]), &"word ".repeat(1_160)));
    let error = answer.unwrap_err();
    assert_eq!(error["code"], "BUDGET_EXCEEDED");
    let used = error["figures"]["inline_tokens"]["used"].as_u64().unwrap();
    assert!((1_150..1_250).contains(&used), "{error}");
}

/// docs/design.md#reads-stay-within-the-budget.
pub fn a_4th_repo_dereference_without_a_grant_is_denied(surface: &mut impl Surface) {
    let pointer = surface.pointer().to_owned();
    for _ in 0..3 {
        surface.deref(&pointer, None).unwrap();
    }
    assert_eq!(refused(surface.deref(&pointer, None)), "DEREF_DENIED");
}

/// docs/design.md#messages-stay-small.
pub fn inline_code_without_a_grant_is_rejected(bus: &mut impl Bus) {
    let code = report(json!([]), "fn post(entry: Entry) {\n    store(entry);\n}");
    let error = bus.send("ada", code).unwrap_err();
    assert_eq!(error["code"], "BUDGET_EXCEEDED");
    assert_eq!(error["figures"]["inline_code_chars"]["limit"], 0);
}

/// docs/design.md#claims-stay-anchored.
pub fn a_pointer_without_a_sha_is_rejected(surface: &mut impl Surface) {
    let bare = surface.pointer().trim_end_matches("@HEAD").to_owned();
    assert_eq!(
        refused(surface.put(draft(json!([bare])))),
        "POINTER_UNPINNED"
    );
    assert_eq!(refused(surface.deref(&bare, None)), "POINTER_UNPINNED");
}

/// docs/design.md#claims-stay-anchored.
pub fn a_pointer_to_no_file_fails_with_a_clear_error(surface: &mut impl Surface) {
    let gone = "repo:src/gone.rs#L1@HEAD";
    let error = surface.deref(gone, None).unwrap_err();
    assert!(
        error["message"].as_str().unwrap().contains("src/gone.rs"),
        "{error}"
    );
    assert_eq!(refused(Err(error)), "POINTER_NOT_FOUND");
    assert_eq!(
        refused(surface.put(draft(json!([gone])))),
        "POINTER_NOT_FOUND"
    );
}

/// docs/design.md#claims-stay-anchored.
pub fn an_engram_without_pointers_is_rejected(surface: &mut impl Surface) {
    assert_eq!(refused(surface.put(draft(json!([])))), "UNANCHORED");
    assert!(surface.query("vendors").is_empty());
}

/// docs/design.md#claims-stay-anchored.
pub fn an_engram_that_is_too_long_is_rejected(surface: &mut impl Surface) {
    let mut long = draft(json!([surface.pointer()]));
    long["claim"] = json!("vendors ".repeat(63));
    assert_eq!(refused(surface.put(long)), "CLAIM_TOO_LONG");
    assert!(surface.query("vendors").is_empty());
}

/// docs/design.md#claims-stay-anchored.
pub fn an_engram_whose_ttl_is_over_is_not_found(surface: &mut impl Surface) {
    let mut short = draft(json!([surface.pointer()]));
    short["ttl"] = json!("PT3S");
    surface.put(short).unwrap();
    surface.wait(4);
    assert!(surface.query("vendors").is_empty());
}

/// In a typical run, an agent's messages in one turn have at most 800 inline tokens in total. No
/// limit applies to that sum, but the agent's budget shows it
/// (docs/design.md#messages-stay-small). Ada gets an order, reads, reports progress twice and sends
/// a claim.
pub fn a_typical_run_takes_at_most_800_inline_tokens_a_turn(bus: &mut impl Bus) {
    bus.send("lead", order(3)).unwrap();
    let pointer = bus.pointer().to_owned();
    bus.deref(&pointer, None).unwrap();
    let reports = [
        report(
            json!([]),
            "The retries are read; their bound is not found yet.",
        ),
        report(
            json!([]),
            "The bound is found; the tests of it are not read yet.",
        ),
        report(json!([draft(json!([pointer]))]), "The retries are bounded."),
    ];
    let mut sum = 0;
    for report in reports {
        sum += bus.send("ada", report).unwrap()["tokens"].as_u64().unwrap();
    }
    let inline = &bus.budget()["inline_tokens"];
    assert_eq!(inline["used"], sum, "{inline}");
    assert!((1..=800).contains(&sum), "{inline}");
    assert_eq!(bus.query("vendors").len(), 1);
}

/// docs/design.md#claims-stay-anchored.
pub fn every_decision_and_risk_has_pointers(surface: &mut impl Surface) {
    for kind in ["decision", "risk"] {
        let of = |pointers: Value| {
            let mut draft = draft(pointers);
            draft["kind"] = json!(kind);
            draft["claim"] = json!(format!("This {kind} is about vendors."));
            draft
        };
        assert_eq!(refused(surface.put(of(json!([])))), "UNANCHORED");
        surface.put(of(json!([surface.pointer()]))).unwrap();
    }
    let found = surface.query("vendors");
    assert_eq!(found.len(), 2);
    assert!(
        found
            .iter()
            .all(|it| !it["pointers"].as_array().unwrap().is_empty())
    );
}

/// docs/design.md#reads-stay-within-the-budget.
pub fn dereferences_beyond_the_budget_need_a_grant(surface: &mut impl Surface) {
    let pointer = surface.pointer().to_owned();
    while surface.deref(&pointer, None).is_ok() {}
    let granted = surface.grant(Some(&pointer), None);
    let token = granted["budget_token"].as_str().unwrap();
    surface.deref(&pointer, Some(token)).unwrap();
    assert_eq!(
        refused(surface.deref(&pointer, Some(token))),
        "DEREF_DENIED"
    );
    assert_eq!(
        refused(surface.deref(&pointer, Some("forged"))),
        "DEREF_DENIED"
    );
}

/// A stored pointer keeps the pin to the content that was read
/// (docs/design.md#evidence-stays-traceable).
pub fn dereferenced_content_is_traceable_by_its_digest(surface: &mut impl Surface) {
    let pointer = surface.pointer().to_owned();
    let read = surface.deref(&pointer, None).unwrap();
    let pinned = read["pointer"].as_str().unwrap();
    surface.put(draft(json!([pinned]))).unwrap();
    let found = surface.query("vendors");
    assert_eq!(addresses(&found[0]).collect::<Vec<_>>(), [pinned]);
}

/// When two claims contradict each other, Engram itself stores the risk
/// (docs/design.md#evidence-stays-traceable).
pub fn a_contradiction_is_one_risk_that_points_at_both_sources(surface: &mut impl Surface) {
    let first = surface.pointer().to_owned();
    let other = first.replace("#L2", "#L1").replace("-L3", "");
    for (pointer, minutes) in [(first, 3), (other, 30)] {
        let mut claim = draft(json!([pointer]));
        claim["claim"] = json!(format!("The wallet lock lasts {minutes} minutes."));
        claim["topic"] = json!("wallet");
        surface.put(claim).unwrap();
    }
    let claims = surface.query("wallet");
    let sources: BTreeSet<&str> = claims.iter().flat_map(addresses).collect();
    assert_eq!((claims.len(), sources.len()), (2, 2), "{claims:?}");
    let risks = surface.risks("wallet");
    assert_eq!(risks.len(), 1, "{risks:?}");
    let author = risks[0]["by"].as_str();
    let author = author.or(risks[0]["provenance"]["created_by"].as_str());
    assert_eq!(
        (author, &risks[0]["kind"]),
        (Some("engram"), &json!("risk"))
    );
    assert_eq!(addresses(&risks[0]).collect::<BTreeSet<_>>(), sources);
}
