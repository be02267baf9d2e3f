//! One conflict: why it is one, both claims side by side with what differs, and the evidence of
//! each.

use std::sync::Arc;

use engram_model::{Conflict, ConflictId, ConflictSide, ConflictStatus, Severity};
use leptos::{html, prelude::*};

use super::{VIEW, merge::Merging, state::can_reopen};
use crate::{
    app::{
        components::{field::ReasonField, prose, refused::Refused},
        dom,
        frame::room::{self, ToList},
        overlay::palette::keycaps,
        source::SourceCard,
        state::App,
        views::conflicts::{
            explain::view_explain, queue::differing_bytes, state, verdict_kind::ConflictVerdict,
        },
    },
    commands,
    words::{self, Clock, say},
};

/// Length in bytes from which a claim is set in smaller type.
const LONG: usize = 160;

#[component]
pub(super) fn Detail() -> impl IntoView {
    let app = App::here();
    let current = Memo::new(move |_| state::current_conflict(app));
    let id = Memo::new(move |_| current.with(|it| it.as_ref().map(|it| it.id)));
    let is_waiting = move || app.views.conflicts.inbox.open.with(Option::is_some);
    view! {
        <section class="pane detail" id=room::DETAIL aria-label=say::conflicts::ONE data-testid="conflict-detail">
            <ToList />
            {move || match id.get() {
                Some(id) => view! { <Whole id current /> }.into_any(),
                None if is_waiting() => view! { <p class="none quiet" aria-busy="true">{say::conflicts::READING}</p> }.into_any(),
                None if state::is_nothing_listed(app) => ().into_any(),
                None => view! { <p class="none quiet">{say::conflicts::NOT_READ}</p> }.into_any(),
            }}
            <Refused refusal=app.views.conflicts.verdict_refused />
            <Bar current />
        </section>
    }
}

/// Rebuilt only for another conflict; changes to the same one appear in place.
#[component]
fn Whole(id: ConflictId, current: Memo<Option<Arc<Conflict>>>) -> impl IntoView {
    let app = App::here();
    let node = NodeRef::<html::Div>::new();
    node.on_load(move |it| room::refocus_redrawn(app, &it));
    let head = move || current.get().map(|it| view_head(app, &it));
    let sides = current.get_untracked().map(|conflict| {
        let first = conflict.a.pointers.len();
        [(0, conflict.a.clone(), 0), (1, conflict.b.clone(), first)]
    });
    let sides = StoredValue::new(sides.into_iter().flatten().collect::<Vec<_>>());
    let said = move |side: usize| {
        let claim = Memo::new(move |_| {
            let conflict = current.get()?;
            Some(if side == 0 {
                conflict.a.clone()
            } else {
                conflict.b.clone()
            })
        });
        view! { <Said side claim /> }
    };
    let evidence = sides.with_value(|all| {
        let one = |(side, claim, first): &(usize, ConflictSide, usize)| {
            view! { <Evidence side=*side claim=claim.clone() first=*first /> }
        };
        all.iter().map(one).collect_view()
    });
    view! {
        <div class="scroll conflict" id=room::READ node_ref=node tabindex="-1" data-testid="conflict-read" data-conflict=id.to_string()>
            {head}
            <div class="pair">
                {said(0)}
                {said(1)}
                <div class="both"><Merging id conflict=current /></div>
                {evidence}
            </div>
        </div>
    }
}

