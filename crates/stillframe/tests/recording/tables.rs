//! Arrays of `NumPy` and tables of pandas.

use serde_json::json;
use test_support::{Fixture, python_with_packages};

use crate::recorder::{Client, at, has};

#[tokio::test]
async fn what_arrays_and_tables_contain_is_recorded() {
    let program = Fixture::python("recording_tables");
    let python = python_with_packages().await;
    // The recorder in Python, and where it can be compiled, the one in C.
    for switch in ["0", "1"] {
        let client =
            Client::with_env(&[("STILLFRAME_RECORD_NATIVE", switch)], python.to_str().unwrap()).await;
        has(&client.record(&program, &[]).await, &["exited with code 0", "done"]);
        let first = async |condition: &str, parts: &[&str]| {
            has(&client.ask("find_first", json!({ "condition": condition })).await, parts);
        };
        let scaled = at(&program, "scaled");
        first(
            "values[2] > 5",
            &["when a call begins", "ndarray(shape=(4,), dtype='float64', 1.0, 2.0, 6.0, 4.0)"],
        )
        .await;
        first("values[1] < 2", &["after ", &scaled, "[1]: 2.0 → 1.0"]).await;
        for condition in
            ["np.isinf(values).any()", "values.max() > 100", "(values > 100).any()", "np.max(values) > 100"]
        {
            first(condition, &["first holds after ", &scaled, "[3]: 4.0 → inf"]).await;
        }
        // What is written through a slice is written to the array.
        let row = at(&program, "row");
        first("grid[1, 0] == 99", &["first holds after ", &row, "[0]: 3 → 99"]).await;
        first("(row < 0).any()", &["first holds after ", &at(&program, "masked"), "[0]: 99 → -1"]).await;
        let grid = client.ask("find_writes", json!({ "target": "grid", "at": at(&program, "masked") })).await;
        has(&grid, &["[0, 1, 2], [99, 4, 5])", "[0]: 3 → 99 by ", &row]);

        let lost = at(&program, "lost");
        for condition in ["orders['total'].isna().any()", "pd.isna(orders.loc['pear', 'total'])"] {
            first(condition, &["first holds after ", &lost, "['pear']: 10.0 → nan"]).await;
        }
        first("orders['total']['plum'] == 3", &["first holds after ", &at(&program, "billed")]).await;
        first("len(orders) == 2 and orders.shape[1] == 3", &["first holds after ", &at(&program, "billed")])
            .await;
        let orders = client.ask("find_writes", json!({ "target": "orders" })).await;
        has(
            &orders,
            &[
                "DataFrame(shape=(2, 3), 'price': {'plum': 1.5, 'pear': 2.5}",
                "['pear']: 10.0 → nan by ",
                &lost,
            ],
        );
        first("(ages < 0).any()", &["first holds after ", &at(&program, "aged"), "['x']: 3 → -3"]).await;
        let ages = client.ask("state_at", json!({ "at": at(&program, "aged") })).await;
        has(&ages, &["ages = Series(dtype='Int64', 'x': 3, 'y': None, 'z': 5)"]);

        // Of a long array the first items are recorded, and its least and greatest value.
        first("long.min() < 0", &["first holds after ", &at(&program, "long"), ".min: 0.0 → -7.0"]).await;
        for condition in ["long[4000] < 0", "(long < 0).any()"] {
            first(
                condition,
                &["never holds", "Only the first items are recorded for `ndarray`, so it may have held"],
            )
            .await;
        }
        let origin = client.ask("find_origin", json!({ "target": "scaled[3]" })).await;
        has(&origin, &["`scaled[3]` is inf", "[3]: 4.0 → inf by ", &scaled]);
        client.server.finish().await;
    }
}
