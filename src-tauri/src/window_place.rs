//! The window's last position: `window-place.json` in the home.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tauri::{PhysicalPosition, PhysicalSize, WebviewWindow};

use crate::settings::MAX_FILE;

const FILE: &str = "window-place.json";
/// How much of the window must be on a screen for a person to grab it, in pixels.
const GRIP: i64 = 80;

/// A place on the screens, in physical pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WindowPlace {
    x: i32,
    y: i32,
    width: u32,
    height: u32,
    #[serde(default)]
    maximized: bool,
}

impl WindowPlace {
    /// Whether enough of its top edge is on a screen.
    fn is_on(&self, (x, y, width, height): (i32, i32, u32, u32)) -> bool {
        let (left, top) = (i64::from(self.x), i64::from(self.y));
        let right = left + i64::from(self.width);
        let (from, to) = (i64::from(x), i64::from(x) + i64::from(width));
        let across = right.min(to) - left.max(from);
        across >= GRIP && top >= i64::from(y) - 8 && top <= i64::from(y) + i64::from(height) - GRIP
    }
}

/// Stores the window's place.
pub(crate) fn keep(home: &Path, window: &WebviewWindow) {
    let place = || -> tauri::Result<WindowPlace> {
        let (at, size) = (window.outer_position()?, window.inner_size()?);
        Ok(WindowPlace {
            x: at.x,
            y: at.y,
            width: size.width,
            height: size.height,
            maximized: window.is_maximized()?,
        })
    };
    let kept = place().map_err(|it| it.to_string()).and_then(|place| {
        let text = serde_json::to_string(&place).map_err(|it| it.to_string())?;
        engram_engine::write_known_home_file(home, FILE, &text).map_err(|it| it.to_string())
    });
    if let Err(error) = kept {
        tracing::debug!(error, "cannot store the window's place");
    }
}

/// Restores the window's place if it is on a screen.
pub(crate) fn restore(home: &Path, window: &WebviewWindow) -> tauri::Result<()> {
    let text = engram_engine::read_file(&home.join(FILE), MAX_FILE).unwrap_or_default();
    let Ok(place) = serde_json::from_str::<WindowPlace>(&text) else {
        return Ok(());
    };
    let screens = window.available_monitors()?;
    let is_on = |screen: &tauri::Monitor| {
        let (at, size) = (screen.position(), screen.size());
        place.is_on((at.x, at.y, size.width, size.height))
    };
    let Some(_) = screens.iter().find(|it| is_on(it)) else {
        return Ok(());
    };
    window.set_size(PhysicalSize::new(
        place.width.clamp(420, 16_384),
        place.height.clamp(360, 16_384),
    ))?;
    window.set_position(PhysicalPosition::new(place.x, place.y))?;
    if place.maximized {
        window.maximize()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_put_only_where_it_can_be_reached() {
        let screen = (0, 0, 1920, 1080);
        for (x, y, width, want) in [
            (0, 0, 1280, true),
            (1800, 20, 1280, true),
            (1900, 20, 1280, false),
            (-1200, 20, 1280, true),
            (-1270, 20, 1280, false),
            (100, 1070, 1280, false),
            (100, -300, 1280, false),
            (i32::MAX, i32::MIN, u32::MAX, false),
        ] {
            let place = WindowPlace {
                x,
                y,
                width,
                height: 800,
                maximized: false,
            };
            assert_eq!(place.is_on(screen), want, "{place:?}");
        }
    }
}
