//! The line above the answer of a search: in which order it is, and how well it answers.

use engram_model::AnswerQuality;
use leptos::prelude::*;

use crate::{
    app::state::App,
    feed::{EngramList, Ranked},
    words::{self, say},
};

#[component]
pub(crate) fn RankedNote() -> impl IntoView {
    let app = App::here();
    let note = Memo::new(move |_| {
        let told = |feed: &EngramList| {
            let count = feed.iter().count();
            feed.ranked()
                .filter(|_| count > 0)
                .map(|it| note(it, count))
        };
        app.list.feed.with(told)
    });
    move || {
        note.get()
            .map(|it| view! { <p class="quiet more" role="status" data-testid="ranked">{it}</p> })
    }
}

/// In plain words: the order, how many of the matches are listed, and whether the first one
/// answers.
fn note(ranked: &Ranked, listed: usize) -> String {
    let order = match ranked.verdict {
        AnswerQuality::Strong => say::list::BEST_FIRST,
        AnswerQuality::Weak | AnswerQuality::None => say::list::ONLY_RELATED,
    };
    let mut note = order.to_owned();
    if ranked.omitted > 0 {
        let all = words::thousands(listed as u64 + ranked.omitted);
        note.push_str(&say::list::only_best(listed, &all));
    }
    if ranked.is_unfinished {
        note.push_str(say::list::NOT_ALL_SEARCHED);
    }
    note
}

#[cfg(test)]
mod tests {
    use engram_model::{FeedPage, Filter, SearchReply};

    use super::*;

    #[test]
    fn a_weak_answer_is_called_one_and_what_is_left_out_is_counted() {
        let told = |verdict, omitted, unread| {
            let mut feed = EngramList::default();
            let reply = SearchReply {
                verdict,
                omitted,
                unread,
                page: FeedPage::default(),
                marks: Vec::new(),
            };
            feed.load_ranked(reply, Filter::default());
            feed.ranked().map(|it| note(it, 200))
        };
        let strong = told(AnswerQuality::Strong, None, None);
        assert_eq!(strong.as_deref(), Some("Best match first."));
        assert_eq!(
            told(AnswerQuality::Weak, Some(1_034), Some(5)).as_deref(),
            Some(
                "No close match: these claims are related, best first. The best 200 of 1,234 are listed. Older claims are still being indexed."
            )
        );
    }
}