fn view_head(app: App, conflict: &Arc<Conflict>) -> impl IntoView + use<> {
    let clock = app.clock.get();
    let id = conflict.id;
    let place = move || {
        let (at, of) = app.views.conflicts.queue.with(|queue| {
            let queue = queue.as_ref()?;
            Some((queue.place(id)? + 1, queue.rows().len()))
        })?;
        let [at, of] = [at, of].map(|it| words::thousands(it as u64));
        Some(view! { <span class="chip">{say::conflicts::place_of(&at, &of)}</span> })
    };
    let mut topics = vec![
        words::topic_name(&conflict.a.topic),
        words::topic_name(&conflict.b.topic),
    ];
    topics.dedup();
    let why = prose::claim(&conflict.why, &[]);
    let is_possible = conflict.status == ConflictStatus::Possible;
    let outcome = conflict
        .settled
        .as_ref()
        .map_or("", |settled| match conflict.winner() {
            Some(side) if side.id == conflict.a.id => say::conflicts::CHOSEN[0],
            Some(_) => say::conflicts::CHOSEN[1],
            None => say::conflicts::how_settled(settled.how),
        });
    view! {
        <div class="chips">
            {place}
            {(!is_possible).then(|| view! { <span class=severity_class(conflict.severity) data-testid="severity">{say::conflicts::severity_of(conflict.severity)}</span> })}
            {topics.into_iter().map(|it| view! { <span class="chip" title=say::engram::TOPIC>{it}</span> }).collect_view()}
        </div>
        <p class="quiet judge" data-testid="judge">{who_judged(conflict)}" "{clock.lately(conflict.found_at)}". "{view_explain(app, conflict)}</p>
        {(!conflict.why.is_empty() && !conflict.tier.is_word()).then(|| view! { <p class="reason" data-testid="why" dir=why.direction>{why.text}</p> })}
        {is_possible.then(|| view! { <p class="reason" data-testid="possible">{say::conflicts::POSSIBLE_MEANS}</p> })}
        {conflict.is_unconfirmed().then(|| view! { <p class="reason" data-testid="unconfirmed">{say::conflicts::UNCONFIRMED}</p> })}
        {conflict.judged.iter().map(|said| {
            let by = say::conflicts::by_whom("", &clock.moment(said.at));
            let who = words::person(&said.by);
            view! {
                <p class="settled" data-testid="judged"><b>{who}</b>": "{say::conflicts::judged(said.verdict, said.sure)}", "<span class="quiet">{by}</span>
                    {said.why.as_deref().map(words::visible).map(|it| view! { <q dir="auto">{it}</q> })}</p>
            }
        }).collect_view()}
        {conflict.settled.as_ref().map(|settled| {
            let by = say::conflicts::by_whom(&words::person(&settled.by), &clock.moment(settled.at));
            let merged = settled.merged.map(|id| view! {
                " "<button class="plain" data-testid="show-merged" on:click=move |_| state::show_in_feed(app, id)>{say::conflicts::SHOW_MERGED}</button>
            });
            view_outcome("settled", outcome, by, settled.why.as_deref(), merged)
        })}
        {conflict.allowed.as_ref().map(|allowed| {
            let by = say::conflicts::by_whom(&words::person(&allowed.by), &clock.moment(allowed.at));
            view_outcome("allowed", say::conflicts::IS_ALLOWED_BY, by, Some(&allowed.why), None::<()>)
        })}
    }
}

/// Who judged that it is a conflict, and how sure that is, in one line: a rule, a model, or whoever
/// said so; of a possible one, nobody yet.
fn who_judged(conflict: &Conflict) -> String {
    say::conflicts::who_judged(
        conflict.status,
        conflict.tier,
        &judges(conflict),
        conflict.score,
    )
}

/// The names of those who said something of the pair.
pub(super) fn judges(conflict: &Conflict) -> String {
    let said = conflict.judged.iter().map(|it| words::person(&it.by));
    let mut by: Vec<String> = said.collect();
    by.dedup();
    by.join(", ")
}

fn severity_class(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "word bad",
        Severity::Medium => "word warn",
        Severity::Low => "word gone",
    }
}

