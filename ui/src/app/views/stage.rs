//! A window on one view without a browser, to test the view's logic: a function answers its
//! requests.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex};

use any_spawner::Executor;
use engram_model::{Refusal, Request};
use leptos::prelude::*;
use serde_json::Value;

use super::View;
use crate::{
    app::{
        act,
        engine::backend::{Backend, Script},
        state::{App, Phase},
    },
    commands::{self, Press},
};

/// A window on a view, and its requests so far.
pub(crate) struct Stage {
    pub(crate) app: App,
    asked: Arc<Mutex<Vec<Request>>>,
    _owner: Owner,
}

impl Stage {
    pub(crate) fn open(
        view: &'static View,
        answer: fn(&Request) -> Result<Value, Refusal>,
    ) -> Self {
        Self::open_with(view, answer, false)
    }

    /// Like [`Self::open`], in a window that can show another repository.
    pub(crate) fn open_window(
        view: &'static View,
        answer: fn(&Request) -> Result<Value, Refusal>,
    ) -> Self {
        Self::open_with(view, answer, true)
    }

    fn open_with(
        view: &'static View,
        answer: fn(&Request) -> Result<Value, Refusal>,
        switches: bool,
    ) -> Self {
        // Another test in this process may have initialized it.
        let _ = Executor::init_futures_executor();
        let owner = Owner::new();
        owner.set();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        let script = Script(
            Arc::new(move |request| {
                heard.lock().unwrap().push(request.clone());
                Ok(serde_json::from_value(answer(&request)?).unwrap())
            }),
            switches,
        );
        let app = App::new(Backend::Script(script));
        app.phase.set(Phase::Ready);
        app.view.set(view);
        Self {
            app,
            asked,
            _owner: owner,
        }
    }

    /// Presses a key, as the window does.
    pub(crate) fn press(&self, key: &str) -> bool {
        self.press_key(Press {
            key,
            ..Press::default()
        })
    }

    /// Presses a key while Shift is held.
    pub(super) fn press_shift(&self, key: &str) -> bool {
        self.press_key(Press {
            key,
            shift: true,
            ..Press::default()
        })
    }

    fn press_key(&self, press: Press) -> bool {
        let command = commands::command_pressed(press, self.app.view.get_untracked());
        let command = command.filter(|it| act::can_run(self.app, it));
        command.into_iter().for_each(|it| act::run(self.app, it));
        self.settle();
        command.is_some()
    }

    /// Runs until nothing is left to do.
    pub(crate) fn settle(&self) {
        for _ in 0..8 {
            Executor::poll_local();
        }
    }

    /// Returns the requests since the last call.
    pub(crate) fn asked(&self) -> Vec<Request> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}
