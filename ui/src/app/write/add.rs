//! Adds a claim by hand: about marked lines, or about what a pointer addresses.

use std::sync::Arc;

use engram_model::{Draft, Kind, Noticed, PointerInput, PutReply, Refusal, SourceLine, ask};
use leptos::{ev, prelude::*, task::spawn_local};

use super::field::{ClaimField, WriteRefused, handle_keys};
use crate::{
    app::{
        dom,
        frame::{Over, Undo},
        overlay::{Heading, Modal, palette::keycaps},
        reading,
        source::code::{Code, Shape},
        state::App,
        views::feed,
    },
    drafts::{Drafts, is_of_secret},
    words::{self, say},
};

const FIELD: &str = "new-claim";
const EVIDENCE: &str = "new-evidence";
const OFFERED: &str = "evidence-offered";

/// A claim that is not stored yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NewClaim {
    claim: String,
    pointer: String,
    kind: Option<Kind>,
    topic: String,
    /// The pointer as it was filled in, and the lines that it leads to.
    about: Option<(String, Arc<[SourceLine]>)>,
    is_saving: bool,
    refusal: Option<Refusal>,
    /// Whether it was ever refused for a secret.
    had_secret: bool,
}

impl NewClaim {
    /// Restores a draft from before the page was reloaded.
    pub(super) fn restored(drafts: Drafts) -> Self {
        Self {
            claim: drafts.claim,
            pointer: drafts.pointer,
            kind: drafts.kind,
            topic: drafts.topic,
            ..Self::default()
        }
    }

    /// Returns what to keep of the draft; nothing before a claim is typed.
    pub(super) fn draft_to_keep(&self) -> Drafts {
        if self.claim.trim().is_empty() || self.had_secret {
            return Drafts::default();
        }
        Drafts {
            claim: self.claim.clone(),
            pointer: self.pointer.clone(),
            kind: self.kind,
            topic: self.topic.clone(),
            ..Drafts::default()
        }
    }

    /// Drops the lines and the pending answer when the repository is switched; keeps the words.
    pub(super) fn leave_lines(&mut self) {
        *self = Self {
            claim: std::mem::take(&mut self.claim),
            topic: std::mem::take(&mut self.topic),
            kind: self.kind,
            had_secret: self.had_secret,
            ..Self::default()
        };
    }

    fn draft(&self) -> Draft {
        let pointer = self.pointer.trim();
        let pointers = (!pointer.is_empty()).then(|| PointerInput::Text(pointer.to_owned()));
        Draft {
            claim: self.claim.clone(),
            pointers: pointers.into_iter().collect(),
            kind: self.kind,
            topic: Some(self.topic.clone()),
            ..Draft::default()
        }
    }

    /// The lines, while the pointer still leads to them.
    fn lines(&self) -> Option<Arc<[SourceLine]>> {
        let (pointer, lines) = self.about.as_ref()?;
        (*pointer == self.pointer).then(|| lines.clone())
    }
}

/// Opens the form, about the marked lines of the open engram; keeps what was written before.
pub(crate) fn add_claim(app: App) {
    // What was refused once may pass now.
    if app.write.new.with_untracked(|it| it.refusal.is_some()) {
        app.write.new.update(|it| it.refusal = None);
    }
    let selected = app.reading.selected.get_untracked();
    let marked = app.write.marked.get_untracked();
    let marked = marked.filter(|it| Some(it.engram) == selected);
    if let Some(marked) = marked
        && let Some(pointer) = marked.pointer()
    {
        let pointer = pointer.to_string();
        // Selects a text about other lines, so that typing replaces it.
        if app.write.new.with_untracked(|it| it.pointer != pointer) {
            dom::next_frame(|| dom::next_frame(|| dom::select_text(FIELD)));
        }
        app.write.new.update(|new| {
            new.about = Some((pointer.clone(), marked.lines()));
            new.pointer = pointer;
        });
    }
    app.frame.over.set(Some(Over::Add));
}

