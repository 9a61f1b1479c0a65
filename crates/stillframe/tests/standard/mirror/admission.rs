//! Who is let in, and how many.

use std::io::ErrorKind;

use dap::{ConfigurationDone, Disconnect, DisconnectArguments, Empty, Error, Initialize, Launch, Threads};
use serde_json::{Value, json};
use test_support::{Fixture, Language, Texts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::editor::{Editor, expose, port};
use crate::debugging::{Debugging, Report, folder};

async fn stopped() -> Debugging {
    Debugging::stopped_at(&Fixture::python("bank"), "deposit").await.0
}

#[tokio::test]
async fn a_wrong_or_missing_token_is_refused_and_the_connection_closed() {
    let session = stopped().await;
    let exposed = expose(&session, json!({})).await;
    let token = exposed.text_of("token");
    let wrong = [
        json!({}),
        json!({ "mirrorToken": "" }),
        json!({ "mirrorToken": "wrong" }),
        json!({ "mirrorToken": token.to_uppercase() }),
        json!({ "mirrorToken": format!("{token}0") }),
        json!({ "mirrorToken": 7 }),
        json!({ "mirrorToken": [token] }),
        json!({ "token": token }),
    ];
    for arguments in wrong {
        let mut editor = Editor::connect(port(&exposed)).await;
        editor.hello().await;
        let refused = editor.attach_with(arguments.clone()).await;
        let Err(Error::Refused { message, .. }) = refused else { panic!("{arguments}: {refused:?}") };
        assert!(message.contains("`mirrorToken`") && !message.contains(token), "{message}");
        editor.gone().await;
    }
    session.finish().await;
}

#[tokio::test]
async fn nothing_is_answered_before_the_token_and_queued_requests_are_answered_after_it() {
    let session = stopped().await;
    let exposed = expose(&session, json!({})).await;
    let editor = Editor::connect(port(&exposed)).await;
    editor.hello().await;
    let (threads, done, attached) = tokio::join!(
        editor.ask::<Threads>(Empty {}),
        editor.ask::<ConfigurationDone>(Empty {}),
        editor.attach(exposed.text_of("token")),
    );
    let Empty {} = done;
    assert!(attached.is_ok() && !threads.threads.is_empty());
    session.finish().await;
}

#[tokio::test]
async fn launch_requests_and_zero_based_editors_are_refused() {
    let session = stopped().await;
    let exposed = expose(&session, json!({})).await;
    let mut editor = Editor::connect(port(&exposed)).await;
    editor.hello().await;
    let token = json!({ "mirrorToken": exposed["token"] }).as_object().unwrap().clone();
    let refused = editor.refused::<Launch>(token).await;
    assert!(refused.contains("`request: attach`"), "{refused}");
    editor.gone().await;

    let mut editor = Editor::connect(port(&exposed)).await;
    let refused = editor.refused::<Initialize>(dap::InitializeArguments::default()).await;
    assert!(refused.contains("from 1"), "{refused}");
    editor.gone().await;
    session.finish().await;
}

#[tokio::test]
async fn a_script_waits_for_initialized_and_skips_the_configuration() {
    let session = stopped().await;
    let exposed = expose(&session, json!({})).await;
    let mut editor = Editor::connect(port(&exposed)).await;
    editor.hello().await;
    editor.invited().await;
    editor.attach(exposed.text_of("token")).await.unwrap();
    assert_eq!(editor.stopped().await.reason, "breakpoint");
    session.finish().await;
}

#[tokio::test]
async fn sixteen_editors_attach_and_one_more_is_refused() {
    let session = stopped().await;
    let exposed = expose(&session, json!({})).await;
    let mut editors = Vec::new();
    for _ in 0..16 {
        editors.push(Editor::attached(&exposed).await);
    }
    for editor in &mut editors {
        let stop = editor.stopped().await;
        assert!(!editor.frames(&stop).await.is_empty());
    }
    let one_more = Editor::connect(port(&exposed)).await;
    one_more.hello().await;
    let refused = one_more.attach(exposed.text_of("token")).await.unwrap_err();
    assert_eq!(refused.to_string(), "16 editors are attached to this session, which is the limit");

    session.step("step_over").await;
    for editor in &mut editors {
        editor.continued().await;
        assert_eq!(editor.stopped().await.reason, "step");
    }
    // One that leaves makes room, and leaves the session as it is.
    let mut leaving = editors.pop().unwrap();
    leaving.ask::<Disconnect>(DisconnectArguments { terminate_debuggee: Some(true) }).await;
    leaving.gone().await;
    Editor::attached(&exposed).await.stopped().await;
    assert_eq!(session.step("step_over").await.outcome(), "step");
    session.finish().await;
}

/// A connection that is not an editor's.
async fn raw(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).await.unwrap()
}

fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// The other side hangs up, having answered or not.
async fn hangs_up(mut stream: TcpStream) {
    let mut unread = Vec::new();
    if let Err(error) = stream.read_to_end(&mut unread).await {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
}

fn attach(token: &str) -> Vec<u8> {
    framed(
        &json!({ "seq": 1, "type": "request", "command": "attach", "arguments": { "mirrorToken": token } }),
    )
}

#[tokio::test]
async fn a_malformed_message_ends_only_its_connection() {
    let session = stopped().await;
    let exposed = expose(&session, json!({})).await;
    let token = exposed.text_of("token");
    let http =
        format!("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 15\r\n\r\n{}", "{\"mirrorToken\":7");
    let attached = |rest: &[u8]| [attach(token), rest.to_vec()].concat();
    let garbage: [Vec<u8>; 7] = [
        b"Content-Length: 3\r\n\r\n{]}".to_vec(),
        b"Content-Length: 99999999999\r\n\r\n".iter().copied().chain([b' '; 100]).collect(),
        vec![b'x'; 100_000],
        http.into_bytes(),
        attached(b"Content-Length: 3\r\n\r\n{]}"),
        attached(&[b"Content-Length: 1100000\r\n\r\n".to_vec(), vec![b' '; 1_100_000]].concat()),
        attached(&vec![b'x'; 100_000]),
    ];
    let mut editor = Editor::attached(&exposed).await;
    editor.stopped().await;
    for bytes in garbage {
        let mut stream = raw(port(&exposed)).await;
        // It may be hung up on before the end.
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        hangs_up(stream).await;
    }
    session.step("step_over").await;
    editor.continued().await;
    editor.stopped().await;
    session.finish().await;
}

const TALKS: Texts = Texts {
    name: "mirror_talks",
    python: "import sys\ntext = 'x' * 9000\nready = True  # @start\nfor number in range(200):\n    \
             sys.stdout.write(f'{number:04} ' + 'x' * 100_000 + '\\n')\nsys.stdout.flush()\nprint('done')  # @stop\n",
    node: "",
    c: "",
};

#[tokio::test]
async fn an_editor_that_reads_nothing_is_disconnected_without_delaying_others() {
    let folder = folder();
    let program = Fixture::write_in(Language::Python, folder.path(), "talks", TALKS);
    let (session, _) = Debugging::stopped_at(&program, "start").await;
    session.break_at(&program, "stop").await;
    let exposed = expose(&session, json!({})).await;
    let (_unread, mut silent) = raw(port(&exposed)).await.into_split();
    silent.write_all(&attach(exposed.text_of("token"))).await.unwrap();
    let arguments = json!({ "expression": "text" });
    let asks = framed(&json!({ "seq": 2, "type": "request", "command": "evaluate", "arguments": arguments }));
    let disconnected = tokio::spawn(async move { while silent.write_all(&asks).await.is_ok() {} });

    let mut editor = Editor::attached(&exposed).await;
    editor.stopped().await;
    assert_eq!(session.evaluate("len(text)").await, "9000");
    disconnected.await.unwrap();
    assert_eq!(session.go_on().await.outcome(), "breakpoint");
    editor.continued().await;
    assert_eq!(editor.stopped().await.reason, "breakpoint");
    session.run_to_the_end().await;
    editor.gone().await;
    assert!(editor.written("stdout").ends_with("done\n"));
    session.finish().await;
}