/// What was done, by whom and why, and what can be done about it.
fn view_outcome<V: IntoView + 'static>(
    testid: &'static str,
    what: &'static str,
    by: String,
    why: Option<&str>,
    more: Option<V>,
) -> impl IntoView + use<V> {
    let why = why.filter(|it| !it.is_empty()).map(words::visible);
    view! {
        <p class="settled" data-testid=testid>
            <b>{what}</b>" "{by}
            {why.map(|it| view! { <q dir="auto">{it}</q> })}
            {more}
        </p>
    }
}

/// A claim with its author, time and confidence.
#[component]
fn Said(side: usize, claim: Memo<Option<ConflictSide>>) -> impl IntoView {
    let app = App::here();
    let content = move || claim.get().map(|it| view_said(&it, app.clock.get()));
    let show = VIEW
        .command(["first-claim", "second-claim"][side])
        .map(|it| commands::tooltip(it, dom::is_mac()));
    view! {
        <article class="said" aria-label=say::conflicts::CLAIM_OF[side] data-testid="said" data-side=say::conflicts::SIDES[side]>
            <header>
                <h2><kbd aria-hidden="true">{say::conflicts::SIDES[side]}</kbd><span class="offscreen">{say::conflicts::CLAIM_OF[side]}</span></h2>
                <span>{move || claim.with(|it| it.as_ref().map(|it| words::person(&it.by)))}</span>
                <span class="space"></span>
                <button class="plain" data-testid="show-claim" title=show on:click=move |_| state::show_claim(app, side)>{say::conflicts::SHOW}</button>
            </header>
            {content}
        </article>
    }
}

fn view_said(side: &ConflictSide, clock: Clock) -> impl IntoView + use<> {
    let (window, until) = clock.validity(side.valid_until);
    let is_past = side.valid_until.is_some_and(|end| end <= clock.now);
    let verified = if side.verified {
        (say::state::VERIFIED, "word quiet")
    } else {
        (say::state::UNVERIFIED, "word warn")
    };
    let claim = if side.claim.is_empty() {
        view! { <p class="claim erased">{say::conflicts::ERASED}</p> }.into_any()
    } else {
        let claim = prose::marked_claim(&side.claim, &differing_bytes(side));
        view! { <p class="claim" class:closed=is_past class:long={side.claim.len() > LONG} dir=claim.direction data-testid="said-claim">{claim.text}</p> }
                .into_any()
    };
    view! {
        {claim}
        <dl class="facts">
            <div><dt>{say::engram::CONFIDENCE}</dt><dd>{format!("{:.2}", side.confidence)}</dd></div>
            <div><dt class="offscreen">{say::conflicts::TYPE}</dt><dd>{side.fact_type.as_str()}</dd></div>
            <div><dt>{say::engram::RECORDED}</dt><dd>{clock.moment(side.created_at)}</dd></div>
            <div><dt>{window}</dt><dd>{until}</dd></div>
            <div><dt class="offscreen">{say::engram::EVIDENCE}</dt><dd class=verified.1>{verified.0}</dd></div>
        </dl>
    }
}

/// The sources of a claim, with the first one open.
#[component]
fn Evidence(side: usize, claim: ConflictSide, first: usize) -> impl IntoView {
    let is_none = claim.pointers.is_empty();
    let engram = claim.id;
    let cards = claim
        .pointers
        .into_iter()
        .enumerate()
        .map(|(index, pointer)| {
            view! { <SourceCard engram index={first + index} pointer opens={index == 0} /> }
        });
    view! {
        <section class="sources" aria-label=say::conflicts::EVIDENCE_OF[side] data-testid="evidence-of" data-side=say::conflicts::SIDES[side]>
            <h3>{say::conflicts::EVIDENCE_OF[side]}</h3>
            {is_none.then(|| view! { <p class="quiet">{say::conflicts::NO_EVIDENCE}</p> })}
            {cards.collect_view()}
        </section>
    }
}

