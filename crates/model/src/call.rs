//! What a page may call on what runs it, by name: the one list for the window's IPC and for the
//! dashboard's HTTP.

macro_rules! calls {
    ($($(#[doc = $doc:literal])+ $call:ident = $name:literal, $over_http:literal;)+) => {
        /// A call of the page.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Call {
            $($(#[doc = $doc])+ $call,)+
        }

        impl Call {
            /// Each of them.
            pub const ALL: &[Self] = &[$(Self::$call),+];

            /// Its name: of the command over IPC, of the path under `/api/` over HTTP.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$call => $name,)+
                }
            }

            /// Whether a browser far from the machine may call it too.
            pub const fn is_over_http(self) -> bool {
                match self {
                    $(Self::$call => $over_http,)+
                }
            }
        }
    };
}

calls! {
    /// A request that changes nothing.
    Read = "read", true;
    /// A request that changes something.
    Change = "change", true;
    /// The journal as it grows.
    Subscribe = "subscribe", true;
    /// What came since, once there is anything: over HTTP it is an event.
    Entries = "entries", false;
    /// A file of the working tree in the person's editor.
    OpenEditor = "open_editor", false;
    /// That something is on the screen.
    Ready = "ready", false;
    /// The command lines that connect an agent.
    ConnectHint = "connect_hint", true;
    /// Which agents are connected.
    Connections = "connections", false;
    /// A change to an agent's configuration: shown, or written as it was shown.
    Connect = "connect", false;
    /// What the person chose before.
    Settings = "settings", false;
    /// Keeps what the person chose.
    KeepSettings = "keep_settings", false;
    /// Editors, and where the log is.
    Surroundings = "surroundings", false;
    /// The window's log in the person's editor.
    OpenLog = "open_log", false;
    /// Repositories that are open or were before.
    Repositories = "repositories", false;
    /// Those that are open in this window, once something changed among them.
    Opened = "opened", false;
    /// Another repository in front.
    OpenRepository = "open_repository", false;
    /// A folder that the person chooses in the system's dialog.
    ChooseFolder = "choose_folder", false;
    /// That a repository behind the one in front is closed.
    CloseRepository = "close_repository", false;
    /// Makes the system open `engram://` links with the window.
    BringLinks = "bring_links", false;
    /// What other programs hand to the window.
    FollowHanded = "follow_handed", false;
}
