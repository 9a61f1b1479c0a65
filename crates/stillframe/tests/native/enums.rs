//! Enums of Rust, whose discriminant may be at any offset.

use serde_json::json;

use crate::STILLFRAME;
use crate::source::{Sources, assert_evaluated, run_until};

const ENUMS: &str = r#"
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU16;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Debug, Clone)]
struct Row { id: u64, name: &'static str, ok: bool }
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Late { id: u32, pad: [u16; 3], on: bool }
#[derive(Debug, Clone, Copy)]
#[repr(C, packed)]
struct Packed { id: u8, at: u32, on: bool }
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Far { room: [u64; 20], on: bool }
#[derive(Debug, Clone)]
enum Token { Number(f64), Word { at: usize, text: String }, Flag(bool, u32), End }
#[derive(Debug, Clone)]
enum Middle { Before, Held { count: u64, ok: bool }, After, Last }
#[derive(Debug, Clone)]
#[repr(C)]
struct Signed { wide: u64, sign: Sign }
#[derive(Debug, Clone, Copy)]
#[repr(i8)]
enum Sign { Minus = -1, Zero = 0, Plus = 1 }
#[derive(Debug, Clone)]
#[repr(i16)]
enum Code { Lost(u8) = -300, Found { at: u64 } = 2, Other = 700 }
#[derive(Debug, Clone)]
enum Wide { Big(u64, u16), Small(u8), None }
#[derive(Debug, Clone)]
enum Only { One(u32) }

macro_rules! shown {
    ($($name:ident)*) => { $(println!("{} = {:?}", stringify!($name), $name);)* };
}

fn main() {
    let (word, words) = (String::from("w"), vec![String::from("a"), String::from("b")]);
    let duration_none: Option<Duration> = None;
    let duration_some = Some(Duration::from_millis(1500));
    let instant_none: Option<Instant> = None;
    let row_none: Option<Row> = None;
    let row_some = Some(Row { id: 0, name: "zero", ok: false });
    let text_none: Option<(u8, &str)> = None;
    let text_some = Some((0u8, "zero"));
    let best_none: Option<(usize, &String)> = None;
    let best_some = Some((0usize, &word));
    let ok: Result<(u16, String), u8> = Ok((4, word.clone()));
    let err: Result<(u16, String), u8> = Err(4);
    let error: Result<(u16, Vec<u8>), String> = Err("bad".into());
    let late_none: Option<Late> = None;
    let late_some = Some(Late { id: 7, pad: [1, 2, 3], on: true });
    let packed_none: Option<Packed> = None;
    let far_none: Option<Far> = None;
    let far_some = Some(Far { room: [9; 20], on: false });
    let pair_none: Option<(usize, char)> = None;
    let pair_some = Some((1usize, 'b'));
    let pairs = vec![Some((0usize, 'a')), None, Some((2, 'c'))];
    let nested_none: Option<Option<Duration>> = None;
    let nested_some_none: Option<Option<Duration>> = Some(None);
    let nested = Some(Some(Duration::from_secs(2)));
    let deep: Option<Option<Option<bool>>> = Some(Some(None));
    let flag_none: Option<(u32, bool)> = None;
    let flag_some = Some((0u32, false));
    let tokens = vec![Token::Number(0.0), Token::Word { at: 3, text: "w".into() }, Token::Flag(true, 0), Token::End];
    let middle = [Middle::Before, Middle::Held { count: 0, ok: true }, Middle::After, Middle::Last, Middle::Held { count: 5, ok: false }];
    let signed_none: Option<Signed> = None;
    let signed = [Some(Signed { wide: 1, sign: Sign::Minus }), None, Some(Signed { wide: 2, sign: Sign::Zero }), Some(Signed { wide: 2, sign: Sign::Plus })];
    let codes = [Code::Lost(3), Code::Found { at: 9 }, Code::Other];
    let wide = [Wide::Big(u64::MAX, 3), Wide::Small(1), Wide::None];
    let only = Only::One(3);
    let nonzero = [Some((5u64, NonZeroU16::MIN)), None];
    let boxed: Box<Option<(u8, &str)>> = Box::new(None);
    let counted = Rc::new(Some((3u8, "three")));
    let shared: Arc<Option<(u8, &str)>> = Arc::new(None);
    let borrowed: &Option<Row> = &row_none;
    let twice: &&Option<Row> = &&row_some;
    let optional: Option<&Option<Row>> = Some(&row_none);
    let by_name: BTreeMap<&str, Option<(u8, &str)>> = [("a", None), ("b", Some((1, "one")))].into();
    let map: HashMap<u8, Option<(usize, char)>> = [(3, None)].into();
    let cell: RefCell<Option<(u8, &str)>> = RefCell::new(None);
    let tuple = (1u8, None::<(u64, bool)>, Some((2u64, true)));
    let names: Option<Vec<String>> = Some(words);
    let no_names: Option<Vec<String>> = None;
    let ordering = [Some(std::cmp::Ordering::Less), None];
    let outcome: Result<Option<(u32, String)>, (u8, String)> = Ok(None);
    let failure: Result<Option<(u32, String)>, (u8, String)> = Err((1, "no".into()));
    let sum: Result<u64, std::num::ParseIntError> = "x".parse();
    let unit: Result<(), (u64, bool)> = Ok(());
    let step: std::ops::ControlFlow<(u8, String), u32> = std::ops::ControlFlow::Continue(4);
    let wide_none: Option<(u128, bool)> = None;
    let wide_some: Option<(u128, bool)> = Some((1, false));
    let never: Result<u64, std::convert::Infallible> = Ok(3);
    let small_none: Option<u8> = None;
    let small: Option<u8> = Some(0);
    let both: Result<([u64; 20], bool), [u64; 18]> = Err(std::array::from_fn(|at| at as u64));
    let both_ok: Result<([u64; 20], bool), [u64; 18]> = Ok((std::array::from_fn(|at| at as u64), true));
    let after: Result<(u64, bool, u8), (u64, [u8; 1], u8)> = Err((4, [2], 9));
    let low: Result<(u64, bool), u32> = Err(77);
    shown!(duration_none duration_some instant_none row_none row_some text_none text_some best_none best_some ok err error);
    shown!(late_none late_some packed_none far_none far_some pair_none pair_some pairs nested_none nested_some_none nested deep);
    shown!(flag_none flag_some tokens middle signed_none signed codes wide only nonzero boxed counted shared borrowed twice);
    shown!(optional by_name map cell tuple names no_names ordering outcome failure sum unit step wide_none wide_some never small_none small both both_ok after low);
    println!(); // @shown
}
"#;

#[tokio::test]
async fn enums_are_shown_as_the_program_prints_them() {
    let sources = Sources::new(&[("main.rs", ENUMS)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.rs"));
    let names: Vec<&str> = ENUMS.lines().filter_map(name).collect();
    let ran = run_until(&server, &program, "shown", &names).await;
    let ended = server.ok("continue_execution", json!({ "sessionId": ran["sessionId"] })).await;
    let output = format!("{}{}", ran.text_of("output"), ended.text_of("output"));
    let printed: Vec<(&str, &str)> = output.lines().filter_map(|line| line.split_once(" = ")).collect();
    assert_eq!(printed.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
    assert_evaluated(&ran, &printed);
    server.finish().await;
}

#[tokio::test]
async fn expressions_find_the_active_variant() {
    let sources = Sources::new(&[("main.rs", ENUMS)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.rs"));
    let expected = [
        ("duration_none.is_none() && row_none.is_none() && boxed.is_none() && borrowed.is_none()", "true"),
        (r#"text_none == None && text_some == Some((0, "zero"))"#, "true"),
        ("error.is_err() && err.is_err() && ok.is_ok()", "true"),
        (
            "matches!(nested_some_none, Some(None)) && matches!(middle[1], Middle::Held { count: 0, .. })",
            "true",
        ),
        ("row_some.is_some_and(|row| row.id == 0)", "true"),
        ("late_some.unwrap().pad[2]", "3"),
        ("both.unwrap_err()[17]", "17"),
        ("signed[3].unwrap().sign", "Plus"),
        ("pairs.iter().flatten().count()", "2"),
        ("pairs[1]", "None"),
        ("by_name[\"a\"]", "None"),
        ("by_name.get(\"a\")", "Some(None)"),
        ("by_name.get(\"c\")", "None"),
        ("pairs.first()", "Some(Some((0, 'a')))"),
        ("pairs.iter().map(|pair| pair.is_none()).next()", "Some(false)"),
        ("\"7\".parse::<u8>()", "Ok(7)"),
        ("pairs.len().checked_add(1)", "Some(4)"),
        ("pairs.iter().map(|pair| pair.is_none() as u8).collect::<Vec<_>>()", "[0, 1, 0]"),
        ("\"a\".to_uppercase()", "\"A\""),
    ];
    let ran = run_until(&server, &program, "shown", &expected.map(|(expression, _)| expression)).await;
    assert_evaluated(&ran, &expected);
    let types: Vec<_> = ran["values"].as_array().unwrap().iter().map(|value| &value["type"]).collect();
    assert_eq!(types[types.len() - 4..], ["Result<u8, _>", "Option<usize>", "Vec<u8>", "str"]);
    server.finish().await;
}

/// The name of the variable that a line of the program defines.
fn name(line: &str) -> Option<&str> {
    let name = line.strip_prefix("    let ")?.split([':', ' ']).next()?;
    (!name.starts_with('(')).then_some(name)
}
