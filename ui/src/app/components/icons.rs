//! The icons: strokes on a grid of 24, drawn in the color of the text.

use engram_model::Kind;
use leptos::prelude::*;

/// One icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Icon {
    /// A view's own icon.
    Own(&'static str),
    Settings,
    Repository,
    Search,
    Copy,
    Check,
    Chevron,
    Alert,
    Close,
    Of(Kind),
    Erased,
    Picture,
    Binary,
    Pin,
}

impl Icon {
    fn path(self) -> &'static str {
        match self {
            Self::Own(path) => path,
            Self::Settings => {
                "M4 7h9M19 7h1M4 17h1M11 17h9M16 4.500a2.500 2.500 0 1 0 0 5a2.500 2.500 0 1 0 0-5M8 14.500a2.500 2.500 0 1 0 0 5a2.500 2.500 0 1 0 0-5"
            }
            Self::Repository => {
                "M7 5a2 2 0 1 0 0 4a2 2 0 1 0 0-4M7 15a2 2 0 1 0 0 4a2 2 0 1 0 0-4M17 7a2 2 0 1 0 0 4a2 2 0 1 0 0-4M7 9v6M17 11c0 3-4 2.500-9 4.500"
            }
            Self::Search => "M11 4a7 7 0 1 0 0 14a7 7 0 1 0 0-14M16 16l4.5 4.5",
            Self::Copy => "M9 9h10v11H9zM15 9V4H5v11h4",
            Self::Check => "M5 12.5l4.5 4.5L19 7.5",
            // A flag: it was planted here.
            Self::Of(Kind::Decision) => "M6.5 20.5V4.5M6.5 5.5h11l-2.500 3.750 2.500 3.750h-11",
            Self::Chevron => "M9 6l6 6-6 6",
            Self::Alert | Self::Of(Kind::Risk) => "M12 4 3 19.5h18zM12 10v4.5M12 16.9v.2",
            Self::Close => "M6 6l12 12M18 6 6 18",
            Self::Of(Kind::Fact) => {
                "M12 4.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15M12 11.2v4.6M12 8.3v.2"
            }
            Self::Of(Kind::Todo) => {
                "M7 5h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2z"
            }
            Self::Of(Kind::Constraint) => {
                "M6.5 11h11a1.5 1.5 0 0 1 1.5 1.5v6a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 5 18.500v-6A1.5 1.5 0 0 1 6.5 11M8 11V8a4 4 0 0 1 8 0v3"
            }
            Self::Of(Kind::Diff) => "M12 4v9M7.500 8.500h9M7.500 18.500h9",
            Self::Of(Kind::Test) => {
                "M9 3.500h6M10 3.500V9.500l-5 8.500a1.700 1.700 0 0 0 1.500 2.500h11a1.700 1.700 0 0 0 1.500-2.500l-5-8.500V3.500M8 14.500h8"
            }
            Self::Of(Kind::Perf) => "M13 3 5 14h6l-1 7 8.500-11h-6z",
            Self::Of(Kind::Policy) => {
                "M12 3.500l7 2.500v6c0 4-3 7-7 8.500c-4-1.500-7-4.500-7-8.500V6z"
            }
            Self::Picture => {
                "M5 5h14a1.500 1.500 0 0 1 1.500 1.500v11a1.500 1.500 0 0 1-1.500 1.500H5a1.500 1.500 0 0 1-1.500-1.500v-11A1.500 1.500 0 0 1 5 5M4 16.500l4.500-4.500 4 4 2.500-2.500 5 5M15 8.700a.8 .8 0 1 0 0 1.600a.8 .8 0 1 0 0-1.600"
            }
            Self::Binary => "M7 3.500h7l4 4v13H7zM14 3.500v4h4M10 12v4M13.500 12h1.500v4h-1.500z",
            Self::Pin => "M9 3.500h6l-1 6 3.500 4h-11l3.500-4zM12 13.500v7",
            Self::Erased => "M4 12h16M7 7h10M7 17h6",
        }
    }

    /// Draws the icon, hidden from screen readers: the text beside it says the same.
    pub(crate) fn draw(self) -> impl IntoView {
        view! {
            <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
                <path d=self.path() />
            </svg>
        }
    }
}
