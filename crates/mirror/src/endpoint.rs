//! A port on the loopback address, and the clients that have connected to it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::sync::Arc;

use engine::session::Session;
use journal::entry::{Exposure as Recorded, ExposureEvent};
use journal::{Event, Journal, Secret, SessionJournal};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::conversation;
use crate::exposures::{EditorAccess, Exposure, Options};
use crate::limits;

/// What all connections to a port have in common.
#[derive(Debug)]
pub(crate) struct Exposed {
    pub(crate) session: Session,
    pub(crate) token: Secret,
    pub(crate) control: bool,
    pub(crate) shows_credentials: bool,
    /// A place for each editor that may be attached.
    pub(crate) places: Arc<Semaphore>,
    /// The session is no longer exposed, while its program keeps running.
    pub(crate) over: CancellationToken,
}

/// A port that is open until its program ends or it is closed.
#[derive(Debug)]
pub(crate) struct Endpoint {
    grant: EditorAccess,
    closing: CancellationToken,
    /// Returns how many editors were attached at the end.
    served: JoinHandle<usize>,
}

impl Endpoint {
    /// Opens a port that the system chooses.
    pub(crate) fn open(session: &Session, options: Options, journal: &Journal) -> io::Result<Self> {
        let listener = StdListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let exposure =
            Exposure { address: listener.local_addr()?, control: options.control.unwrap_or(false) };
        let token = Secret::random()?;
        let exposed = Arc::new(Exposed {
            session: session.clone(),
            token: token.clone(),
            control: exposure.control,
            shows_credentials: options.shows_credentials,
            places: Arc::new(Semaphore::new(limits::EDITORS)),
            over: CancellationToken::new(),
        });
        let closing = CancellationToken::new();
        let recorder =
            Recorder { journal: journal.of_session(session.id().as_str(), session.name()), exposure };
        let served = tokio::spawn(serve(listener, exposed, closing.clone(), recorder));
        Ok(Self { grant: EditorAccess { exposure, token }, closing, served })
    }

    pub(crate) fn grant(&self) -> &EditorAccess {
        &self.grant
    }

    /// Whether editors can attach.
    pub(crate) fn is_open(&self) -> bool {
        !self.closing.is_cancelled()
    }

    /// Closes the port, lets the editors know, and returns how many there were.
    pub(crate) async fn close(self) -> usize {
        self.closing.cancel();
        self.served.await.unwrap_or(0)
    }
}

/// Records that a port is open, and that it is closed.
struct Recorder {
    journal: SessionJournal,
    exposure: Exposure,
}

impl Recorder {
    fn record(&self, event: ExposureEvent) {
        let Exposure { address, control } = self.exposure;
        let recorded = Recorded { event, host: address.ip().to_string(), port: address.port(), control };
        self.journal.record(Event::Exposure(recorded));
    }
}

async fn serve(
    listener: TcpListener,
    exposed: Arc<Exposed>,
    closing: CancellationToken,
    recorder: Recorder,
) -> usize {
    recorder.record(ExposureEvent::Opened);
    let mut clients = JoinSet::new();
    let has_ended = tokio::select! {
        () = closing.cancelled() => false,
        () = ended(&exposed.session) => true,
        () = accept(&listener, &exposed, &mut clients) => false,
    };
    closing.cancel();
    drop(listener);
    recorder.record(ExposureEvent::Closed);
    let attached = limits::EDITORS - exposed.places.available_permits();
    if !has_ended {
        exposed.over.cancel();
    }
    // Editors see the end of the program by themselves. A client without a token, or one that reads nothing, is cut off.
    let _ = timeout(limits::GOODBYE, async { while clients.join_next().await.is_some() {} }).await;
    attached
}

/// Comes when the program has ended.
async fn ended(session: &Session) {
    // A session whose task is gone has no program either.
    let _ = session.watch().wait_for(|execution| !execution.is_live()).await;
}

/// Takes clients as long as the port can be listened on.
async fn accept(listener: &TcpListener, exposed: &Arc<Exposed>, clients: &mut JoinSet<()>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = clients.join_next() => continue,
        };
        match accepted {
            // One too many is closed at once.
            Ok(_) if clients.len() >= limits::CONNECTIONS => {}
            Ok((stream, _)) => drop(clients.spawn(conversation::serve(stream, Arc::clone(exposed)))),
            Err(error) => {
                // The system is out of something, which may pass.
                tracing::debug!(%error, "cannot accept a connection of an editor");
                sleep(limits::GOODBYE).await;
            }
        }
    }
}
