//! The programs, from `programs/catalog.json`: what each is for, its modes, and how much of it one measurement does.

use crate::peers::hex;
use crate::results::{Metric, Program, Row, RowKind};
use anyhow::{Context, Result};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// `catalog.json`.
#[derive(Debug, Deserialize)]
pub struct Catalog {
    /// All programs, those of a group together.
    pub programs: Vec<Entry>,
}

/// A program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Name of its folder in `programs/`, or of a real program.
    pub id: String,
    /// `feedback`, `compute`, `systems` or `real`.
    pub group: String,
    /// What it stresses.
    pub stresses: String,
    /// What feedback can do for it.
    pub feedback: String,
    /// Whether it needs SIMD.
    #[serde(default)]
    pub simd: bool,
    /// For programs that are fetched (`real.sh`): the module, relative to `bench-programs`.
    pub module: Option<PathBuf>,
    /// Its modes, from 0.
    pub modes: Vec<Mode>,
}

/// One mode of a program, or one case of a real program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// In words.
    pub label: String,
    /// What it is for.
    #[serde(default)]
    pub kind: RowKind,
    /// The mode that this is the control of.
    pub control_of: Option<u32>,
    /// SIZE.
    #[serde(default)]
    pub size: u32,
    /// ROUNDS of one call in steady state: some 5 to 100 ms. 0: no steady row.
    #[serde(default)]
    pub rounds: u32,
    /// ROUNDS of a process that does the work once. 0: no such row.
    #[serde(default)]
    pub once: u32,
    /// For real programs: the arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// For real programs: `[host, guest]` directories; the host's relative to `bench-programs`, `{tmp}` is an empty one.
    #[serde(default)]
    pub dirs: Vec<[String; 2]>,
    /// For real programs: what standard output must contain.
    pub expect: Option<String>,
    /// For real programs: whether it does next to nothing.
    #[serde(default)]
    pub startup: bool,
}

/// A row and how to run it.
#[derive(Clone, Debug)]
pub struct Job {
    /// What goes into the results; its cells are empty.
    pub row: Row,
    /// The module.
    pub module: PathBuf,
    /// The C source for the native peer, where there is one.
    pub source: Option<PathBuf>,
    /// Arguments of a process that does the work once.
    pub args: Vec<String>,
    /// Directories of such a process.
    pub dirs: Vec<[String; 2]>,
    /// What its standard output must contain.
    pub expect: String,
}

/// Which rows are wanted.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Groups; empty: all.
    pub suite: Vec<String>,
    /// Rows whose id contains this.
    pub filter: Option<String>,
    /// Metrics; empty: all.
    pub metrics: Vec<Metric>,
    /// `[index from 1, count]`: of all selected rows, those whose position modulo count is index - 1.
    pub shard: Option<[u32; 2]>,
    /// Leave out variants, which say nothing about a claim.
    pub without_variants: bool,
}

impl Catalog {
    /// Reads `programs/catalog.json` under `folder`, the `bench-programs` folder.
    pub fn read(folder: &Path) -> Result<Catalog> {
        let path = folder.join("programs/catalog.json");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read `{}`: name the bench-programs folder of a checkout with --programs", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("`{}` is not a catalog", path.display()))
    }

    /// The rows that are wanted, in the catalog's order.
    pub fn jobs(&self, folder: &Path, selection: &Selection) -> Result<Vec<Job>> {
        let groups: Vec<&str> = self.programs.iter().map(|entry| entry.group.as_str()).collect();
        for group in &selection.suite {
            anyhow::ensure!(groups.contains(&group.as_str()), "no suite `{group}`: there are feedback, compute, systems and real");
        }
        let mut jobs = Vec::new();
        for entry in &self.programs {
            if !selection.suite.is_empty() && !selection.suite.contains(&entry.group) {
                continue;
            }
            for (number, mode) in entry.modes.iter().enumerate() {
                if selection.without_variants && mode.kind == RowKind::Variant {
                    continue;
                }
                for metric in mode.metrics() {
                    let job = job(folder, entry, number as u32, mode, metric);
                    let wanted = selection.filter.as_ref().is_none_or(|filter| job.row.id.contains(filter.as_str()));
                    if wanted && (selection.metrics.is_empty() || selection.metrics.contains(&metric)) {
                        jobs.push(job);
                    }
                }
            }
        }
        if let Some([index, count]) = selection.shard {
            let mut position = 0;
            jobs.retain(|_| {
                position += 1;
                (position - 1) % count == index - 1
            });
        }
        Ok(jobs)
    }

    /// What results say of the programs of `jobs`. A module that is not there has no checksum.
    pub fn programs(&self, folder: &Path, jobs: &[Job]) -> Vec<Program> {
        let used = |entry: &&Entry| jobs.iter().any(|job| job.row.program == entry.id);
        self.programs
            .iter()
            .filter(used)
            .map(|entry| {
                let bytes = std::fs::read(module(folder, entry)).unwrap_or_default();
                let sha256 = match bytes.is_empty() {
                    true => String::new(),
                    false => hex(&Sha256::digest(&bytes)),
                };
                Program {
                    id: entry.id.clone(),
                    group: entry.group.clone(),
                    stresses: entry.stresses.clone(),
                    feedback: entry.feedback.clone(),
                    sha256,
                    bytes: bytes.len() as u64,
                }
            })
            .collect()
    }
}

