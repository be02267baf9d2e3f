//! A native message for a blank window: the page cannot report the problem, and someone who started
//! the window from a launcher sees no terminal.

use std::cell::RefCell;

use gtk::{ButtonsType, DialogFlags, MessageDialog, MessageType, ResponseType, prelude::*};
use tauri::{AppHandle, Manager, WebviewWindow};

use crate::graphics;

const TITLE: &str = "Engram: blank window";

thread_local! {
    /// The message on the screen, which only the main thread has.
    static SHOWN: RefCell<Option<MessageDialog>> = const { RefCell::new(None) };
}

/// Shows the message beside the window. If waiting does not help, closing it ends the program.
pub(crate) fn show(window: &WebviewWindow, what: &str, why: &str, can_wait: bool) {
    let (parent, what, why) = (window.clone(), what.to_owned(), why.to_owned());
    on_main_thread(window, move || {
        let parent_window = parent.gtk_window().ok();
        let dialog = MessageDialog::new(
            parent_window.as_ref(),
            DialogFlags::DESTROY_WITH_PARENT,
            MessageType::Error,
            ButtonsType::None,
            &what,
        );
        dialog.set_secondary_text(Some(&why));
        dialog.set_title(TITLE);
        if !graphics::is_safe() {
            dialog.add_button("Re_start with safe graphics", ResponseType::Accept);
            dialog.set_default_response(ResponseType::Accept);
        }
        if can_wait {
            dialog.add_button("_Wait", ResponseType::Cancel);
        }
        dialog.add_button("_Close", ResponseType::Close);
        let app = parent.app_handle().clone();
        dialog.connect_response(move |dialog, response| {
            dialog.hide();
            carry_out(&app, response, can_wait);
        });
        dialog.present();
        SHOWN.with_borrow_mut(|shown| {
            if let Some(before) = shown.replace(dialog) {
                before.hide();
            }
        });
    });
}

/// Hides the message, because the page came up after all.
pub(crate) fn hide(window: &WebviewWindow) {
    on_main_thread(window, || {
        if let Some(dialog) = SHOWN.with_borrow_mut(Option::take) {
            dialog.hide();
        }
    });
}

/// Does what the person chose. Closing only the message means waiting, if that can help.
fn carry_out(app: &AppHandle, response: ResponseType, can_wait: bool) {
    match response {
        ResponseType::Accept => match graphics::start_safely() {
            Ok(()) => app.exit(0),
            Err(error) => {
                tracing::error!(%error, "cannot restart the window");
                app.exit(1);
            }
        },
        ResponseType::Cancel | ResponseType::DeleteEvent if can_wait => {}
        _ => app.exit(1),
    }
}

fn on_main_thread(window: &WebviewWindow, work: impl FnOnce() + Send + 'static) {
    if let Err(error) = window.run_on_main_thread(work) {
        tracing::error!(%error, "cannot show the message");
    }
}
