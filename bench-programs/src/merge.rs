//! Joins result files: shards of one run, from one machine or several.

use crate::results::{Program, Results, SCHEMA, Settings};
use crate::{runner, summarize};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Reads results. Errors: no such file, not results, a later layout.
pub fn read(path: &Path) -> Result<Results> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let mut results: Results =
        serde_json::from_str(&text).with_context(|| format!("`{}` does not hold benchmark results", path.display()))?;
    if results.schema == 0 || results.schema > SCHEMA {
        bail!("`{}` has layout {}; this version reads up to {SCHEMA}", path.display(), results.schema);
    }
    let mut seen = BTreeSet::new();
    if let Some(row) = results.rows.iter().find(|row| !seen.insert(&row.id)) {
        bail!("`{}` holds row {} twice", path.display(), row.id);
    }
    summarize::complete(&mut results);
    Ok(results)
}

/// How it is said that there are not all.
const SHARDS: &str = " shards";

/// How it is said that means are of unlike rows.
const MIXED: &str = "rows of different processors";

/// One file of several. Errors: they were run with different settings, or two of them hold the same row.
pub fn merge(parts: &[Results]) -> Result<Results> {
    let [first, rest @ ..] = parts else { bail!("nothing to merge") };
    let mut seen = BTreeSet::new();
    if let Some(row) = parts.iter().flat_map(|part| &part.rows).find(|row| !seen.insert(&row.id)) {
        bail!("row {} is in more than one of the files, or in one of them twice", row.id);
    }
    let shards: BTreeSet<[u32; 2]> = parts.iter().flat_map(|part| part.shards.iter().chain(&part.settings.shard)).copied().collect();
    let counts: BTreeSet<u32> = shards.iter().map(|[_, count]| *count).collect();
    if counts.len() > 1 {
        let said: Vec<String> = shards.iter().map(|[index, count]| format!("{index}/{count}")).collect();
        bail!("shards {} are not parts of one run", said.join(", "));
    }
    let mut whole = first.clone();
    for part in rest {
        let same = |settings: &crate::results::Settings| crate::results::Settings { shard: None, pin: None, ..settings.clone() };
        if same(&part.settings) != same(&whole.settings) {
            bail!("runs with different settings cannot be merged: {}", differing(&same(&whole.settings), &same(&part.settings))?);
        }
        whole.rows.extend(part.rows.iter().cloned());
        for machine in &part.machines {
            if !whole.machines.contains(machine) {
                whole.machines.push(machine.clone());
            }
        }
        for peer in &part.peers {
            match whole.peers.iter_mut().find(|known| known.id == peer.id) {
                None => whole.peers.push(peer.clone()),
                // Where it was not installed its cells say so.
                Some(known) if known.missing.is_some() => *known = peer.clone(),
                Some(_) if peer.missing.is_some() => {}
                Some(known) if !known.is_same(peer) => {
                    bail!("{} is {} in one file and {} in another", peer.id, known.described(), peer.described())
                }
                Some(_) => {}
            }
        }
        for program in &part.programs {
            match whole.programs.iter().find(|known| known.id == program.id) {
                None => whole.programs.push(program.clone()),
                Some(known) if known.sha256 != program.sha256 => bail!("the module of {} is not the same in all files", program.id),
                Some(_) => {}
            }
        }
        for why in &part.not_for_citing {
            if !whole.not_for_citing.contains(why) {
                whole.not_for_citing.push(why.clone());
            }
        }
        whole.interrupted |= part.interrupted;
        whole.started = whole.started.min(part.started.clone());
        whole.ended = whole.ended.max(part.ended.clone());
    }
    // What a part of a merge lacked, another may have brought.
    whole.not_for_citing.retain(|why| !why.ends_with(SHARDS) && why != MIXED);
    let processors: BTreeSet<&str> = whole.machines.iter().map(|machine| machine.cpu.as_str()).collect();
    if processors.len() > 1 {
        whole.not_for_citing.push(MIXED.into());
    }
    if let Some([_, count]) = shards.first()
        && shards.len() < *count as usize
    {
        whole.not_for_citing.push(format!("{} of {count}{SHARDS}", shards.len()));
    }
    whole.settings.shard = None;
    whole.shards = shards.into_iter().collect();
    whole.rows.sort_by(|a, b| a.id.cmp(&b.id));
    summarize::derive(&mut whole);
    Ok(whole)
}

