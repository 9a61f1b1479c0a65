//! The client: matches answers to commands, and forwards everything else in order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::BASE64;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};

use crate::{Element, codec};

/// Why a command has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The connection is closed.
    #[error("the connection to the debugger is closed")]
    Closed,
    /// No answer came in time.
    #[error("the debugger did not answer `{command}` within {} ms", deadline.as_millis())]
    Deadline {
        /// The command.
        command: &'static str,
        /// The time limit.
        deadline: Duration,
    },
    /// The debugger refused, in its own words.
    #[error("{message}")]
    Refused {
        /// The command.
        command: &'static str,
        /// The number of the error.
        code: u32,
        /// What the debugger says.
        message: String,
    },
}

/// A command.
#[derive(Clone, Debug, Default)]
pub struct Command {
    name: &'static str,
    options: String,
    data: Option<Vec<u8>>,
}

impl Command {
    /// A command without options.
    pub fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    /// Adds an option, such as `-n 5`.
    #[must_use]
    pub fn with(mut self, option: char, value: impl std::fmt::Display) -> Self {
        let value = value.to_string();
        // Quotes are needed for what is not one word; NUL would end the command.
        let quoted = value.replace('\0', "").replace('\\', "\\\\").replace('"', "\\\"");
        let is_word = !value.is_empty() && !value.contains([' ', '"', '\\', '\'']);
        self.options.extend([" -", option.encode_utf8(&mut [0; 4]), " "]);
        if is_word {
            self.options.push_str(&quoted);
        } else {
            self.options.extend(["\"", quoted.as_str(), "\""]);
        }
        self
    }

    /// Adds the text after `--`.
    #[must_use]
    pub fn data(mut self, data: &str) -> Self {
        self.data = Some(data.as_bytes().to_vec());
        self
    }

    fn text(&self, number: u64) -> Vec<u8> {
        let data = self.data.as_ref().map(|data| format!(" -- {}", BASE64.encode(data))).unwrap_or_default();
        let mut text = format!("{} -i {number}{}{data}", self.name, self.options).into_bytes();
        text.push(0);
        text
    }
}

/// What arrives besides the answers to [`Client::ask`].
#[derive(Debug)]
pub enum Message {
    /// The program introduces itself, or writes, or the debugger notifies: `init`, `stream`, `notify`.
    Element(Element),
    /// The answer to a command that lets the program run. It comes when the program stops.
    Stopped(Element),
}

/// What arrives, in order. Ends with the connection.
pub type Incoming = mpsc::UnboundedReceiver<Message>;

/// Sends commands. Clones share the connection.
#[derive(Clone, Debug)]
pub struct Client(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    pending: Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    last: u64,
    asked: HashMap<u64, oneshot::Sender<Element>>,
    /// The command that lets the program run.
    going: Option<u64>,
    is_closed: bool,
}

/// Speaks to the program at the other end of `reader` and `writer`.
#[expect(clippy::disallowed_methods, reason = "the reader must never wait for the receiver of its messages")]
pub fn connect<R, W>(reader: R, mut writer: W) -> (Client, Incoming)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (outgoing, mut to_send) = mpsc::unbounded_channel::<Vec<u8>>();
    let (incoming, received) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared { outgoing, pending: Mutex::default() });
    let weak = Arc::downgrade(&shared);
    tokio::spawn(async move {
        while let Some(text) = to_send.recv().await {
            if writer.write_all(&text).await.is_err() {
                break;
            }
        }
    });
    tokio::spawn(async move {
        let mut stream = BufReader::new(reader);
        while let Some(element) = codec::read(&mut stream).await {
            let number = element.number::<u64>("transaction_id");
            let Some(shared) = weak.upgrade() else { break };
            let (asked, is_stop) = {
                let mut pending = lock(&shared.pending);
                let asked = number.and_then(|number| pending.asked.remove(&number));
                (asked, number.is_some() && pending.going.take_if(|going| number == Some(*going)).is_some())
            };
            drop(shared);
            let message = match (element.name.as_str(), asked) {
                ("response", Some(asked)) => {
                    // The caller may have given up.
                    let _ = asked.send(element);
                    continue;
                }
                ("response", None) if is_stop => Message::Stopped(element),
                // The answer to a command that was given up.
                ("response", None) => continue,
                _ => Message::Element(element),
            };
            if incoming.send(message).is_err() {
                break;
            }
        }
        if let Some(shared) = weak.upgrade() {
            let mut pending = lock(&shared.pending);
            pending.is_closed = true;
            pending.asked.clear();
        }
    });
    (Client(shared), received)
}

