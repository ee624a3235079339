//! `backedge inspect`: what a module needs, offers and consists of.

use crate::failure::Failure;
use crate::options::Inspect;
use crate::output::{name, print};
use crate::run::load;
use backedge::{Config, Engine, TierPolicy};

/// Prints the module's outline.
pub fn inspect(options: &Inspect) -> Result<(), Failure> {
    let engine = Engine::new(Config::new().tier(TierPolicy::Interpreter))
        .map_err(|error| Failure::Load(format!("cannot start the engine: {error:#}")))?;
    let module = load(&engine, &options.file)?;
    let text = outline(&module, options);
    print(&text)
}

fn outline(module: &backedge::Module, options: &Inspect) -> String {
    use std::fmt::Write;
    let inner = &module.loaded().module;
    let mut text = String::new();
    let mut line = |args: std::fmt::Arguments<'_>| {
        text.write_fmt(args).expect("writing to a string");
        text.push('\n');
    };
    line(format_args!(
        "{}: {} bytes, {} functions, hash {:016x}{}",
        options.file.display(),
        inner.bytes().len(),
        inner.bodies.len(),
        inner.hash,
        inner.name.as_ref().map_or(String::new(), |it| format!(", name `{}`", name(it)))
    ));
    line(format_args!("\nimports ({})", module.imports().len()));
    for import in module.imports() {
        line(format_args!("  {}::{}  {}", name(import.module()), name(import.name()), import.ty()));
    }
    line(format_args!("\nexports ({})", module.exports().len()));
    for export in module.exports() {
        line(format_args!("  {}  {}", name(export.name()), export.ty()));
    }
    line(format_args!("\nmemories ({})", inner.memories.len()));
    for (index, memory) in inner.memories.iter().enumerate() {
        let most = memory.maximum.map_or("no maximum".to_owned(), |pages| format!("at most {pages}"));
        let from = if (index as u32) < inner.imported_memories { ", imported" } else { "" };
        line(format_args!("  {index}: {} pages ({} KiB), {most}{from}", memory.initial, memory.initial * 64));
    }
    line(format_args!("\ntables ({})", inner.tables.len()));
    for (index, table) in inner.tables.iter().enumerate() {
        line(format_args!("  {index}: {} x {}", table.initial, table.element_type));
    }
    let mut functions: Vec<(usize, u32)> =
        inner.bodies.iter().enumerate().map(|(own, body)| (body.len(), own as u32 + inner.imported_functions)).collect();
    functions.sort_by_key(|&(bytes, index)| (std::cmp::Reverse(bytes), index));
    let total: usize = functions.iter().map(|(bytes, _)| bytes).sum();
    line(format_args!("\nfunctions ({}, {total} bytes of code), largest first", functions.len()));
    for &(bytes, index) in functions.iter().take(options.functions) {
        line(format_args!("  {bytes:>8}  #{index:<6} {}", name(inner.function_name(index).unwrap_or("<no name>"))));
    }
    if functions.len() > options.functions {
        line(format_args!("  … and {} more (--functions N)", functions.len() - options.functions));
    }
    text
}
