//! `docs/src/interfaces.md` has every name of `docs/interfaces.names`, each with a test that exists; the C names are in the header and used by the
//! C test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn names() -> Vec<String> {
    read("docs/interfaces.names").lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

/// Rows by name: the item and the test.
fn rows() -> BTreeMap<String, (String, String)> {
    let page = read("docs/src/interfaces.md");
    let mut rows = BTreeMap::new();
    for line in page.lines().skip_while(|line| *line != "## The names").filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, item, test] = cells[..] else { panic!("three cells expected: {line}") };
        let before = rows.insert(name.trim_matches('`').to_owned(), (item.to_owned(), test.trim_matches('`').to_owned()));
        assert!(before.is_none(), "{name} stands twice");
    }
    rows
}

fn is_test(reference: &str) -> bool {
    let Some((file, name)) = reference.split_once("::") else { return false };
    let Ok(source) = std::fs::read_to_string(root().join(file)) else { return false };
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&format!("fn {name}(")))
}

#[test]
fn every_name_has_an_item_and_a_test_that_exists() {
    let rows = rows();
    for name in names() {
        let (item, test) = rows.get(&name).unwrap_or_else(|| panic!("interfaces.md has no row for {name}"));
        assert!(!item.is_empty(), "{name} has no item");
        assert!(is_test(test), "{name} names the test {test}, which does not exist");
    }
    assert_eq!(rows.len(), names().len(), "the page has rows for names that interfaces.names lacks");
    assert!(rows.len() >= 150, "{} names: the documents have more", rows.len());
}

#[test]
fn a_name_without_a_row_and_a_row_without_a_test_are_noticed() {
    assert!(!rows().contains_key("cpc_no_such_function"));
    assert!(is_test("lwp-feedback/tests/interfaces.rs::every_name_has_an_item_and_a_test_that_exists"));
    assert!(!is_test("lwp-feedback/tests/interfaces.rs::no_such_test"));
    assert!(!is_test("lwp-feedback/tests/no_such_file.rs::root"));
}

#[test]
fn c_names_are_declared_and_used() {
    let header = read("lwp-feedback/cpc/include/libcpc.h");
    let program = read("lwp-feedback/cpc/tests/sets.c");
    for name in names().iter().filter(|name| name.starts_with("cpc_") || name.starts_with("SMPL_")) {
        assert!(header.contains(name.as_str()), "{name} is not in libcpc.h");
        assert!(program.contains(name.as_str()), "{name} is not used in sets.c");
    }
}
