//! `engram://` links: whether the system opens them with this window, and how to make it do so. On
//! systems other than Linux, the installer sets this up.

use std::path::Path;

use engram_model::{Code, Refusal};

/// Whether links in other programs open this window; none if the system cannot tell.
pub(crate) fn open_here() -> Option<bool> {
    #[cfg(target_os = "linux")]
    return Some(linux::open_here());
    #[cfg(not(target_os = "linux"))]
    None
}

/// Makes the system open links with this window. Pass `home` if it is not the default one.
pub(crate) fn make_open_here(home: Option<&Path>) -> Result<(), Refusal> {
    #[cfg(target_os = "linux")]
    let done = linux::make_open_here(home);
    #[cfg(not(target_os = "linux"))]
    let done = {
        let _ = home;
        Err("the installer sets that up on this system".to_owned())
    };
    done.map_err(|why| {
        Refusal::new(
            Code::Internal,
            format!("cannot make Engram open engram:// links: {why}"),
            "Pass a link to the window instead: engram-desktop engram://….",
        )
    })
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;

    use gtk::{
        gio::{AppInfo, AppInfoCreateFlags, prelude::AppInfoExt},
        glib,
    };

    const SCHEME: &str = "engram";

    pub(super) fn open_here() -> bool {
        let own = std::env::current_exe().ok();
        AppInfo::default_for_uri_scheme(SCHEME).is_some_and(|it| Some(it.executable()) == own)
    }

    pub(super) fn make_open_here(home: Option<&Path>) -> Result<(), String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut line = glib::shell_quote(program);
        if let Some(home) = home {
            line.push(" --home ");
            line.push(glib::shell_quote(home));
        }
        let flags = AppInfoCreateFlags::SUPPORTS_URIS;
        AppInfo::create_from_commandline(line, Some("Engram"), flags)
            .and_then(|it| it.set_as_default_for_type(&format!("x-scheme-handler/{SCHEME}")))
            .map_err(|error| error.to_string())
    }
}
