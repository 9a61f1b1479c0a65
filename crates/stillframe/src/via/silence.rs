//! The end of a connection without a report: when the network is gone, nothing comes and nothing ends.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// How often each side says something to the other.
pub(super) const BEAT: Duration = Duration::from_secs(10);
/// After so long without a word, the other side is gone.
pub(super) const SILENCE: Duration = Duration::from_secs(45);

/// Standard input of the server there. It ends after a long silence, and with it the server and its programs.
#[derive(Debug)]
pub(crate) struct UntilSilence<R> {
    inner: R,
    limit: Duration,
    until: Pin<Box<Sleep>>,
}

impl<R> UntilSilence<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self::within(inner, SILENCE)
    }

    fn within(inner: R, limit: Duration) -> Self {
        Self { inner, limit, until: Box::pin(sleep(limit)) }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilSilence<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let Poll::Ready(read) = Pin::new(&mut this.inner).poll_read(cx, buffer) {
            this.until.as_mut().reset(Instant::now() + this.limit);
            return Poll::Ready(read);
        }
        // Reading nothing is the end of input.
        this.until.as_mut().poll(cx).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn input_ends_after_silence_and_not_while_there_is_something() {
        let (mut there, here) = duplex(64);
        let mut read = UntilSilence::within(here, Duration::from_secs(3));
        let started = Instant::now();
        let writing = async {
            for _ in 0..4 {
                // sleep: the clock is the test's.
                sleep(Duration::from_secs(2)).await;
                there.write_all(b"\n").await.unwrap();
            }
        };
        let mut text = String::new();
        let (read, ()) = tokio::join!(read.read_to_string(&mut text), writing);
        assert_eq!((read.unwrap(), started.elapsed()), (4, Duration::from_secs(11)));
    }
}
