//! `cargo xtask pictures`: every view in every width, theme, zoom and writing direction, for a
//! person to view.

use std::{env, fs, path::PathBuf};

use serde_json::json;

use super::{
    looks::hide_places,
    narrow,
    shop::Shop,
    ways::{VIEWS, each_state},
};
use crate::{stage::Stage, window::Window};

/// Width, height and zoom in percent. A larger zoom leaves the page fewer pixels.
const SIZES: &[(u32, u32, u32)] = &[
    (420, 700, 100),
    (720, 600, 100),
    (1280, 800, 100),
    (1280, 800, 200),
    (1920, 1080, 100),
];
const THEMES: &[&str] = &["light", "dark", "contrast"];

/// The claims of the shop, as a team that writes from right to left would phrase them.
const RIGHT_TO_LEFT: &[&str] = &[
    "A reservation נכתבת לפני שקוראים ל-`gateway`, כדי שאפשר יהיה ליישב קריסה באמצע מתוך ה-ledger לבדו.",
    "ניסיונות חוזרים משתמשים ב-full jitter: בסיס של 200 ms, לכל היותר 20 s.",
    "לאחר 6 ניסיונות התשלום ממתין לאדם; ראו docs/SPEC.md.",
    "הפונקציה `settle()` סומכת על הסכום שה-gateway מחזיר; דבר אינו משווה אותו לסכום שהוזמן.",
    "مفتاح عدم التكرار هو رقم الطلب وليس رقم المحاولة: المحاولة الثانية تعيد الإجابة الأولى.",
    "يتم التحقق من Webhooks قبل تحليلها.",
    "לא נבדק מה קורה ל-webhook שמגיע פעמיים באותה שנייה.",
    "רק 429 ו-5xx מנוסים שוב -> כרטיס שנדחה לעולם לא.",
];

struct Drawing {
    folder: PathBuf,
    prefix: &'static str,
}

impl Drawing {
    fn draw(&self, window: &Window, name: &str) {
        hide_places(window);
        for theme in THEMES {
            let scheme = if *theme == "dark" { "dark" } else { "light" };
            window.prefers(&[("prefers-color-scheme", scheme)]);
            window.themed(theme);
            for &(width, height, zoom) in SIZES {
                let metrics = json!({
                    "width": width * 100 / zoom,
                    "height": height * 100 / zoom,
                    "deviceScaleFactor": f64::from(zoom) / 100.0,
                    "mobile": false,
                });
                window.tool("Emulation.setDeviceMetricsOverride", metrics);
                let file = format!("{}{name}-{theme}-{width}-{zoom}.png", self.prefix);
                fs::write(self.folder.join(file), window.png()).unwrap();
            }
        }
        window.size(1280, 800);
    }
}

#[test]
fn every_view_in_every_condition() {
    let folder = PathBuf::from(env::var_os("ENGRAM_PICTURES").unwrap());
    fs::create_dir_all(&folder).unwrap();
    for (prefix, claims) in [("", None), ("rtl-", Some(RIGHT_TO_LEFT))] {
        let drawing = Drawing {
            folder: folder.clone(),
            prefix,
        };
        let shop = match claims {
            None => Shop::open(),
            Some(claims) => Shop::of_claims(claims),
        };
        let Stage { window, .. } = &Stage::drifting(shop);
        for view in VIEWS {
            view.visit(window, view.keys);
            drawing.draw(window, view.name);
        }
        for (name, moves) in narrow::WAYS {
            window.size(420, 700);
            narrow::begin(window);
            window.make_all(moves);
            window.wait("!document.querySelector('[aria-busy=true]')");
            drawing.draw(window, &format!("narrow-{name}"));
        }
    }
    let states = Drawing { folder, prefix: "" };
    each_state(|window, name| states.draw(window, name));
}
