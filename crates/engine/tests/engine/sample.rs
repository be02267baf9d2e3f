//! The sample: honest claims from the history, stored once, taken out of use with one request.

use engram_model::{Caller, Evidence, Request, SampleReply};

use crate::fixture::{Asked, Ground};

fn sample(
    at: &Asked,
    who: &Caller,
    request: Request,
) -> Result<SampleReply, engram_model::Refusal> {
    match at.0.handle(who, request)? {
        engram_model::Reply::Sample(reply) => Ok(reply),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sample_is_proved_by_the_history_and_goes_again() {
    let ground = Ground::new();
    let at = ground.open();
    let own = at.claim("Mine stays");
    let loaded = sample(&at, &Caller::User, Request::LoadSample).unwrap();
    assert!(!loaded.ids.is_empty());
    for id in &loaded.ids {
        let engram = at.get(&Caller::User, *id).unwrap();
        assert!(engram.verified, "{}", engram.claim);
        assert_eq!(engram.tags, [engram_model::SAMPLE]);
        let standing = engram.health.map(|it| it.standing);
        assert!(
            standing.is_none_or(|it| it == Evidence::Holds),
            "{}",
            engram.claim
        );
        for pointer in &engram.pointers {
            at.deref(&Caller::User, &pointer.to_string()).unwrap();
        }
    }
    // Loaded again it is the same claims.
    sample(&at, &Caller::User, Request::LoadSample).unwrap();
    let holding = |at: &Asked| {
        at.for_status(&Caller::User, Request::Status)
            .unwrap()
            .engrams
    };
    assert_eq!(holding(&at), loaded.ids.len() as u64 + 1);

    let agent = at.agent("programmer");
    // Made to look at: no agent is told of it.
    assert!(at.query(&agent, "longest source files").engrams.is_empty());
    assert!(!at.found("longest source files").is_empty());
    for request in [Request::LoadSample, Request::RemoveSample] {
        let refusal = sample(&at, &agent, request).unwrap_err();
        assert_eq!(refusal.code.as_str(), "SCOPE_DENIED");
    }
    let removed = sample(&at, &Caller::User, Request::RemoveSample).unwrap();
    assert_eq!(removed.ids.len(), loaded.ids.len());
    assert_eq!(holding(&at), 1);
    assert!(at.get(&Caller::User, own.id).unwrap().valid_until.is_none());
    assert!(
        sample(&at, &Caller::User, Request::RemoveSample)
            .unwrap()
            .ids
            .is_empty()
    );
    // And it can be looked at once more.
    assert!(
        !sample(&at, &Caller::User, Request::LoadSample)
            .unwrap()
            .ids
            .is_empty()
    );
}
