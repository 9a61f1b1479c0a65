//! Lines of several streams that were written piece by piece, put together again.

/// Each line whole, with the number of the piece in which its stream began it, in the order of these beginnings,
/// whatever other streams wrote meanwhile. A piece is a stream and what it wrote.
pub fn whole_lines<K: PartialEq>(pieces: &[(K, &str)]) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (number, (stream, text)) in pieces.iter().enumerate() {
        for line in text.split_inclusive('\n') {
            let is_of_it = |begun: usize| pieces.get(begun).is_some_and(|(other, _)| other == stream);
            let last = lines.iter_mut().rfind(|(begun, _)| is_of_it(*begun));
            match last.filter(|(_, last)| !last.ends_with('\n')) {
                Some((_, begun)) => begun.push_str(line),
                None => lines.push((number, line.to_owned())),
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Streams and what they wrote, and the lines.
    type Case<'a> = (&'a [(char, &'a str)], &'a [(usize, &'a str)]);

    #[test]
    fn a_line_is_attributed_to_the_stream_that_began_it() {
        let table: [Case<'_>; 5] = [
            (&[('o', "start"), ('e', "oops\n"), ('o', " 1 []\n")], &[(0, "start 1 []\n"), (1, "oops\n")]),
            (
                &[('o', "a\nb"), ('e', "x"), ('o', "c\nd\n"), ('e', "y\n")],
                &[(0, "a\n"), (0, "bc\n"), (1, "xy\n"), (2, "d\n")],
            ),
            (&[('o', "a\n"), ('e', "b\n")], &[(0, "a\n"), (1, "b\n")]),
            (&[('o', "never ended")], &[(0, "never ended")]),
            (&[], &[]),
        ];
        for (pieces, expected) in table {
            let lines = whole_lines(pieces);
            let lines: Vec<(usize, &str)> = lines.iter().map(|(at, line)| (*at, line.as_str())).collect();
            assert_eq!(lines, expected, "{pieces:?}");
        }
    }
}
