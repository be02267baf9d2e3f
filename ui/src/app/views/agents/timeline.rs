//! What an agent did, turn by turn, the newest first, and what its pointers saved.

use engram_model::{
    ActOf, AgentAct, AgentStatus, Figure, Meter, Timeline as Told, TimelineOf, ask,
};
use jiff::Timestamp;
use leptos::prelude::*;

use crate::{
    app::{components::prose, reading, state::App, views::conflicts},
    tags::Tag,
    words::{self, Clock, say},
};

/// A turn of an agent, with what it did in it.
#[derive(Clone, Debug, PartialEq)]
struct Turn {
    /// When it did the first of the listed acts.
    began: Timestamp,
    /// Tokens of what it read.
    tokens: u64,
    /// How often it read.
    reads: u64,
    /// What it did, newest first, without the act that began the turn.
    acts: Vec<AgentAct>,
}

/// Groups acts, newest first, by turn.
fn group(acts: Vec<AgentAct>) -> Vec<Turn> {
    let mut turns: Vec<(String, Turn)> = Vec::new();
    for act in acts {
        if turns.last().is_none_or(|(name, _)| *name != act.turn) {
            let empty = Turn {
                began: act.at,
                tokens: 0,
                reads: 0,
                acts: Vec::new(),
            };
            turns.push((act.turn.clone(), empty));
        }
        let Some((_, turn)) = turns.last_mut() else {
            continue;
        };
        turn.began = act.at;
        if let ActOf::Read { tokens, .. } = act.what {
            turn.tokens += u64::from(tokens);
            turn.reads += 1;
        }
        if act.what != ActOf::Began {
            turn.acts.push(act);
        }
    }
    turns.into_iter().map(|(_, turn)| turn).collect()
}

#[component]
pub(super) fn Timeline(agent: Memo<Option<AgentStatus>>) -> impl IntoView {
    let app = App::here();
    let handle = Memo::new(move |_| agent.with(|it| it.as_ref().map(|it| it.handle.clone())));
    let loaded = LocalResource::new(move || {
        app.stale.track(Tag::Status);
        let row = handle.get().and_then(|it| app.views.agents.row_with(&it));
        async move {
            let mut agents = row?.handles;
            // The newest are the last.
            agents.drain(..agents.len().saturating_sub(TimelineOf::MAX_AGENTS));
            let of = agents.last().cloned();
            let told = app.ask(ask::Timeline(TimelineOf { agents })).await.ok()?;
            Some((of, *told))
        }
    });
    let told = Memo::new(
        move |before: Option<&Option<(_, Told)>>| match loaded.get() {
            Some(told) => told.filter(|(of, _)| *of == handle.get()),
            None => before.cloned().flatten(),
        },
    );
    let turns = Memo::new(move |_| {
        let acts = told.with(|it| it.as_ref().map(|(_, told)| told.acts.clone()));
        group(acts.unwrap_or_default())
    });
    let saved = move || {
        let saved = told.with(|it| it.as_ref().map(|(_, told)| told.saved))?;
        let files = words::format_count(saved.files, say::agents::FILES);
        (saved.tokens() > 0).then(|| say::agents::saved(&words::thousands(saved.tokens()), &files))
    };
    let is_none = move || turns.with(Vec::is_empty);
    let rows = move || {
        let clock = app.clock.get();
        turns.with(|all| {
            let most = all.iter().map(|it| it.tokens).max().unwrap_or_default();
            let view = |turn: &Turn| view_turn(app, turn, most, clock);
            all.iter().map(view).collect_view()
        })
    };
    view! {
        <section class="costs" aria-label=say::agents::TIMELINE hidden=is_none data-testid="agent-timeline">
            <h3>{say::agents::TIMELINE}</h3>
            <p class="quiet" hidden=move || saved().is_none() data-testid="agent-saved">{saved}</p>
            <table><colgroup><col class="ago" /><col /><col class="paid" /></colgroup>{rows}</table>
        </section>
    }
}

/// A turn: when it began, its reading as a bar beside that of other turns, and what was done.
fn view_turn(app: App, turn: &Turn, most: u64, clock: Clock) -> impl IntoView + use<> {
    let share = turn.tokens * 100 / most.max(1);
    let reads = words::format_count(turn.reads, say::agents::READS);
    let spent = (turn.reads > 0).then(|| {
        say::agents::spent(
            &words::format_count(turn.tokens, say::requests::TOKENS),
            &reads,
        )
    });
    let acts = turn.acts.iter();
    let acts = acts.map(|act| view_act(app, act, clock)).collect_view();
    view! {
        <tbody data-testid="turn">
            <tr class="turn">
                <th colspan="3" scope="rowgroup">
                    <span class="gauge">
                        <span>{say::agents::turn_began(&clock.moment(turn.began))}</span>
                        <i class="track" hidden=most == 0 aria-hidden="true"><i style:width=format!("{share}%")></i></i>
                        <span>{spent}</span>
                    </span>
                </th>
            </tr>
            {acts}
        </tbody>
    }
}