fn save_new(app: App) {
    let new = app.write.new.get_untracked();
    if new.is_saving {
        return;
    }
    app.write
        .new
        .update(|it| (it.is_saving, it.refusal) = (true, None));
    let was_nothing_new = feed::is_nothing_new(app);
    spawn_local(async move {
        match app.ask(ask::Put(Box::new(new.draft()))).await {
            Ok(stored) => {
                app.write.new.set(NewClaim::default());
                app.write.marked.set(None);
                if app.frame.over.get_untracked() == Some(Over::Add) {
                    app.frame.over.set(None);
                }
                if is_duplicate(&stored) {
                    app.frame.say(say::write::EXISTS, "")
                } else {
                    let added = match new.kind {
                        Some(Kind::Todo) => say::write::TO_DO_ADDED,
                        _ => say::write::ADDED,
                    };
                    app.frame
                        .say_done(added, &new.claim, Undo::withdraw(stored.id))
                }
                // Shows the claim wherever the list is scrolled to; its author has already seen it.
                feed::show_new(app);
                feed::see_own(app, stored.seq, was_nothing_new);
                reading::go_to_engram(app, stored.id);
                // The dialog returns the focus first.
                dom::next_frame(|| dom::focus(dom::LIST));
            }
            Err(refusal) => {
                if app.frame.over.get_untracked() != Some(Over::Add) {
                    app.frame.complain(refusal.clone());
                }
                app.write.new.update(|new| {
                    new.had_secret |= is_of_secret(&refusal);
                    (new.is_saving, new.refusal) = (false, Some(refusal));
                });
            }
        }
    });
}

/// Whether the same claim already existed, and none was stored.
fn is_duplicate(stored: &PutReply) -> bool {
    let mut found = stored.findings.iter();
    found.any(|it| it.what == Noticed::Duplicate)
}

/// The completions of the pointer, as it is typed.
#[derive(Clone, Copy)]
struct Offers {
    app: App,
    all: RwSignal<Vec<String>>,
    /// The number of the last question; answers to earlier ones are dropped.
    asked: StoredValue<u32>,
}

impl Offers {
    fn new(app: App) -> Self {
        Self {
            app,
            all: RwSignal::new(Vec::new()),
            asked: StoredValue::new(0),
        }
    }

    /// Keeps what was typed, and asks for its completions.
    fn follow(self, typed: String) {
        self.app.write.new.update(|it| it.pointer = typed.clone());
        let number = self.asked.get_value().wrapping_add(1);
        self.asked.set_value(number);
        spawn_local(async move {
            let found = self.app.ask(ask::Complete(typed.clone())).await;
            if self.asked.try_get_value() != Some(number) {
                return;
            }
            // A path that does not exist yet has no completions.
            let mut found = found.unwrap_or_default();
            found.retain(|it| *it != typed);
            self.all.set(found);
        });
    }

    /// Takes an offer. What may still come is typed where the caret is: the name of a test after
    /// its file, lines before the commit.
    fn take(self, offer: String) {
        let pin = offer.rfind('@').unwrap_or(offer.len());
        let at = offer[..pin].encode_utf16().count() as u32;
        if offer.ends_with("::") {
            self.follow(offer);
        } else {
            self.app.write.new.update(|it| it.pointer = offer);
            self.leave();
        }
        // The field gets its text first.
        dom::next_frame(move || dom::focus_at(EVIDENCE, at));
    }

    fn leave(self) {
        self.asked.update_value(|it| *it = it.wrapping_add(1));
        self.all.set(Vec::new());
    }

    /// Moves from the field into the list.
    fn enter(self, event: &ev::KeyboardEvent) {
        if event.key() == "ArrowDown" && !self.all.with_untracked(Vec::is_empty) {
            event.prevent_default();
            dom::focus(&format!("{OFFERED}-0"));
        }
    }
}

