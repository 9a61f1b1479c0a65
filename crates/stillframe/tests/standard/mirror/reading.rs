//! What an editor sees.

use dap::{
    Evaluate, EvaluateArguments, Event, ExceptionInfo, Scopes, ScopesArguments, SourceArguments, SourceText,
    StackTrace, StackTraceArguments, ThreadArguments, Variables, VariablesArguments,
};
use serde_json::json;
use test_support::{DynamicLanguage, Fixture, Language, Texts, dynamic, each};

use super::editor::{Editor, place};
use crate::STILLFRAME;
use crate::credentials;
use crate::debugging::{Debugging, folder, written, written_in};

each![
    an_editor_sees_the_stop_the_values_and_the_end,
    a_late_editor_gets_the_output_from_the_beginning,
    references_of_an_earlier_stop_are_refused,
    evaluating_without_control_changes_nothing,
    values_are_paged_for_the_editor,
    credentials_are_redacted_for_the_editor,
];

async fn an_editor_sees_the_stop_the_values_and_the_end(language: Language) {
    let (program, session) = Debugging::paused(language, "bank", "deposit").await;
    let mut editor = Editor::on(&session, json!({})).await;
    let stop = editor.stopped().await;
    assert_eq!((stop.reason.as_str(), stop.all_threads_stopped), ("breakpoint", true));
    assert_eq!(stop.hit_breakpoint_ids, [1]);
    let thread = ThreadArguments { thread_id: stop.thread_id.unwrap() };
    let none = editor.refused::<ExceptionInfo>(thread).await;
    assert_eq!(none, "the program is not stopped at an exception");
    let frames = editor.frames(&stop).await;
    assert_eq!(place(&frames[0]), (program.path(), program.line("deposit").into()));
    assert_eq!(frames[0].name, language.words().deposit.1);
    let locals = editor.locals(&frames[0]).await;
    let amount = locals.iter().find(|local| local.name == "amount").expect("`amount` is a local variable");
    assert_eq!((amount.value.as_str(), amount.kind.as_deref()), ("1", Some(language.words().number)));
    let evaluate = EvaluateArguments {
        timeout: None,
        expression: "amount".to_owned(),
        frame_id: Some(frames[0].id),
        context: Some("hover".to_owned()),
        ..Default::default()
    };
    assert_eq!(editor.ask::<Evaluate>(evaluate).await.result, "1");

    session.step("step_over").await;
    editor.continued().await;
    let stop = editor.stopped().await;
    assert_eq!(stop.reason, "step");
    let frames = editor.frames(&stop).await;
    assert_eq!(place(&frames[0]), (program.path(), program.line("deposit_return").into()));

    session.step("clear_breakpoints").await;
    session.run_to_the_end().await;
    editor.continued().await;
    let exited = editor.next().await;
    assert!(matches!(exited, Some(Event::Exited(exited)) if exited.exit_code == 0));
    assert!(matches!(editor.next().await, Some(Event::Terminated)));
    assert!(editor.next().await.is_none(), "the connection ends with the program");
    assert_eq!(editor.written("stdout"), session.written("stdout").await);
    session.finish().await;
}

async fn a_late_editor_gets_the_output_from_the_beginning(language: Language) {
    let (_, session) = Debugging::paused(language, "bank", "bill_return").await;
    let written = session.written("stdout").await;
    assert!(!written.is_empty());
    let mut editor = Editor::on(&session, json!({})).await;
    editor.stopped().await;
    assert_eq!(editor.written("stdout"), written, "what was written comes before the stop");
    session.finish().await;
}

async fn references_of_an_earlier_stop_are_refused(language: Language) {
    let (_, session) = Debugging::paused(language, "bank", "deposit").await;
    let mut editor = Editor::on(&session, json!({})).await;
    let stop = editor.stopped().await;
    let frame_id = editor.frames(&stop).await[0].id;
    let scope = editor.ask::<Scopes>(ScopesArguments { frame_id }).await.scopes[0].variables_reference;
    session.step("step_over").await;
    let earlier = "belongs to an earlier stop";
    let refused = editor.refused::<Scopes>(ScopesArguments { frame_id }).await;
    assert!(refused.contains(earlier), "{refused}");
    let arguments = VariablesArguments { variables_reference: scope, ..Default::default() };
    let refused = editor.refused::<Variables>(arguments).await;
    assert!(refused.contains(earlier), "{refused}");
    for nobody in [0, -1, 99_999] {
        editor.refused::<Scopes>(ScopesArguments { frame_id: nobody }).await;
    }
    session.finish().await;
}

