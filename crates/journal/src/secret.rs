//! Tokens that let clients in. They are compared in constant time, and are in no log.

use std::fmt;
use std::io;

use data_encoding::HEXLOWER;
use subtle::ConstantTimeEq;

/// How many random bytes one has.
const BYTES: usize = 32;

/// A secret that grants access. It is compared in constant time, and `Debug` does not show it.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A given one.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// 256 random bits, as 64 hexadecimal digits.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| {
            io::Error::other(format!("the system cannot provide random numbers: {error}"))
        })?;
        Ok(Self(HEXLOWER.encode(&bytes)))
    }

    /// The text, for those who are to have it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether a client gave this one. That takes as long wherever the first difference is.
    pub fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_secret_has_256_bits_and_differs_each_time() {
        let (one, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_eq!(one.reveal().len(), 64);
        assert!(one.is(one.reveal()) && !one.is(other.reveal()) && !one.is(""));
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", Secret::new("abcdefghijklmnop")), "Secret");
    }
}
