//! The system's folder dialog, on Linux only; elsewhere people type a path.

use std::path::PathBuf;

use engram_model::Refusal;
use tauri::WebviewWindow;

/// Whether this system has a folder dialog.
pub(crate) const CAN_PICK: bool = cfg!(target_os = "linux");

/// Shows the dialog over the window; returns none if the person cancels.
#[cfg(target_os = "linux")]
pub(crate) async fn pick_folder(window: &WebviewWindow) -> Result<Option<PathBuf>, Refusal> {
    let (tell, told) = tokio::sync::oneshot::channel();
    let parent = window.clone();
    let shown = window.run_on_main_thread(move || linux::show_dialog(&parent, tell));
    shown.map_err(|error| {
        Refusal::new(
            engram_model::Code::Internal,
            format!("cannot open the folder dialog: {error}"),
            "Enter the path instead.",
        )
    })?;
    // A dialog that another one replaced returns nothing.
    Ok(told.await.ok().flatten())
}

/// Returns none.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn pick_folder(_window: &WebviewWindow) -> Result<Option<PathBuf>, Refusal> {
    Ok(None)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        cell::{Cell, RefCell},
        path::PathBuf,
    };

    use gtk::{FileChooserAction, FileChooserNative, ResponseType, prelude::*};
    use tauri::WebviewWindow;
    use tokio::sync::oneshot::Sender;

    thread_local! {
        /// The dialog on the screen. It belongs to the main thread, and closes when dropped.
        static SHOWN: RefCell<Option<FileChooserNative>> = const { RefCell::new(None) };
    }

    pub(super) fn show_dialog(parent: &WebviewWindow, tell: Sender<Option<PathBuf>>) {
        let dialog = FileChooserNative::new(
            Some("Open a repository"),
            parent.gtk_window().ok().as_ref(),
            FileChooserAction::SelectFolder,
            Some("_Open"),
            Some("_Cancel"),
        );
        dialog.set_modal(true);
        let tell = Cell::new(Some(tell));
        dialog.connect_response(move |dialog, response| {
            let chosen = (response == ResponseType::Accept).then(|| dialog.filename());
            if let Some(tell) = tell.take() {
                // A page that was closed no longer waits.
                let _ = tell.send(chosen.flatten());
            }
        });
        dialog.show();
        SHOWN.with_borrow_mut(|shown| {
            if let Some(before) = shown.replace(dialog) {
                before.hide();
            }
        });
    }
}
