//! The calls that a page can make, by name: one list for the window's IPC and the dashboard's HTTP.

macro_rules! calls {
    ($($(#[doc = $doc:literal])+ $call:ident = $name:literal, $over_http:literal;)+) => {
        /// A call that a page can make.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Call {
            $($(#[doc = $doc])+ $call,)+
        }

        impl Call {
            /// Every call.
            pub const ALL: &[Self] = &[$(Self::$call),+];

            /// The name of the command over IPC, and of the path under `/api/` over HTTP.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$call => $name,)+
                }
            }

            /// Whether a browser may make it over HTTP too.
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
    /// Subscribes to new entries of the journal.
    Subscribe = "subscribe", true;
    /// Waits for new entries and returns them. Over HTTP they arrive as an event.
    Entries = "entries", false;
    /// Opens a file of the working tree in the person's editor.
    OpenEditor = "open_editor", false;
    /// Reports that the page is on the screen.
    Ready = "ready", false;
    /// Returns the command lines that connect an agent.
    ConnectHint = "connect_hint", true;
    /// Lists which agents are connected.
    Connections = "connections", false;
    /// Shows a change to an agent's configuration, or writes the change that was shown.
    Connect = "connect", false;
    /// Returns the person's settings.
    Settings = "settings", false;
    /// Saves the person's settings.
    KeepSettings = "keep_settings", false;
    /// Returns the installed editors and the path of the log.
    Surroundings = "surroundings", false;
    /// Opens the window's log in the person's editor.
    OpenLog = "open_log", false;
    /// Lists the repositories that are or were open.
    Repositories = "repositories", false;
    /// Waits for a change among the repositories open in this window, and lists them.
    Opened = "opened", false;
    /// Brings a repository to the front.
    OpenRepository = "open_repository", false;
    /// Lets the person choose a folder in the system's dialog.
    ChooseFolder = "choose_folder", false;
    /// Closes a repository that is behind the one in front.
    CloseRepository = "close_repository", false;
    /// Makes the system open `engram://` links with the window.
    BringLinks = "bring_links", false;
    /// Streams what other programs hand to the window.
    FollowHanded = "follow_handed", false;
}
