//! The files of a home: where it is by default, what it may contain, who may read it, and moving an
//! older home there.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, ErrorKind},
    path::{Path, PathBuf},
};

use engram_model::{Code, Refusal, shell_quoted};
use engram_store::{
    Store, StoreError, Vacant, close_to_others, is_home, is_open_to_others, make_private_folder,
    write_private,
};
use sha2::{Digest, Sha256};

use crate::home::{calls, failures, models};

/// Everything that Engram writes to a home: files, and folders that contain nothing else. All other
/// files there belong to somebody else.
const OURS: &[&str] = &[
    calls::FILES[0],
    calls::FILES[1],
    calls::QUERIES,
    "config.toml",
    "doorbell",
    "embed.lock",
    models::FETCHED,
    models::FILE,
    "models.lock",
    "opened.json",
    "recent.json",
    "window-place.json",
    "window.toml",
];
/// Our files in folders that others may use too, by the beginning and end of their names.
const OURS_IN: &[(&str, &str, &str)] = &[(CONNECT, "", ".json"), ("logs", "window.", ".log")];
/// Backups of agents' configurations, including any secrets in them.
const CONNECT: &str = "connect";
/// The file that defines the place of the home.
const DATABASE: &str = "engram.db";
/// The files that SQLite keeps beside the open database.
const LOGS: [&str; 3] = ["engram.db-wal", "engram.db-shm", "engram.db-journal"];
/// Locked until the database has been moved.
const QUEUE: &str = "write.lock";
/// The socket of a window, and that of the process with the embedding model: they cannot be moved.
const DOORS: [&str; 2] = ["window.sock", "questions.sock"];
/// The folder itself, even if the home is a link to it.
const FOLDER: &str = ".";

/// The result of a move.
#[derive(Debug, Clone)]
pub struct Moved {
    /// The old home.
    pub from: PathBuf,
    /// The new home.
    pub to: PathBuf,
    /// What was moved.
    pub moved: Vec<PathBuf>,
    /// Files that belong to others, which stayed.
    pub stayed: Vec<PathBuf>,
}

/// The default home: the platform's data folder, or `~/.engram` as long as that holds an Engram
/// home and the data folder does not. `None` for an account without a home folder.
pub fn default_home() -> Option<PathBuf> {
    let own = own_home()?;
    let former = former_home().filter(|it| !is_home(&own) && is_home(it));
    Some(former.unwrap_or(own))
}

/// The home in the platform's data folder. A relative data folder is ignored, because it would
/// differ for each current folder.
fn own_home() -> Option<PathBuf> {
    let data = dirs::data_local_dir().filter(|it| it.is_absolute());
    data.map(|it| it.join("engram"))
}

/// Where earlier builds put the home, and where another program of this name keeps its own files.
fn former_home() -> Option<PathBuf> {
    let user = dirs::home_dir().filter(|it| it.is_absolute());
    user.map(|it| it.join(".engram"))
}

/// Whether the home has a database file, of whatever kind.
pub fn is_home_there(home: &Path) -> bool {
    home.join(DATABASE).symlink_metadata().is_ok()
}

/// Checks whether opening a home would be refused, without touching anything.
///
/// # Errors
/// Those of [`Engine::open`](crate::Engine::open); none if there is no home yet.
pub fn look_at_home(home: &Path) -> Result<(), Refusal> {
    Ok(Store::check(home)?)
}

/// Opens a home, and removes others' rights to it.
pub(crate) fn open(home: &Path, origin: ulid::Ulid) -> Result<Store, Refusal> {
    let store = open_store(home, origin).map_err(|it| name_home_in(home, it))?;
    make_private(home);
    Ok(store)
}

/// Adds the home's path to a refusal, and `--home` to the commands in its hint.
pub(crate) fn name_home_in(home: &Path, mut refusal: Refusal) -> Refusal {
    let is_of_home = matches!(
        refusal.code,
        Code::StoreCorrupt
            | Code::StoreFull
            | Code::StoreGone
            | Code::StoreLocked
            | Code::StoreNewer
            | Code::StoreReadOnly
    );
    if !is_of_home {
        return refusal;
    }
    let place = home.display().to_string();
    if !refusal.message.contains(&place) {
        let file = home.join(DATABASE);
        refusal.message = format!("{}: {}", file.display(), refusal.message);
    }
    let doctor = format!("`{}", doctor_command(home));
    refusal.hint = refusal.hint.replace("`engram doctor", &doctor);
    refusal
}

