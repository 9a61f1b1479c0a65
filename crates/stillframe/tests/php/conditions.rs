//! What a PHP without a debugger, or with other settings, comes to.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use test_support::{Fixture, Language};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, folder};

#[tokio::test]
async fn a_php_without_xdebug_is_refused_with_how_to_install_it() {
    let folder = folder();
    let php = folder.path().join("php");
    // It answers as one without the extension does.
    std::fs::write(&php, "#!/bin/sh\nprintf '8.2.1\\n-\\n/nowhere\\n'\n").unwrap();
    std::fs::set_permissions(&php, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = Fixture::of(Language::Php, "bank");
    let server = STILLFRAME.serve().await;
    let asked = json!({ "language": "php", "executablePath": php });
    let created = server.ok("create_debug_session", asked).await;
    let session = Debugging { id: created.text_of("sessionId").to_owned(), server };
    let failed = session.call("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(failed["success"], false, "{}", failed.text);
    for part in ["Xdebug is not installed", "apt-get install php-xdebug"] {
        assert!(failed.text.contains(part), "{}", failed.text);
    }
    session.finish().await;
}

#[tokio::test]
async fn settings_of_the_environment_do_not_keep_the_debugger_out() {
    let program = Fixture::of(Language::Php, "bank");
    let session = Debugging::of(Language::Php).await;
    session.break_at(&program, "deposit").await;
    let env = json!({ "XDEBUG_MODE": "off", "XDEBUG_CONFIG": "client_port=1 client_host=192.0.2.1" });
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path(), "env": env })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("deposit")), "{}", stopped.text);
    session.finish().await;
}

#[tokio::test]
async fn options_that_switch_the_debugger_off_are_refused() {
    let program = Fixture::of(Language::Php, "bank");
    for option in ["-n", "-dxdebug.mode=off"] {
        let session = Debugging::of(Language::Php).await;
        let asked = json!({ "scriptPath": program.path(), "runtimeArgs": [option] });
        let failed = session.call("start_debugging", asked).await;
        assert!(failed.text.contains("keeps Xdebug from connecting"), "{}", failed.text);
        session.finish().await;
    }
}
