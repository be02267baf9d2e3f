//! What a test begins with: a shop and a person who looks at it, in a browser or at the real window.

use crate::{
    dashboard::{
        hands::{BOTH, Hand, rows},
        server::Server,
        shop::Shop,
    },
    editor::Editor,
    engram::Engram,
    window::Window,
};

/// A shop that is served, before anybody looks at it.
pub(crate) struct Served {
    pub(crate) server: Server,
    pub(crate) shop: Shop,
}

impl Served {
    pub(crate) fn of(shop: Shop) -> Self {
        Self {
            server: Server::start(&shop, &[]),
            shop,
        }
    }

    pub(crate) fn browse(self) -> Stage {
        // Should it fail, the server ends before its files are removed.
        let window = Window::browse(&self.server.url);
        Stage {
            window,
            server: self.server,
            shop: self.shop,
        }
    }
}

/// A page of a browser on a shop. Fields drop in order: the page ends before its server, and the
/// files are removed last.
pub(crate) struct Stage {
    pub(crate) window: Window,
    pub(crate) server: Server,
    pub(crate) shop: Shop,
}

impl Stage {
    pub(crate) fn of(shop: Shop) -> Self {
        Served::of(shop).browse()
    }

    /// With nothing said yet.
    pub(crate) fn empty() -> Self {
        Self::of(Shop::empty())
    }

    /// With what agents said.
    pub(crate) fn open() -> Self {
        Self::of(Shop::open())
    }

    /// The same, once all of it is listed.
    pub(crate) fn listed() -> Self {
        let stage = Self::open();
        stage.window.wait(&rows(stage.shop.ids.len()));
        stage
    }

    /// With the claim on retries corrected twice, once all is listed; its versions, oldest first.
    pub(crate) fn corrected() -> (Self, Vec<String>) {
        let mut shop = Shop::open();
        let versions = shop.correct();
        let stage = Self::of(shop);
        stage.window.wait(&rows(10));
        (stage, versions)
    }

    /// A shop that drifts once it is served, before the page is there.
    pub(crate) fn drifting(shop: Shop) -> Self {
        let served = Served::of(shop);
        served.shop.drift();
        served.browse()
    }
}

/// Does a thing by keys, then by mouse, each on a stage of its own.
pub(crate) fn both_hands<S>(open: impl Fn() -> S, test: impl Fn(&S, Hand)) {
    for hand in BOTH {
        println!("{hand:?}");
        test(&open(), hand);
    }
}

/// Where the real window opens: a shop, the command on it, and the editor of a person. A window is
/// declared after it, and so ends before the files are removed.
pub(crate) struct Ground {
    pub(crate) editor: Editor,
    pub(crate) engram: Engram,
    pub(crate) shop: Shop,
}

impl Ground {
    pub(crate) fn of(shop: Shop) -> Self {
        Self {
            editor: Editor::new(&shop.dir),
            engram: shop.engram(),
            shop,
        }
    }

    /// With what agents said.
    pub(crate) fn open() -> Self {
        Self::of(Shop::open())
    }

    /// With nothing said yet, and a note beside the sources.
    pub(crate) fn noted() -> Self {
        Self::of(Shop::empty().noted())
    }

    pub(crate) fn window(&self) -> Window {
        self.engram.window(&self.editor)
    }

    /// The window, once it shows what matches.
    pub(crate) fn showing(&self, css: &str) -> Window {
        let window = self.window();
        window.find(css);
        window
    }
}
