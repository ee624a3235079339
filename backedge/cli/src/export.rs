//! `backedge run --export DIR`: records, sites, versions, trials with their blocks, decisions and refusals as tables, each as CSV and as JSON lines.
//!
//! A table is a list of columns and rows of JSON values; both forms come from it, so they cannot differ.

use crate::failure::Failure;
use lwp_feedback::codemap::CodeMap;
use lwp_feedback::policy::Decision;
use lwp_feedback::recordfile::{Chunk, RecordReader};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use vm::report::Report;
use vm::tiering::TrialRecord;

/// All tables.
const TABLES: [&str; 6] = ["records", "sites", "versions", "trials", "blocks", "decisions"];

/// All files that are written.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let tables = TABLES.iter().flat_map(|name| ["csv", "jsonl"].map(|extension| folder.join(format!("{name}.{extension}"))));
    tables.chain([folder.join(RECORDS)]).collect()
}

/// The run's records, until they are tables and beside them.
const RECORDS: &str = "records.lwp";

/// Where the run's records are saved until they are tables.
pub fn record_file(folder: &Path) -> Result<PathBuf, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    Ok(folder.join(RECORDS))
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Load(format!("cannot export to `{}`: {error}", path.display()))
}

/// One table in two files.
struct Table {
    columns: &'static [&'static str],
    csv: BufWriter<File>,
    jsonl: BufWriter<File>,
    folder: PathBuf,
}

impl Table {
    fn new(folder: &Path, name: &str, columns: &'static [&'static str]) -> Result<Table, Failure> {
        debug_assert!(TABLES.contains(&name));
        let create = |extension: &str| {
            let path = folder.join(format!("{name}.{extension}"));
            File::create(&path).map(BufWriter::new).map_err(|error| failed(&path, &error))
        };
        let mut table = Table { columns, csv: create("csv")?, jsonl: create("jsonl")?, folder: folder.into() };
        let header = columns.join(",");
        writeln!(table.csv, "{header}").map_err(|error| failed(folder, &error))?;
        Ok(table)
    }

    fn row(&mut self, values: &[Value]) -> Result<(), Failure> {
        debug_assert_eq!(values.len(), self.columns.len());
        let cells: Vec<String> = values.iter().map(cell).collect();
        let object: serde_json::Map<String, Value> =
            self.columns.iter().map(|&column| column.to_owned()).zip(values.iter().cloned()).collect();
        let written = writeln!(self.csv, "{}", cells.join(",")).and_then(|()| writeln!(self.jsonl, "{}", Value::Object(object)));
        written.map_err(|error| failed(&self.folder, &error))
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.csv.flush().and_then(|()| self.jsonl.flush()).map_err(|error| failed(&self.folder, &error))
    }
}

/// By RFC 4180.
fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Writes all tables.
pub fn write(folder: &Path, report: &Report) -> Result<(), Failure> {
    records(folder)?;
    sites(folder, report)?;
    versions(folder, report)?;
    trials(folder, report)?;
    blocks(folder, report)?;
    decisions(folder, report)
}

fn records(folder: &Path) -> Result<(), Failure> {
    const COLUMNS: &[&str] =
        &["ring", "event", "class", "core", "flags", "address", "data1", "data2", "tsc", "module", "function", "version", "tier", "offset"];
    let mut table = Table::new(folder, "records", COLUMNS)?;
    let path = folder.join(RECORDS);
    let input = File::open(&path).map_err(|error| failed(&path, &error))?;
    let unreadable = |error: &dyn std::fmt::Display| Failure::Load(format!("`{}`: {error}", path.display()));
    let code = CodeMap::new();
    for chunk in RecordReader::new(BufReader::new(input)).map_err(|error| unreadable(&error))? {
        match chunk.map_err(|error| unreadable(&error))? {
            Chunk::Code(range, entry) => {
                code.forget(&range);
                code.insert(range, (*entry).clone()).map_err(|error| unreadable(&error))?;
            }
            Chunk::Gone(range) => code.forget(&range),
            Chunk::Records { ring, records } => {
                for record in records {
                    let found = code.resolve_record(&record);
                    let class = lwp_feedback::class::SiteClass::from_imm16(record.flags())
                        .filter(|_| matches!(record.event_id().0, 1 | 255))
                        .map(|(class, _)| class.name());
                    table.row(&[
                        json!(ring),
                        json!(record.event_id().0),
                        json!(class),
                        json!(record.core_id()),
                        json!(record.flags()),
                        json!(format!("{:#x}", record.address())),
                        json!(record.data1()),
                        json!(record.data2()),
                        json!(record.tsc()),
                        json!(found.map(|it| format!("{:016x}", it.function.module))),
                        json!(found.map(|it| it.function.func)),
                        // (0 is bytecode)
                        json!(found.map(|it| it.version).filter(|&version| version > 0)),
                        json!(found.map(|it| format!("{:?}", it.tier).to_lowercase())),
                        // (0 where nothing is mapped)
                        json!(found.map(|it| it.wasm_offset).filter(|&offset| offset > 0)),
                    ])?;
                }
            }
            Chunk::Note(_) | Chunk::Missed { .. } => {}
        }
    }
    table.finish()
}