async fn evaluating_without_control_changes_nothing(language: Language) {
    let (_, session) = Debugging::paused(language, "bank", "deposit").await;
    let mut editor = Editor::on(&session, json!({})).await;
    let stop = editor.stopped().await;
    let frame_id = Some(editor.frames(&stop).await[0].id);
    for context in ["repl", "watch", "hover", "clipboard"] {
        let context = Some(context.to_owned());
        let assignment = EvaluateArguments {
            expression: "amount = 7".to_owned(),
            frame_id,
            context,
            ..Default::default()
        };
        editor.refused::<Evaluate>(assignment).await;
    }
    assert_eq!(session.evaluate("amount").await, "1");
    // Without a frame, the innermost one is meant.
    let expression = EvaluateArguments { expression: "amount".to_owned(), ..Default::default() };
    assert_eq!(editor.ask::<Evaluate>(expression).await.result, "1");
    session.finish().await;
}

const WIDE: Texts = Texts {
    name: "mirror_wide",
    python: "items = list(range(1000))\nprint(len(items))  # @stop\n",
    node: "const items = Array.from({ length: 1000 }, (_, at) => at);\nconsole.log(items.length); // @stop\n",
    c: "int main(void) {\n    int items[1000];\n    for (int at = 0; at < 1000; at++) items[at] = at;\n    \
        return items[0]; // @stop\n}\n",
};

async fn values_are_paged_for_the_editor(language: Language) {
    let (_folder, program) = written_in(language, "wide", WIDE);
    let (session, _) = Debugging::stopped_at(&program, "stop").await;
    let mut editor = Editor::on(&session, json!({})).await;
    let stop = editor.stopped().await;
    let frames = editor.frames(&stop).await;
    let frame_id = Some(frames[0].id);
    let evaluate = EvaluateArguments { expression: "items".to_owned(), frame_id, ..Default::default() };
    let evaluated = editor.ask::<Evaluate>(evaluate).await;
    assert_eq!(evaluated.indexed_variables, Some(1000));
    let items = evaluated.variables_reference;
    let page = VariablesArguments {
        variables_reference: items,
        filter: Some("indexed".to_owned()),
        start: Some(990),
        count: Some(10),
        ..Default::default()
    };
    let page = editor.ask::<Variables>(page).await.variables;
    let values: Vec<&str> = page.iter().map(|value| value.value.as_str()).collect();
    assert_eq!(values, ["990", "991", "992", "993", "994", "995", "996", "997", "998", "999"]);
    let all = editor.children(items).await;
    let last = all.last().unwrap();
    assert_eq!((all.len(), last.name.as_str(), last.value.as_str()), (501, "…", "500 more of 1000"));
    session.finish().await;
}

async fn credentials_are_redacted_for_the_editor(language: Language) {
    let (_folder, program) = written_in(language, "secret", credentials::PROGRAM);
    let (session, _) = Debugging::stopped_at(&program, "stop").await;
    let mut editor = Editor::on(&session, json!({ "control": true })).await;
    let stop = editor.stopped().await;
    let frames = editor.frames(&stop).await;
    let mut observed: Vec<String> =
        editor.locals(&frames[0]).await.into_iter().map(|local| local.value).collect();
    for expression in ["kept", "password"] {
        let frame_id = Some(frames[0].id);
        let evaluate =
            EvaluateArguments { expression: expression.to_owned(), frame_id, ..Default::default() };
        observed.push(editor.ask::<Evaluate>(evaluate).await.result);
    }
    assert_eq!(observed.pop().unwrap(), "[redacted]");
    observed.push(editor.written("stdout"));
    assert!(observed.last().unwrap().contains("using [redacted]"), "{observed:?}");
    assert!(
        observed
            .iter()
            .all(|observed| !observed.contains(credentials::SECRET) && !observed.contains("swordfish")),
        "{observed:?}"
    );
    session.finish().await;
}

