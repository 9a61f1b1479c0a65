//! The other end of `debuggee/node/values.js`.

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};

use ::cdp::runtime::{CallArgument, CallFunctionOn, Evaluate, Evaluated, ReleaseObjectGroup, RemoteObject};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::super::injected::stripped;
use super::reader::{ValueReader, failed, interrupted};
use super::references::ValuePath;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::lock::lock;

/// What is sent at the first stop.
static SOURCE: LazyLock<String> =
    LazyLock::new(|| stripped(include_str!("../../../debuggee/node/values.js")));

/// The group of the helpers themselves. They stay as long as their contexts.
const HELPERS: &str = "stillframe-values";

/// V8 binds the last result of this group to `$_` for expressions that may use the console's functions.
const CONSOLE: &str = "console";

/// V8 counts contexts from 1.
const NO_CONTEXT: i32 = 0;

impl ValueReader {
    /// As if the helper did not work in the main context.
    #[cfg(test)]
    pub(super) fn refuse_helper(&self) {
        lock(&self.0.helpers).insert(1, None);
    }

    /// The helper of a context, which is brought there first if it must be. `None` where it does not work.
    pub(in super::super) async fn helper(&self, context: Option<i32>) -> Result<Option<Arc<str>>> {
        let Some(context) = context else { return Ok(None) };
        let known = || lock(&self.0.helpers).get(&context).cloned();
        if let Some(known) = known() {
            return Ok(known);
        }
        // A second helper of a context would not know what the first one withholds from the program.
        let _installing = self.0.installing.lock().await;
        if let Some(known) = known() {
            return Ok(known);
        }
        let id = self.install(Some(context)).await?;
        lock(&self.0.helpers).insert(context, id.clone());
        Ok(id)
    }

    /// A helper of the program's own global object, where nothing is known of contexts yet.
    pub(in super::super) async fn default_helper(&self) -> Result<Option<Arc<str>>> {
        if let Some(Some(known)) = lock(&self.0.helpers).get(&NO_CONTEXT) {
            return Ok(Some(Arc::clone(known)));
        }
        let id = self.install(None).await?;
        lock(&self.0.helpers).insert(NO_CONTEXT, id.clone());
        Ok(id)
    }

    async fn install(&self, context: Option<i32>) -> Result<Option<Arc<str>>> {
        let install = Evaluate {
            expression: SOURCE.clone(),
            object_group: Some(HELPERS.to_owned()),
            include_command_line_api: true,
            silent: true,
            context_id: context,
            ..Evaluate::default()
        };
        let installed = self.request(install).await?;
        if let Some(exception) = &installed.exception_details {
            tracing::warn!(context, ?exception, "the debugger reads values without a helper");
        }
        let id = installed.result.object_id.filter(|_| installed.exception_details.is_none());
        Ok(id.map(Arc::from))
    }

    /// Calls a function of the helper and reads its answer.
    pub(in super::super) async fn call<T: DeserializeOwned>(
        &self,
        helper: &str,
        function: &str,
        options: Json,
        values: impl IntoIterator<Item = CallArgument>,
    ) -> Result<T> {
        let mut call = self.calling(helper, &format!("json(this.{function}(arguments))"), options, values);
        call.return_by_value = true;
        let read = match plain(self.request(call).await?)?.value.unwrap_or_default() {
            Json::String(text) => ::cdp::parse(&text),
            answer => serde_json::from_value(answer),
        };
        read.map_err(|error| Error::Refused(format!("cannot read the program's values: {error}")))
    }

    /// The value at the end of a path, held until the program runs.
    pub(super) async fn held(&self, helper: &str, place: &ValuePath) -> Result<RemoteObject> {
        let options = json!({ "steps": place.steps });
        let mut call = self.calling(helper, "value(arguments)", options, [object(&place.root)]);
        call.object_group = Some(self.group());
        plain(self.request(call).await?)
    }

