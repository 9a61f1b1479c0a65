//! The files of a journal: one that is written, and those that are set aside.
//!
//! A file is locked while it is written, so that two programs never write into one. The second takes the next name.
//! Rotated files belong to the name under which they were written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use super::Options;

/// How many programs may write beside each other.
const PROGRAMS: usize = 64;
/// How often it is looked whether the file is still there.
const LOOK: Duration = Duration::from_secs(1);

/// The file that is written.
pub(super) struct Files {
    options: Options,
    path: PathBuf,
    file: File,
    size: u64,
    /// The last line is not whole: writing it failed.
    is_torn: bool,
    /// It is a device, such as `/dev/stderr`, and no file that could be set aside.
    is_device: bool,
    looked: Instant,
}

impl Files {
    /// Opens the first file that no other process writes.
    pub(super) fn open(options: &Options) -> io::Result<Self> {
        if let Some(folder) = options.path.parent() {
            make_private(folder)?;
        }
        for number in 1..=PROGRAMS {
            let path = numbered(&options.path, number);
            let mut file = open_private(&path)?;
            if !file.metadata()?.is_file() {
                let (options, looked) = (options.clone(), Instant::now());
                return Ok(Self { options, path, file, size: 0, is_torn: false, is_device: true, looked });
            }
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(error) if error == rustix::io::Errno::WOULDBLOCK => continue,
                Err(error) => return Err(error.into()),
            }
            // Its previous writer may have rotated it between the opening and the locking.
            if !is_at(&file, &path) {
                continue;
            }
            let size = file.metadata()?.len();
            let is_torn = size > 0 && last_byte(&mut file)? != b'\n';
            let options = options.clone();
            let looked = Instant::now();
            return Ok(Self { options, path, file, size, is_torn, is_device: false, looked });
        }
        Err(io::Error::other(format!("{PROGRAMS} programs already write journals there")))
    }

    /// The file that is written.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes whole lines.
    pub(super) fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.is_device {
            return self.file.write_all(lines);
        }
        if self.size > 0 && self.size + lines.len() as u64 > self.options.file_size {
            self.rotate()?;
        } else if self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            if !is_at(&self.file, &self.path) {
                *self = Self::open(&self.options)?;
            }
        }
        if self.is_torn {
            self.file.write_all(b"\n")?;
            self.size += 1;
            self.is_torn = false;
        }
        let written = self.file.write_all(lines);
        self.is_torn = written.is_err();
        // What was not written does not count: a full disk must not push older files out.
        self.size = match written {
            Ok(()) => self.size + lines.len() as u64,
            Err(_) => self.file.metadata().map_or(self.size, |file| file.len()),
        };
        written
    }

    /// Checks at the next write whether the file still exists.
    #[cfg(test)]
    pub(super) fn forget_look(&mut self) {
        self.looked = Instant::now().checked_sub(LOOK).unwrap_or(self.looked);
    }

    /// Moves `x.log` to `x.log.1`, that to `x.log.2`, and so on; the oldest goes.
    fn rotate(&mut self) -> io::Result<()> {
        for number in (1..self.options.kept).rev() {
            let from = rotated_path(&self.path, number);
            if from.exists() {
                fs::rename(from, rotated_path(&self.path, number + 1))?;
            }
        }
        if self.options.kept > 0 {
            fs::rename(&self.path, rotated_path(&self.path, 1))?;
        } else {
            fs::remove_file(&self.path)?;
        }
        *self = Self::open(&self.options)?;
        Ok(())
    }
}

/// `x.log`, `x.2.log`, `x.3.log` …
fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let extension = path.extension().unwrap_or_else(|| "log".as_ref());
    path.with_extension(format!("{number}.{}", extension.to_string_lossy()))
}

/// `x.log.1`, `x.log.2` …
fn rotated_path(path: &Path, number: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    close_to_others(&file);
    Ok(file)
}

/// A file that was there before may have been open to others.
#[cfg(unix)]
fn close_to_others(file: &File) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(known) = file.metadata() else { return };
    if known.is_file() && known.permissions().mode() & 0o077 != 0 {
        // Another user's file is unchanged.
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    }
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether an open file is still the one of that name.
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

fn last_byte(file: &mut File) -> io::Result<u8> {
    let mut byte = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}
