//! What was measured, on disk as soon as it was measured: a line of JSON a process, so that a stop at any point loses at most the one that runs.
//!
//! First line: the [`Results`] as they were planned (no runs). Every further line: an [`Entry`]. A last line that was cut off is ignored.

use crate::results::{Results, Run, SCHEMA};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// One process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// [`crate::results::Row::id`].
    pub row: String,
    /// [`crate::results::Peer::id`].
    pub peer: String,
    /// What came of it.
    pub run: Run,
}

/// Where entries go. After the disk refused one, no further is written.
pub struct Journal {
    file: Option<File>,
}

/// The journal's name beside the results `out`.
pub fn path_for(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

impl Journal {
    /// Begins one.
    pub fn create(path: &Path, plan: &Results) -> Result<Journal> {
        let mut file = File::create(path).with_context(|| format!("cannot write the journal `{}`", path.display()))?;
        write(&mut file, plan).with_context(|| format!("cannot write the journal `{}`", path.display()))?;
        Ok(Journal { file: Some(file) })
    }

    /// Goes on with one that [`read`] has read; a last line that was cut off is ended.
    pub fn append(path: &Path) -> Result<Journal> {
        let mut file =
            File::options().append(true).open(path).with_context(|| format!("cannot go on with the journal `{}`", path.display()))?;
        let bytes = std::fs::read(path).unwrap_or_default();
        if bytes.last() != Some(&b'\n') {
            file.write_all(b"\n")?;
        }
        Ok(Journal { file: Some(file) })
    }

    /// A journal of nothing, for runs whose results nobody keeps.
    pub fn none() -> Journal {
        Journal { file: None }
    }

    /// Writes an entry. An error is given once; the entry is in memory still, and the run may go on.
    pub fn add(&mut self, entry: &Entry) -> std::io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let outcome = write(file, entry);
        if outcome.is_err() {
            self.file = None;
        }
        outcome
    }
}

fn write(file: &mut File, value: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// Reads a journal: the plan and what was measured.
pub fn read(path: &Path) -> Result<(Results, Vec<Entry>)> {
    let file = File::open(path).with_context(|| format!("there is nothing to resume: `{}`", path.display()))?;
    let mut lines = BufReader::new(file).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let plan: Results = serde_json::from_str(&first).with_context(|| format!("`{}` is not a journal", path.display()))?;
    if plan.schema > SCHEMA {
        bail!("`{}` was written by a later version (layout {}, known up to {SCHEMA})", path.display(), plan.schema);
    }
    let mut entries = Vec::new();
    for line in lines {
        if let Ok(entry) = serde_json::from_str(&line?) {
            entries.push(entry);
        }
    }
    Ok((plan, entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_off_loses_one_line() {
        let path = std::env::temp_dir().join(format!("journal-{}", std::process::id()));
        let plan = Results { schema: SCHEMA, ..Results::default() };
        let entry = |block| Entry { row: "a/0/steady".into(), peer: "p".into(), run: Run { block, ..Run::default() } };
        let mut journal = Journal::create(&path, &plan).unwrap();
        journal.add(&entry(0)).unwrap();
        journal.add(&entry(1)).unwrap();
        drop(journal);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 20]).unwrap();
        assert_eq!(read(&path).unwrap(), (plan.clone(), vec![entry(0)]));
        Journal::append(&path).unwrap().add(&entry(2)).unwrap();
        assert_eq!(read(&path).unwrap(), (plan, vec![entry(0), entry(2)]));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_full_disk_is_said_once() {
        let mut journal = Journal { file: Some(File::options().write(true).open("/dev/full").unwrap()) };
        let entry = Entry { row: String::new(), peer: String::new(), run: Run::default() };
        assert!(journal.add(&entry).is_err());
        assert!(journal.add(&entry).is_ok());
    }
}
