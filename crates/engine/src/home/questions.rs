//! Questions that other processes of a home put to the process that holds the embedding model, over
//! the socket `questions.sock` in the home. Whoever may open the home's folder may ask.
//!
//! One question a connection: a line of JSON each way. If nobody listens, or no answer comes in
//! 50 ms, the caller goes on without one.

use engram_model::ProjectId;
use serde::{Deserialize, Serialize};

pub(crate) use socket::{Listening, ask, listen};

/// How many of the nearest versions an answer names: many more than are used, because the caller leaves
/// out what has ended and what its agent may not see.
pub(crate) const NEAREST: usize = 1_000;

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
    /// How close the project's claims, including those that the caller may not see, are to the question
    /// on average: models differ in that.
    pub(crate) usual: f32,
    /// The nearest versions, with their closeness, nearest first.
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
        os::{
            fd::AsRawFd,
            unix::{
                fs::{MetadataExt, PermissionsExt},
                net::{SocketAddr, UnixListener, UnixStream},
            },
        },
        path::{Path, PathBuf},
        thread::{self, JoinHandle},
        time::{Duration, Instant},
    };

    use rustix::{
        event::{PollFd, PollFlags, Timespec, poll},
        io::{FdFlags, fcntl_setfd},
        net::{self, AddressFamily, SocketAddrUnix, SocketType},
    };
    use serde::{Serialize, de::DeserializeOwned};

    use super::{AskedByMeaning, QuestionMeaning};

    /// The socket's name in the home.
    const SOCKET: &str = "questions.sock";
    /// How long a question may take.
    const PATIENCE: Duration = Duration::from_millis(50);
    /// How long one who connects may take to ask, while others wait: a question is sent at once.
    const HURRY: Duration = Duration::from_millis(10);
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

    /// Listens until this is dropped, which waits for the question that is being answered.
    pub(crate) struct Listening {
        socket: SocketFile,
        /// Open until the thread shall end.
        end: Option<UnixStream>,
        thread: Option<JoinHandle<()>>,
    }

    impl Drop for Listening {
        fn drop(&mut self) {
            self.end = None;
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
            self.socket.remove();
        }
    }

    /// The file of a socket that this process made. The home may have been moved or replaced since.
    struct SocketFile {
        path: PathBuf,
        device: u64,
        inode: u64,
    }

    impl SocketFile {
        fn of(path: PathBuf) -> io::Result<Self> {
            let file = fs::symlink_metadata(&path)?;
            Ok(Self {
                path,
                device: file.dev(),
                inode: file.ino(),
            })
        }

        fn remove(&self) {
            let now = fs::symlink_metadata(&self.path);
            if now.is_ok_and(|it| (it.dev(), it.ino()) == (self.device, self.inode)) {
                let _ = fs::remove_file(&self.path);
            }
        }
    }

    /// A path of the socket for its address, which has room for about 100 bytes.
    struct Address {
        path: PathBuf,
        /// The open home through which a longer path leads; on Linux only.
        _home: Option<fs::File>,
    }

    impl Address {
        fn of(home: &Path) -> io::Result<Self> {
            let path = home.join(SOCKET);
            if SocketAddr::from_pathname(&path).is_ok() {
                return Ok(Self { path, _home: None });
            }
            if cfg!(not(target_os = "linux")) {
                let why = "its path is too long for a socket; choose a home with a shorter path";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
            }
            let home = fs::File::open(home)?;
            let open = format!("/proc/self/fd/{}", home.as_raw_fd());
            Ok(Self {
                path: Path::new(&open).join(SOCKET),
                _home: Some(home),
            })
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
        let listener = UnixListener::bind(&Address::of(home)?.path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let (end, ended) = UnixStream::pair()?;
        Ok(Listening {
            socket: SocketFile::of(path)?,
            end: Some(end),
            thread: Some(
                thread::Builder::new()
                    .name("questions".to_owned())
                    .spawn(move || answer_until(&ended, &listener, &answer))?,
            ),
        })
    }

    /// Answers one question after the other, until the other side of `ended` is closed.
    fn answer_until(
        ended: &UnixStream,
        listener: &UnixListener,
        answer: &impl Fn(AskedByMeaning) -> Option<QuestionMeaning>,
    ) {
        loop {
            let mut ready = [
                PollFd::new(ended, PollFlags::IN),
                PollFd::new(listener, PollFlags::IN),
            ];
            let _ = poll(&mut ready, None);
            let [end, _] = &ready;
            if !end.revents().is_empty() {
                return;
            }
            match listener.accept() {
                Ok((stream, _)) => {
                    if let Err(error) = answer_one(stream, answer) {
                        tracing::debug!(%error, "a question was not answered");
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // There are no file descriptors left; soon there may be.
                Err(_) => {
                    let soon = Timespec::try_from(PATIENCE).ok();
                    let _ = poll(&mut [PollFd::new(ended, PollFlags::IN)], soon.as_ref());
                }
            }
        }
    }

    /// Reads one question and answers it. Whoever sends slowly, or has given up, gets no answer.
    fn answer_one(
        mut stream: UnixStream,
        answer: impl Fn(AskedByMeaning) -> Option<QuestionMeaning>,
    ) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        let question = read_line(&stream, Instant::now() + HURRY)?;
        if has_hung_up(&stream) {
            return Ok(());
        }
        let said = answer(question);
        stream.set_write_timeout(Some(PATIENCE))?;
        write_line(&mut stream, &said)
    }

    fn has_hung_up(stream: &UnixStream) -> bool {
        let mut state = [PollFd::new(stream, PollFlags::empty())];
        let asked = poll(&mut state, Some(&Timespec::default()));
        asked.is_ok() && state.iter().any(|it| it.revents().contains(PollFlags::HUP))
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
        let address = Address::of(home)?;
        let of_socket = SocketAddrUnix::new(&address.path)?;
        let socket = net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
        fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(true)?;
        net::connect(&stream, &of_socket)?;
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
