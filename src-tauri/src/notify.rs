//! Shows a desktop notification for each new request that waits, if the person turned that on.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Weak},
};

use engram_engine::{Engine, Subscription};
use engram_model::{
    Caller, Change, Entry, OperationKind, Pointer, Refusal, RequestTold, WhichRequests, ask,
    is_hidden, shorten,
};
use gtk::{
    gio::{self, BusType, Cancellable, DBusCallFlags, DBusConnection},
    glib::{self, Variant, VariantDict, VariantTy},
    prelude::*,
};

use crate::settings;

/// The maximum number of notifications at one moment; the window lists the others.
const MAX_NOTICES: usize = 3;
/// The maximum length of an agent's text, in characters.
const MAX_TEXT: usize = 200;
/// The longest wait for the desktop, in milliseconds.
const PATIENCE: i32 = 2_000;

const NAME: &str = "org.freedesktop.Notifications";
const PLACE: &str = "/org/freedesktop/Notifications";

/// Whether this desktop can be reached at all.
pub(crate) fn can_notify() -> bool {
    session_bus().is_ok()
}

fn session_bus() -> Result<DBusConnection, glib::Error> {
    gio::bus_get_sync(BusType::Session, Cancellable::NONE)
}

/// Notifies of each request that begins to wait, for as long as the subscription lasts.
pub(crate) fn follow(engine: &Arc<Engine>, home: &Path) -> Result<Subscription, Refusal> {
    let head = engine.ask(&Caller::User, ask::Status)?.head;
    let mut known = waiting_requests(engine)?
        .into_iter()
        .map(|it| it.id)
        .collect();
    let (home, engine_of) = (home.to_owned(), Arc::downgrade(engine));
    engine.subscribe(head, move |entries| {
        if entries.iter().any(is_request) && settings::read(&home).notify {
            tell_new(&engine_of, &mut known);
        }
    })
}

fn is_request(entry: &Entry) -> bool {
    let requested = OperationKind::Requested;
    matches!(entry.change, Change::Between { what, .. } if what == requested)
}

fn waiting_requests(engine: &Engine) -> Result<Vec<RequestTold>, Refusal> {
    let which = WhichRequests { all: false };
    let reply = engine.ask(&Caller::User, ask::Requests(which))?;
    Ok(reply.requests)
}

/// Shows waiting requests that were not shown before. If the desktop cannot show them, only a
/// warning is logged.
fn tell_new(engine: &Weak<Engine>, known: &mut BTreeSet<String>) {
    let Some(engine) = engine.upgrade() else {
        return;
    };
    let all = match waiting_requests(&engine) {
        Ok(all) => all,
        Err(refusal) => return tracing::warn!(%refusal, "cannot read the waiting requests"),
    };
    let new = all.iter().filter(|it| !known.contains(&it.id));
    let new: Vec<(String, String)> = new.take(MAX_NOTICES).map(title_and_text).collect();
    known.extend(all.into_iter().map(|it| it.id));
    let shown = session_bus().and_then(|desktop| {
        let show = |(title, text): &(String, String)| show_notification(&desktop, title, text);
        new.iter().try_for_each(show)
    });
    if let Err(error) = shown {
        tracing::warn!(%error, "cannot show a notification");
    }
}

/// Returns the title and text for one request: who asks for what, and why. An agent's words are
/// data, so they are shortened to one line.
fn title_and_text(request: &RequestTold) -> (String, String) {
    let pointer = request.pointer.parse::<Pointer>();
    let wanted = pointer.map_or_else(|_| request.pointer.clone(), |it| it.label());
    let who = if request.label.is_empty() {
        &request.agent.0
    } else {
        &request.label
    };
    (
        format!("{} asks to read {}", plain_line(who), plain_line(&wanted)),
        plain_line(&request.reason),
    )
}

fn plain_line(text: &str) -> String {
    let seen = text.chars().filter(|c| !is_hidden(*c));
    let line: String = seen.map(|c| if c.is_control() { ' ' } else { c }).collect();
    shorten(&line, MAX_TEXT).to_string()
}

/// Passes a notification to the desktop.
fn show_notification(desktop: &DBusConnection, title: &str, text: &str) -> Result<(), glib::Error> {
    // If the desktop reads markup, the agent's words are escaped.
    let can = call_desktop(desktop, "GetCapabilities", None, "(as)")?;
    let can: Vec<String> = can.child_value(0).get().unwrap_or_default();
    let text = if can.iter().any(|it| it == "body-markup") {
        glib::markup_escape_text(text).to_string()
    } else {
        text.to_owned()
    };
    let hints = VariantDict::new(None);
    hints.insert("desktop-entry", "engram".to_variant());
    let actions: Vec<String> = Vec::new();
    let what = Variant::tuple_from_iter([
        "Engram".to_variant(),
        0u32.to_variant(),
        "engram".to_variant(),
        title.to_variant(),
        text.to_variant(),
        actions.to_variant(),
        hints.end(),
        (-1i32).to_variant(),
    ]);
    call_desktop(desktop, "Notify", Some(&what), "(u)").map(drop)
}

