//! A proxy that forwards messages between a debugger and its client, until it should inject a fault.

mod frames;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use self::frames::Splitter;
pub use self::frames::WireProtocol;

/// More than any client takes as one message.
const BEYOND: usize = 65 << 20;
/// How many messages a flood has.
const FLOOD: usize = 5_000;
/// How much later each message comes on a slow wire.
const SLOW: Duration = Duration::from_millis(10);
/// How long a message is held back so that it comes after the next one.
const HELD: Duration = Duration::from_millis(200);

/// What happens to the messages from the debugger. What it sends before the first one is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WireFault {
    /// They are passed on.
    None,
    /// Both connections are closed.
    Cut,
    /// Nothing is forwarded any longer, in either direction.
    Silence,
    /// Each comes late.
    Slow,
    /// Thousands of unsolicited messages come before the next one.
    Flood,
    /// Half of the next one is the last that arrives.
    Half,
    /// One that is larger than any client takes comes before the next one.
    Oversized,
    /// The next one says that it is larger than any client takes, and does not come.
    Claimed,
    /// The next one comes after the one that follows it.
    Swapped,
    /// Each comes twice.
    Twice,
    /// Messages that mean nothing come before each.
    Nonsense,
    /// Garbage arrives instead.
    Garbled,
}

/// The man in the middle. Dropping him cuts all connections.
#[derive(Debug)]
pub struct Wire {
    /// Where he listens.
    pub port: u16,
    harm: Arc<watch::Sender<WireFault>>,
    _connections: JoinSet<()>,
}

impl Wire {
    /// A proxy in front of a debugger that listens on a port of this machine.
    pub async fn to(debugger: u16, speech: WireProtocol) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port can be opened");
        let port = listener.local_addr().expect("it has an address").port();
        let harm = Arc::new(watch::Sender::new(WireFault::None));
        let reported = Arc::clone(&harm);
        let mut connections = JoinSet::new();
        connections.spawn(async move {
            let mut passing = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                // A debugger that is gone is one that closes the connection.
                if let Ok(debugger) = TcpStream::connect(("127.0.0.1", debugger)).await {
                    passing.spawn(forward(client, debugger, reported.subscribe(), speech));
                }
            }
        });
        Self { port, harm, _connections: connections }
    }

    /// Does this from now on.
    pub fn does(&self, harm: WireFault) {
        self.harm.send_replace(harm);
    }
}

/// Passes on both ways until either side closes.
async fn forward(
    client: TcpStream,
    debugger: TcpStream,
    harm: watch::Receiver<WireFault>,
    speech: WireProtocol,
) {
    for stream in [&client, &debugger] {
        stream.set_nodelay(true).expect("a socket takes options");
    }
    let (from_client, to_client) = client.into_split();
    let (from_debugger, to_debugger) = debugger.into_split();
    let mut cut = harm.clone();
    tokio::select! {
        () = questions(from_client, to_debugger, harm.clone()) => {}
        () = answers(from_debugger, to_client, harm, speech) => {}
        _ = cut.wait_for(|harm| *harm == WireFault::Cut) => {}
    }
}

async fn questions(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, harm: watch::Receiver<WireFault>) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        if *harm.borrow() == WireFault::Silence {
            continue;
        }
        let read = bytes.get(..count).expect("what was read");
        if to.write_all(read).await.is_err() {
            return;
        }
    }
}

async fn answers(
    mut from: OwnedReadHalf,
    to: OwnedWriteHalf,
    harm: watch::Receiver<WireFault>,
    speech: WireProtocol,
) {
    let mut splitter = Splitter::new(speech);
    let mut bytes = vec![0; 64 * 1024];
    let mut teller = FaultInjector { to, harm, speech, done: Arc::default(), held: None };
    loop {
        let read = tokio::time::timeout(HELD, from.read(&mut bytes)).await;
        let Ok(read) = read else {
            // Nothing came after what was held back.
            if let Some(held) = teller.held.take()
                && !teller.write(&held).await
            {
                return;
            }
            continue;
        };
        let Ok(count @ 1..) = read else { return };
        for (is_message, part) in splitter.split(bytes.get(..count).expect("what was read")) {
            let goes_on =
                if is_message { teller.deliver(part).await } else { teller.forward_rest(&part).await };
            if !goes_on {
                return;
            }
        }
    }
}

/// Forwards the debugger's messages to the client, with the fault.
struct FaultInjector {
    to: OwnedWriteHalf,
    harm: watch::Receiver<WireFault>,
    speech: WireProtocol,
    /// What is done once only, and was.
    done: Arc<Mutex<Option<WireFault>>>,
    held: Option<Vec<u8>>,
}

impl FaultInjector {
    async fn write(&mut self, bytes: &[u8]) -> bool {
        self.to.write_all(bytes).await.is_ok()
    }

    /// Forwards anything else than messages.
    async fn forward_rest(&mut self, part: &[u8]) -> bool {
        let harm = *self.harm.borrow();
        match harm {
            WireFault::Silence => true,
            _ => self.write(part).await,
        }
    }

    /// Whether this is the first message since the fault was set.
    fn is_first(&self, harm: WireFault) -> bool {
        self.done.lock().expect("no test panics in here").replace(harm) != Some(harm)
    }

    /// False when nothing more is to be forwarded.
    async fn deliver(&mut self, message: Vec<u8>) -> bool {
        let harm = *self.harm.borrow();
        match harm {
            WireFault::None => self.write(&message).await,
            WireFault::Cut => false,
            WireFault::Silence => true,
            WireFault::Slow => {
                // sleep: to be slow is what this is for.
                tokio::time::sleep(SLOW).await;
                self.write(&message).await
            }
            WireFault::Flood => {
                if self.is_first(harm) {
                    let unasked = self.speech.framed(self.speech.unasked().as_bytes()).repeat(FLOOD);
                    if !self.write(&unasked).await {
                        return false;
                    }
                }
                self.write(&message).await
            }
            WireFault::Half => {
                let half = message.get(..message.len() / 2).expect("half of it");
                self.write(half).await;
                false
            }
            WireFault::Oversized => {
                if self.is_first(harm) {
                    let huge = self.speech.framed(self.speech.padded(BEYOND).as_bytes());
                    if !self.write(&huge).await {
                        return false;
                    }
                }
                self.write(&message).await
            }
            WireFault::Claimed => {
                let claimed = if self.is_first(harm) { self.speech.claim(3 << 30) } else { message };
                self.write(&claimed).await
            }
            WireFault::Swapped => match self.held.take() {
                None if self.is_first(harm) => {
                    self.held = Some(message);
                    true
                }
                held => self.write(&message).await && self.write(&held.unwrap_or_default()).await,
            },
            WireFault::Twice => self.write(&message).await && self.write(&message).await,
            WireFault::Nonsense => {
                for nonsense in WireProtocol::nonsense() {
                    if !self.write(&self.speech.framed(&nonsense)).await {
                        return false;
                    }
                }
                self.write(&message).await
            }
            WireFault::Garbled => self.write(&vec![0xFF; 100_000]).await,
        }
    }
}
