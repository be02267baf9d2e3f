//! One window per home: a second start passes its request to the first window and ends. A start
//! without the graphics card replaces a window that uses it, since that window may be blank.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a start should show.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StartRequest {
    /// An `engram://` link.
    pub(crate) link: Option<String>,
    /// A repository.
    pub(crate) repo: Option<PathBuf>,
    /// Whether to draw without the graphics card; windows of earlier builds do not send this.
    #[serde(default)]
    pub(crate) safely: bool,
}

/// The outcome of a start.
pub(crate) enum StartOutcome {
    /// Another window took the request.
    Handed,
    /// This process is the window; the door receives later starts.
    First(Option<Door>),
}

#[cfg(unix)]
pub(crate) use unix::{Door, start};

#[cfg(unix)]
mod unix {
    use std::{
        fs,
        io::{self, BufRead, BufReader, Read, Write},
        os::unix::{
            fs::PermissionsExt,
            net::{UnixListener, UnixStream},
        },
        thread,
        time::Duration,
    };

    use super::{Path, PathBuf, StartOutcome, StartRequest};

    /// The socket in the home, which only its owner may open.
    const FILE: &str = "window.sock";
    /// After this time without an answer, the window counts as hung, and this start opens its own.
    const PATIENCE: Duration = Duration::from_secs(3);
    /// The longest message, in bytes.
    const MAX_MESSAGE: u64 = 16 * 1024;

    /// The answer that the request was taken.
    const TAKEN: &str = "ok";
    /// The answer that the window gave up its door and closes.
    const LEAVING: &str = "leave";

    pub(crate) struct Door {
        listener: UnixListener,
        path: PathBuf,
        /// Whether its window draws without the graphics card; replacing it then gains nothing.
        safely: bool,
    }

    /// The window's answer.
    #[derive(Debug, PartialEq, Eq)]
    enum WindowAnswer {
        Taken,
        /// The window has closed, or still hangs after the time limit.
        Left,
    }

    pub(crate) fn start(home: &Path, asked: &StartRequest) -> StartOutcome {
        if engram_engine::look_at_home(home).is_err() {
            return StartOutcome::First(None); // the page says why; nothing is created there
        }
        let path = home.join(FILE);
        match UnixStream::connect(&path).and_then(|it| hand(it, asked)) {
            Ok(WindowAnswer::Taken) => return StartOutcome::Handed,
            // The old door is gone. Another one may have appeared meanwhile, so ask again.
            Ok(WindowAnswer::Left) => return start(home, asked),
            Err(_) => {}
        }
        // Nobody listens there: the socket was left by a window that has ended.
        let _ = engram_engine::make_private_folder(home).and_then(|()| fs::remove_file(&path));
        match UnixListener::bind(&path) {
            Ok(listener) => {
                if let Err(error) = fs::set_permissions(&path, fs::Permissions::from_mode(0o600)) {
                    tracing::warn!(%error, "cannot make the window's socket private");
                }
                StartOutcome::First(Some(Door {
                    listener,
                    path,
                    safely: asked.safely,
                }))
            }
            Err(error) => {
                // A home that cannot be written, or a path too long for a socket.
                tracing::warn!(%error, "a second start will open a second window");
                StartOutcome::First(None)
            }
        }
    }