/// The `doctor` command for this home.
pub(crate) fn doctor_command(home: &Path) -> String {
    if default_home().as_deref() == Some(home) {
        "engram doctor".to_owned()
    } else {
        format!(
            "engram --home {} doctor",
            shell_quoted(&home.display().to_string())
        )
    }
}

/// Opens the store, but creates no home at the old place after its home was moved: agents may still
/// name that place, and a process may have chosen it just before the move.
fn open_store(home: &Path, origin: ulid::Ulid) -> Result<Store, Refusal> {
    if former_home().as_deref() != Some(home) {
        return Ok(Store::open(home, origin)?);
    }
    if is_home(home) {
        return Ok(Store::open_only(home, origin)?);
    }
    match own_home().filter(|it| is_home(it) && !home.join(DATABASE).exists()) {
        None => Ok(Store::open(home, origin)?),
        Some(own) => Err(Refusal::new(
            Code::NotFound,
            format!("there is no longer a home in {}", home.display()),
            format!(
                "Drop --home and unset ENGRAM_HOME: the data is in {}.",
                own.display()
            ),
        )),
    }
}

/// Writes a small file to a home, for its user alone. The write is atomic, and on the disk when
/// this returns.
///
/// # Errors
/// A home that [`look_at_home`] refuses, which stays untouched, and a home that cannot be written.
pub fn write_home_file(home: &Path, name: &str, text: &str) -> Result<(), Refusal> {
    look_at_home(home)?;
    let path = home.join(name);
    write_private(&path, text).map_err(|source| StoreError::Io { path, source })?;
    make_private(home);
    Ok(())
}

/// The same for a process that has the home open: a home that was moved away meanwhile is not made
/// anew.
///
/// # Errors
/// `STORE_GONE` besides those of [`write_home_file`].
pub fn write_known_home_file(home: &Path, name: &str, text: &str) -> Result<(), Refusal> {
    if home.is_dir() {
        write_home_file(home, name, text)
    } else {
        Err(StoreError::Gone(home.to_owned()).into())
    }
}

/// Removes others' rights to a home that an earlier build left open.
///
/// Most homes are closed already, which three checks show. Nobody else reaches anything in a closed
/// folder, so its contents need no check. A folder that also holds other things stays as open as
/// its owner made it, because others may need those; only our files in it are closed. A failure to
/// close is no reason to refuse: see [`open_to_others`].
fn make_private(home: &Path) {
    let is_open = |name: &str| is_open_to_others(&home.join(name));
    let is_shared = || {
        let entries = fs::read_dir(home).into_iter().flatten().flatten();
        let mut names = entries.map(|it| it.file_name());
        names.any(|it| !may_be_in_home(&it.to_string_lossy()))
    };
    let is_done = !is_open(DATABASE) && !is_open(CONNECT);
    if is_done && (!is_open(FOLDER) || is_shared()) {
        return;
    }
    let Ok((ours, others)) = list_files(home) else {
        return;
    };
    let is_alone = |within: &str| !others.iter().any(|it| it.starts_with(within));
    let folders = OURS_IN.iter().map(|(folder, ..)| *folder);
    let folders = folders.filter(|it| is_alone(it)).map(PathBuf::from);
    // The database last, because its rights show that this was done.
    for name in LOGS.iter().map(PathBuf::from).chain(folders).chain(ours) {
        close_to_others(&home.join(name));
    }
    if others
        .iter()
        .all(|it| may_be_in_home(&it.to_string_lossy()))
    {
        close_to_others(&home.join(FOLDER));
    }
}

/// Our files in a home that others can still read, because the file system keeps no rights or the
/// folder belongs to another user.
pub(crate) fn open_to_others(home: &Path) -> Vec<PathBuf> {
    if !is_open_to_others(&home.join(FOLDER)) {
        return Vec::new();
    }
    let ours = list_files(home).map(|it| it.0).unwrap_or_default();
    let all = LOGS.iter().map(PathBuf::from).chain(ours);
    all.filter(|it| is_open_to_others(&home.join(it))).collect()
}

