//! What was measured, on disk as soon as it was measured: a line of JSON a process, so that a stop at any point loses at most the one that runs.
//!
//! First line: the [`Results`] as they were planned (no runs). Every further line: an [`Entry`]. A last line that was cut off is dropped.

use crate::results::{Results, Run, SCHEMA};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
        let open = || -> std::io::Result<File> {
            let file = File::options().write(true).create(true).truncate(false).open(path)?;
            alone(&file)?;
            file.set_len(0)?;
            Ok(file)
        };
        let mut file = open().with_context(|| format!("cannot write the journal `{}`", path.display()))?;
        // Half a first line would be in the way of the next run.
        let wrote = write(&mut file, plan).inspect_err(|_| _ = std::fs::remove_file(path));
        wrote.with_context(|| format!("cannot write the journal `{}`", path.display()))?;
        Ok(Journal { file: Some(file) })
    }

    /// Goes on with one that [`read`] has read; a last line that was cut off goes.
    pub fn append(path: &Path) -> Result<Journal> {
        let open = || {
            let file = File::options().append(true).open(path)?;
            alone(&file)?;
            let bytes = std::fs::read(path)?;
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            file.set_len(whole as u64)?;
            Ok::<File, std::io::Error>(file)
        };
        let file = open().with_context(|| format!("cannot go on with the journal `{}`", path.display()))?;
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

/// How often, and how long apart, a locked file is looked at: a process that another thread forks holds our locks, too, until its exec.
const LOOKS: u32 = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Refuses a file that another run writes. Where a file system knows no locks there is no telling.
fn alone(file: &File) -> std::io::Result<()> {
    for _ in 0..LOOKS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_LOOKS),
            Err(TryLockError::Error(_)) | Ok(()) => return Ok(()),
        }
    }
    Err(std::io::Error::other("another run is writing it"))
}

fn write(file: &mut File, value: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// What a journal holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The plan.
    pub plan: Results,
    /// What was measured, each process of a block once.
    pub entries: Vec<Entry>,
    /// Whole lines that are no entry, or one that is there already.
    pub senseless: usize,
}

/// Reads a journal.
pub fn read(path: &Path) -> Result<Kept> {
    let bytes = std::fs::read(path).with_context(|| format!("there is nothing to resume: `{}`", path.display()))?;
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    lines.pop(); // what was cut off, or nothing
    let first = lines.first().copied().unwrap_or_default();
    let plan: Results = serde_json::from_slice(first).with_context(|| format!("`{}` is not a journal", path.display()))?;
    if plan.schema > SCHEMA {
        bail!("`{}` was written by a later version (layout {}, known up to {SCHEMA})", path.display(), plan.schema);
    }
    let (mut entries, mut known) = (Vec::new(), BTreeSet::new());
    for entry in lines[1..].iter().filter_map(|line| serde_json::from_slice::<Entry>(line).ok()) {
        if known.insert((entry.row.clone(), entry.peer.clone(), entry.run.block)) {
            entries.push(entry);
        }
    }
    let senseless = lines.len() - 1 - entries.len();
    Ok(Kept { plan, entries, senseless })
}

/// Processes that a journal of a run that was stopped holds; 0 where there is none. Errors: another run writes it, or it is no journal, or a damaged one.
pub fn waiting(path: &Path) -> Result<usize> {
    // A device keeps nothing.
    let Ok(file) = File::open(path) else { return Ok(0) };
    if !path.is_file() {
        return Ok(0);
    }
    alone(&file).with_context(|| format!("cannot write the journal `{}`", path.display()))?;
    match std::fs::metadata(path) {
        Ok(about) if about.len() > 0 => read(path).map(|kept| kept.entries.len()).context("remove it to begin anew"),
        _ => Ok(0),
    }
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
        for refused in [Journal::create(&path, &plan), Journal::append(&path)] {
            assert!(format!("{:#}", refused.err().unwrap()).ends_with("another run is writing it"));
        }
        drop(journal);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 20]).unwrap();
        let kept = |entries, senseless| Kept { plan: plan.clone(), entries, senseless };
        assert_eq!(read(&path).unwrap(), kept(vec![entry(0)], 0));
        Journal::append(&path).unwrap().add(&entry(2)).unwrap();
        assert_eq!(read(&path).unwrap(), kept(vec![entry(0), entry(2)], 0));
        // A line that a disk spoilt, and one that is there twice.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend(b"{\"row\": \xff}\n");
        let last = serde_json::to_vec(&entry(2)).unwrap();
        bytes.extend([&last[..], b"\n"].concat());
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(read(&path).unwrap(), kept(vec![entry(0), entry(2)], 2));
        assert_eq!(waiting(&path).unwrap(), 2);
        std::fs::write(&path, "not a journal\n").unwrap();
        assert!(format!("{:#}", waiting(&path).unwrap_err()).contains("is not a journal"));
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
