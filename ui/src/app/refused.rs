//! An error where it arose. It stands there until its cause is gone, or something else is tried.

use engram_model::Refusal;
use leptos::prelude::*;

use super::{frame::sentence, icons::Icon, prose::prose};
use crate::words::say;

/// What is wrong and what to do, with a way to try again where there is one.
#[component]
pub(crate) fn Refused(
    #[prop(into)] refusal: Signal<Option<Refusal>>,
    #[prop(optional, into)] again: Option<Callback<()>>,
) -> impl IntoView {
    move || {
        refusal.get().map(|it| {
            view! {
                <div class="refused" role="alert" data-testid="refused" data-code=it.code.as_str()>
                    {Icon::Alert.draw()}
                    <p>{sentence(&it.message)}<span>{prose(&it.hint)}</span></p>
                    {again.map(|again| view! {
                        <button data-testid="again" on:click=move |_| again.run(())>{say::TRY_AGAIN}</button>
                    })}
                </div>
            }
        })
    }
}
