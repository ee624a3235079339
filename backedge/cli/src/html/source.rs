//! The code of a function as a page shows it: its WebAssembly text and the machine code of its versions in force, each line with the byte offset
//! of its operator, so that what records and samples say of an offset can stand beside it.

use backedge::Module;
use iced_x86::{Decoder, DecoderOptions, Formatter, NasmFormatter};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vm::code::{Entrance, Tier};

/// Modules above this size are shown as operators only: printing them whole would take seconds. Bytes.
const MOST_PRINTED: usize = 24 << 20;
/// Lines shown of one text.
const MOST_LINES: usize = 4000;

/// A line of code.
#[derive(Serialize, Deserialize)]
pub struct Line {
    /// Byte offset in the module of the operator it belongs to.
    pub offset: Option<u32>,
    /// Whether it is the first line of this operator, or of this stretch of it.
    pub first: bool,
    /// The text.
    pub text: String,
}

/// A function's code.
#[derive(Default, Serialize, Deserialize)]
pub struct Source {
    /// WebAssembly text.
    pub text: Vec<Line>,
    /// Heading and machine code of each version in force.
    pub machine: Vec<(String, Vec<Line>)>,
    /// Lines that were left out of one of them.
    pub cut: bool,
}

/// The code of these functions.
pub fn of(module: &Module, functions: &[u32]) -> BTreeMap<u32, Source> {
    let inner = &module.loaded().module;
    let mut sources: BTreeMap<u32, Source> = functions.iter().map(|&function| (function, Source::default())).collect();
    let ranges: Vec<(u32, std::ops::Range<usize>)> =
        functions.iter().filter_map(|&function| Some((function, inner.bodies.get(inner.defined(function)?)?.clone()))).collect();
    let mut storage = String::new();
    if inner.bytes.len() <= MOST_PRINTED
        && let Ok(lines) = wasmprinter::Config::new().name_unnamed(false).offsets_and_lines(&inner.bytes, &mut storage)
    {
        for (offset, text) in lines {
            let Some(offset) = offset else { continue };
            let Some((function, _)) = ranges.iter().find(|(_, range)| range.contains(&(offset as usize))) else { continue };
            let source = sources.entry(*function).or_default();
            push(source, offset as u32, text.trim_end());
        }
    } else {
        for &(function, _) in &ranges {
            let Ok(mut reader) = inner.body(function).get_operators_reader() else { continue };
            let source = sources.entry(function).or_default();
            while let Ok((operator, offset)) = reader.read_with_offset() {
                push(source, offset as u32, &format!("{operator:?}"));
                if reader.eof() {
                    break;
                }
            }
        }
    }
    for version in module.loaded().code.versions_in_force() {
        let Some(source) = sources.get_mut(&version.function) else { continue };
        let Some((bytes, locations, positions)) = version.code() else { continue };
        let tier = match version.tier {
            Tier::Baseline => "baseline",
            Tier::Optimizing => "optimizing",
            Tier::Instrumented => "instrumented",
        };
        let entrance = match version.entrance {
            Entrance::Body => String::new(),
            Entrance::Loop(offset) => format!(", entered at loop {offset:#x}"),
        };
        let heading = format!("v{} {tier}{entrance}: {} bytes", version.number, bytes.len());
        let position = |at: u32| {
            let index = locations.partition_point(|&(start, _)| start <= at).checked_sub(1)?;
            Some(positions.get(locations[index].1 as usize)?.offset)
        };
        let mut lines = Vec::new();
        let mut formatter = NasmFormatter::new();
        formatter.options_mut().set_space_after_operand_separator(true);
        formatter.options_mut().set_hex_prefix("0x");
        formatter.options_mut().set_hex_suffix("");
        formatter.options_mut().set_branch_leading_zeros(false);
        formatter.options_mut().set_show_branch_size(false);
        let mut last = None;
        // Instruction addresses are offsets in the code: what is the same in each run.
        for instruction in Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE).iter() {
            if lines.len() >= MOST_LINES {
                source.cut = true;
                break;
            }
            let offset = position(instruction.ip() as u32);
            let mut text = format!("{:5x}  ", instruction.ip());
            let mut formatted = String::new();
            formatter.format(&instruction, &mut formatted);
            text.push_str(&formatted);
            lines.push(Line { offset, first: offset != last, text });
            last = offset;
        }
        source.machine.push((heading, lines));
    }
    sources
}

fn push(source: &mut Source, offset: u32, text: &str) {
    if source.text.len() >= MOST_LINES {
        source.cut = true;
        return;
    }
    source.text.push(Line { offset: Some(offset), first: true, text: text.strip_prefix("  ").unwrap_or(text).to_owned() });
}