/// Which settings are not the same, in words.
fn differing(a: &Settings, b: &Settings) -> Result<String> {
    let (a, b) = (serde_json::to_value(a)?, serde_json::to_value(b)?);
    let fields = a.as_object().into_iter().flatten().filter(|(name, value)| b.get(name.as_str()) != Some(value));
    let said: Vec<String> = fields.map(|(name, value)| format!("{name} is {value} and {}", b[name.as_str()])).collect();
    Ok(said.join(", "))
}

/// Writes results so that a full disk leaves the file that was there, then moves them into place; where that fails, into the folder for temporary files, whose
/// path is then in the error.
pub fn write(results: &Results, path: &Path) -> Result<()> {
    let text = serde_json::to_vec(results)?;
    let Err(error) = write_to(&text, path) else { return Ok(()) };
    match rescue(&text) {
        Some(kept) => bail!("cannot write `{}`: {error}; the results are in `{}`", path.display(), kept.display()),
        None => bail!("cannot write `{}`: {error}", path.display()),
    }
}

/// Puts results as JSON into the folder for temporary files; where.
pub fn rescue(json: &[u8]) -> Option<PathBuf> {
    let path = std::env::temp_dir().join(format!("backedge-bench-{}.json", std::process::id()));
    write_to(json, &path).ok().map(|()| path)
}

/// Replaces a file, whole or not at all.
///
/// # Errors
/// The file system's; what was there stays.
pub fn write_to(text: &[u8], path: &Path) -> std::io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let partial = Path::new(&name);
    // A device or a pipe is written to as it is.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, text);
    }
    std::fs::write(partial, text).and_then(|()| std::fs::rename(partial, path)).inspect_err(|_| {
        let _ = std::fs::remove_file(partial);
    })
}

/// Whether a run that was stopped may go on with these jobs and peers: it must be the same plan.
pub fn resumable(before: &Results, now: &Results) -> Result<()> {
    let ids = |results: &Results| -> Vec<String> {
        let cells = |row: &crate::results::Row| row.cells.iter().map(|cell| format!("{} {}", row.id, cell.peer)).collect::<Vec<String>>();
        results.rows.iter().flat_map(cells).collect()
    };
    let same_names = before.peers.iter().map(|peer| &peer.id).eq(now.peers.iter().map(|peer| &peer.id));
    if ids(before) != ids(now) || !same_names || before.settings != now.settings {
        bail!("the run that was stopped had other rows, peers or settings: give the same options, or another --json file");
    }
    let changed = |before: &&Program| now.programs.iter().any(|now| now.id == before.id && now.sha256 != before.sha256);
    if let Some(program) = before.programs.iter().find(changed) {
        bail!("the module of {} changed since the run was stopped: its figures cannot be mixed", program.id);
    }
    if let Some((then, now)) = before.peers.iter().zip(&now.peers).find(|(then, now)| !then.is_same(now)) {
        bail!("{} was {} and is {}: its figures cannot be mixed", then.id, then.described(), now.described());
    }
    // Who merges names the machines; who goes on does it where the run began.
    let place = |results: &Results| results.machines.first().map(|machine| (machine.cpu.clone(), machine.cpus, machine.kernel.clone()));
    if let (Some(then), Some(now)) = (place(before), place(now))
        && then != now
    {
        let said = |(cpu, cpus, kernel): (String, u32, String)| format!("{cpu}, {cpus} processors, Linux {kernel}");
        bail!("the run was begun on {} and this is {}: its figures cannot be mixed", said(then), said(now));
    }
    Ok(())
}