fn sites(folder: &Path, report: &Report) -> Result<(), Failure> {
    let mut table = Table::new(folder, "sites", &["function", "name", "offset", "class", "detail", "total", "value", "count", "error"])?;
    for function in &report.functions {
        for site in &function.sites {
            for value in &site.values {
                table.row(&[
                    json!(function.function),
                    json!(function.name),
                    json!(site.offset),
                    json!(site.class.name()),
                    json!(site.detail),
                    json!(site.total),
                    json!(value.value),
                    json!(value.count),
                    json!(value.error),
                ])?;
            }
        }
    }
    table.finish()
}

/// One row a version.
fn versions(folder: &Path, report: &Report) -> Result<(), Failure> {
    let columns: &[&str] = &[
        "function",
        "version",
        "tier",
        "interpreted",
        "loop_offset",
        "code_bytes",
        "code_hash",
        "compile_ms",
        "published_ms",
        "ns_per_event",
        "arm",
    ];
    let mut table = Table::new(folder, "versions", columns)?;
    for function in &report.functions {
        for version in &function.versions {
            table.row(&[
                json!(function.function),
                json!(version.version),
                json!(version.tier),
                json!(version.interpreted),
                json!(version.loop_offset),
                json!(version.code_bytes),
                json!(version.code_hash),
                json!(version.compile_ms),
                json!(version.published_ms),
                json!(version.ns_per_event),
                json!(version.arm),
            ])?;
        }
    }
    table.finish()
}

/// Of trials; times are ns per call or round.
const TRIAL_COLUMNS: &[&str] = &[
    "trial",
    "function",
    "loop_offset",
    "old_version",
    "new_version",
    "verdict",
    "reason",
    "ratio",
    "confidence",
    "pairs",
    "dropped",
    "old_p10",
    "old_p50",
    "old_p90",
    "new_p10",
    "new_p50",
    "new_p90",
    "ended_ms",
    "took_ms",
    "decisions",
    "without",
];

/// One row a trial.
fn trials(folder: &Path, report: &Report) -> Result<(), Failure> {
    let mut table = Table::new(folder, "trials", TRIAL_COLUMNS)?;
    for (number, trial) in report.trials.iter().enumerate() {
        table.row(&trial_row(number, trial))?;
    }
    table.finish()
}

fn trial_row(number: usize, trial: &TrialRecord) -> Vec<Value> {
    let judgement = &trial.judgement;
    // (null where there were no pairs)
    let all = serde_json::to_value(judgement).unwrap_or_default();
    let figure = |pointer: &str| all.pointer(pointer).cloned().unwrap_or_default();
    let named = |decisions: &[Decision]| {
        let names: Vec<String> = decisions.iter().map(|it| format!("{} at {:#x}", it.name(), it.offset())).collect();
        names.join("; ")
    };
    vec![
        json!(number),
        json!(trial.function),
        json!(trial.loop_offset),
        json!(trial.versions[0]),
        json!(trial.versions[1]),
        json!(judgement.verdict.name()),
        json!(judgement.verdict.reason()),
        figure("/ratio"),
        figure("/confidence"),
        json!(judgement.pairs),
        json!(judgement.dropped),
        figure("/old/p10"),
        figure("/old/p50"),
        figure("/old/p90"),
        figure("/new/p10"),
        figure("/new/p50"),
        figure("/new/p90"),
        json!(trial.ended_ms),
        json!(trial.took_ms),
        json!(named(&trial.decisions)),
        json!(named(&trial.without)),
    ]
}

