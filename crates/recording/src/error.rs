//! What can go wrong with recordings.

/// Why a recording cannot be made or a question not be answered. The text says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such recording.
    #[error("no recording `{name}`; {known}")]
    NoRecording {
        /// What was requested.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A question that makes no sense for the recording.
    #[error("{0}")]
    Question(String),
    /// The file cannot be used.
    #[error("cannot use `{path}`: {problem}")]
    File {
        /// The file.
        path: String,
        /// Why.
        problem: String,
    },
    /// An export cannot be written.
    #[error("cannot write the export: {0}")]
    Export(#[from] std::io::Error),
    /// What the debugger's engine reports.
    #[error(transparent)]
    Engine(#[from] engine::error::Error),
    /// What the database reports.
    #[error("the recording cannot be read: {0}; record the program again")]
    Database(rusqlite::Error),
    /// The disk is full.
    #[error("no space is left on the disk for the recording; free some, or remove recordings")]
    Full,
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full,
            _ => Self::Database(error),
        }
    }
}

/// A result with this error.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A question that makes no sense.
    pub(crate) fn question(problem: impl Into<String>) -> Self {
        Self::Question(problem.into())
    }

    /// A name for the kind of failure that does not change between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoRecording { .. } => "recording_not_found",
            Self::Question(_) => "invalid_arguments",
            Self::File { .. } | Self::Database(_) | Self::Full => "recording_unusable",
            Self::Export(_) => "export_failed",
            Self::Engine(error) => error.code(),
        }
    }
}
