//! `backedge bench-report`: the page and the plots of a benchmark run that was saved as JSON.

use crate::failure::Failure;
use crate::watch::unwritten;
use crate::{html, samefile};
use bench_programs::results::{Results, SCHEMA};
use bench_programs::summarize;
use clap::Args;
use std::path::{Path, PathBuf};

/// `backedge bench-report`.
#[derive(Args)]
pub struct BenchReport {
    /// What `backedge bench --json` wrote
    #[arg(value_name = "RESULTS.json")]
    pub results: PathBuf,
    /// Write a page (default: RESULTS.html, unless --svg is given)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write plots for papers, one SVG file each
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
}

/// Reads, draws and writes.
pub fn run(options: &BenchReport) -> Result<(), Failure> {
    let page = options.html.clone().or_else(|| options.svg.is_none().then(|| options.results.with_extension("html")));
    samefile::check([options.results.as_path()], page.as_deref())?;
    let results = read(&options.results)?;
    if let Some(path) = page {
        write_page(&results, &path)?;
    }
    if let Some(folder) = &options.svg {
        write_plots(&results, folder)?;
    }
    Ok(())
}

/// Reads results; those of a later layout are refused.
pub fn read(path: &Path) -> Result<Results, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::read(path, &error))?;
    let mut results: Results = serde_json::from_str(&text)
        .map_err(|error| Failure::Load(format!("`{}` holds no results of a benchmark run: {error}", path.display())))?;
    match results.schema {
        SCHEMA => {
            summarize::complete(&mut results);
            Ok(results)
        }
        other => Err(Failure::Load(format!("`{}` has layout {other}, expected {SCHEMA}", path.display()))),
    }
}

/// Writes the page.
pub fn write_page(results: &Results, path: &Path) -> Result<(), Failure> {
    // Whole or not at all: an older page stays where the disk is full.
    bench_programs::merge::write_to(html::bench::page_of(results).as_bytes(), path).map_err(|error| unwritten(path, &error))
}

/// Writes the plots.
pub fn write_plots(results: &Results, folder: &Path) -> Result<(), Failure> {
    html::bench::write_files(results, folder).map(|_| ()).map_err(|(path, error)| unwritten(&path, &error))
}
