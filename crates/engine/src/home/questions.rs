//! Questions that other processes of a home put to the process that holds the embedding model, over
//! the socket `questions.sock` in the home. Whoever may open the home's folder may ask.
//!
//! One question a connection: a line of JSON each way. If nobody listens, or no answer comes in
//! 50 ms, the caller goes on without one.

use engram_model::ProjectId;
use serde::{Deserialize, Serialize};

pub(crate) use socket::{Listening, ask, listen};

/// How many of the nearest versions an answer names.
pub(crate) const NEAREST: usize = 50;

/// A question about the claims of a project.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskedByMeaning {
    pub(crate) project: ProjectId,
    pub(crate) text: String,
}

/// What the model makes of a question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct QuestionMeaning {
    /// The model's name and version.
    pub(crate) name: String,
    pub(crate) version: String,
    /// The question's direction, of length 127.
    pub(crate) vector: Vec<i8>,
    /// How close the project's claims are to the question on average: models differ in that.
    pub(crate) usual: f32,
    /// The nearest versions, with their closeness.
    pub(crate) nearest: Vec<(u64, f32)>,
}

impl QuestionMeaning {
    /// How close a claim is to the question, from 0 for a claim that is no closer than usual to 1.
    pub(crate) fn closeness(&self, claim: &[i8]) -> f32 {
        closeness(cosine(&self.vector, claim), self.usual)
    }
}

/// The cosine of two directions of length 127.
pub(crate) fn cosine(a: &[i8], b: &[i8]) -> f32 {
    let sum: i32 = a
        .iter()
        .zip(b)
        .map(|(a, b)| i32::from(*a) * i32::from(*b))
        .sum();
    sum as f32 / (127.0 * 127.0)
}

/// A cosine on a scale that all models share.
pub(crate) fn closeness(cosine: f32, usual: f32) -> f32 {
    ((cosine - usual) / (1.0 - usual).max(0.1)).clamp(0.0, 1.0)
}

#[cfg(unix)]
mod socket {
    use std::{
        fs,
        io::{self, BufRead, BufReader, Read, Write},
        os::unix::{
            fs::PermissionsExt,
            net::{UnixListener, UnixStream},
        },
        path::{Path, PathBuf},
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        time::{Duration, Instant},
    };

    use rustix::{
        io::{FdFlags, fcntl_setfd},
        net::{self, AddressFamily, SocketAddrUnix, SocketType},
    };
    use serde::{Serialize, de::DeserializeOwned};

    use super::{AskedByMeaning, QuestionMeaning};

    /// The socket's name in the home.
    const SOCKET: &str = "questions.sock";
    /// How long a question may take.
    const PATIENCE: Duration = Duration::from_millis(50);
    /// The longest line, in bytes. A question has at most 2,000 characters.
    const MAX_LINE: u64 = 64 << 10;

    /// Asks the process that holds the model; `None` if there is none, or it takes too long.
    pub(crate) fn ask(home: &Path, question: &AskedByMeaning) -> Option<QuestionMeaning> {
        let until = Instant::now() + PATIENCE;
        exchange(home, question, until)
            .inspect_err(|error| match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {}
                _ => tracing::debug!(%error, "the embedding model gave no answer"),
            })
            .ok()?
    }

    /// Listens until this is dropped.
    pub(crate) struct Listening {
        home: PathBuf,
        ended: Arc<AtomicBool>,
    }

    impl Drop for Listening {
        fn drop(&mut self) {
            self.ended.store(true, Ordering::Relaxed);
            // Wakes the thread, which then ends.
            let _ = connect(&self.home);
            let _ = fs::remove_file(self.home.join(SOCKET));
        }
    }

    /// Answers questions on a thread of its own. The caller holds the lock that makes it the only one.
    pub(crate) fn listen(
        home: &Path,
        answer: impl Fn(AskedByMeaning) -> Option<QuestionMeaning> + Send + 'static,
    ) -> io::Result<Listening> {
        let path = home.join(SOCKET);
        // A process that was killed left it behind.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let ended = Arc::new(AtomicBool::new(false));
        let listening = Listening {
            home: home.to_owned(),
            ended: Arc::clone(&ended),
        };
        std::thread::Builder::new()
            .name("questions".to_owned())
            .spawn(move || {
                for stream in listener.incoming() {
                    if ended.load(Ordering::Relaxed) {
                        return;
                    }
                    let Ok(stream) = stream else {
                        // There are no file descriptors left.
                        std::thread::park_timeout(PATIENCE);
                        continue;
                    };
                    if let Err(error) = answer_one(stream, &answer) {
                        tracing::debug!(%error, "a question was not answered");
                    }
                }
            })?;
        Ok(listening)
    }

    /// Reads one question and answers it. Whoever sends slowly gets no answer.
    fn answer_one(
        mut stream: UnixStream,
        answer: impl Fn(AskedByMeaning) -> Option<QuestionMeaning>,
    ) -> io::Result<()> {
        let question = read_line(&stream, Instant::now() + PATIENCE)?;
        let said = answer(question);
        stream.set_write_timeout(Some(PATIENCE))?;
        write_line(&mut stream, &said)
    }

    fn exchange(
        home: &Path,
        question: &AskedByMeaning,
        until: Instant,
    ) -> io::Result<Option<QuestionMeaning>> {
        let mut stream = connect(home)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        write_line(&mut stream, question)?;
        read_line(&stream, until)
    }

    /// Connects, without waiting for a process that hangs with a full queue.
    fn connect(home: &Path) -> io::Result<UnixStream> {
        let address = SocketAddrUnix::new(home.join(SOCKET))?;
        let socket = net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
        fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(true)?;
        net::connect(&stream, &address)?;
        stream.set_nonblocking(false)?;
        Ok(stream)
    }

    fn write_line(stream: &mut UnixStream, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        stream.write_all(&line)
    }

    fn read_line<T: DeserializeOwned>(stream: &UnixStream, until: Instant) -> io::Result<T> {
        let mut line = Vec::new();
        BufReader::new(Hurried { stream, until }.take(MAX_LINE)).read_until(b'\n', &mut line)?;
        Ok(serde_json::from_slice(&line)?)
    }

    /// A stream that is read until a time, however slowly bytes come.
    struct Hurried<'s> {
        stream: &'s UnixStream,
        until: Instant,
    }

    impl Read for Hurried<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let left = self.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            (&mut &*self.stream).read(into)
        }
    }
}

/// Without such sockets, each process answers with the table alone.
#[cfg(not(unix))]
mod socket {
    use std::{io, path::Path};

    use super::{AskedByMeaning, QuestionMeaning};

    pub(crate) enum Listening {}

    pub(crate) fn ask(_: &Path, _: &AskedByMeaning) -> Option<QuestionMeaning> {
        None
    }

    pub(crate) fn listen(
        _: &Path,
        _: impl Fn(AskedByMeaning) -> Option<QuestionMeaning> + Send + 'static,
    ) -> io::Result<Listening> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "other processes cannot ask on this system",
        ))
    }
}
