//! `backedge events` and `backedge pebs` as a person uses them.

use std::path::Path;
use std::process::Command;

fn backedge(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_backedge")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[test]
fn events_list_counts_ours_beside_the_source() {
    let (code, out, _) = backedge(&["events", "list", "--count"]);
    assert_eq!(code, 0);
    let rows: Vec<Vec<&str>> = out.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.iter().filter(|row| row.len() == 4).count() >= 20);
    for row in rows.iter().filter(|row| row.len() == 4) {
        assert_eq!(row[2], row[3], "{row:?}");
    }
    assert!(out.contains("k8        g             87  87\n"), "{out}");
}

#[test]
fn events_show_and_encode() {
    let (code, out, _) = backedge(&["events", "show", "k8::LOCKED_OPS"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("k8::LOCKED_OPS select 0x24\n") && out.contains("ALL") && out.contains("0x07 default alone"), "{out}");
    let (code, out, _) = backedge(&["events", "encode", "zen3::RETIRED_OPS", "--cnt-mask", "2", "--inv"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("zen3::RETIRED_OPS counter 0 (MSR 0xc0010200, 0xc0010201) value 0x2d100c1 perf r28000c1:u\n"), "{out}");
}

#[test]
fn what_dispatch_refuses_is_one_line() {
    for (args, part) in [
        (&["k8::LOCKED_OPS:ALL:EXECUTED"][..], "unit mask ALL does not combine"),
        (&["k8::CPU_CLK_UNHALTED", "--cnt-mask", "4"], "cnt_mask is 4"),
        (&["k8::NO_SUCH_EVENT"], "no event"),
        (&["k8::core2::X"], "no event"),
        (&["10h::LFENCE_INST_RETIRED", "--revision", "barcelona"], "is not on this processor (10h barcelona)"),
        (&["k9::X"], "no family `k9`"),
        (&["k8::LOCKED_OPS:"], "LOCKED_OPS: an empty unit mask: a name was expected behind the colon"),
        (&["k8::LOCKED_OPS:ALL:"], "LOCKED_OPS: an empty unit mask"),
        (&["k8::CPU_CLK_UNHALTED:"], "CPU_CLK_UNHALTED: an empty unit mask"),
    ] {
        let (code, _, error) = backedge(&[&["events", "encode"], args].concat());
        assert_eq!((code, error.lines().count()), (2, 1), "{args:?}: {error}");
        assert!(error.contains(part), "{args:?}: {error}");
    }
}

#[test]
fn pebs_run_prints_the_experiments() {
    for number in 5..=10 {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/experiments/15-{number}.trace"));
        let (code, out, error) = backedge(&["pebs", "run", path.to_str().unwrap()]);
        assert_eq!(code, 0, "{error}");
        assert_eq!(out, lwp_feedback::pebs::trace::expected(&std::fs::read_to_string(path).unwrap()));
    }
    assert_eq!(backedge(&["pebs", "run", "/no/such/file"]).0, 1);
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("empty", ""), ("title", "title only a title\n# nothing\nprogram\n")] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let (code, out, error) = backedge(&["pebs", "run", path.to_str().unwrap()]);
        assert_eq!((code, out.as_str(), error.lines().count()), (1, "", 1), "{error}");
        assert!(error.contains("no experiment: expected a line `program` with operations behind it"), "{error}");
    }
}

