//! The same rows in columns, as [Parquet](https://parquet.apache.org/docs/file-format/) has them: without compression, with
//! a dictionary for each column of texts. What is in the file is described in Thrift's compact protocol.

use std::collections::HashMap;
use std::io::Write;

use super::table::{Cell, SCHEMA, each_row};
use crate::error::Result;
use crate::reading::Recording;

const MAGIC: &[u8] = b"PAR1";
/// Rows in a group, whose columns are written one after another.
const ROWS: usize = 100_000;

// Types of columns, encodings of values, and types in Thrift, by their numbers.
const INT64: i64 = 2;
const BYTE_ARRAY: i64 = 6;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const DICTIONARY: i64 = 8;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

pub(super) fn write(recording: &Recording, out: &mut dyn Write) -> Result<()> {
    let mut file = File { out, size: 0, groups: Vec::new() };
    file.put(MAGIC)?;
    let mut columns: Vec<Column> = Vec::new();
    let (mut rows, mut total) = (0, 0);
    each_row(recording, &mut |row| {
        if rows == ROWS {
            file.group(&columns, rows)?;
            columns.clear();
            rows = 0;
        }
        columns.resize_with(row.len(), Column::default);
        for (column, cell) in columns.iter_mut().zip(row) {
            column.add(*cell);
        }
        rows += 1;
        total += 1;
        Ok(())
    })?;
    if rows > 0 {
        file.group(&columns, rows)?;
    }
    file.end(total)
}

/// The values of a column: numbers, or the numbers of texts in the order in which they came.
#[derive(Default)]
struct Column {
    values: Vec<Option<i64>>,
    texts: HashMap<String, i64>,
    dictionary: Vec<u8>,
}

impl Column {
    fn add(&mut self, cell: Cell<'_>) {
        let value = match cell {
            Cell::Number(number) => number,
            Cell::Text("") => None,
            Cell::Text(text) => Some(self.number(text)),
        };
        self.values.push(value);
    }

    fn number(&mut self, text: &str) -> i64 {
        if let Some(number) = self.texts.get(text) {
            return *number;
        }
        let number = count(self.texts.len());
        self.texts.insert(text.to_owned(), number);
        self.dictionary.extend(length(text.len()));
        self.dictionary.extend(text.as_bytes());
        number
    }

    /// The page with the values, and before them which rows have one.
    fn page(&self, has_texts: bool) -> Vec<u8> {
        let are_there = packed(self.values.iter().map(|value| i64::from(value.is_some())), 1);
        let mut page = Vec::from(length(are_there.len()));
        page.extend(are_there);
        let values = self.values.iter().flatten();
        if has_texts {
            let width = usize::BITS - self.texts.len().saturating_sub(1).leading_zeros();
            let width = u8::try_from(width.max(1)).unwrap_or(u8::MAX);
            page.push(width);
            page.extend(packed(values.copied(), width));
        } else {
            page.extend(values.flat_map(|value| value.to_le_bytes()));
        }
        page
    }
}

struct File<'o> {
    out: &'o mut dyn Write,
    size: i64,
    /// The descriptions of groups.
    groups: Vec<Vec<u8>>,
}

