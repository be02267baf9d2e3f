//! Links of ours, `engram://`: whether the system opens them with this window, and that it does. On
//! other systems than Linux an installer says so.

use std::path::Path;

use engram_model::{Code, Refusal};
use gtk::{
    gio::{AppInfo, AppInfoCreateFlags, prelude::AppInfoExt},
    glib,
};

const SCHEME: &str = "engram";

/// Whether a link of another program comes to this one.
pub(crate) fn come_here() -> bool {
    let own = std::env::current_exe().ok();
    AppInfo::default_for_uri_scheme(SCHEME).is_some_and(|it| Some(it.executable()) == own)
}

/// From now on they do; `home` where the window has another one than it has by itself.
pub(crate) fn bring_here(home: Option<&Path>) -> Result<(), Refusal> {
    let refused = |why: String| {
        Refusal::new(
            Code::Internal,
            format!("the system does not open links with Engram: {why}"),
            "Start the window with a link as its argument: engram-desktop engram://….",
        )
    };
    let program = std::env::current_exe().map_err(|error| refused(error.to_string()))?;
    let mut line = glib::shell_quote(program);
    if let Some(home) = home {
        line.push(" --home ");
        line.push(glib::shell_quote(home));
    }
    let flags = AppInfoCreateFlags::SUPPORTS_URIS;
    AppInfo::create_from_commandline(line, Some("Engram"), flags)
        .and_then(|it| it.set_as_default_for_type(&format!("x-scheme-handler/{SCHEME}")))
        .map_err(|error| refused(error.to_string()))
}
