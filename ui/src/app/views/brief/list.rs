//! The lines in order, by part; how much of its limits the brief uses; and whose it is.

use engram_model::{AgentId, AgentStatus, BriefLine, BriefPart, Meter, ShownBrief};
use leptos::{ev, prelude::*};

use super::{VIEW, pins::FIELD, state};
use crate::{
    app::{
        components::{
            field::keys_of_line,
            icons::Icon,
            inbox::{Instead, ListBox, ListPane},
            prose::prose,
            refused::Refused,
        },
        dom,
        overlay::palette::keycaps,
        state::App,
        views::brief::pins,
    },
    words::{self, Clock, say},
};

/// The id of the choice of an agent, which the filter key focuses.
pub(super) const WHOSE: &str = "brief-of";

#[component]
pub(super) fn List() -> impl IntoView {
    let app = App::here();
    let brief = app.views.brief;
    let beside = move || {
        view! {
            <Used />
            <span class="space"></span>
            <button data-testid="add-line" title=say::brief::ADD on:click=move |_| VIEW.run(app, "line")>{say::brief::ADD_SHORT}" "{keycaps(VIEW.chord("line"))}</button>
        }
    };
    view! {
        <ListPane view=&VIEW beside limits=|| view! { <Whose /> } refused=brief.inbox.refused again=state::read>
            <Field />
            <div class="within-list"><Refused refusal=brief.pin_refused /></div>
            <Lines />
        </ListPane>
    }
}

/// The lines and tokens used, of those that the brief may have.
#[component]
fn Used() -> impl IntoView {
    let app = App::here();
    let chip = move |of: fn(&ShownBrief) -> (u64, u64, &'static str)| {
        move || {
            let known = app.views.brief.known.with(|it| it.as_ref().map(of));
            known.map(|(used, most, what)| {
                let limit = u32::try_from(most).unwrap_or(u32::MAX);
                let meter = Meter {
                    used: u32::try_from(used).unwrap_or(u32::MAX),
                    limit,
                };
                let told =
                    say::brief::used(&words::thousands(used), &words::thousands(most), what);
                view! { <span class="chip" title=told.clone() aria-label=told data-testid=format!("brief-{what}")>{words::meter(meter)}" "{what}</span> }
            })
        }
    };
    view! {
        {chip(|it| (it.brief.lines.len() as u64, it.most_lines, say::brief::LINES.1))}
        {chip(|it| (it.brief.tokens, it.most_tokens, say::status::TOKENS))}
    }
}

/// The choice between everybody's brief and the brief of one agent.
#[component]
fn Whose() -> impl IntoView {
    let app = App::here();
    let brief = app.views.brief;
    let agents = Memo::new(move |_| {
        let clock = app.clock.get();
        let mut agents = brief.agents.with(|all| agents_to_choose(all, clock));
        // A chosen agent stays in the choice, whatever was read.
        if let Some(chosen) = brief.whose.get()
            && !agents.iter().any(|(handle, _)| *handle == chosen.0)
        {
            agents.insert(0, (chosen.0.clone(), words::visible(&chosen.0)));
        }
        agents
    });
    let whose = move || brief.whose.get().map(|it| it.0).unwrap_or_default();
    let option = move |(handle, name): (String, String)| {
        let own = handle.clone();
        view! { <option value=handle selected=move || whose() == own>{name}</option> }
    };
    let leave = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            dom::focus(dom::LIST);
        }
    };
    view! {
        <div class="filter choices" role="group" aria-label=say::brief::WHOSE on:keydown=leave>
            <label for=WHOSE class="offscreen">{say::brief::WHOSE}</label>
            <select id=WHOSE data-testid="whose" on:change=move |event| {
                let handle = event_target_value(&event);
                brief.whose.set((!handle.is_empty()).then_some(AgentId(handle)));
            }>
                <option value="" selected=move || whose().is_empty()>{say::brief::ALL}</option>
                {move || agents.get().into_iter().map(option).collect_view()}
            </select>
            <kbd aria-hidden="true">"F"</kbd>
        </div>
    }
}

/// The agents by handle, with their names; those of the same name also with their last calls.
pub(super) fn agents_to_choose(agents: &[AgentStatus], clock: Clock) -> Vec<(String, String)> {
    let name = |agent: &AgentStatus| {
        let name = name_with_role(agent);
        let alike = agents.iter().filter(|it| name_with_role(it) == name);
        if alike.count() == 1 {
            return name;
        }
        let at = clock.moment(agent.last_call);
        format!("{name} · {} {at}", say::agents::LAST)
    };
    let one = |it: &AgentStatus| (it.handle.0.clone(), name(it));
    agents.iter().map(one).collect()
}

/// An agent's name, with its role.
fn name_with_role(agent: &AgentStatus) -> String {
    let name = words::visible(&agent.name);
    match &agent.role {
        Some(role) => format!("{name} · {}", words::visible(role)),
        None => name,
    }
}