    /// Runs code of the program within a time limit: a function that a function of the helper makes. The protocol
    /// has limits for expressions only, so the function is given to one. Where nothing may be changed, V8 throws
    /// instead of an effect.
    pub(super) async fn run(
        &self,
        context: i32,
        function: &str,
        options: Json,
        values: impl IntoIterator<Item = CallArgument>,
    ) -> Result<Evaluated> {
        let Some(helper) = self.helper(Some(context)).await? else { return Err(unreadable()) };
        let prepare = self.calling(&helper, &format!("{function}(arguments)"), options, values);
        self.run_prepared(Some(context), prepare, false).await
    }

    /// The last entries of the program's timeline, as far as available.
    pub(in super::super) async fn timeline<T: DeserializeOwned + Default>(&self) -> Result<T> {
        let Some(helper) = self.default_helper().await? else { return Err(unreadable()) };
        let prepare = self.calling(&helper, "timeline(arguments)", json!({}), []);
        let answer = self.run_prepared(None, prepare, true).await?;
        let rows = answer.result.value.filter(|_| answer.exception_details.is_none());
        Ok(rows.and_then(|rows| serde_json::from_value(rows).ok()).unwrap_or_default())
    }

    async fn run_prepared(
        &self,
        context: Option<i32>,
        mut prepare: CallFunctionOn,
        by_value: bool,
    ) -> Result<Evaluated> {
        prepare.object_group = Some(CONSOLE.to_owned());
        plain(self.request(prepare).await?)?;
        let limit = deadlines::EVALUATE;
        let run = Evaluate {
            expression: "$_()".to_owned(),
            object_group: Some(self.group()),
            include_command_line_api: true,
            silent: true,
            context_id: context,
            return_by_value: by_value,
            timeout: u32::try_from(limit.as_millis()).ok(),
            disable_breaks: true,
            throw_on_side_effect: self.0.careful,
            ..Evaluate::default()
        };
        if !self.0.careful {
            self.has_changed();
        }
        let answer = self.0.v8.request_within(limit + deadlines::EVALUATE_GRACE, run).await;
        let release = ReleaseObjectGroup { object_group: CONSOLE.to_owned() };
        self.request(release).await?;
        answer.map_err(|error| interrupted(failed(error), limit, self.0.pid))
    }

    /// V8 compiles a script for each argument that is sent as a value, so the options are in the text of the call.
    fn calling(
        &self,
        helper: &str,
        call: &str,
        mut options: Json,
        values: impl IntoIterator<Item = CallArgument>,
    ) -> CallFunctionOn {
        if let Some(options) = options.as_object_mut() {
            options.insert("epoch".to_owned(), self.0.epoch.load(Ordering::Relaxed).into());
            options.insert("careful".to_owned(), self.0.careful.into());
        }
        CallFunctionOn {
            function_declaration: format!("function(){{arguments[0]={options};return this.{call}}}"),
            object_id: Some(helper.to_owned()),
            arguments: std::iter::once(nothing()).chain(values).collect(),
            silent: true,
            ..CallFunctionOn::default()
        }
    }
}

/// The result of a call that throws only when something is wrong with us or the value is gone.
fn plain(answer: Evaluated) -> Result<RemoteObject> {
    match answer.exception_details {
        None => Ok(answer.result),
        Some(details) => {
            let description = details.exception.and_then(|thrown| thrown.description).unwrap_or(details.text);
            let line = description.lines().next().unwrap_or_default();
            Err(Error::Refused(line.strip_prefix("TypeError: ").unwrap_or(line).to_owned()))
        }
    }
}

pub(super) fn unreadable() -> Error {
    Error::Unsupported("this needs Node's `require`, which this program's runtime lacks".to_owned())
}

pub(super) fn argument(value: &RemoteObject) -> CallArgument {
    let is_null = value.subtype.as_deref() == Some("null");
    CallArgument {
        value: if is_null { Some(Json::Null) } else { value.value.clone() },
        unserializable_value: value.unserializable_value.clone(),
        object_id: value.object_id.clone(),
    }
}

pub(in super::super) fn object(id: &str) -> CallArgument {
    CallArgument { object_id: Some(id.to_owned()), ..CallArgument::default() }
}

pub(super) fn nothing() -> CallArgument {
    CallArgument::default()
}
