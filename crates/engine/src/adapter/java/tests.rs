use std::path::Path;

use serde_json::Value;

use super::*;
use crate::host::FakeMachine;
use crate::model::launch::Program;

const RELEASE: &str = "JAVA_VERSION=\"17.0.15\"\nMODULES=\"java.base jdk.attach jdk.compiler jdk.jdi\"\n";

fn machine(release: &str) -> FakeMachine {
    let java = Path::new("/jdk/bin/java");
    FakeMachine {
        files: [(java.to_owned(), None), ("/jdk/release".into(), Some(release.to_owned()))].into(),
        path: [("java".to_owned(), java.to_owned()), ("mvn".to_owned(), "/bin/mvn".into())].into(),
        ..FakeMachine::default()
    }
}

fn runtime(executable: &str, version: &str) -> Runtime {
    Runtime {
        executable: executable.into(),
        version: version.to_owned(),
        tag: "jdk".to_owned(),
        origin: "on PATH".to_owned(),
    }
}

fn arguments(launch: Launch, executable: &str, version: &str) -> Value {
    let start = Start::Launch(Launch { cwd: Some("/work".into()), ..launch });
    let plan =
        Java.plan(&machine(RELEASE), &runtime(executable, version), Path::new("/cache"), &start).unwrap();
    let Plan::Dap { setup, .. } = plan else { panic!("it is planned for the protocol") };
    Value::Object(setup.arguments)
}

#[tokio::test]
async fn runtime_without_debugger_names_the_missing_module() {
    let table = [
        ("JAVA_VERSION=\"1.8.0_402\"\n", "Java 11 or newer"),
        ("JAVA_VERSION=\"17\"\nMODULES=\"java.base\"\n", "without the module `jdk.jdi`"),
    ];
    for (release, expected) in table {
        let error = Java.locate(&machine(release), None, None).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = Java.locate(&FakeMachine::default(), None, None).await.unwrap_err().to_string();
    assert!(error.contains("no JDK was found"), "{error}");
    assert_eq!(Java.locate(&machine(RELEASE), None, None).await.unwrap().version, "17.0.15");
}

#[test]
fn jvms_connect_to_the_bridge() {
    let jar = Launch { args: vec!["x".to_owned()], ..Launch::new(Program::Script("/work/shop.jar".into())) };
    let maven = Launch { runtime_args: vec!["test".to_owned()], ..Launch::new(Program::Command) };
    let run = json!(["/jdk/bin/java", "-jar", "/work/shop.jar", "x"]);
    let built = json!(["/bin/mvn", "test"]);
    let table = [
        (jar.clone(), "/jdk/bin/java", "17.0.15", &run, "{agent}"),
        (jar, "/jdk/bin/java", "25.0.2", &run, "{agent},includevirtualthreads=y"),
        (maven, "/bin/mvn", "25.0.2", &built, "{agent}"),
    ];
    for (launch, executable, version, words, option) in table {
        let found = arguments(launch, executable, version);
        assert_eq!((&found["args"], &found["env"]), (words, &json!({ "JAVA_TOOL_OPTIONS": option })));
    }
}