/// The same plan with nothing measured, for comparison in [`resumable`].
pub fn emptied(results: &Results, jobs: &[crate::catalog::Job], engines: &[crate::peers::Engine]) -> Results {
    runner::plan(results.clone(), jobs, engines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Machine, Peer, Row};

    fn shard(row: &str) -> Results {
        Results {
            schema: SCHEMA,
            rows: vec![Row { id: row.into(), ..Row::default() }],
            peers: vec![Peer { id: "a".into(), version: "1".into(), ..Peer::default() }],
            machines: vec![Machine { name: format!("machine of {row}"), ..Machine::default() }],
            ..Results::default()
        }
    }

    #[test]
    fn shards_join() {
        let whole = merge(&[shard("b"), shard("a")]).unwrap();
        assert_eq!(whole.rows.iter().map(|row| row.id.as_str()).collect::<Vec<&str>>(), ["a", "b"]);
        assert_eq!((whole.peers.len(), whole.machines.len()), (1, 2));
        assert!(merge(&[shard("a"), shard("a")]).unwrap_err().to_string().contains("more than one"));
        let mut other = shard("c");
        other.settings.seconds = 9.0;
        let error = merge(&[shard("a"), other]).unwrap_err().to_string();
        assert!(error.ends_with("cannot be merged: seconds is 0.0 and 9.0"), "{error}");
        let mut newer = shard("d");
        newer.peers[0].version = "2".into();
        assert!(merge(&[shard("a"), newer]).is_err());
        // A machine that lacks a peer has cells that say so; whichever comes first, the whole knows the peer.
        let mut without = shard("e");
        without.peers[0] = Peer { id: without.peers[0].id.clone(), missing: Some("not installed".into()), ..Peer::default() };
        for parts in [[shard("a"), without.clone()], [without.clone(), shard("a")]] {
            assert_eq!(merge(&parts).unwrap().peers, shard("a").peers);
        }
        let mut of_another = shard("f");
        of_another.machines[0].cpu = "another".into();
        assert_eq!(merge(&[shard("a"), of_another]).unwrap().not_for_citing, [MIXED]);
        assert!(merge(&[]).is_err());
        let part = |row: &str, index| Results { settings: Settings { shard: Some([index, 3]), ..Settings::default() }, ..shard(row) };
        assert_eq!(merge(&[part("a", 1), part("b", 2)]).unwrap().not_for_citing, ["2 of 3 shards"]);
        let parts = [part("a", 1), part("b", 2), part("c", 3)];
        let whole = merge(&parts).unwrap();
        assert!(whole.not_for_citing.is_empty());
        // One after the other comes to the same.
        let two = merge(&parts[..2]).unwrap();
        assert_eq!(merge(&[two.clone(), parts[2].clone()]).unwrap(), whole);
        let of_two = Results { settings: Settings { shard: Some([2, 2]), ..Settings::default() }, ..shard("c") };
        assert!(merge(&[two, of_two]).unwrap_err().to_string().contains("1/3, 2/2, 2/3 are not parts of one run"));
        let with_module = |row: &str, sha256: &str| Results {
            programs: vec![Program { id: "p".into(), sha256: sha256.into(), ..Program::default() }],
            ..shard(row)
        };
        assert!(merge(&[with_module("a", "12"), with_module("b", "12")]).is_ok());
        assert!(merge(&[with_module("a", "12"), with_module("b", "34")]).unwrap_err().to_string().contains("module of p"));
        assert!(resumable(&with_module("a", "12"), &with_module("a", "34")).unwrap_err().to_string().contains("module of p"));
        let with_options = |row: &str, options: &str| {
            let mut results = shard(row);
            results.peers[0].flags = vec![options.into()];
            results
        };
        let error = |outcome: Result<()>| outcome.unwrap_err().to_string();
        let of_two = error(merge(&[with_options("a", "-x"), with_options("b", "-y")]).map(drop));
        assert_eq!(of_two, "a is 1, -x in one file and 1, -y in another");
        let later = error(resumable(&with_options("a", "-x"), &with_options("a", "-y")));
        assert_eq!(later, "a was 1, -x and is 1, -y: its figures cannot be mixed");
        let mut elsewhere = shard("a");
        elsewhere.machines[0].cpu = "another".into();
        assert!(error(resumable(&shard("a"), &elsewhere)).contains("this is another, 0 processors"));
        assert!(resumable(&shard("a"), &shard("a")).is_ok());
    }

    #[test]
    fn what_cannot_be_written_is_kept_elsewhere() {
        let error = write(&shard("a"), Path::new("/nowhere/at/all.json")).unwrap_err().to_string();
        let kept = error.split('`').nth(3).unwrap();
        assert_eq!(read(Path::new(kept)).unwrap(), shard("a"));
        std::fs::remove_file(kept).unwrap();
        let error = write(&shard("a"), Path::new("/dev/full")).unwrap_err().to_string();
        assert!(error.contains("the results are in"), "{error}");
        std::fs::remove_file(error.split('`').nth(3).unwrap()).unwrap();
    }

    #[test]
    fn what_is_not_results_is_refused() {
        let path = std::env::temp_dir().join(format!("not-results-{}", std::process::id()));
        std::fs::write(&path, "{}").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("layout 0"));
        std::fs::write(&path, "[").unwrap();
        assert!(read(&path).is_err());
        std::fs::remove_file(&path).unwrap();
    }
}
