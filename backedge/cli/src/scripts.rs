//! `backedge wast`: runs spec scripts and prints what failed.

use crate::failure::Failure;
use crate::options::Wast;
use crate::output::print;
use crate::run::{config, engine};

/// Runs the scripts; the exit code is 0 when everything passed.
pub fn run(options: &Wast) -> Result<i32, Failure> {
    let engine = engine(&config(&options.engine, None)?)?;
    let (mut assertions, mut failed) = (0, 0);
    for file in &options.files {
        let bytes = std::fs::read(file).map_err(|error| Failure::read_as(file, &error, "a .wast file"))?;
        let text = String::from_utf8(bytes).map_err(|_| Failure::Load(format!("`{}` is not UTF-8 text", file.display())))?;
        let summary =
            backedge::wast::run(&engine, &file.display().to_string(), &text).map_err(|error| Failure::Load(format!("{error:#}")))?;
        assertions += summary.assertions;
        failed += summary.failures.len();
        for failure in &summary.failures {
            print(&format!("{failure}\n"))?;
        }
    }
    print(&format!("{assertions} assertions, {failed} failed\n"))?;
    if failed > 0 {
        return Err(Failure::Script(format!("{failed} directives failed")));
    }
    Ok(0)
}
