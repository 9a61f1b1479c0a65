//! Names that a source imports, which a compiler to `CommonJS` has replaced by members of modules.

use serde_json::json;
use test_support::Language;

use super::{TSCONFIG, run};
use crate::debugging::{Debugging, Report};
use crate::project::Project;

const TIER: &str = "export enum Tier { Basic, Gold = 7 }
export const rate = (tier: Tier) => tier / 10;
const notes: string[] = [];
export const note = (text: string) => notes.push(text);
export default class Money { constructor(readonly cents: number) {} }
";

const PAY: &str = "import Money, { Tier as Rank, note, rate } from './tier';
import * as all from './tier';

function pay(tier: number) {
  const due = rate(tier);
  return [new Money(due), all.Tier[tier], Rank.Basic]; // @return
}

function hide(rate: number) {
  return rate; // @hidden
}

pay(Rank.Basic);
pay(7);
hide(0);
hide(2);
void note;
";

async fn evaluates_imports(session: &Debugging) {
    for (expression, value) in [
        ("Rank.Gold", "7"),
        ("rate(Rank.Gold) + due", "1.4"),
        ("({ Rank }).Rank.Basic", "0"),
        ("new Money(3)", "Money { cents: 3 }"),
        ("all.Tier[0]", "'Basic'"),
        ("note('with an effect')", "1"),
    ] {
        assert_eq!(session.evaluate(expression).await, value, "{expression}");
    }
    let other = json!({ "expression": "Tier" });
    let failed = session.fails("evaluation_failed", "evaluate_expression", other).await;
    assert!(failed.text.contains("Tier is not defined"), "{}", failed.text);
}

#[tokio::test]
async fn imports_compiled_by_tsc() {
    let project = Project::typescript(&[]).await;
    project.file("tsconfig.json", TSCONFIG);
    project.file("src/tier.ts", TIER);
    let pay = project.file("src/pay.ts", PAY);
    project.run("tsc", &["-p", "."]).await;
    let session = Debugging::of(Language::Node).await;
    session.break_with(&pay, "return", json!({ "condition": "tier === Rank.Gold" })).await;
    session.break_with(&pay, "return", json!({ "logMessage": "pays {rate(tier)}" })).await;
    session.break_with(&pay, "hidden", json!({ "condition": "rate > 1" })).await;
    let stopped = session.ok("start_debugging", run(&project, "dist/pay.js")).await;
    assert_eq!(stopped.place(), (pay.path(), pay.line("return")), "{}", stopped.text);
    assert_eq!(stopped.variable("tier"), "7", "{}", stopped.text);
    assert!(stopped.text_of("output").contains("pays 0\npays 0.7"), "{}", stopped.text);
    evaluates_imports(&session).await;
    let hidden = session.go_on().await;
    assert_eq!(hidden.place(), (pay.path(), pay.line("hidden")), "{}", hidden.text);
    assert_eq!(hidden.variable("rate"), "2", "{}", hidden.text);
    session.finish().await;
}

#[tokio::test]
async fn imports_compiled_by_tsx() {
    let project = Project::with(&["tsx"]).await;
    project.file("src/tier.ts", TIER);
    let pay = project.file("src/pay.ts", PAY);
    let session = Debugging::of(Language::Node).await;
    session.break_with(&pay, "return", json!({ "condition": "tier === 7" })).await;
    let stopped = session.ok("start_debugging", run(&project, "src/pay.ts")).await;
    assert_eq!(stopped.place(), (pay.path(), pay.line("return")), "{}", stopped.text);
    evaluates_imports(&session).await;
    session.finish().await;
}
