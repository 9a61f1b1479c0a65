use super::*;

#[test]
fn bulk() {
    let Ok(list) = std::env::var("BULK") else { return };
    let v8: std::collections::BTreeMap<String, serde_json::Value> =
        serde_json::from_str(&std::fs::read_to_string(list).unwrap()).unwrap();
    let (mut ours, mut wrong, mut missed, mut files) = (0, 0, 0, 0);
    for (path, lines) in v8 {
        let Some(lines) = lines.as_array() else { continue };
        let lines: std::collections::BTreeSet<u32> = lines.iter().map(|line| line.as_u64().unwrap() as u32).collect();
        let found = read(Path::new(&path)).unwrap();
        if let Some(problem) = found.problem { println!("PROBLEM {path} {problem}"); continue }
        files += 1;
        let text = sources::read_text(Path::new(&path)).unwrap();
        let text: Vec<_> = text.lines().collect();
        let mine: std::collections::BTreeSet<u32> = found.code.lines.iter().copied().collect();
        ours += mine.len();
        for line in mine.difference(&lines) { wrong += 1; println!("WRONG {path}:{line} {}", text[*line as usize - 1]); }
        for line in lines.difference(&mine) { missed += 1; if let Some(t) = text.get(*line as usize - 1) { println!("MISSED {path}:{line} {t}"); } }
    }
    println!("files {files} ours {ours} wrong {wrong} missed {missed}");
}