/// A remark on the place of this home, if there is one.
pub(crate) fn remark_on_place(home: &Path) -> Option<String> {
    let (own, former) = (own_home()?, former_home().filter(|it| is_home(it))?);
    if home == former && !is_home(&own) {
        let own = own.display();
        return Some(format!("`engram doctor --move-home` moves it to {own}"));
    }
    let former = former.display();
    (home == own).then(|| format!("an unused home is in {former}"))
}

/// Moves Engram's home from `~/.engram` to the data folder; files of others stay.
///
/// # Errors
/// There is no Engram home, it is in use, or something exists at the new place. Then nothing was
/// moved.
pub fn move_home() -> Result<Moved, Refusal> {
    let (Some(from), Some(to)) = (former_home(), own_home()) else {
        return Err(Refusal::new(
            Code::NotFound,
            "this account has no home folder",
            "Nothing to move.",
        ));
    };
    if !is_home(&from) {
        return Err(Refusal::new(
            Code::NotFound,
            format!("there is no Engram home in {}", from.display()),
            format!("Nothing was moved; the data is in {}.", to.display()),
        ));
    }
    let vacant = Vacant::take(&from)?;
    refuse_listening(&from)?;
    // A copy has the rights of its original.
    make_private(&from);
    let failed = |path: &Path, source| {
        let path = path.to_owned();
        Refusal::from(StoreError::Io { path, source })
    };
    let (moved, stayed) = list_files(&from).map_err(|it| failed(&from, it))?;
    refuse_taken(&from, &to, &moved)?;
    if cfg!(windows) {
        // Windows cannot move open files.
        drop(vacant);
    }
    if !(stayed.is_empty() && move_folder(&from, &to)) {
        move_files(&from, &to, &moved).map_err(|it| failed(&to, it))?;
        for (folder, ..) in OURS_IN {
            let _ = fs::remove_dir(from.join(folder));
        }
        // Fails unless the folder is empty.
        let _ = fs::remove_dir(&from);
    }
    Ok(Moved {
        from,
        to,
        moved,
        stayed,
    })
}

