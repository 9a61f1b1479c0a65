//! Copies what a process writes to the output of its session.

use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::{mpsc, watch};

use super::line_filter::LineFilter;
use crate::output::{Category, CaughtUp, Output, Utf8Stream};

/// Where what a process writes goes, and what is taken out of it.
pub(super) struct OutputCopy {
    pub(super) category: Category,
    pub(super) output: Output,
    pub(super) asked: mpsc::Receiver<CaughtUp>,
    pub(super) muted: &'static [&'static str],
    pub(super) announcing: Option<(&'static str, watch::Sender<Option<String>>)>,
}

/// A pipe, or our end of a terminal.
pub(super) trait Pipe: AsyncRead + AsFd + Unpin {
    /// How many bytes were written and not read yet.
    fn unread(&self) -> u64 {
        // Linux counts what was written to a terminal only once it has been moved to our end, which this waits for.
        let _ =
            poll(&mut [PollFd::from_borrowed_fd(self.as_fd(), PollFlags::IN)], Some(&Timespec::default()));
        rustix::io::ioctl_fionread(self).unwrap_or(0)
    }
}

impl<P: AsyncRead + AsFd + Unpin> Pipe for P {}

/// Copies until the other end is closed.
pub(super) async fn copy(mut pipe: impl Pipe, copied: OutputCopy) {
    let OutputCopy { category, output, mut asked, muted, announcing } = copied;
    let mut buffer = vec![0; 32 * 1024];
    let mut text = Utf8Stream::default();
    let mut lines = LineFilter::new(muted, announcing);
    // Who waits until this many bytes were read.
    let (mut read, mut waiting) = (0, Vec::new());
    loop {
        tokio::select! {
            biased;
            Some(reply) = asked.recv() => waiting.push((read + pipe.unread(), reply)),
            count = pipe.read(&mut buffer) => {
                let Some(bytes) = count.ok().and_then(|count| buffer.get(..count)) else { break };
                if bytes.is_empty() {
                    break;
                }
                output.append(category, &lines.filter(&text.decode(bytes)));
                read += bytes.len() as u64;
            }
        }
        for (_, reply) in waiting.extract_if(.., |(position, _)| *position <= read) {
            // It may no longer wait.
            let _ = reply.send(());
        }
    }
    output.append(category, &lines.filter(&text.finish()));
    output.append(category, &lines.finish());
}