dynamic![
    // A stop at a signal is not an exception with a message and a stack.
    an_exception_is_described_to_the_editor,
];

const RAISES: Texts = Texts {
    name: "mirror_raises",
    python: "raise ValueError('of no use')  # @raise\n",
    node: "throw new RangeError('of no use'); // @raise\n",
    c: "",
};

async fn an_exception_is_described_to_the_editor(language: DynamicLanguage) {
    let (_folder, program) = written_in(language, "raises", RAISES);
    let session = Debugging::of(language).await;
    session.start(&program).await;
    let mut editor = Editor::on(&session, json!({})).await;
    let stop = editor.stopped().await;
    assert_eq!(stop.reason, "exception");
    let exception = editor.ask::<ExceptionInfo>(ThreadArguments { thread_id: stop.thread_id.unwrap() }).await;
    assert_eq!(exception.exception_id, Language::from(language).words().raised);
    assert_eq!(exception.description.as_deref(), Some("of no use"));
    assert_eq!(exception.break_mode.as_deref(), Some("unhandled"));
    session.finish().await;
}

const EVALUATED: &str = "\
function stop() {
  return 1; // @stop
}

const made = eval('(function inner() {\\n  return stop();\\n})\\n//# sourceURL=made-here');
made();
";

/// Python leaves frames without a file out, and compiled programs have none.
#[tokio::test]
async fn a_source_without_a_file_is_read_from_the_session() {
    let (_folder, program) = written("evaluated.js", EVALUATED);
    let (session, _) = Debugging::stopped_at(&program, "stop").await;
    let mut editor = Editor::on(&session, json!({})).await;
    let stop = editor.stopped().await;
    let frames = editor.frames(&stop).await;
    let made = frames.iter().find(|frame| frame.name == "inner").unwrap_or_else(|| panic!("{frames:?}"));
    let source = made.source.clone().expect("a frame has a source");
    let number = source.source_reference.unwrap_or_else(|| panic!("{source:?}"));
    assert!(source.path.is_none() && number > 0, "{source:?}");
    let text = editor.ask::<SourceText>(SourceArguments { source, source_reference: number }).await.content;
    assert!(text.contains("return stop()"), "{text}");
    let nobody = SourceArguments { source_reference: 99, ..SourceArguments::default() };
    assert_eq!(editor.refused::<SourceText>(nobody).await, "there is no source 99");
    session.finish().await;
}

#[tokio::test]
async fn a_stack_is_paged_for_the_editor() {
    let program = Fixture::python("steps");
    let (session, _) = Debugging::stopped_at(&program, "bottom").await;
    let mut editor = Editor::on(&session, json!({})).await;
    let thread_id = editor.stopped().await.thread_id.unwrap();
    let page = StackTraceArguments { thread_id, start_frame: Some(1), levels: Some(2) };
    let page = editor.ask::<StackTrace>(page).await;
    let names: Vec<&str> = page.stack_frames.iter().map(|frame| frame.name.as_str()).collect();
    assert_eq!(names, ["factorial", "factorial"]);
    assert!(page.total_frames.unwrap() >= 6, "{page:?}");
    session.finish().await;
}

#[tokio::test]
async fn credentials_are_shown_to_the_editor_if_answers_show_them() {
    let folder = folder();
    let program = Fixture::write_in(Language::Python, folder.path(), "secret", credentials::PROGRAM);
    let mut options = STILLFRAME.options().await;
    options.args.push("--no-redact".to_owned());
    let session = Debugging::on(options.start().await, Language::Python).await;
    session.break_at(&program, "stop").await;
    session.start(&program).await;
    let mut editor = Editor::on(&session, json!({})).await;
    let stop = editor.stopped().await;
    let frames = editor.frames(&stop).await;
    let locals = editor.locals(&frames[0]).await;
    assert!(locals.iter().any(|local| local.value == "'swordfish'"), "{locals:?}");
    session.finish().await;
}
