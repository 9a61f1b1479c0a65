//! The machines that one address names: hosts in a list, or the pods of a workload.

use std::time::Duration;

use engine::process::{self, ProcessSpec};
use serde_json::Value;

use super::engines::{self, Target};

/// How many machines one call may reach.
const MOST: usize = 16;
/// How long kubectl may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// The targets of an address: `ssh://A,B`, `kubectl://NAMESPACE/deploy/NAME`, or one.
pub(super) async fn targets(address: &str) -> Result<Vec<Target>, String> {
    let addresses = match workload(address) {
        Some((namespace, kind, name)) => pods(namespace, kind, name).await?,
        None => listed(address),
    };
    if addresses.len() > MOST {
        return Err(format!(
            "`{address}` is {} machines; at most {MOST} can be debugged at once",
            addresses.len()
        ));
    }
    addresses.iter().map(|address| address.parse()).collect()
}

/// The addresses of a list of names.
fn listed(address: &str) -> Vec<String> {
    match address.split_once("://") {
        Some((scheme, names)) => names.split(',').map(|name| format!("{scheme}://{name}")).collect(),
        None => vec![address.to_owned()],
    }
}

/// Namespace, kind and name.
fn workload(address: &str) -> Option<(&str, &str, &str)> {
    let mut parts = address.strip_prefix("kubectl://")?.split('/');
    let workload = (parts.next()?, parts.next()?, parts.next()?);
    (parts.next().is_none() && engines::WORKLOADS.contains(&workload.1)).then_some(workload)
}

/// The running pods of a workload.
async fn pods(namespace: &str, kind: &str, name: &str) -> Result<Vec<String>, String> {
    // The same characters as in addresses; what else there is would be an option or another argument.
    format!("kubectl://{namespace}/{name}").parse::<Target>()?;
    let described = kubectl(&["get", kind, name, "--namespace", namespace, "--output", "json"]).await?;
    let selector = selector(&described).ok_or_else(|| {
        format!("`{kind}/{name}` selects its pods by other means than labels; name the pods")
    })?;
    let running = "--field-selector=status.phase=Running";
    let found = kubectl(&[
        "get",
        "pods",
        "--namespace",
        namespace,
        "--selector",
        &selector,
        running,
        "--output",
        "name",
    ])
    .await?;
    let names = found.lines().filter_map(|line| line.trim().strip_prefix("pod/"));
    let pods: Vec<String> = names.map(|pod| format!("kubectl://{namespace}/{pod}")).collect();
    if pods.is_empty() {
        return Err(format!("`{kind}/{name}` in the namespace `{namespace}` has no running pod"));
    }
    Ok(pods)
}

/// The labels of a workload's pods, as kubectl takes them.
fn selector(workload: &str) -> Option<String> {
    let workload: Value = serde_json::from_str(workload).ok()?;
    let labels = workload.pointer("/spec/selector/matchLabels")?.as_object()?;
    let each = labels.iter().map(|(name, value)| Some(format!("{name}={}", value.as_str()?)));
    let selector = each.collect::<Option<Vec<_>>>()?.join(",");
    (!selector.is_empty()).then_some(selector)
}

async fn kubectl(args: &[&str]) -> Result<String, String> {
    let args = args.iter().map(Into::into).collect();
    let spec = ProcessSpec { program: "kubectl".into(), args, ..ProcessSpec::default() };
    let output = process::run(&spec, PATIENCE).await.map_err(|error| error.to_string())?;
    if output.success { Ok(output.stdout) } else { Err(format!("kubectl: {}", output.stderr.trim())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_one_machine_several_or_a_workload() {
        assert_eq!(listed("ssh://a,me@b:22"), ["ssh://a", "ssh://me@b:22"]);
        assert_eq!(listed("docker://web"), ["docker://web"]);
        let table = [
            ("kubectl://shop/deploy/web", Some(("shop", "deploy", "web"))),
            ("kubectl://shop/web-0/app", None),
            ("kubectl://shop/deploy", None),
            ("kubectl://shop/deploy/web/app", None),
            ("ssh://deploy", None),
        ];
        for (address, expected) in table {
            assert_eq!(workload(address), expected, "{address}");
        }
    }

    #[test]
    fn labels_become_a_selector() {
        let workload = r#"{"spec":{"selector":{"matchLabels":{"app":"web","tier":"front"}}}}"#;
        assert_eq!(selector(workload).as_deref(), Some("app=web,tier=front"));
        assert_eq!(selector(r#"{"spec":{"selector":{"matchExpressions":[]}}}"#), None);
        assert_eq!(selector("no JSON"), None);
    }
}