impl Mode {
    fn metrics(&self) -> Vec<Metric> {
        let mut metrics = Vec::new();
        metrics.extend((self.rounds > 0).then_some(Metric::Steady));
        metrics.extend((self.once > 0).then_some(Metric::OneShot));
        if !self.args.is_empty() {
            metrics.push(if self.startup { Metric::Startup } else { Metric::OneShot });
        }
        metrics
    }
}

/// The metric's name in row ids.
pub fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Steady => "steady",
        Metric::OneShot => "one-shot",
        Metric::Startup => "startup",
    }
}

fn module(folder: &Path, entry: &Entry) -> PathBuf {
    match &entry.module {
        Some(module) => folder.join(module),
        None => folder.join("programs").join(&entry.id).join(format!("{}.wasm", entry.id)),
    }
}

fn job(folder: &Path, entry: &Entry, number: u32, mode: &Mode, metric: Metric) -> Job {
    let id = |number: u32| format!("{}/{number}/{}", entry.id, metric_name(metric));
    let real = entry.module.is_some();
    let rounds = if metric == Metric::Steady { mode.rounds } else { mode.once };
    let row = Row {
        id: id(number),
        program: entry.id.clone(),
        group: entry.group.clone(),
        mode: number,
        label: mode.label.clone(),
        metric,
        kind: mode.kind,
        control_of: mode.control_of.map(id),
        size: mode.size,
        rounds,
        ..Row::default()
    };
    let args = match real {
        true => mode.args.clone(),
        // A program whose SIZE is its ROUNDS (`indirect_call MODE N`) has size 0.
        false if mode.size == 0 => vec![number.to_string(), rounds.to_string()],
        false => [number, mode.size, rounds].iter().map(u32::to_string).collect(),
    };
    let source = folder.join("programs").join(&entry.id).join(format!("{}.c", entry.id));
    Job {
        row,
        module: module(folder, entry),
        source: source.is_file().then_some(source),
        args,
        dirs: mode.dirs.clone(),
        expect: mode.expect.clone().unwrap_or_else(|| "ok ".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR")))
    }

    fn catalog() -> (PathBuf, Catalog) {
        let folder = match std::env::var_os("BENCH_PROGRAMS") {
            Some(folder) => PathBuf::from(folder),
            None => folder().to_path_buf(),
        };
        let catalog = Catalog::read(&folder).unwrap();
        (folder, catalog)
    }

    #[test]
    fn the_catalog_and_modes_txt_agree() {
        let (folder, catalog) = catalog();
        let list = std::fs::read_to_string(folder.join("programs/modes.txt")).unwrap();
        let mut listed: Vec<(String, usize)> = list
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                Some((words.first()?.to_string(), words.get(1)?.parse().ok()?))
            })
            .collect();
        let mut known: Vec<(String, usize)> =
            catalog.programs.iter().filter(|entry| entry.module.is_none()).map(|entry| (entry.id.clone(), entry.modes.len())).collect();
        listed.sort();
        known.sort();
        assert_eq!(listed, known);
    }

    #[test]
    fn there_are_thirty_programs_in_four_groups_and_every_one_says_what_it_is_for() {
        let (_, catalog) = catalog();
        assert!(catalog.programs.len() >= 30, "{}", catalog.programs.len());
        for group in ["feedback", "compute", "systems", "real"] {
            assert!(catalog.programs.iter().any(|entry| entry.group == group), "{group}");
        }
        let (folder, _) = self::catalog();
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
        for entry in &catalog.programs {
            // Real programs have sections of their own.
            assert!(entry.module.is_some() || readme.contains(&format!("| `{}` |", entry.id)), "README.md has no row for {}", entry.id);
            assert!(!entry.stresses.is_empty() && !entry.feedback.is_empty(), "{}", entry.id);
            for mode in &entry.modes {
                assert!(mode.control_of.is_none_or(|of| (of as usize) < entry.modes.len()), "{}", entry.id);
                assert_eq!(mode.kind == RowKind::Control, mode.control_of.is_some(), "{} {}", entry.id, mode.label);
                assert!(!mode.metrics().is_empty(), "{} {}", entry.id, mode.label);
            }
        }
    }

    #[test]
    fn arguments_are_those_that_programs_take() {
        let (folder, catalog) = catalog();
        let jobs = catalog.jobs(&folder, &Selection::default()).unwrap();
        let args = |id: &str| jobs.iter().find(|job| job.row.id == id).unwrap().args.join(" ");
        assert_eq!(args("indirect_call/0/one-shot"), "0 66666666");
        assert_eq!(args("gather/0/one-shot"), "0 262144 4");
        assert_eq!(args("cpython/0/startup"), "-c print(1)");
    }

    #[test]
    fn shards_are_a_partition() {
        let (folder, catalog) = catalog();
        let ids = |shard| -> Vec<String> {
            let selection = Selection { shard, ..Selection::default() };
            catalog.jobs(&folder, &selection).unwrap().into_iter().map(|job| job.row.id).collect()
        };
        let mut together: Vec<String> = (1..=3).flat_map(|index| ids(Some([index, 3]))).collect();
        let mut all = ids(None);
        together.sort();
        all.sort();
        assert_eq!(together, all);
        assert!(catalog.jobs(&folder, &Selection { suite: vec!["compte".into()], ..Selection::default() }).is_err());
    }
}