/// The verdicts, and the reason that goes with one.
#[component]
fn Bar(current: Memo<Option<Arc<Conflict>>>) -> impl IntoView {
    let app = App::here();
    let all = app.views.conflicts;
    let is_none = move || current.with(Option::is_none) || all.is_any_chosen();
    let offered = Memo::new(move |_| {
        let of = |it: &Arc<Conflict>| ConflictVerdict::ALL.map(|verdict| verdict.is_offered(it));
        current.with(|it| it.as_ref().map(of)).unwrap_or_default()
    });
    let waits = Memo::new(move |_| {
        current.with(|it| {
            it.as_ref()
                .is_some_and(|it| ConflictVerdict::Dismiss.fits(it))
        })
    });
    let fits = move |verdict: ConflictVerdict| {
        Memo::new(move |_| current.with(|it| it.as_ref().is_some_and(|it| verdict.fits(it))))
    };
    let buttons = move || {
        let offered = ConflictVerdict::ALL.into_iter().zip(offered.get());
        let offered = offered.filter(|it| it.1).map(|it| it.0);
        offered
            .map(|it| view_verdict_button(app, it, it.name().to_owned(), fits(it)))
            .collect_view()
    };
    let reopens =
        Memo::new(move |_| current.with(|it| it.as_ref().is_some_and(|it| can_reopen(it))));
    let reason = Signal::derive(move || {
        let id = current.with(|it| it.as_ref().map(|it| it.id));
        id.map(|id| all.draft_of(id).reason).unwrap_or_default()
    });
    let write = move |text: String| {
        if let Some(conflict) = current.get_untracked() {
            all.write(conflict.id, |it| it.reason = text);
        }
    };
    let ended = move || {
        let is_ended = !waits.get() && !reopens.get();
        is_ended.then(|| view! { <span class="quiet">{say::conflicts::ENDED}</span> })
    };
    view! {
        // While rows are selected, keys and buttons act on them, from their own bar.
        <div class="bar verdicts" role="group" aria-label=say::conflicts::VERDICTS hidden=is_none data-testid="verdicts">
            {move || (waits.get() && !all.is_any_chosen()).then(|| view! {
                <Reason reason set=write />
                {buttons}
            })}
            {move || reopens.get().then(|| {
                let is_open = waits.get();
                let name = if is_open { say::conflicts::DISALLOW } else { say::conflicts::REOPEN };
                view! { <button class:primary=!is_open data-testid="reopen" on:click=move |_| VIEW.run(app, "reopen")>{name}" "{keycaps(VIEW.chord("reopen"))}</button> }
            })}
            {ended}
        </div>
    }
}

/// A verdict's button, with its key.
pub(super) fn view_verdict_button(
    app: App,
    verdict: ConflictVerdict,
    name: String,
    fits: Memo<bool>,
) -> impl IntoView + use<> {
    let command = VIEW.command(verdict.id());
    let key = command.and_then(|it| it.keys.first().copied()).map(keycaps);
    let is_busy = move || app.batch.progress.with(Option::is_some);
    let is_primary = matches!(verdict, ConflictVerdict::First | ConflictVerdict::Second);
    view! {
        <button class:primary=is_primary data-testid=command.map(|it| it.id) title=verdict.means() disabled=move || !fits.get() || is_busy()
            on:click=move |_| VIEW.run(app, verdict.id())>{name}" "{key}</button>
    }
}

/// The field for a reason. Enter gives the verdict that waits for the reason.
#[component]
pub(super) fn Reason(
    #[prop(into)] reason: Signal<String>,
    set: impl Fn(String) + 'static,
) -> impl IntoView {
    let app = App::here();
    let wants = app.views.conflicts.wants_reason;
    let enter = move || {
        if wants.get_untracked() {
            VIEW.run(app, ConflictVerdict::Allow.id());
        }
    };
    let usual = (say::conflicts::REASON, say::conflicts::REASON_HINT);
    let wanted = (
        say::conflicts::WHY_ALLOWED,
        say::conflicts::WHY_ALLOWED_HINT,
    );
    view! { <ReasonField reason set wants usual wanted enter /> }
}