/// One row a pair of blocks: what the trial of that number rests on, in ns per call or round.
fn blocks(folder: &Path, report: &Report) -> Result<(), Failure> {
    let mut table = Table::new(folder, "blocks", &["trial", "pair", "old_ns", "new_ns"])?;
    for (number, trial) in report.trials.iter().enumerate() {
        for (pair, [old, new]) in trial.blocks.iter().enumerate() {
            table.row(&[json!(number), json!(pair), json!(old), json!(new)])?;
        }
    }
    table.finish()
}

/// What was decided, by version; what the policy refused; what the compiler did and refused.
fn decisions(folder: &Path, report: &Report) -> Result<(), Failure> {
    let columns: &[&str] = &[
        "function",
        "version",
        "offset",
        "transformation",
        "by",
        "done",
        "reason",
        "samples",
        "share",
        "needed",
        "saves_ns",
        "costs_ns",
        "text",
    ];
    let mut table = Table::new(folder, "decisions", columns)?;
    for function in &report.functions {
        for version in &function.versions {
            for decision in &version.decisions {
                let because = decision.because();
                table.row(&[
                    json!(function.function),
                    json!(version.version),
                    json!(decision.offset()),
                    json!(decision.name()),
                    json!("policy"),
                    json!(true),
                    Value::Null,
                    json!(because.samples),
                    json!(because.share),
                    json!(because.needed),
                    json!(because.saves_ns),
                    json!(because.costs_ns),
                    json!(decision.to_string()),
                ])?;
            }
            for applied in &version.applied {
                let mut row =
                    vec![json!(applied.function), json!(version.version), json!(applied.offset), json!(applied.name), json!("compiler")];
                row.push(json!(applied.refused.is_none()));
                row.extend([json!(applied.refused), Value::Null, Value::Null, Value::Null, Value::Null, Value::Null, Value::Null]);
                table.row(&row)?;
            }
        }
        for refusal in &function.refusals {
            let mut row =
                vec![json!(function.function), Value::Null, json!(refusal.offset), json!(refusal.transformation), json!("policy")];
            // What the reason holds, by the columns' names. (Without a share what is needed is no share.)
            let reason = serde_json::to_value(&refusal.reason).unwrap_or_default();
            let held = reason.as_object().and_then(|it| it.values().next());
            let figure = |name: &str| held.and_then(|it| it.get(name)).cloned().unwrap_or_default();
            let needed = if figure("share").is_null() { Value::Null } else { figure("needed") };
            row.extend([json!(false), json!(refusal.reason.name()), figure("samples"), figure("share"), needed]);
            row.extend([figure("saves_ns"), figure("costs_ns"), json!(refusal.to_string())]);
            table.row(&row)?;
        }
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwp_feedback::policy::{Because, LikelyDecision};
    use vm::tiering::verdict::{Distribution, Judgement, Verdict};

    #[test]
    fn a_trial_without_a_decision_names_it() {
        let layout = Decision::Layout(LikelyDecision { offset: 0x34, likely: true, because: Because::default() });
        let none = Distribution::default();
        let judgement = Judgement { verdict: Verdict::Slower, old: none, new: none, ratio: 1.0, confidence: 0.5, pairs: 0, dropped: 0 };
        let trial = TrialRecord {
            function: 1,
            loop_offset: None,
            decisions: Vec::new(),
            without: vec![layout],
            slowed_percent: 0.0,
            judgement,
            ended_ms: 1.0,
            took_ms: 1.0,
            versions: [3, 4],
            blocks: Vec::new(),
        };
        let row = trial_row(0, &trial);
        let of = |column: &str| row[TRIAL_COLUMNS.iter().position(|it| *it == column).unwrap()].clone();
        assert_eq!(row.len(), TRIAL_COLUMNS.len());
        assert_eq!((of("decisions"), of("without")), (json!(""), json!("layout at 0x34")));
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!([json!("a,\"b\""), json!(null), json!(1.5), json!("x")].map(|value| cell(&value)), ["\"a,\"\"b\"\"\"", "", "1.5", "x"]);
    }
}
