//! Shows an error where it occurred, until its cause is gone or the person tries something else.

use engram_model::Refusal;
use leptos::prelude::*;

use super::{icons::Icon, prose::prose};
use crate::words::{say, sentence};

/// What is wrong and what to do, with a button to try again if that can help.
#[component]
pub(crate) fn Refused(
    #[prop(into)] refusal: Signal<Option<Refusal>>,
    #[prop(optional, into)] again: Option<Callback<()>>,
) -> impl IntoView {
    move || {
        let again = again.map(|again| {
            view! { <button data-testid="again" on:click=move |_| again.run(())>{say::TRY_AGAIN}</button> }
        });
        refusal.get().map(|it| view_refusal(&it, again.into_any()))
    }
}

/// Renders a known refusal, with `beside` next to it.
pub(crate) fn view_refusal(refusal: &Refusal, beside: AnyView) -> AnyView {
    view! {
        <div class="refusal" role="alert" data-testid="refused" data-code=refusal.code.as_str()>
            {Icon::Alert.draw()}
            <p>{prose(&sentence(&refusal.message))}<span>{prose(&refusal.hint)}</span></p>
            {beside}
        </div>
    }
    .into_any()
}
