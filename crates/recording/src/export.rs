//! Recordings in the formats of other tools.

mod parquet;
mod perfetto;
mod speedscope;
mod table;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::library::{Library, restrict};
use crate::reading::Recording;
use crate::spans::Step;

/// Characters of a value.
const VALUE: usize = 160;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Chrome's trace events as JSON, for <https://ui.perfetto.dev>: calls and exceptions.
    Perfetto,
    /// An evented profile of each thread as JSON, for <https://www.speedscope.app>.
    Speedscope,
    /// A row for each event and each write.
    Csv,
    /// The same in columns.
    Parquet,
}

/// What serves as time in [`Format::Perfetto`] and [`Format::Speedscope`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Time {
    /// The number of the event, which questions take as a moment.
    #[default]
    Events,
    /// Microseconds, to within some milliseconds. Code of the program takes much longer while it is recorded.
    Clock,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Perfetto, Self::Speedscope, Self::Csv, Self::Parquet];

    /// Its name, how names of its files end, and what opens them.
    fn texts(self) -> [&'static str; 3] {
        match self {
            Self::Perfetto => ["perfetto", "perfetto.json", "https://ui.perfetto.dev"],
            Self::Speedscope => ["speedscope", "speedscope.json", "https://www.speedscope.app"],
            Self::Csv => ["csv", "csv", "a spreadsheet, DuckDB or pandas"],
            Self::Parquet => ["parquet", "parquet", "DuckDB, pandas or Polars"],
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.texts()[0]
    }

    /// How names of its files end.
    pub fn ending(self) -> &'static str {
        self.texts()[1]
    }

    /// What opens its files.
    pub fn reader(self) -> &'static str {
        self.texts()[2]
    }
}

impl Library {
    /// Writes a recording in a format, and returns its name.
    pub fn export(&self, name: &str, format: Format, time: Time, out: &mut dyn Write) -> Result<String> {
        let name = self.find(name)?;
        let recording = self.open(&name)?;
        let timeline = Timeline { clock: (time == Time::Clock).then(|| recording.clock()).transpose()? };
        match format {
            Format::Perfetto => perfetto::write(&recording, &name, &timeline, out)?,
            Format::Speedscope => speedscope::write(&recording, &name, &timeline, out)?,
            Format::Csv => table::write_csv(&recording, out)?,
            Format::Parquet => parquet::write(&recording, out)?,
        }
        out.flush()?;
        Ok(name)
    }

    /// The same, into a file: the one at a path, or else one beside the recording, which is removed with it.
    pub fn export_to_file(
        &self,
        name: &str,
        format: Format,
        time: Time,
        path: Option<&Path>,
    ) -> Result<Exported> {
        let name = self.find(name)?;
        let is_ours = path.is_none();
        let path = path.map_or_else(|| self.export_path(&name, format), Path::to_owned);
        let failed = |problem: std::io::Error| Error::File {
            path: path.display().to_string(),
            problem: problem.to_string(),
        };
        let file = File::create(&path).map_err(failed)?;
        if is_ours {
            restrict(&file).map_err(failed)?;
        }
        let written = self.export(&name, format, time, &mut BufWriter::new(&file));
        if written.is_err() && path.is_file() {
            // Half of an export is of no use.
            let _ = std::fs::remove_file(&path);
        }
        written?;
        let size = file.metadata().map_err(failed)?.len();
        Ok(Exported { name, path, size })
    }
}

/// A file that was written.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The name of the recording.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Its bytes.
    pub size: u64,
}

/// What serves as time.
struct Timeline {
    /// None for the numbers of events.
    clock: Option<Clock>,
}

impl Timeline {
    fn at(&self, event: i64) -> i64 {
        self.clock.as_ref().map_or(event, |clock| clock.at(event))
    }

    /// A note for people who open the file.
    fn note(&self) -> &'static str {
        if self.clock.is_some() {
            "time is in microseconds, to within some milliseconds; code takes longer while it is recorded"
        } else {
            "time is the number of the event, which `stillframe ask state` takes: 1 us is one event"
        }
    }
}

impl Recording {
    /// `Cart.total`, and `shop.py:12`.
    fn step_names(&self, step: &Step) -> (&str, String) {
        self.codes.get(&step.code).map_or(("?", String::new()), |code| (&code.name, code.place()))
    }
}

/// Writes JSON.
fn json(out: &mut dyn Write, value: &impl serde::Serialize) -> Result<()> {
    Ok(serde_json::to_writer(out, value).map_err(std::io::Error::from)?)
}
