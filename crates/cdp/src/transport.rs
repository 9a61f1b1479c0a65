//! What messages travel over: a WebSocket, on a TCP connection or any other byte stream.
//!
//! Node's inspector drops a connection that sends a ping or a fragmented message, so neither is ever sent,
//! and its replies are single frames of any size.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::client::{Client, Driver, Incoming, start};
use crate::discovery::Address;
use crate::error::ConnectError;

/// A message longer than this is dropped, and the command that it answers fails.
const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// A message longer than this ends the connection, because the WebSocket library cannot skip it. V8's longest
/// string, of half a billion characters, is below it unless many of them are escaped.
const MAX_FRAME: usize = 1024 * 1024 * 1024;

/// How many bytes are read at once. The WebSocket library clears as many before each read, so that the buffer should
/// be no longer than what a stop or an answer needs.
const READ: usize = 16 * 1024;

/// Connects to the inspector at an address. The caller spawns the driver.
pub async fn connect(
    address: &Address,
    deadline: Duration,
) -> Result<(Client, Incoming, Driver), ConnectError> {
    let late = |_| ConnectError::Deadline { place: address.place(), deadline };
    let connected = async {
        let stream = address.dial().await?;
        connect_over(stream, address).await
    };
    tokio::time::timeout(deadline, connected).await.map_err(late)?
}

/// Speaks to the inspector at the other end of a stream. The caller spawns the driver.
pub async fn connect_over<S>(stream: S, address: &Address) -> Result<(Client, Incoming, Driver), ConnectError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    connect_with_limit(stream, address, MAX_MESSAGE).await
}

pub(crate) async fn connect_with_limit<S>(
    stream: S,
    address: &Address,
    max_message: usize,
) -> Result<(Client, Incoming, Driver), ConnectError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let config = WebSocketConfig::default()
        .read_buffer_size(READ)
        .max_message_size(Some(MAX_FRAME))
        .max_frame_size(Some(MAX_FRAME));
    let request = address.as_seen_from_its_host();
    let (socket, _) =
        tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await.map_err(
            |error| ConnectError::NotAnInspector { place: address.place(), reason: error.to_string() },
        )?;
    Ok(start(socket, max_message))
}

/// A TCP connection whose incoming data is acknowledged at once.
///
/// Node holds the second message of a burst, such as a reply behind events, back until the first one is
/// acknowledged (Nagle's algorithm), and our kernel delays the acknowledgement by about 40 ms: an evaluation
/// that prints takes 44 ms instead of 0.6 ms. Linux forgets `TCP_QUICKACK` as it pleases, so it is set again
/// around every read. Elsewhere this is a plain connection.
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