/// 100 million indirect calls: enough to become hot and leave records, also where others have the processors.
fn program() -> (String, [&'static str; 2]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench-programs/programs/indirect_call/indirect_call.wasm");
    (path.to_str().unwrap().to_owned(), ["0", "100000000"])
}

#[test]
fn every_model_delivers_a_run_and_changes_no_result() {
    let (file, [mode, size]) = program();
    let (_, expected, _) = backedge(&["run", "-C", "cache=n", "--no-feedback", &file, mode, size]);
    assert!(expected.starts_with("ok "), "{expected}");
    for model in ["lwp", "pebs", "pmi", "cpc"] {
        let (code, out, report) = backedge(&["run", "-C", "cache=n", "--report", "--feedback", model, &file, mode, size]);
        assert_eq!((code, &out), (0, &expected), "{report}");
        assert_eq!(report.contains(&format!("modelled  {model}: ")), model != "lwp", "{report}");
        assert_eq!(report.contains("skid      "), model == "pmi", "{report}");
        assert!(report.contains(&format!(", feedback {model}\n")), "{report}");
    }
}

#[test]
fn compare_feedback_prints_a_row_for_each_model() {
    let (file, [mode, size]) = program();
    let (code, out, error) = backedge(&["compare-feedback", "--runs", "1", &file, mode, size]);
    assert_eq!(code, 0, "{error}");
    for start in ["lwp   |", "pebs  |", "pmi   |", "cpc   |", "off   |", "skid of pmi: "] {
        assert!(out.lines().any(|line| line.starts_with(start)), "{out}");
    }
    assert!(out.contains("modelled") && out.contains("measured"), "{out}");
    let (code, out, _) = backedge(&["compare-feedback", "--json", "--runs", "1", &file, mode, size]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, json["models"].as_array().unwrap().len()), (0, 4));
    assert!(json["models"][0]["modelled"]["overlap_sites"].as_f64().unwrap() > 0.0, "{out}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/experiments/compare-feedback.json");
    let stored: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut stored = stored[0].clone();
    // What the script adds.
    stored.as_object_mut().unwrap().retain(|name, _| name != "program" && name != "runs");
    assert_eq!(
        shape(&json),
        shape(&stored),
        "the book's measurements are of another form than this command prints: run docs/experiments/compare-feedback.py"
    );
    let (code, _, error) = backedge(&["compare-feedback", "/no/such.wasm"]);
    assert_eq!((code, error.lines().count()), (1, 1), "{error}");
}

/// The names and kinds of all values, and the models' names; not the values.
fn shape(value: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(fields) => {
            let of = |(name, value): (&String, &Value)| (name.clone(), if name == "model" { value.clone() } else { shape(value) });
            Value::Object(fields.iter().map(of).collect())
        }
        Value::Array(values) => Value::Array(values.iter().map(shape).collect()),
        Value::Number(_) => "number".into(),
        Value::String(_) => "string".into(),
        Value::Bool(_) => "bool".into(),
        Value::Null => Value::Null,
    }
}

/// The table of `docs/src/interfaces.md` as it follows from the measurements.
fn table(measurements: &serde_json::Value) -> String {
    let mut out = String::from(
        "| program | model | functions (modelled) | sites (modelled) | lost (modelled) | unseen (modelled) | wake-ups (modelled) | cost, ms (modelled) | plans | decisions | ms | speed |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for program in measurements.as_array().unwrap() {
        let name = program["program"].as_str().unwrap();
        let without = program["no_feedback_ms"].as_f64().unwrap();
        for row in program["models"].as_array().unwrap() {
            let (modelled, measured) = (&row["modelled"], &row["measured"]);
            let number = |value: &serde_json::Value| value.as_f64().unwrap();
            out += &format!(
                "| {name} | {} | {:.1} % | {:.1} % | {} | {} | {} | {:.1} | {} | {} | {:.0} | {:.2}x |\n",
                row["model"].as_str().unwrap(),
                number(&modelled["overlap_functions"]) * 100.0,
                number(&modelled["overlap_sites"]) * 100.0,
                modelled["lost"],
                modelled["unseen"],
                modelled["wake_ups"],
                number(&modelled["cost_ms"]),
                measured["plans"],
                measured["decisions"],
                number(&measured["ms"]),
                number(&measured["speed"]),
            );
        }
        out += &format!("| {name} | off | | | | | | | | | {without:.0} | 1.00x |\n");
    }
    out
}

#[test]
fn the_table_is_made_from_the_measurements() {
    const BEGIN: &str = "<!-- compare-feedback: begin -->\n";
    const END: &str = "<!-- compare-feedback: end -->";
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let measurements = std::fs::read_to_string(docs.join("experiments/compare-feedback.json")).unwrap();
    let table = table(&serde_json::from_str(&measurements).unwrap());
    let path = docs.join("src/interfaces.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else {
        assert_eq!(found, table);
    }
}
