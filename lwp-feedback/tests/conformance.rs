//! `docs/src/lwp-conformance.md` has, for every row of the reference, a test that exists or a switch that exists.

use std::collections::BTreeSet;
use std::path::Path;

fn is_test(root: &Path, reference: &str) -> bool {
    let Some((file, name)) = reference.split_once("::") else {
        return false;
    };
    let Ok(source) = std::fs::read_to_string(root.join(file)) else {
        return false;
    };
    let definition = format!("fn {name}()");
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    lines.iter().enumerate().any(|(index, line)| line.starts_with(&definition) && index > 0 && lines[index - 1] == "#[test]")
}

fn is_switch(root: &Path, reference: &str) -> bool {
    let source = std::fs::read_to_string(root.join("lwp-feedback/src/unit/mod.rs")).unwrap();
    let declaration = format!("    pub {}: ", reference.trim_start_matches("Switches::"));
    reference.starts_with("Switches::") && source.contains(&declaration)
}

#[test]
fn every_row_names_a_test_or_a_switch_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/src/lwp-conformance.md")).unwrap();
    let mut ids = BTreeSet::new();
    for line in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| id ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [id, _, evidence] = cells[..] else { panic!("three cells expected: {line}") };
        assert!(ids.insert(id.to_owned()), "row {id} stands twice");
        assert!(!evidence.is_empty(), "row {id} has neither test nor switch");
        for part in evidence.split("; ") {
            let (switch, name) = match part.strip_prefix("switch ") {
                Some(name) => (true, name.trim_matches('`')),
                None => (false, part.trim_matches('`')),
            };
            let exists = if switch { is_switch(&root, name) } else { is_test(&root, name) };
            assert!(exists, "row {id} names {name}, which does not exist");
        }
    }
    assert!(ids.len() >= 190, "{} rows: the reference has more", ids.len());
}
