//! What an adapter is spoken to by: its standard streams, or a TCP connection.

use tokio::io::{AsyncRead, AsyncWrite, split};
use tokio::net::{TcpListener, TcpStream};

use crate::adapter::plan::{ADDRESS, PORT, filled};
use crate::deadlines;
use crate::debugger::Sinks;
use crate::error::{Error, Result};
use crate::model::launch::without_brackets;
use crate::process::{Process, ProcessSpec};

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Where an adapter is read from and written to.
pub(super) type Streams = (Reader, Writer);

/// Starts an adapter that speaks on its standard input and output.
pub(super) fn by_pipes(spec: &ProcessSpec, sinks: &Sinks) -> Result<(Process, Streams)> {
    let (process, stdin, stdout) = Process::spawn_piped(spec, &sinks.session, &sinks.output)?;
    Ok((process, (Box::new(stdout), Box::new(stdin))))
}

pub(super) fn streams(stream: TcpStream) -> Result<Streams> {
    let stream = ::dap::transport::QuickAck::new(stream).map_err(|_| Error::Lost)?;
    let (reader, writer) = split(stream);
    Ok((Box::new(reader), Box::new(writer)))
}

/// Connects to an adapter that listens.
pub(super) async fn to(host: &str, port: u16, listens: &str) -> Result<Streams> {
    match tokio::time::timeout(deadlines::REQUEST, TcpStream::connect((host, port))).await {
        Ok(Ok(stream)) => streams(stream),
        Ok(Err(error)) => Err(unreachable_debugger(host, port, &error.to_string(), listens)),
        Err(_) => Err(unreachable_debugger(host, port, "no answer", listens)),
    }
}

/// Starts an adapter that listens, and connects to it. Where it listens is returned too.
pub(super) async fn listening(
    spec: ProcessSpec,
    announces: Option<&'static str>,
    sinks: &Sinks,
) -> Result<(Process, (String, u16), Streams)> {
    let begin = sinks.output.end();
    let address = match announces {
        Some(_) => "127.0.0.1:0".to_owned(),
        None => free_address().await?,
    };
    let mut spec = filled(spec, ADDRESS, &address);
    if let Some((_, port)) = address.rsplit_once(':') {
        spec = filled(spec, PORT, port);
    }
    spec.announces = announces;
    let process = Process::spawn(&spec, &sinks.session, &sinks.output)?;
    let patience = sinks.policy.bounds.connect_within();
    let failed =
        |problem: String| Error::StartFailed { problem, output: sinks.output.tail(begin, 4000).text() };
    let connected = async {
        let address = match announces {
            None => address,
            // One that ends without a word is known by its end, below.
            Some(_) => match process.announced().await {
                Some(announced) => announced,
                None => std::future::pending().await,
            },
        };
        let Some((host, port)) = parsed(&address) else {
            return Err(failed("the debugger did not report its port".to_owned()));
        };
        loop {
            if let Ok(stream) = TcpStream::connect((host.as_str(), port)).await {
                return Ok(((host, port), streams(stream)?));
            }
            tokio::time::sleep(deadlines::LOOK).await;
        }
    };
    let (address, streams) = tokio::select! {
        connected = connected => connected,
        end = process.ended() => Err(failed(format!("the debugger {end} before it was ready"))),
        () = tokio::time::sleep(patience) => {
            Err(failed(format!("the debugger was not ready within {} s", patience.as_secs_f64())))
        }
    }?;
    Ok((process, address, streams))
}

/// A port that is free at this moment.
async fn free_address() -> Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| no_port(&error))?;
    Ok(listener.local_addr().map_err(|error| no_port(&error))?.to_string())
}

/// The `HOST:PORT` at the beginning of a text. A debugger that listens everywhere listens on loopback too.
fn parsed(text: &str) -> Option<(String, u16)> {
    let word = text.trim_start().split(|letter: char| letter.is_whitespace() || letter == ')').next()?;
    let (host, port) = word.rsplit_once(':')?;
    let host = without_brackets(host);
    let host = if matches!(host, "" | "0.0.0.0" | "::") { "127.0.0.1" } else { host };
    Some((host.to_owned(), port.parse().ok()?))
}

pub(super) fn no_port(error: &std::io::Error) -> Error {
    Error::Environment {
        problem: format!("cannot open a local port: {error}"),
        remedy: "check the machine's limits and firewall for 127.0.0.1".to_owned(),
    }
}

fn unreachable_debugger(host: &str, port: u16, reason: &str, listens: &str) -> Error {
    Error::Environment {
        problem: format!("no debugger responds at {host}:{port}: {reason}"),
        remedy: format!(
            "check that the program was started with a debugger that listens there, such as {listens}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapter_addresses_are_parsed_from_output() {
        let table = [
            (" 127.0.0.1:38697\n", Some(("127.0.0.1", 38697))),
            ("127.0.0.1:5000)", Some(("127.0.0.1", 5000))),
            ("[::]:81", Some(("127.0.0.1", 81))),
            ("[::1]:81", Some(("::1", 81))),
            ("nowhere", None),
            ("host:port", None),
        ];
        for (text, expected) in table {
            assert_eq!(parsed(text), expected.map(|(host, port)| (host.to_owned(), port)), "{text}");
        }
    }
}
