//! A terminal for the output of a program: the C library holds back what goes into a pipe until a buffer is full.

use std::fs::File;
use std::io;

use crate::error::{Error, Result};

/// Our end.
pub(super) type Terminal = tokio::net::unix::pipe::Receiver;

/// Our end, and the end for the program. The terminal changes nothing: there is no echo, and line ends are unchanged.
pub(super) fn open() -> Result<(Terminal, File)> {
    pair().map_err(|error| Error::Environment {
        problem: format!("cannot open a pseudo-terminal: {error}"),
        remedy: "end other programs, or raise the system's limit of terminals".to_owned(),
    })
}

fn pair() -> io::Result<(Terminal, File)> {
    use rustix::fs::{Mode, OFlags};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    #[cfg(target_os = "linux")]
    let flags = flags | OpenptFlags::CLOEXEC;
    let ours = openpt(flags)?;
    // Not every system sets this when it opens one.
    rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    let mut settings = tcgetattr(&theirs)?;
    settings.make_raw();
    tcsetattr(&theirs, OptionalActions::Now, &settings)?;
    rustix::io::ioctl_fionbio(&ours, true)?;
    // It is not a pipe, but is read like one.
    Ok((Terminal::from_owned_fd_unchecked(ours)?, theirs.into()))
}
