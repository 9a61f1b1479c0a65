//! Where the time and the memory of a program go.

use serde_json::{Value, json};
use test_support::{DynamicLanguage as Language, Fixture};

use crate::client::{ADDS, ToolClient};

const WORKS: &str = "\
class Car { constructor(number) { this.number = number; } }
globalThis.cars = [];
function make(count) { for (let at = 0; at < count; at += 1) cars.push(new Car(at)); }
function compute(end) {
  let sum = 0;
  for (let at = 0; at < end; at += 1) sum += Math.sqrt(at);
  return sum;
}
performance.mark('begun');
make(5000);
compute(3e7);
performance.measure('computed', 'begun');
console.log('ready'); // @ready
setInterval(() => make(2000), 20);
";

async fn started() -> (ToolClient, Fixture) {
    let client = ToolClient::new().await;
    let program = Fixture::write(client.folder(), "works.js", WORKS);
    client.start(&program).await;
    (client, program)
}

#[tokio::test]
async fn a_profile_names_the_slowest_function() {
    let (client, program) = started().await;
    client.break_at(&program, "ready").await;
    client.step("start_cpu_profile").await;
    client.fails("CPU_PROFILE_START_FAILED", "start_cpu_profile", json!({})).await;
    assert_eq!(client.step("continue").await.at("/location/line"), program.line("ready"));
    let taken = client.step("stop_cpu_profile").await;
    let count = |pointer: &str| taken.at(pointer).as_u64().unwrap_or_default();
    assert!(count("/profile/duration") > 0 && count("/profile/nodeCount") > 0, "{}", taken.text);
    assert!(count("/profile/sampleCount") > 0, "{}", taken.text);
    let bottlenecks = taken.at("/analysis/bottlenecks").as_array().unwrap();
    let compute = bottlenecks.iter().find(|one| one["functionName"] == "compute");
    let compute = compute.unwrap_or_else(|| panic!("{}", taken.text));
    assert_eq!(compute["file"], program.path());
    assert!(compute["selfPercentage"].as_f64().unwrap() > 5.0, "{compute}");
    assert!(taken.at("/analysis/topFunctions").as_array().unwrap().len() <= 10);
    assert!(taken.text_of("formattedAnalysis").contains("compute"), "{}", taken.text);
    client.fails("CPU_PROFILE_STOP_FAILED", "stop_cpu_profile", json!({})).await;
    client.finish().await;
}

#[tokio::test]
async fn a_profile_outlives_its_program() {
    let (client, _) = ToolClient::started(Language::Node, ADDS).await;
    client.step("start_cpu_profile").await;
    assert_eq!(client.step("continue").await["state"], "terminated");
    let taken = client.step("stop_cpu_profile").await;
    assert!(taken.at("/profile/nodeCount").as_u64().unwrap() > 0, "{}", taken.text);
    client.finish().await;
}

#[tokio::test]
async fn a_heap_snapshot_counts_objects_by_their_types() {
    let (client, program) = started().await;
    client.break_at(&program, "ready").await;
    client.step("continue").await;
    for _ in 0..2 {
        let taken = client.step("take_heap_snapshot").await;
        let count = |pointer: &str| taken.at(pointer).as_u64().unwrap_or_default();
        assert!(count("/snapshot/nodeCount") > 5000 && count("/snapshot/edgeCount") > 5000, "{}", taken.text);
        assert!(count("/report/usedHeapSize") <= count("/report/totalHeapSize"), "{}", taken.text);
        let types = taken.at("/report/topObjectTypes").as_array().unwrap();
        let cars = types.iter().find(|one| one["type"] == "Car").unwrap_or_else(|| panic!("{}", taken.text));
        assert_eq!(cars["count"], 5000);
        assert!(types.len() <= 10);
    }
    client.finish().await;
}

#[tokio::test]
async fn growing_memory_is_reported_with_a_timeline() {
    let (client, program) = started().await;
    client.break_at(&program, "ready").await;
    client.step("continue").await;
    let wanted = json!({ "includeLeakDetection": true, "includePerformanceTimeline": true });
    let paused = client.ok("get_performance_metrics", wanted).await;
    assert!(paused.at("/memoryUsage/usedSize").as_u64().unwrap() > 0, "{}", paused.text);
    assert_eq!(paused.at("/leakDetection/isLeaking"), false);
    assert!(paused.at("/leakDetection/note").is_string(), "{}", paused.text);
    let entries = paused.at("/performanceTimeline/entries").as_array().unwrap();
    assert!(
        entries.iter().any(|one| one["name"] == "computed" && one["entryType"] == "measure"),
        "{}",
        paused.text
    );
    assert_eq!(client.ok("continue", json!({ "timeout": 50 })).await["state"], "running");
    let running = client.ok("get_performance_metrics", json!({ "includeLeakDetection": true })).await;
    assert_eq!(running.at("/leakDetection/isLeaking"), true, "{}", running.text);
    assert!(running.at("/leakDetection/growthRate").as_f64().unwrap() > 0.0);
    assert_eq!(running["performanceTimeline"], Value::Null);
    client.finish().await;
}

#[tokio::test]
async fn python_reports_profiling_as_unsupported() {
    let (client, _) = ToolClient::started(Language::Python, ADDS).await;
    let table = [
        ("CPU_PROFILE_START_FAILED", "start_cpu_profile", "CPU profiles are not available"),
        ("HEAP_SNAPSHOT_FAILED", "take_heap_snapshot", "heap snapshots are not available"),
        ("PERFORMANCE_METRICS_FAILED", "get_performance_metrics", "memory metrics are not available"),
    ];
    for (code, tool, message) in table {
        let failed = client.fails(code, tool, json!({})).await;
        assert!(failed.text_of("message").starts_with(message), "{}", failed.text);
    }
    assert_eq!(client.step("continue").await["state"], "terminated");
    client.finish().await;
}