fn call_desktop(
    desktop: &DBusConnection,
    method: &str,
    what: Option<&Variant>,
    answer: &str,
) -> Result<Variant, glib::Error> {
    let answer = VariantTy::new(answer).ok();
    desktop.call_sync(
        Some(NAME),
        PLACE,
        NAME,
        method,
        what,
        answer,
        DBusCallFlags::NONE,
        PATIENCE,
        Cancellable::NONE,
    )
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader},
        process::{Child, Command, Stdio},
        sync::mpsc,
        time::Duration,
    };

    use gtk::gio::{DBusConnectionFlags, DBusNodeInfo};

    use super::*;

    /// A D-Bus of its own, and what a desktop on it was asked to show.
    struct Desktop {
        bus: Child,
        address: String,
        shown: mpsc::Receiver<Variant>,
    }

    impl Drop for Desktop {
        fn drop(&mut self) {
            let _ = self.bus.kill();
            let _ = self.bus.wait();
        }
    }

    const METHODS: &str = "<node><interface name='org.freedesktop.Notifications'>
        <method name='GetCapabilities'><arg type='as' direction='out'/></method>
        <method name='Notify'><arg type='s' direction='in'/><arg type='u' direction='in'/><arg type='s' direction='in'/>
          <arg type='s' direction='in'/><arg type='s' direction='in'/><arg type='as' direction='in'/>
          <arg type='a{sv}' direction='in'/><arg type='i' direction='in'/><arg type='u' direction='out'/></method>
        </interface></node>";

    fn join(address: &str) -> DBusConnection {
        let flags = DBusConnectionFlags::AUTHENTICATION_CLIENT
            | DBusConnectionFlags::MESSAGE_BUS_CONNECTION;
        DBusConnection::for_address_sync(address, flags, None, Cancellable::NONE).unwrap()
    }

    impl Desktop {
        fn start(can: &'static [&'static str]) -> Self {
            let mut bus = Command::new("dbus-daemon")
                .args(["--session", "--nofork", "--print-address"])
                .stdout(Stdio::piped())
                .spawn()
                .expect("dbus-daemon");
            let mut address = String::new();
            let out = bus.stdout.take().unwrap();
            BufReader::new(out).read_line(&mut address).unwrap();
            let address = address.trim().to_owned();
            let (sender, shown) = mpsc::channel();
            let (ready, begun) = mpsc::channel();
            let at = address.clone();
            std::thread::spawn(move || {
                let context = glib::MainContext::new();
                let serve = || {
                    let connection = join(&at);
                    let node = DBusNodeInfo::for_xml(METHODS).unwrap();
                    let interface = node.lookup_interface(NAME).unwrap();
                    let answer =
                        move |_: DBusConnection,
                              _: &str,
                              _: &str,
                              _: &str,
                              method: &str,
                              what: Variant,
                              asked: gio::DBusMethodInvocation| {
                            if method == "GetCapabilities" {
                                let can: Vec<String> =
                                    can.iter().map(|it| (*it).to_owned()).collect();
                                return asked.return_value(Some(&(can,).to_variant()));
                            }
                            let _ = sender.send(what);
                            asked.return_value(Some(&(1u32,).to_variant()));
                        };
                    let nothing =
                        |_: DBusConnection, _: &str, _: &str, _: &str, _: &str| 0i32.to_variant();
                    let never =
                        |_: DBusConnection, _: &str, _: &str, _: &str, _: &str, _: Variant| false;
                    connection
                        .register_object(PLACE, &interface, answer, nothing, never)
                        .unwrap();
                    // Do not watch the name: gio panics if the bus ends first.
                    let wanted = (NAME, 0u32).to_variant();
                    let bus = "org.freedesktop.DBus";
                    let flags = gio::DBusCallFlags::NONE;
                    let place = "/org/freedesktop/DBus";
                    connection
                        .call_sync(
                            Some(bus),
                            place,
                            bus,
                            "RequestName",
                            Some(&wanted),
                            None,
                            flags,
                            -1,
                            gio::Cancellable::NONE,
                        )
                        .unwrap();
                    ready.send(()).unwrap();
                    glib::MainLoop::new(Some(&context), false).run();
                };
                context.with_thread_default(serve).unwrap();
            });
            begun
                .recv_timeout(Duration::from_secs(10))
                .expect("a desktop");
            Self {
                bus,
                address,
                shown,
            }
        }

        fn seen(&self) -> (String, String) {
            let what = self.shown.recv_timeout(Duration::from_secs(10)).unwrap();
            let text = |at: usize| what.child_value(at).get::<String>().unwrap();
            (text(3), text(4))
        }
    }

    #[test]
    fn the_desktop_shows_who_asks_for_what_and_why() {
        let asked = |label: &str, reason: &str| -> RequestTold {
            serde_json::from_value(serde_json::json!({
                "id": "1", "agent": "ada", "label": label, "role": null, "asked_at": "2026-11-20T10:00:00Z",
                "pointer": "repo:src/a.rs#L1-L9@HEAD", "reason": reason, "intended_use": "", "tokens": 90,
                "state": "waiting",
            }))
            .unwrap()
        };
        let long = "long ".repeat(100);
        for (can, label, reason, title, text) in [
            (
                &[][..],
                "ada",
                "Is it <b>held</b>?",
                "ada asks to read src/a.rs#L1-L9",
                "Is it <b>held</b>?",
            ),
            (
                &["body-markup"],
                "",
                "Is it <b>held</b> & why?\n\u{202e}",
                "ada asks to read src/a.rs#L1-L9",
                "Is it &lt;b&gt;held&lt;/b&gt; &amp; why? ",
            ),
        ] {
            let desktop = Desktop::start(can);
            let (said, why) = title_and_text(&asked(label, reason));
            show_notification(&join(&desktop.address), &said, &why).unwrap();
            assert_eq!(desktop.seen(), (title.to_owned(), text.to_owned()));
        }
        assert!(title_and_text(&asked(&long, &long)).1.chars().count() <= MAX_TEXT + 1);
    }
}