    fn hand(mut stream: UnixStream, asked: &StartRequest) -> io::Result<WindowAnswer> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut line = serde_json::to_string(asked)?;
        line.push('\n');
        stream.write_all(line.as_bytes())?;
        let mut answer = String::new();
        let mut stream = BufReader::new(stream.take(16));
        stream.read_line(&mut answer)?;
        match answer.trim() {
            TAKEN => Ok(WindowAnswer::Taken),
            LEAVING => {
                // The connection ends with the process; a process that hangs has no door any more
                // either.
                let _ = stream.read_to_end(&mut Vec::new());
                Ok(WindowAnswer::Left)
            }
            _ => Err(io::Error::other("no answer")),
        }
    }

    impl Door {
        /// Receives later starts while the program runs, or until one replaces this window; then
        /// `leave` ends the program.
        pub(crate) fn listen(
            self,
            each: impl Fn(StartRequest) + Send + 'static,
            leave: impl FnOnce() + Send + 'static,
        ) {
            thread::spawn(move || {
                let Some(successor) = self.successor(each) else {
                    return;
                };
                // The door is removed before the answer, so that the successor's own door is not
                // removed.
                let _ = fs::remove_file(&self.path);
                drop(self);
                let _ = answer(&successor, LEAVING);
                leave();
                // Kept open until here: the successor waits for it to close.
                drop(successor);
            });
        }

        /// Answers starts until one should replace this window; returns that one.
        fn successor(&self, each: impl Fn(StartRequest)) -> Option<UnixStream> {
            for stream in self.listener.incoming().flatten() {
                match ask(&stream) {
                    Ok(asked) if asked.safely && !self.safely => return Some(stream),
                    Ok(asked) => match answer(&stream, TAKEN) {
                        Ok(()) => each(asked),
                        Err(error) => tracing::warn!(%error, "cannot answer a start"),
                    },
                    Err(error) => tracing::warn!(%error, "cannot read the request of a start"),
                }
            }
            None
        }
    }

    fn answer(mut stream: &UnixStream, word: &str) -> io::Result<()> {
        stream.write_all(format!("{word}\n").as_bytes())
    }

    fn ask(stream: &UnixStream) -> io::Result<StartRequest> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut line = String::new();
        BufReader::new(stream.take(MAX_MESSAGE)).read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    #[cfg(test)]
    mod tests {
        #![allow(clippy::unwrap_used, clippy::panic)]
        use std::sync::mpsc;

        use super::*;

        #[test]
        fn a_second_start_hands_over_and_a_dead_socket_is_none() {
            let home = tempfile::tempdir().unwrap();
            drop(UnixListener::bind(home.path().join(FILE)).unwrap()); // of a window that was killed
            let StartOutcome::First(Some(door)) = start(home.path(), &StartRequest::default())
            else {
                panic!("the first start is the window");
            };
            let mode = fs::metadata(home.path().join(FILE))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
            let (tell, told) = mpsc::channel();
            door.listen(move |asked| tell.send(asked).unwrap(), || ());
            let asked = StartRequest {
                link: Some("engram://feed?q=\"\n".to_owned()),
                repo: Some("/a b".into()),
                ..StartRequest::default()
            };
            assert!(matches!(start(home.path(), &asked), StartOutcome::Handed));
            assert_eq!(told.recv().unwrap(), asked);
            // Nonsense is ignored.
            let mut stream = UnixStream::connect(home.path().join(FILE)).unwrap();
            stream.write_all(b"nonsense\n").unwrap();
            assert!(matches!(start(home.path(), &asked), StartOutcome::Handed));
            // Windows of earlier builds did not send whether to draw safely.
            let old: StartRequest = serde_json::from_str(r#"{"link":null,"repo":null}"#).unwrap();
            assert_eq!(old, StartRequest::default());
        }

        #[test]
        fn a_start_that_draws_safely_takes_the_place_of_a_window_that_does_not() {
            let home = tempfile::tempdir().unwrap();
            let safely = StartRequest {
                safely: true,
                ..StartRequest::default()
            };
            let first = |asked: &StartRequest| match start(home.path(), asked) {
                StartOutcome::First(Some(door)) => door,
                _ => panic!("not the window"),
            };
            let (ending, ends) = mpsc::channel();
            let (gone, is_gone) = mpsc::channel();
            first(&StartRequest::default()).listen(
                |_| panic!("the first start gets no request"),
                move || {
                    ending.send(()).unwrap();
                    let _: Result<(), _> = is_gone.recv();
                },
            );
            thread::scope(|scope| {
                let second = scope.spawn(|| first(&safely));
                ends.recv().unwrap();
                // The first process has not ended, but its door is gone, so it will not remove the
                // second's.
                assert!(!home.path().join(FILE).exists());
                assert!(!second.is_finished());
                drop(gone);
                let (tell, told) = mpsc::channel();
                second.join().unwrap().listen(
                    move |asked| tell.send(asked).unwrap(),
                    || panic!("it draws safely"),
                );
                // The window already draws safely, so it is not replaced.
                assert!(matches!(start(home.path(), &safely), StartOutcome::Handed));
                assert_eq!(told.recv().unwrap(), safely);
            });
        }
    }
}

/// On other systems, each start opens a window.
#[cfg(not(unix))]
pub(crate) struct Door;

#[cfg(not(unix))]
impl Door {
    pub(crate) fn listen(
        self,
        _each: impl Fn(StartRequest) + Send + 'static,
        _leave: impl FnOnce() + Send + 'static,
    ) {
    }
}

#[cfg(not(unix))]
pub(crate) fn start(_home: &Path, _asked: &StartRequest) -> StartOutcome {
    StartOutcome::First(None)
}