fn view_act(app: App, act: &AgentAct, clock: Clock) -> impl IntoView + use<> {
    let (ago, at) = (clock.ago(act.at), clock.moment(act.at));
    let is_refused = matches!(act.what, ActOf::Refused { .. });
    let cost = cost_in_words(&act.what);
    let what = match &act.what {
        ActOf::Stored { id, claim } => {
            let id = *id;
            let claim = prose::prose(&words::visible(claim));
            view! { {say::agents::DID_STORE}" "<button class="plain" on:click=move |_| reading::go_to_engram(app, id)>{claim}</button> }.into_any()
        }
        ActOf::Contradicted { conflict } => {
            let id = *conflict;
            view! { <button class="plain" on:click=move |_| conflicts::show_conflict(app, id)>{say::agents::DID_CONTRADICT}</button> }.into_any()
        }
        ActOf::Settled {
            conflict,
            how,
            ended,
        } => {
            let id = *conflict;
            let did = if how.is_some() {
                say::agents::DID_SETTLE
            } else {
                say::agents::DID_REOPEN
            };
            let ended: Vec<String> = ended.iter().map(|it| words::visible(it)).collect();
            let ended = (!ended.is_empty()).then(|| say::agents::ended(&ended));
            view! {
                <button class="plain" on:click=move |_| conflicts::show_conflict(app, id)>{did}</button>
                {ended.map(|it| prose::prose(&it))}
            }
            .into_any()
        }
        what => in_words(what).into_any(),
    };
    view! {
        <tr data-testid="act" class:was-refused=is_refused><td class="spent-at" title=at>{ago}</td><td class="what">{what}</td><td class="cost">{cost}</td></tr>
    }
}

/// What was done, in words; nothing for what is shown in another way.
fn in_words(what: &ActOf) -> String {
    match what {
        ActOf::Read { pointer, cut, .. } => {
            let source = words::wanted_source(pointer);
            if *cut {
                say::agents::read_part(&source)
            } else {
                say::agents::read_source(&source)
            }
        }
        ActOf::Asked { pointer, .. } => say::agents::asked_for(&words::wanted_source(pointer)),
        ActOf::Message { .. } => say::agents::MESSAGE.to_owned(),
        ActOf::Refused { code, figures } => {
            let one = |(name, figure): (&String, &Figure)| {
                let meter = Meter {
                    used: u32::try_from(figure.used).unwrap_or(u32::MAX),
                    limit: u32::try_from(figure.limit).unwrap_or(u32::MAX),
                };
                let what = say::agents::name_of_count(name)
                    .map_or_else(|| words::visible(name), str::to_owned);
                format!("{what} {}", words::meter(meter))
            };
            let all: Vec<String> = figures.iter().map(one).collect();
            match (all.is_empty(), *code) {
                (false, _) => say::agents::refused_for(&all.join(", ")),
                (true, engram_model::Code::DerefDenied) => say::agents::NOT_ALLOWED.to_owned(),
                (true, _) => say::agents::OVER.to_owned(),
            }
        }
        ActOf::Began
        | ActOf::Stored { .. }
        | ActOf::Contradicted { .. }
        | ActOf::Settled { .. } => String::new(),
    }
}

fn cost_in_words(what: &ActOf) -> String {
    let tokens = |count: u64| words::format_count(count, say::requests::TOKENS);
    match what {
        ActOf::Read {
            tokens: cost,
            grant: Some(_),
            ..
        } => format!("{}, {}", tokens((*cost).into()), say::agents::BY_GRANT),
        ActOf::Read { tokens: cost, .. } => tokens((*cost).into()),
        ActOf::Message { tokens: cost } => tokens(*cost),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act(second: i64, turn: &str, what: ActOf) -> AgentAct {
        AgentAct {
            at: Timestamp::from_second(second).unwrap_or_default(),
            turn: turn.to_owned(),
            what,
        }
    }

    #[test]
    fn acts_are_grouped_by_turn_with_what_was_read() {
        let read = |tokens| ActOf::Read {
            pointer: String::new(),
            tokens,
            cut: false,
            grant: None,
        };
        let turns = group(vec![
            act(9, "b", read(30)),
            act(8, "b", ActOf::Message { tokens: 5 }),
            act(7, "b", read(20)),
            act(6, "b", ActOf::Began),
            act(5, "a", ActOf::Message { tokens: 5 }),
            act(4, "a", ActOf::Began),
        ]);
        let told: Vec<_> = turns
            .iter()
            .map(|it| (it.began.as_second(), it.tokens, it.reads, it.acts.len()))
            .collect();
        assert_eq!(told, [(6, 50, 2, 3), (4, 0, 0, 1)]);
        assert_eq!(group(Vec::new()), []);
    }
}
