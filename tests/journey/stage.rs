//! The start of a test: a shop and a person who views it, in a browser or in the real window.

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

/// A shop whose server runs, before a page is open.
pub(crate) struct ServedShop {
    pub(crate) server: Server,
    pub(crate) shop: Shop,
}

impl ServedShop {
    pub(crate) fn of(shop: Shop) -> Self {
        Self {
            server: Server::start(&shop, &[]),
            shop,
        }
    }

    pub(crate) fn browse(self) -> Stage {
        // If this fails, the server ends before its files are removed.
        let window = Window::browse(&self.server.url);
        Stage {
            window,
            server: self.server,
            shop: self.shop,
        }
    }
}

/// A page in a browser on a shop. Fields drop in order: the page ends before its server, and the
/// files are removed last.
pub(crate) struct Stage {
    pub(crate) window: Window,
    pub(crate) server: Server,
    pub(crate) shop: Shop,
}

impl Stage {
    pub(crate) fn of(shop: Shop) -> Self {
        ServedShop::of(shop).browse()
    }

    /// A stage without claims.
    pub(crate) fn empty() -> Self {
        Self::of(Shop::empty())
    }

    /// A stage with the agents' claims.
    pub(crate) fn open() -> Self {
        Self::of(Shop::open())
    }

    /// Like [`Self::open`], once all claims are listed.
    pub(crate) fn listed() -> Self {
        let stage = Self::open();
        stage.window.wait(&rows(stage.shop.ids.len()));
        stage
    }

    /// A stage on which the claim on retries was corrected twice, once all is listed. Returns its
    /// versions too, oldest first.
    pub(crate) fn corrected() -> (Self, Vec<String>) {
        let mut shop = Shop::open();
        let versions = shop.correct();
        let stage = Self::of(shop);
        stage.window.wait(&rows(10));
        (stage, versions)
    }

    /// A stage whose shop drifts after its server has started and before the page is open.
    pub(crate) fn drifting(shop: Shop) -> Self {
        let served = ServedShop::of(shop);
        served.shop.drift();
        served.browse()
    }
}

/// Runs a test by keys, then by mouse, each on a stage of its own.
pub(crate) fn both_hands<S>(open: impl Fn() -> S, test: impl Fn(&S, Hand)) {
    for hand in BOTH {
        println!("{hand:?}");
        test(&open(), hand);
    }
}

/// What the real window opens on: a shop, its command, and a person's editor. Tests declare a
/// window after it, so that the window ends before the files are removed.
pub(crate) struct Sandbox {
    pub(crate) editor: Editor,
    pub(crate) engram: Engram,
    pub(crate) shop: Shop,
}

impl Sandbox {
    pub(crate) fn of(shop: Shop) -> Self {
        Self {
            editor: Editor::new(&shop.dir),
            engram: shop.engram(),
            shop,
        }
    }

    /// A sandbox with the agents' claims.
    pub(crate) fn open() -> Self {
        Self::of(Shop::open())
    }

    /// A sandbox without claims, and with a note beside the sources.
    pub(crate) fn noted() -> Self {
        Self::of(Shop::empty().noted())
    }

    pub(crate) fn window(&self) -> Window {
        self.engram.window(&self.editor)
    }

    /// Opens the window and waits until it shows a matching element.
    pub(crate) fn showing(&self, css: &str) -> Window {
        let window = self.window();
        window.find(css);
        window
    }
}

/// The real window on a sandbox, whose files are removed after it ends.
pub(crate) struct Desk {
    pub(crate) window: Window,
    pub(crate) sandbox: Sandbox,
}