/// Refuses if a process listens in the home, which shows in its socket. A socket that a process left
/// behind is removed.
fn refuse_listening(home: &Path) -> Result<(), Refusal> {
    for door in DOORS.map(|it| home.join(it)) {
        #[cfg(unix)]
        if std::os::unix::net::UnixStream::connect(&door).is_ok() {
            return Err(StoreError::InUse(home.to_owned()).into());
        }
        match fs::remove_file(&door) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(StoreError::Io { path: door, source }.into());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Engram's files in a home, the database last, and the files of others.
fn list_files(home: &Path) -> io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for name in file_names(home)? {
        let text = name.to_string_lossy();
        let shared = OURS_IN.iter().find(|(folder, ..)| text == *folder);
        match shared {
            Some((_, begin, end)) if home.join(&name).is_dir() => {
                for file in file_names(&home.join(&name))? {
                    let text = file.to_string_lossy();
                    if text.starts_with(begin) && text.ends_with(end) {
                        ours.push(name.join(&file))
                    } else {
                        others.push(name.join(&file))
                    }
                }
            }
            _ if is_own_file(&text) => ours.push(name),
            _ if [DATABASE, QUEUE].contains(&&*text) => {}
            _ => others.push(name),
        }
    }
    ours.sort();
    others.sort();
    ours.extend([DATABASE.into(), QUEUE.into()]);
    Ok((ours, others))
}

fn file_names(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?;
    entries.map(|it| Ok(it?.file_name().into())).collect()
}

/// Files with the words of claims that a recovery, even an interrupted one, left behind.
pub(crate) fn left_by_recovery(home: &Path) -> Vec<String> {
    let names = file_names(home).unwrap_or_default();
    let names = names.iter().map(|it| it.to_string_lossy().into_owned());
    let mut left: Vec<String> = names.filter(|it| is_left_by_recovery(it)).collect();
    left.sort();
    left
}

fn is_left_by_recovery(name: &str) -> bool {
    ["engram.db.damaged-", "engram.db.recovered"]
        .iter()
        .any(|it| name.starts_with(it))
}

fn is_own_file(name: &str) -> bool {
    let index = name.strip_prefix("index-");
    OURS.contains(&name)
        || index.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
        || is_left_by_recovery(name)
        || failures::FILES.contains(&name)
        || (name.starts_with("anchor-") && name.ends_with(".lock"))
}

/// Whether a home may contain a file or a folder of this name.
fn may_be_in_home(name: &str) -> bool {
    is_own_file(name)
        || LOGS.contains(&name)
        || [DATABASE, QUEUE].contains(&name)
        || DOORS.contains(&name)
        || OURS_IN.iter().any(|(folder, ..)| name == *folder)
}

/// Refuses to overwrite a home or one of its files at the new place, and to move a link, which may
/// lead elsewhere from there.
fn refuse_taken(from: &Path, to: &Path, ours: &[PathBuf]) -> Result<(), Refusal> {
    let is_there = |it: &PathBuf| it.symlink_metadata().is_ok();
    let folder = (is_there(&to.to_owned()) && !to.is_dir()).then(|| to.to_owned());
    // The leftover log of another home would be read into ours.
    let logs = LOGS.map(PathBuf::from);
    let mut places = ours.iter().chain(&logs).map(|it| to.join(it));
    let taken = folder.or_else(|| places.find(is_there));
    if let Some(taken) = taken {
        return Err(Refusal::new(
            Code::StoreReadOnly,
            format!("{} already exists", taken.display()),
            format!(
                "Nothing was moved: inspect both homes with --home, then delete what you do not need from {}.",
                to.display()
            ),
        ));
    }
    let mut links = ours.iter().map(|it| from.join(it));
    match links.find(|it| it.is_symlink()) {
        None => Ok(()),
        Some(link) => Err(Refusal::new(
            Code::StoreReadOnly,
            format!("{} is a link", link.display()),
            "Nothing was moved: replace the link with what it points to, then try again.",
        )),
    }
}

/// Moves the folder at once, if all of it is ours and the new place is on the same file system.
fn move_folder(from: &Path, to: &Path) -> bool {
    if from.is_symlink() {
        return false;
    }
    // Fails unless the folder is empty.
    let _ = fs::remove_dir(to);
    to.parent()
        .is_some_and(|it| make_private_folder(it).is_ok())
        && fs::rename(from, to).is_ok()
}

/// Moves the files one by one. The home stays at the old place until the database moves. If one
/// fails, all are put back.
fn move_files(from: &Path, to: &Path, ours: &[PathBuf]) -> io::Result<()> {
    make_private_folder(to)?;
    for (at, name) in ours.iter().enumerate() {
        if let Err(error) = move_file(&from.join(name), &to.join(name)) {
            for name in ours.iter().take(at).rev() {
                let _ = move_file(&to.join(name), &from.join(name));
            }
            for (folder, ..) in OURS_IN {
                let _ = fs::remove_dir(to.join(folder));
            }
            let _ = fs::remove_dir(to);
            return Err(error);
        }
    }
    Ok(())
}

/// Moves a file or a folder; across file systems as a copy that is verified.
fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    to.parent().map_or(Ok(()), make_private_folder)?;
    match fs::rename(from, to) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {}
        renamed => return renamed,
    }
    // The copy gets its final name only when it is complete.
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let copied = copy_verified(from, &part).and_then(|()| fs::rename(&part, to));
    if let Err(error) = copied {
        let _ = remove(&part);
        return Err(error);
    }
    remove(from)
}

fn copy_verified(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        make_private_folder(to)?;
        for name in file_names(from)? {
            copy_verified(&from.join(&name), &to.join(&name))?;
        }
        return Ok(());
    }
    fs::copy(from, to)?;
    File::open(to)?.sync_all()?;
    if digest(from)? == digest(to)? {
        Ok(())
    } else {
        Err(io::Error::other("its copy reads differently"))
    }
}

fn digest(file: &Path) -> io::Result<[u8; 32]> {
    let mut digest = Sha256::new();
    let mut file = BufReader::with_capacity(1 << 20, File::open(file)?);
    loop {
        let piece = file.fill_buf()?;
        let length = piece.len();
        if length == 0 {
            break;
        }
        digest.update(piece);
        file.consume(length);
    }
    Ok(digest.finalize().into())
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}
