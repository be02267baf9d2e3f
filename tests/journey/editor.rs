//! A person's editor, as the window sees it.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use crate::machine::{clean, ok, system};

/// An editor that reports which file it was asked to open.
pub struct Editor {
    /// The program to start.
    pub program: PathBuf,
    said: PathBuf,
}

impl Editor {
    /// A program named like an editor that takes FILE:LINE.
    pub fn new(dir: &Path) -> Self {
        let (program, said) = (dir.join("subl"), dir.join("opened"));
        ok(clean(system("mkfifo"), dir).arg(&said));
        fs::write(
            &program,
            format!("#!/bin/sh\necho \"$1\" > {}\n", said.display()),
        )
        .unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { program, said }
    }

    /// Waits for the editor to start; returns its argument.
    pub fn wait_opened(&self) -> String {
        let (tell, told) = mpsc::channel();
        let said = self.said.clone();
        thread::spawn(move || tell.send(fs::read_to_string(said)));
        let said = told
            .recv_timeout(Duration::from_secs(30))
            .expect("the editor is started");
        said.unwrap().trim().to_owned()
    }
}
