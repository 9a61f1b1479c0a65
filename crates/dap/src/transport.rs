//! What messages travel over: a TCP connection, or any other pair of byte streams.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A TCP connection whose incoming data is acknowledged at once.
///
/// Some adapters write a message in two parts. Their kernel holds the second part back until the first one is
/// acknowledged (Nagle's algorithm), and ours delays the acknowledgement by about 40 ms, so every small
/// request would take 44 ms. Linux forgets `TCP_QUICKACK` as it pleases, so it is set again around every
/// read. Elsewhere this is a plain connection.
#[derive(Debug)]
pub struct QuickAck(TcpStream);

impl QuickAck {
    /// Takes over a connection; small writes are sent without delay.
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    #[cfg(target_os = "linux")]
    fn acknowledge_at_once(&self) {
        // It only costs speed when this fails, and it fails only on a socket that is gone.
        let _ = rustix::net::sockopt::set_tcp_quickack(&self.0, true);
    }

    #[cfg(not(target_os = "linux"))]
    fn acknowledge_at_once(&self) {}
}

impl AsyncRead for QuickAck {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let read = Pin::new(&mut this.0).poll_read(cx, buf);
        this.acknowledge_at_once();
        read
    }
}

impl AsyncWrite for QuickAck {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_shutdown(cx)
    }
}