/// The field in which a line is written.
#[component]
fn Field() -> impl IntoView {
    let app = App::here();
    let draft = app.views.brief.draft;
    let is_open = Memo::new(move |_| draft.with(Option::is_some));
    let keys = keys_of_line(
        move || pins::save_draft(app),
        move || pins::leave_draft(app),
    );
    let write = move |event| {
        let text = event_target_value(&event);
        draft.update(|draft| {
            if let Some(draft) = draft {
                draft.text = text;
            }
        });
    };
    let text = move || draft.with(|it| it.as_ref().map(|it| it.text.clone()).unwrap_or_default());
    let is_new = move || draft.with(|it| it.as_ref().is_some_and(|it| it.instead_of.is_none()));
    let save = move || {
        if is_new() {
            say::brief::PIN
        } else {
            say::brief::SAVE
        }
    };
    move || {
        is_open.get().then(|| {
            view! {
                <div class="line-field">
                    <label for=FIELD class="offscreen">{say::brief::YOUR_LINE}</label>
                    <input id=FIELD data-testid="line-field" dir="auto" autocomplete="off" maxlength="500" placeholder=say::brief::ADD_HINT
                        prop:value=text on:input=write on:keydown=keys />
                    <button class="primary" data-testid="save-line" on:click=move |_| pins::save_draft(app)>{save}" "{keycaps("Enter")}</button>
                    <button class="plain" data-testid="cancel-line" on:click=move |_| pins::leave_draft(app)>{say::brief::CANCEL}</button>
                </div>
            }
        })
    }
}

#[component]
fn Lines() -> impl IntoView {
    let app = App::here();
    let brief = app.views.brief;
    let lines = Memo::new(move |_| brief.lines());
    let is_none = Memo::new(move |_| lines.with(Vec::is_empty));
    let parts = Memo::new(move |_| {
        let mut parts: Vec<BriefPart> = lines.with(|all| all.iter().map(|it| it.part).collect());
        parts.dedup();
        parts
    });
    let active = Signal::derive(move || {
        let text = brief.inbox.open.get()?;
        let at = lines.with(|all| all.iter().position(|it| it.text == text))?;
        Some(line_row_id(at))
    });
    view! {
        <Instead is_none is_read=Signal::derive(move || brief.known.with(Option::is_some)) refused=brief.inbox.refused
            reading=say::brief::READING nothing />
        <ListBox class="conflicts brief" label=say::brief::LABEL testid="brief-list" is_none active>
            <For each=move || parts.get() key=|it| *it let:part><Part part lines /></For>
        </ListBox>
    }
}

pub(super) fn line_row_id(at: usize) -> String {
    format!("brief-line-{at}")
}

fn nothing() -> impl IntoView {
    view! {
        <div class="none" data-testid="no-brief">
            <span class="sign">{VIEW.icon.draw()}</span>
            <h2>{say::brief::NONE}</h2>
            <p>{say::brief::NONE_MEANS}</p>
        </div>
    }
}

fn heading_of(part: BriefPart) -> &'static str {
    match part {
        BriefPart::Pin => say::brief::part::PIN,
        BriefPart::Todo => say::brief::part::TODOS,
        BriefPart::Matter => say::brief::part::MATTER,
        BriefPart::Constraint => say::brief::part::CONSTRAINT,
        BriefPart::Risk => say::brief::part::RISK,
        BriefPart::Pointer => say::brief::part::POINTER,
        BriefPart::Budget => say::brief::part::BUDGET,
        BriefPart::Grant => say::brief::part::GRANT,
    }
}

#[component]
fn Part(part: BriefPart, lines: Memo<Vec<BriefLine>>) -> impl IntoView {
    let own = Memo::new(move |_| {
        lines.with(|all| {
            let all = all.iter().cloned().enumerate();
            all.filter(|(_, it)| it.part == part).collect::<Vec<_>>()
        })
    });
    view! {
        <div class="topic" role="group" aria-label=heading_of(part) data-testid="brief-part" data-part=part.as_str()>
            <div class="topic-name" aria-hidden="true"><b>{heading_of(part)}</b></div>
            <For each=move || own.get() key=|(at, it)| (*at, it.clone().text, it.pinned) let((at, line))><Row at line /></For>
        </div>
    }
}

/// A line as it is shown: a digest is named by its beginning.
pub(super) fn line_in_words(line: &BriefLine) -> String {
    words::with_short_digests(&words::visible(&line.text))
}

/// The line with all its letters, if it is shown without some.
pub(super) fn whole_line(line: &BriefLine) -> Option<String> {
    let whole = words::visible(&line.text);
    Some(whole).filter(|it| *it != line_in_words(line))
}

#[component]
fn Row(at: usize, line: BriefLine) -> impl IntoView {
    let app = App::here();
    let all = app.views.brief;
    let text = StoredValue::new(line.text.clone());
    let is_open = Memo::new(move |_| {
        text.with_value(|text| all.inbox.open.with(|it| it.as_ref() == Some(text)))
    });
    view! {
        <div class="brief-row" class:selected=is_open id=line_row_id(at) role="option" aria-selected=move || is_open.get().to_string()
            data-testid="brief-line" data-pinned=line.pinned.to_string()
            on:mousedown=dom::prevent_text_selection on:click=move |_| state::go_to_line(app, text.get_value())>
            <span class="number" aria-hidden="true">{at + 1}</span>
            <p dir="auto" title=whole_line(&line)>{prose(&line_in_words(&line))}</p>
            {line.pinned.then(|| view! { <span class="pinned" title=say::brief::part::PIN>{Icon::Pin.draw()}</span> })}
        </div>
    }
}
