//! Attacks by the MCP client: on a server that has to live through them, and such that are its end.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use test_support::{Answer, DynamicLanguage as Language, Server, ServerOptions, rows_to_try, say};
use tokio::sync::oneshot;

use crate::STILLFRAME;
use crate::attacked::{Attacked, in_turn};
use crate::bystander::Bystanders;
use crate::cells::{Moment, cells, table};

/// What a client sends while a call is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Many requests at once.
    Flooding,
    /// Lines that are no messages, and no text.
    Invalid,
    /// Brackets in brackets, more than a parser that calls itself has room for.
    Deep,
    /// A line of 20 MB.
    Oversized,
    /// Requests with one number.
    Twice,
    /// Answers and cancellations that belong to nothing.
    Unasked,
    /// A message byte by byte.
    Slow,
}

/// It changes nothing of what comes of the call.
const WELL: [&str; 7] = ["paused", "running", "well", "running", "deadline_exceeded", "running", "well"];

const FAULTS: [Fault; 7] = [
    Fault::Flooding,
    Fault::Invalid,
    Fault::Deep,
    Fault::Oversized,
    Fault::Twice,
    Fault::Unasked,
    Fault::Slow,
];

fn ping(id: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string() + "\n"
}

impl Fault {
    async fn strikes(self, server: &Server) {
        match self {
            Self::Flooding => {
                let pings: String = (0..2000).map(|number| ping(&format!("flood {number}"))).collect();
                server.send_raw(pings.as_bytes()).await;
            }
            Self::Invalid => {
                server
                    .send_raw(
                        b"hello\n{\n[]\n\xff\xfe\n{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}\n\0\n",
                    )
                    .await;
            }
            Self::Deep => {
                let deep = "[".repeat(100_000) + &"]".repeat(100_000);
                let arguments =
                    format!("{{\"name\":\"list_debug_sessions\",\"arguments\":{{\"a\":{deep}}}}}");
                let call = format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":\"deep\",\"method\":\"tools/call\",\"params\":{arguments}}}\n"
                );
                server.send_raw((deep + "\n" + &call).as_bytes()).await;
            }
            Self::Oversized => server.send_raw(("x".repeat(20 << 20) + "\n").as_bytes()).await,
            Self::Twice => server.send_raw((ping("twice") + &ping("twice")).as_bytes()).await,
            Self::Unasked => {
                for message in [
                    json!({ "jsonrpc": "2.0", "id": "nobody", "result": {} }),
                    json!({ "jsonrpc": "2.0", "id": "nobody", "error": { "code": 1, "message": "no" } }),
                    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "no" } }),
                    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": 1, "progress": 1 } }),
                ] {
                    server.send(&message).await;
                }
            }
            Self::Slow => {
                // Nothing else may come between, so it is one that no call waits behind for long.
                let message = ping("slow");
                server.send_in_pieces(message.as_bytes(), 1).await;
            }
        }
    }
}

struct Attack {
    server: Server,
    others: Bystanders,
}

impl Attack {
    async fn cell(&self, language: Language, fault: Fault, moment: Moment) -> Answer {
        let attacked = Attacked::at(&self.server, language, moment, &[]).await;
        let (answer, ()) = attacked.during(moment, fault.strikes(&self.server)).await;
        self.others.answer(&self.server).await;
        attacked.after(moment).await;
        answer
    }
}

#[tokio::test]
async fn a_misbehaving_client_affects_no_other() {
    let server = STILLFRAME.serve().await;
    let others = Bystanders::pause(&server).await;
    let attack = Attack { server, others };
    let cell = |number, fault, moment| attack.cell(in_turn(number), fault, moment).boxed_local();
    let rows = FAULTS.map(|fault| (fault, WELL));
    let large = [(Fault::Oversized, WELL), (Fault::Flooding, WELL)];
    let warm_up = rows_to_try(cells(&large, cell), 2).collect();
    table("the client", &attack.server, warm_up, cells(&rows, cell)).await;
    attack.server.finish().await;
}

/// How a client goes.
#[derive(Clone, Copy, Debug)]
enum ClientExit {
    /// It closes the server's input.
    Closes,
    /// In the middle of a message.
    MidMessage,
    /// It stops reading, and then closes the server's input.
    Unread,
    /// It is killed while another process holds the server's input open.
    Killed,
    /// It is stopped before it is killed.
    Stopped,
}

/// Brings a server to a moment, lets the client go, and fails unless the server goes with all programs.
async fn left_at(language: Language, leaving: ClientExit, moment: Moment) {
    let options = STILLFRAME.options().await;
    let serves = format!("exec 3<&0; {} serve <&3 & wait", STILLFRAME.program);
    let mut server =
        ServerOptions { program: "/bin/sh", args: vec!["-c".to_owned(), serves], ..options }.start().await;
    {
        let attacked = Attacked::at(&server, language, moment, &[]).await;
        let (left, has_left) = oneshot::channel();
        let harm = async {
            match leaving {
                ClientExit::Closes => server.close_input().await,
                ClientExit::MidMessage => {
                    server.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":\"ha").await;
                    server.close_input().await;
                }
                ClientExit::Unread => {
                    server.stop_reading();
                    server
                        .send_raw(
                            (0..2000).map(|number| ping(&number.to_string())).collect::<String>().as_bytes(),
                        )
                        .await;
                    server.close_input().await;
                }
                ClientExit::Stopped => {
                    server.hold_started(server.pid());
                    server.mark().kill(server.pid());
                }
                ClientExit::Killed => server.mark().kill(server.pid()),
            }
            let _ = left.send(());
            // The server is shutting down, and answers no request.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            _ = has_left => {}
            _ = attacked.during(moment, harm) => unreachable!("the harm has no end"),
        }
    }
    let _ = server.ended().await;
    server.mark().assert_gone_within(Duration::from_secs(2));
}

#[tokio::test]
async fn a_disconnected_client_leaves_nothing_behind() {
    let ways = [
        ClientExit::Closes,
        ClientExit::MidMessage,
        ClientExit::Unread,
        ClientExit::Killed,
        ClientExit::Stopped,
    ];
    let all = ways.into_iter().flat_map(|way| Moment::ALL.map(|moment| (way, moment)));
    let cells = rows_to_try(all.enumerate(), 8).map(async |(number, (way, moment))| {
        left_at(in_turn(number), way, moment).await;
    });
    let count = stream::iter(cells.collect::<Vec<_>>()).buffer_unordered(3).count().await;
    say(&format!(
        "\na client that goes: {} ways at {} moments, {count} passed\n",
        ways.len(),
        Moment::ALL.len()
    ));
}

/// A client that sends without reading is answered once it reads, and others are unaffected meanwhile.
#[tokio::test]
async fn an_unread_flood_is_answered_in_the_end() {
    const MANY: usize = 8_000;
    let server = STILLFRAME.serve().await;
    let mut answers = server.notifications();
    server.stop_reading();
    let pings: String = (0..MANY).map(|number| ping(&format!("flood {number}"))).collect();
    tokio::join!(server.send_raw(pings.as_bytes()), async {
        server.read_again();
        let mut count = 0;
        while count < MANY {
            match answers.recv().await {
                Ok(message) => {
                    count += usize::from(message["result"] == Value::Object(serde_json::Map::new()));
                }
                // The test is slower than the server.
                Err(tokio::sync::broadcast::error::RecvError::Lagged(missed)) => {
                    count += usize::try_from(missed).unwrap();
                }
                Err(closed) => panic!("{closed}"),
            }
        }
    });
    server.finish().await;
}
