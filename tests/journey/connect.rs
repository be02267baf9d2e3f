//! Connecting agents from the window, by keys and by mouse: the window shows a change, writes
//! exactly that, and undoes it in the same way.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;

use crate::{
    dashboard::hands::{BOTH, ENTER, ESCAPE, Hand},
    stage::{Desk, Sandbox},
};

impl Desk {
    /// A window on a repository that no agent is connected in.
    fn unconnected() -> Self {
        let sandbox = Sandbox::noted();
        Self {
            window: sandbox.showing("[data-testid=first-run]"),
            sandbox,
        }
    }

    fn configuration_path(&self) -> PathBuf {
        self.sandbox.shop.root.join(".mcp.json")
    }

    fn read_configuration(&self) -> Option<String> {
        fs::read_to_string(self.configuration_path()).ok()
    }

    /// Returns the repository's advice to agents.
    fn advice(&self) -> Option<String> {
        fs::read_to_string(self.sandbox.shop.root.join("AGENTS.md")).ok()
    }

    /// Presses a button of Claude Code's row.
    fn press(&self, hand: Hand, button: &str) {
        self.window.press_any(
            hand,
            &format!("[data-client=claude] [data-testid={button}]"),
        );
    }

    fn wait_connection(&self, word: &str) {
        self.window.wait(&format!(
            "document.querySelector('[data-client=claude] [data-testid=connection]')?.textContent === {}",
            json!(word)
        ));
    }

    fn wait_words(&self, css: &str, words: &str) {
        self.window.wait(&format!(
            "document.querySelector('[data-client=claude] {css}')?.textContent.includes({})",
            json!(words)
        ));
    }

    /// Waits for the change, which has the focus; returns the resulting text.
    fn wait_change(&self) -> String {
        self.window
            .wait_moved("document.activeElement?.matches('[data-testid=change]')");
        let path = self.window.text("[data-testid=change-path]");
        assert_eq!(
            Path::new(&path),
            self.configuration_path()
                .canonicalize()
                .unwrap_or(self.configuration_path())
        );
        self.text_after()
    }

    fn text_after(&self) -> String {
        self.window
            .texts("[data-testid=change] > .lines div:not(.removed) .text")
            .join("\n")
    }
}

fn lines(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("\n")
}

#[test]
fn an_agent_is_connected_as_it_was_shown_and_taken_out_again() {
    let desk = Desk::unconnected();
    let mine = "{\n  // mine\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" }\n  }\n}\n";
    for (hand, before) in BOTH.into_iter().zip([None, Some(mine)]) {
        let told = before.map(|_| "# Rules\n\nRun the tests.");
        if let (Some(before), Some(told)) = (before, told) {
            fs::write(desk.configuration_path(), before).unwrap();
            fs::write(desk.sandbox.shop.root.join("AGENTS.md"), told).unwrap();
        }
        desk.wait_connection("not connected");
        desk.press(hand, "connect-agent");
        let shown = desk.wait_change();
        desk.wait_words("[data-testid=advice]", "engram_query");
        assert_eq!(
            desk.read_configuration().as_deref(),
            before,
            "{hand:?}: shown, not written"
        );
        desk.window.shot(&format!("connect-{hand:?}"));
        desk.press(hand, "write");
        desk.wait_connection("connected");
        desk.wait_words("[data-testid=next]", "Start or restart Claude Code");
        desk.wait_words("[data-testid=next]", "Claude Code asks once");
        let after = desk.read_configuration().unwrap();
        assert_eq!(lines(&after), shown, "{hand:?}");
        let advice = desk.advice().unwrap();
        assert!(advice.contains("engram_query"), "{advice}");
        assert!(advice.starts_with(told.unwrap_or_default()), "{advice}");
        // The command reports the same.
        let command = desk.sandbox.engram.json(&["connect", "claude"]);
        assert_eq!(command["changed"], false, "{command}");

        desk.press(hand, "disconnect-agent");
        let shown = desk.wait_change();
        assert_eq!(shown, lines(before.unwrap_or_default()), "{hand:?}");
        assert_eq!(desk.read_configuration().unwrap(), after);
        desk.press(hand, "write");
        desk.wait_connection("not connected");
        assert_eq!(
            desk.read_configuration().as_deref(),
            before,
            "{hand:?}: to the byte"
        );
        assert_eq!(desk.advice().as_deref(), told, "{hand:?}: to the byte");
    }
}