impl File<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.size += count(bytes.len());
        Ok(self.out.write_all(bytes)?)
    }

    fn group(&mut self, columns: &[Column], rows: usize) -> Result<()> {
        let begin = self.size;
        let mut chunks = Vec::new();
        for (column, (name, has_texts)) in columns.iter().zip(SCHEMA) {
            let (first, rows) = (self.size, count(rows));
            if has_texts {
                let about = Thrift::default().int(I32, 1, count(column.texts.len())).int(I32, 2, PLAIN).end();
                self.page(2, 7, &about, &column.dictionary)?;
            }
            let data = self.size;
            let (kind, encoding) = kind_of(has_texts);
            let about = Thrift::default().int(I32, 1, rows).int(I32, 2, encoding);
            self.page(0, 5, &about.int(I32, 3, RLE).int(I32, 4, RLE).end(), &column.page(has_texts))?;
            let size = self.size - first;
            let encodings = [PLAIN, RLE, DICTIONARY].map(|each| number(zigzag(each)));
            let about = Thrift::default()
                .int(I32, 1, kind)
                .list(2, I32, &encodings)
                .list(3, BINARY, &[text(name)])
                .int(I32, 4, 0)
                .int(I64, 5, rows)
                .int(I64, 6, size)
                .int(I64, 7, size)
                .int(I64, 9, data);
            let about = if has_texts { about.int(I64, 11, first) } else { about };
            chunks.push(Thrift::default().int(I64, 2, first).part(3, STRUCT, &about.end()).end());
        }
        let about = Thrift::default().list(1, STRUCT, &chunks);
        self.groups.push(about.int(I64, 2, self.size - begin).int(I64, 3, count(rows)).end());
        Ok(())
    }

    /// A page of a type, whose description has a field of this number for its type.
    fn page(&mut self, kind: i64, field: u8, about: &[u8], content: &[u8]) -> Result<()> {
        let size = count(content.len());
        let header = Thrift::default().int(I32, 1, kind).int(I32, 2, size).int(I32, 3, size);
        self.put(&header.part(field, STRUCT, about).end())?;
        self.put(content)
    }

    fn end(mut self, rows: i64) -> Result<()> {
        let root = Thrift::default().part(4, BINARY, &text("rows")).int(I32, 5, count(SCHEMA.len())).end();
        let columns = SCHEMA.into_iter().map(|(name, has_texts)| {
            // Each may lack a value.
            let about = Thrift::default().int(I32, 1, kind_of(has_texts).0).int(I32, 3, 1);
            let about = about.part(4, BINARY, &text(name));
            // Texts are UTF-8.
            if has_texts { about.int(I32, 6, 0).end() } else { about.end() }
        });
        let schema: Vec<Vec<u8>> = std::iter::once(root).chain(columns).collect();
        let footer = Thrift::default().int(I32, 1, 1).list(2, STRUCT, &schema).int(I64, 3, rows);
        let footer = footer.list(4, STRUCT, &self.groups).part(6, BINARY, &text("stillframe")).end();
        self.put(&footer)?;
        self.put(&length(footer.len()))?;
        self.put(MAGIC)
    }
}

/// The type of a column and the encoding of its values.
fn kind_of(has_texts: bool) -> (i64, i64) {
    if has_texts { (BYTE_ARRAY, DICTIONARY) } else { (INT64, PLAIN) }
}

/// A structure of Thrift that is being written.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    last: u8,
}

impl Thrift {
    fn part(mut self, field: u8, kind: u8, content: &[u8]) -> Self {
        self.bytes.push((field - self.last) << 4 | kind);
        self.bytes.extend(content);
        self.last = field;
        self
    }

    fn int(self, kind: u8, field: u8, value: i64) -> Self {
        self.part(field, kind, &number(zigzag(value)))
    }

    fn list(self, field: u8, kind: u8, items: &[Vec<u8>]) -> Self {
        let mut content = vec![0xf0 | kind];
        content.extend(number(items.len() as u64));
        self.part(field, LIST, &[content, items.concat()].concat())
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// Numbers of so many bits, as one run of eight at a time.
fn packed(values: impl Iterator<Item = i64>, width: u8) -> Vec<u8> {
    let (mut content, mut bits, mut held, mut items) = (Vec::new(), 0_u128, 0, 0_u64);
    for value in values {
        bits |= u128::from(value.unsigned_abs()) << held;
        held += u32::from(width);
        items += 1;
        while held >= 8 {
            content.push((bits & 0xff) as u8);
            bits >>= 8;
            held -= 8;
        }
    }
    let groups = items.div_ceil(8);
    content.push((bits & 0xff) as u8);
    content.resize(usize::try_from(groups).unwrap_or(usize::MAX) * usize::from(width), 0);
    let mut run = number(groups << 1 | 1);
    run.extend(content);
    run
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// A number in groups of seven bits, lowest first.
fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let [low, ..] = value.to_le_bytes();
        if value <= 0x7f {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
        value >>= 7;
    }
}

fn text(text: &str) -> Vec<u8> {
    [&number(text.len() as u64), text.as_bytes()].concat()
}

fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes()
}

fn count(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples in the specifications of Parquet and Thrift.
    #[test]
    fn numbers_are_written_as_specified() {
        assert_eq!(packed(0..8, 3), [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        assert_eq!(packed([1, 0, 1].into_iter(), 1), [3, 0b101]);
        assert_eq!(number(zigzag(50_399)), [0xbe, 0x93, 0x06]);
        assert_eq!(number(zigzag(-1)), [1]);
    }
}
