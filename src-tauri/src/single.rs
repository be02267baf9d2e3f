//! One window for each home: a second start hands what it was asked for to the first, and ends.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a start was asked for.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// A link of ours.
    pub(crate) link: Option<String>,
    /// A repository.
    pub(crate) repo: Option<PathBuf>,
}

/// What became of a start.
pub(crate) enum Start {
    /// Another window took it.
    Handed,
    /// This is the window; the door hears later starts.
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

    use super::{Asked, Path, Start};

    /// A socket in the home, which nobody else may open.
    const FILE: &str = "window.sock";
    /// A window that does not answer in this time hangs: this start opens its own.
    const PATIENCE: Duration = Duration::from_secs(3);
    /// Longest message.
    const MOST: u64 = 16 * 1024;

    pub(crate) struct Door(UnixListener);

    pub(crate) fn start(home: &Path, asked: &Asked) -> Start {
        let path = home.join(FILE);
        if UnixStream::connect(&path).is_ok_and(|it| hand(it, asked).is_ok()) {
            return Start::Handed;
        }
        // Nobody listens there: what lies there is of a window that is gone.
        let _ = fs::create_dir_all(home).and_then(|()| fs::remove_file(&path));
        match UnixListener::bind(&path) {
            Ok(listener) => {
                if let Err(error) = fs::set_permissions(&path, fs::Permissions::from_mode(0o600)) {
                    tracing::warn!(%error, "the door of the window is not private");
                }
                Start::First(Some(Door(listener)))
            }
            Err(error) => {
                // A home that cannot be written, or a path too long for a socket.
                tracing::warn!(%error, "a second start will open a second window");
                Start::First(None)
            }
        }
    }

    fn hand(mut stream: UnixStream, asked: &Asked) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut line = serde_json::to_string(asked)?;
        line.push('\n');
        stream.write_all(line.as_bytes())?;
        let mut answer = String::new();
        BufReader::new(stream.take(16)).read_line(&mut answer)?;
        match answer.trim() {
            "ok" => Ok(()),
            _ => Err(io::Error::other("no answer")),
        }
    }

    impl Door {
        /// Hears later starts for as long as the program runs.
        pub(crate) fn listen(self, each: impl Fn(Asked) + Send + 'static) {
            thread::spawn(move || {
                for stream in self.0.incoming().flatten() {
                    match take(stream) {
                        Ok(asked) => each(asked),
                        Err(error) => tracing::warn!(%error, "a start was not understood"),
                    }
                }
            });
        }
    }

    fn take(stream: UnixStream) -> io::Result<Asked> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut line = String::new();
        BufReader::new((&stream).take(MOST)).read_line(&mut line)?;
        let asked = serde_json::from_str(&line)?;
        (&stream).write_all(b"ok\n")?;
        Ok(asked)
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
            let Start::First(Some(door)) = start(home.path(), &Asked::default()) else {
                panic!("the first start is the window");
            };
            let mode = fs::metadata(home.path().join(FILE))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
            let (tell, told) = mpsc::channel();
            door.listen(move |asked| tell.send(asked).unwrap());
            let asked = Asked {
                link: Some("engram://feed?q=\"\n".to_owned()),
                repo: Some("/a b".into()),
            };
            assert!(matches!(start(home.path(), &asked), Start::Handed));
            assert_eq!(told.recv().unwrap(), asked);
            // Nonsense is heard and forgotten.
            let mut stream = UnixStream::connect(home.path().join(FILE)).unwrap();
            stream.write_all(b"nonsense\n").unwrap();
            assert!(matches!(start(home.path(), &asked), Start::Handed));
        }
    }
}

/// Elsewhere each start opens a window.
#[cfg(not(unix))]
pub(crate) struct Door;

#[cfg(not(unix))]
impl Door {
    pub(crate) fn listen(self, _each: impl Fn(Asked) + Send + 'static) {}
}

#[cfg(not(unix))]
pub(crate) fn start(_home: &Path, _asked: &Asked) -> Start {
    Start::First(None)
}