#[test]
fn nothing_is_written_but_what_was_shown() {
    let desk = Desk::unconnected();
    desk.wait_connection("not connected");
    // After Esc, the focus is back where it was.
    desk.press(Hand::Keys, "connect-agent");
    desk.wait_change();
    desk.window.keys(ESCAPE);
    desk.window
        .wait_moved("document.activeElement?.matches('[data-testid=connect-agent]')");
    assert_eq!(desk.read_configuration(), None);

    // The file changes meanwhile: nothing is written, and the new change is shown.
    desk.press(Hand::Mouse, "connect-agent");
    desk.wait_change();
    let theirs = "{\"mcpServers\": {\"engram\": {\"url\": \"http://other\"}}}\n";
    fs::write(desk.configuration_path(), theirs).unwrap();
    desk.press(Hand::Mouse, "write");
    desk.wait_words("[data-testid=change]", "changed in the meantime");
    desk.wait_words(
        "[data-testid=change]",
        "Replaces another server named engram",
    );
    assert_eq!(desk.read_configuration().as_deref(), Some(theirs));
    desk.window.shot("connect-other");

    // Agreed to twice, the change is written once. Undo puts the other server back.
    let into_view =
        "document.querySelector('[data-testid=write]').scrollIntoView({block: 'center'})";
    desk.window.script(into_view, serde_json::json!([]));
    desk.window.double_click("[data-testid=write]");
    desk.wait_connection("connected");
    assert_eq!(
        desk.read_configuration()
            .unwrap()
            .matches("\"engram\"")
            .count(),
        1
    );
    assert!(!desk.read_configuration().unwrap().contains("other"));
    desk.press(Hand::Mouse, "disconnect-agent");
    desk.wait_change();
    desk.press(Hand::Mouse, "write");
    desk.wait_connection("not connected: another server is named engram");
    assert_eq!(desk.read_configuration().as_deref(), Some(theirs));

    // An unreadable file is refused and left untouched.
    fs::write(desk.configuration_path(), "{").unwrap();
    desk.press(Hand::Mouse, "connect-agent");
    desk.wait_connection("cannot be connected");
    desk.wait_words("[data-testid=refused]", "Nothing was changed");
    assert_eq!(desk.read_configuration().as_deref(), Some("{"));
    desk.window.shot("connect-refused");
}

#[test]
fn agents_are_reached_from_the_palette_and_the_settings() {
    let desk = Desk::unconnected();
    desk.window.control('k');
    desk.window.find("[data-testid=palette-input]");
    desk.window.keys("connect an agent");
    desk.window
        .wait("document.querySelector('[data-testid=palette-option][aria-selected=true]')?.textContent.includes('Connect an agent')");
    desk.window.keys(ENTER);
    let codex = "dialog[open] [data-client=codex] [data-testid=connect-agent]";
    desk.window.find(codex);
    desk.window.press_any(Hand::Keys, codex);
    desk.window
        .wait_moved("document.activeElement?.matches('dialog [data-testid=change]')");
    let path = desk.window.text("dialog [data-testid=change-path]");
    let file = desk.sandbox.engram.person.join(".codex/config.toml");
    assert!(path.ends_with("person/.codex/config.toml"), "{path}");
    desk.window.shot("connect-sheet");
    // Esc closes the change, then the dialog.
    desk.window.keys(ESCAPE);
    desk.window.wait(
        "document.querySelector('dialog[open]') && !document.querySelector('[data-testid=change]')",
    );
    desk.window.press_any(Hand::Keys, codex);
    desk.window
        .wait_moved("document.activeElement?.matches('dialog [data-testid=change]')");
    desk.window
        .press_any(Hand::Keys, "dialog[open] [data-testid=write]");
    desk.window
        .wait("document.querySelector('dialog [data-client=codex] [data-testid=connection]')?.textContent === 'connected'");
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .contains("[mcp_servers.engram]")
    );
    desk.window.keys(ESCAPE);
    desk.window.wait("!document.querySelector('dialog[open]')");
    // The page behind the dialog is updated.
    desk.window
        .wait("document.querySelector('[data-client=codex] [data-testid=connection]')?.textContent === 'connected'");
    desk.window.control(',');
    desk.window.press_on(Hand::Mouse, "connect-agents");
    desk.window
        .find("dialog[open] [data-client=codex] [data-testid=disconnect-agent]");
}