impl Client {
    /// Sends a command, and waits for its answer.
    pub async fn ask(&self, command: Command, deadline: Duration) -> Result<Element, Error> {
        let name = command.name;
        let (sender, answer) = oneshot::channel();
        let number = {
            let mut pending = lock(&self.0.pending);
            if pending.is_closed {
                return Err(Error::Closed);
            }
            pending.last += 1;
            let number = pending.last;
            pending.asked.insert(number, sender);
            number
        };
        self.0.outgoing.send(command.text(number)).map_err(|_| Error::Closed)?;
        match tokio::time::timeout(deadline, answer).await {
            Ok(Ok(element)) => refusal(name, element),
            Ok(Err(_)) => Err(Error::Closed),
            Err(_) => {
                lock(&self.0.pending).asked.remove(&number);
                Err(Error::Deadline { command: name, deadline })
            }
        }
    }

    /// Sends a command that lets the program run. Its answer is a [`Message::Stopped`].
    pub fn go(&self, command: &Command) -> Result<(), Error> {
        let number = {
            let mut pending = lock(&self.0.pending);
            if pending.is_closed {
                return Err(Error::Closed);
            }
            pending.last += 1;
            pending.going = Some(pending.last);
            pending.last
        };
        self.0.outgoing.send(command.text(number)).map_err(|_| Error::Closed)
    }
}

fn refusal(command: &'static str, element: Element) -> Result<Element, Error> {
    let Some(error) = element.child("error") else { return Ok(element) };
    let message = error.child("message").map(Element::content);
    let code = error.number("code").unwrap_or_default();
    Err(Error::Refused { command, code, message: message.unwrap_or_default() })
}

/// Nothing panics while one of these locks is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    fn framed(xml: &str) -> Vec<u8> {
        format!("{}\0{xml}\0", xml.len()).into_bytes()
    }

    #[tokio::test]
    async fn answers_find_their_commands_and_the_rest_is_handed_on() {
        let (ours, theirs) = tokio::io::duplex(4096);
        let (reader, writer) = tokio::io::split(ours);
        let (client, mut incoming) = connect(reader, writer);
        let (mut from_us, mut to_us) = tokio::io::split(theirs);
        let speak = async {
            let mut text = vec![0; 256];
            let length = from_us.read(&mut text).await.unwrap();
            assert_eq!(&text[..length], b"eval -i 1 -d 2 -- MSsx\0");
            to_us.write_all(&framed("<stream type=\"stdout\">x</stream>")).await.unwrap();
            to_us.write_all(&framed("<response transaction_id=\"1\"><property/></response>")).await.unwrap();
        };
        let asked = client.ask(Command::new("eval").with('d', 2).data("1+1"), Duration::from_secs(5));
        let ((), answer) = tokio::join!(speak, asked);
        assert!(answer.unwrap().child("property").is_some());
        assert!(matches!(incoming.recv().await, Some(Message::Element(element)) if element.name == "stream"));
        client.go(&Command::new("run")).unwrap();
        let mut text = vec![0; 256];
        let length = from_us.read(&mut text).await.unwrap();
        assert_eq!(&text[..length], b"run -i 2\0");
        to_us.write_all(&framed("<response transaction_id=\"2\" status=\"break\"/>")).await.unwrap();
        assert!(matches!(incoming.recv().await, Some(Message::Stopped(_))));
        drop((from_us, to_us));
        assert!(incoming.recv().await.is_none());
        assert_eq!(client.ask(Command::new("status"), Duration::from_secs(5)).await, Err(Error::Closed));
    }

    #[test]
    fn options_are_quoted_where_they_need_it() {
        let command = Command::new("property_get").with('n', "$a[\"b c\"]").with('d', 0);
        assert_eq!(command.text(7), b"property_get -i 7 -n \"$a[\\\"b c\\\"]\" -d 0\0");
    }
}
