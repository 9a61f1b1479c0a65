//! The places of `trace`, each with the options that follow it.

use std::path::Path;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use engine::model::breakpoint::Rule;
use engine::session::placing::PlaceRequest;
use tools::ops::trace::Point;

use tools::LocationArg;

/// `PLACE -e EXPR --at PLACE -e EXPR`: clap's derive loses the order of options.
#[derive(Clone, Debug)]
pub(super) struct PointsArgs(Vec<PointArgs>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct PointArgs {
    place: LocationArg,
    expressions: Vec<String>,
    statement: Option<String>,
    condition: Option<String>,
}

impl PointsArgs {
    /// The file of the first place, which is what is run when nothing else is named.
    pub(super) fn first_file(&self) -> &Path {
        self.0.first().map_or(Path::new(""), |given| &given.place.file)
    }

    /// The places and what to record there.
    pub(super) fn points(&self) -> Vec<Point> {
        self.0.iter().cloned().map(PointArgs::point).collect()
    }
}

impl PointArgs {
    fn at(place: LocationArg) -> Self {
        Self { place, expressions: Vec::new(), statement: None, condition: None }
    }

    fn point(self) -> Point {
        let LocationArg { file, line, column, function } = self.place;
        let wanted = PlaceRequest {
            file: Some(file),
            line,
            column,
            function,
            statement: self.statement,
            rule: Rule { condition: self.condition, ..Rule::default() },
            ..PlaceRequest::default()
        };
        Point { wanted, expressions: self.expressions }
    }
}

impl Args for PointsArgs {
    fn augment_args(command: Command) -> Command {
        let option = |name: &'static str, value: &'static str| {
            Arg::new(name)
                .long(name)
                .value_name(value)
                .action(ArgAction::Append)
                .allow_hyphen_values(name != "at")
        };
        command
            .arg(Arg::new("place").value_name("PLACE").required(true).help(
                "Where to record: `FILE:LINE`, `FILE:LINE:COLUMN`, `FILE:FUNCTION`, or FILE with --statement",
            ))
            .arg(
                option("expression", "EXPR")
                    .short('e')
                    .required(true)
                    .help("Expression to record at the preceding location (repeatable)"),
            )
            .arg(option("at", "PLACE").help("Another location to record at (repeatable)"))
            .arg(option("statement", "TEXT").help("Record at the line with this text"))
            .arg(option("condition", "EXPR").help("Record only if this expression is true"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PointsArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mistake = |message: String| clap::Error::raw(ErrorKind::ValueValidation, message + "\n");
        let mut given = Vec::new();
        for (_, name, value) in in_order(matches) {
            let here: Option<&mut PointArgs> = given.last_mut();
            match (name, here) {
                ("at", _) => given.push(PointArgs::at(place(&value))),
                ("expression", Some(here)) => here.expressions.push(value),
                ("statement", Some(here)) => here.statement = Some(value),
                (_, Some(here)) => here.condition = Some(value),
                (_, None) => {}
            }
        }
        for PointArgs { place, expressions, statement, .. } in &given {
            let file = place.file.display();
            if expressions.is_empty() {
                return Err(mistake(format!("no expression for `{file}`: add -e EXPR after it")));
            }
            if place.line.is_none() && place.function.is_none() && statement.is_none() {
                return Err(mistake(format!(
                    "`{file}` is not a location: give FILE:LINE, or add --statement TEXT after it"
                )));
            }
        }
        Ok(Self(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The options in the order of the command line. The first location comes first wherever it is: everything before the
/// first `--at` belongs to it.
fn in_order(matches: &ArgMatches) -> Vec<(usize, &'static str, String)> {
    let first = matches.get_one::<String>("place").cloned().unwrap_or_default();
    let mut all = vec![(0, "at", first)];
    for name in ["expression", "at", "statement", "condition"] {
        let values = matches.get_many::<String>(name).into_iter().flatten().cloned();
        all.extend(
            matches.indices_of(name).into_iter().flatten().zip(values).map(|(at, value)| (at, name, value)),
        );
    }
    all.sort_by_key(|(at, ..)| *at);
    all
}

fn place(text: &str) -> LocationArg {
    text.parse().unwrap_or_else(|never: std::convert::Infallible| match never {})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<PointArgs>, clap::Error> {
        let words = line.split_whitespace();
        let matches = PointsArgs::augment_args(Command::new("trace").no_binary_name(true))
            .try_get_matches_from(words)?;
        PointsArgs::from_arg_matches(&matches).map(|points| points.0)
    }

    #[test]
    fn options_apply_to_the_preceding_location() {
        let given =
            read("a.py:1 -e x -e y --at b.py:2 --condition z>1 -e w --at c.py --statement t -e v").unwrap();
        let told: Vec<_> = given
            .iter()
            .map(|given| {
                let expressions = given.expressions.join(" ");
                let (condition, statement) = (given.condition.as_deref(), given.statement.as_deref());
                (given.place.file.to_str().unwrap(), expressions, condition, statement)
            })
            .collect();
        let expected = [
            ("a.py", "x y".to_owned(), None, None),
            ("b.py", "w".to_owned(), Some("z>1"), None),
            ("c.py", "v".to_owned(), None, Some("t")),
        ];
        assert_eq!(told, expected);
        assert_eq!(read("-e x a.py:1 --condition y").unwrap()[0].expressions, ["x"]);
        assert_eq!(read("a.py:1 -e x --condition -y>1").unwrap()[0].condition.as_deref(), Some("-y>1"));
    }

    #[test]
    fn a_location_needs_a_line_and_an_expression() {
        for line in ["a.py:1", "a.py -e x", "a.py:1 -e x --at b.py:1", "-e x"] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
