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

/// Id and rule of the page's rows.
fn page_rows(page: &str) -> Vec<(String, String, String)> {
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| id "));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [id, rule, evidence] = cells[..] else { panic!("three cells expected: {line}") };
        (id.to_owned(), rule.to_owned(), evidence.to_owned())
    })
    .collect()
}

/// Id and first words of the reference's rows: those of its tables, and its numbered sentences, in the sections that state rules.
fn reference_rows(reference: &str) -> Vec<(String, String)> {
    // What it is (0), whom it is supported by (6), what is open (7) and another text's bugs (3.7) are no rules.
    const NO_RULES: [&str; 5] = ["0", "6", "6.1", "7", "3.7"];
    let lines: Vec<&str> = reference.lines().collect();
    let (mut section, mut number, mut rows) = (String::new(), 0, Vec::new());
    for (index, line) in lines.iter().enumerate() {
        if let Some(title) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            section = title.split(' ').next().unwrap_or_default().trim_end_matches('.').to_owned();
            number = 0;
        }
        let is_header = lines.get(index + 1).is_some_and(|next| next.starts_with("|---"));
        let first = if line.starts_with('|') && !line.starts_with("|---") && !is_header {
            line.trim_matches('|').split('|').map(str::trim).find(|cell| !cell.is_empty())
        } else {
            line.split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok()).map(|(_, text)| text)
        };
        if let Some(first) = first.filter(|_| !NO_RULES.contains(&section.as_str())) {
            number += 1;
            rows.push((format!("{section}-{number}"), first.to_owned()));
        }
    }
    rows
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| !"*`".contains(*c)).take(40).collect()
}

#[test]
fn every_row_of_the_reference_is_here() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let Ok(reference) = std::fs::read_to_string(root.join("../shared/reference/lwp.md")) else {
        return; // not part of the repository
    };
    let page = page_rows(&std::fs::read_to_string(root.join("docs/src/lwp-conformance.md")).unwrap());
    let rows = reference_rows(&reference);
    assert!(rows.len() >= 200, "only {} rows found in the reference", rows.len());
    for (id, first) in &rows {
        let (_, rule, _) = page.iter().find(|(of, _, _)| of == id).unwrap_or_else(|| panic!("row {id} ({first}) is not on the page"));
        assert!(plain(rule).starts_with(&plain(first)), "row {id}: `{rule}` is not `{first}`");
    }
    // Two more stand for what the reference says in prose.
    let extra: Vec<&str> = page.iter().map(|(id, _, _)| id.as_str()).filter(|id| rows.iter().all(|(of, _)| of != id)).collect();
    assert_eq!(extra, ["3.4-1", "5.1-0"], "{} rows in the reference, {} on the page", rows.len(), page.len());
    println!("{} rows in the reference, {} on the page", rows.len(), page.len());
}

#[test]
fn every_row_names_a_test_or_a_switch_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/src/lwp-conformance.md")).unwrap();
    let mut ids = BTreeSet::new();
    for (id, _, evidence) in page_rows(&page) {
        assert!(ids.insert(id.clone()), "row {id} stands twice");
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
    assert!(ids.len() >= 213, "{} rows: the reference has more", ids.len());
}