/// The list of offers below the field.
#[component]
fn Offered(offers: Offers) -> impl IntoView {
    let step = move |event: ev::KeyboardEvent| match event.key().as_str() {
        // The first Escape closes the list, the next one the form.
        "Escape" => {
            event.prevent_default();
            event.stop_propagation();
            offers.leave();
            dom::focus(EVIDENCE);
        }
        _ if dom::step_focus(&event, OFFERED) => event.prevent_default(),
        _ => {}
    };
    let option = move |(at, offer): (usize, String)| {
        let name = words::visible(&offer);
        view! {
            <button type="button" class="code" id=format!("{OFFERED}-{at}") role="option" aria-selected="false" data-testid="offered-evidence"
                on:click=move |_| offers.take(offer.clone())>{name}</button>
        }
    };
    let all = move || {
        offers
            .all
            .get()
            .into_iter()
            .enumerate()
            .map(option)
            .collect_view()
    };
    view! {
        <div id=OFFERED class="offered" role="listbox" aria-label=say::write::OFFERED hidden=move || offers.all.with(Vec::is_empty) on:keydown=step>{all}</div>
    }
}

/// The form, over the window.
#[component]
pub(crate) fn Adding() -> impl IntoView {
    view! {
        <Modal over=Over::Add label=say::write::TITLE class="adding">
            <Heading title=say::write::TITLE />
            <Form />
        </Modal>
    }
}

#[component]
fn Form() -> impl IntoView {
    let app = App::here();
    let new = app.write.new;
    let claim = Signal::derive(move || new.with(|it| it.claim.clone()));
    let is_saving = Memo::new(move |_| new.with(|it| it.is_saving));
    let refusal = Memo::new(move |_| new.with(|it| it.refusal.clone()));
    let lines = Memo::new(move |_| new.with(NewClaim::lines));
    let about = move || {
        let lines = lines.get()?;
        Some(
            view! { <Code lines shape=Shape::Source label=say::write::MARKED.to_owned() testid="about-lines" /> },
        )
    };
    let offers = Offers::new(app);
    let kind = move || new.with(|it| it.kind).unwrap_or(Kind::Fact);
    let kinds = Kind::ALL.iter().map(|it| {
        view! { <option value=it.as_str() selected=move || kind() == *it>{words::kind(*it)}</option> }
    });
    dom::next_frame(|| dom::focus(FIELD));
    view! {
        <form class="writing" on:keydown=move |event| handle_keys(&event, || save_new(app), None::<fn()>)
            on:submit=move |event| { event.prevent_default(); save_new(app); }>
            <label for=EVIDENCE>{say::write::EVIDENCE}</label>
            <input id=EVIDENCE data-testid="new-evidence" class="code" autocomplete="off" spellcheck="false" placeholder=say::write::EVIDENCE_HINT
                prop:value=move || new.with(|it| it.pointer.clone()) prop:readOnly=is_saving
                aria-controls=OFFERED
                on:input=move |event| offers.follow(event_target_value(&event))
                on:keydown=move |event| offers.enter(&event) />
            <Offered offers />
            {about}
            <label for=FIELD>{say::write::CLAIM}</label>
            <ClaimField id=FIELD label=say::write::CLAIM hint=say::write::CLAIM_HINT text=claim is_saving
                set=move |text| new.update(|it| it.claim = text) />
            <div class="more">
                <label for="new-kind">{say::write::KIND}</label>
                <select id="new-kind" data-testid="new-kind" on:change=move |event| {
                    let kind = event_target_value(&event).parse().ok();
                    new.update(|it| it.kind = kind);
                }>{kinds.collect_view()}</select>
                <label for="new-topic">{say::write::TOPIC}</label>
                <input id="new-topic" data-testid="new-topic" dir="auto" autocomplete="off" placeholder=say::write::TOPIC_HINT
                    prop:value=move || new.with(|it| it.topic.clone()) prop:readOnly=is_saving
                    on:input=move |event| new.update(|it| it.topic = event_target_value(&event)) />
            </div>
            <WriteRefused id=FIELD refusal />
            <div class="does">
                <button class="primary" type="submit" data-testid="save-claim" disabled=is_saving>
                    {move || if is_saving.get() { say::write::SAVING } else { say::write::SAVE }}" "{keycaps("Mod+Enter")}
                </button>
                <button type="button" data-testid="leave-claim" on:click=move |_| app.frame.over.set(None)>{say::write::CANCEL}" "<kbd>"Esc"</kbd></button>
            </div>
        </form>
    }
}
