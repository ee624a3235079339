//! File and line of a module's code, from the DWARF that compilers put into custom sections `.debug_*` ("DWARF for WebAssembly": an address is an
//! offset in the code section's contents).

use gimli::{AbbreviationsCacheStrategy, Dwarf, EndianArcSlice, LittleEndian, SectionId};
use std::borrow::Cow;
use std::fmt::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

/// One place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The function there, demangled: at an inlined call not the one whose frame it is.
    pub function: Option<String>,
    /// Path as the compiler wrote it.
    pub file: String,
    /// From 1; 0 where it is not known.
    pub line: u32,
    /// From 1; 0 where it is not known.
    pub column: u32,
}

/// Longest name as the source has it, bytes: a mangled name of 140 bytes can stand for gigabytes. (A guess.)
const LONGEST_NAME: usize = 1024;
/// How deep the parts of a C++ name may nest: it is read in time that is exponential in this for names made for it, milliseconds here and seconds at the
/// library's own 96.
const DEEPEST_NAME: u32 = 64;

/// A function's name as the source has it, where a compiler of Rust or C++ mangled it; as it stands where that would be longer than 1 KiB.
pub fn demangled(name: &str) -> Cow<'_, str> {
    // (`R` alone begins a mangled name on systems whose linkers drop the underscore)
    if !name.starts_with('_') {
        return name.into();
    }
    let mut text = Bounded(String::new());
    let written = match rustc_demangle::try_demangle(name) {
        Ok(name) => write!(text, "{name:#}").is_ok(),
        Err(_) => {
            let options = cpp_demangle::ParseOptions::default().recursion_limit(DEEPEST_NAME);
            let symbol = cpp_demangle::Symbol::new_with_options(name, &options);
            symbol.is_ok_and(|symbol| symbol.structured_demangle(&mut text, &Default::default()).is_ok())
        }
    };
    if written { text.0.into() } else { name.into() }
}

/// Refuses what would make it longer than [`LONGEST_NAME`], at which the demanglers stop.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > LONGEST_NAME {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

type Section = EndianArcSlice<LittleEndian>;
type Context = addr2line::Context<Section>;

/// Calls inlined into one another, at most: `addr2line` recurses once for each, about 600 bytes of a stack that may be deep already. (A guess; compilers
/// stay below a third of it.)
const DEEPEST_INLINING: usize = 100;

/// Where a module's debug sections are, and their tables once they were asked for.
#[derive(Default)]
pub(crate) struct DebugInfo {
    sections: Vec<(String, Range<usize>)>,
    code_start: u32,
    tables: OnceLock<Option<Mutex<Context>>>,
}

impl DebugInfo {
    /// The code section's contents start there.
    pub(super) fn code_starts(&mut self, offset: u32) {
        self.code_start = offset;
    }

    /// Takes note of a custom section.
    pub(super) fn add(&mut self, name: &str, range: Range<usize>) {
        if name.starts_with(".debug_") {
            self.sections.push((name.to_owned(), range));
        }
    }

    /// The places of an instruction, by its byte offset in the module: innermost inlined call first. Empty where nothing is known, or what is there is damaged.
    pub(crate) fn places(&self, module: &[u8], offset: u32) -> Vec<SourcePlace> {
        let Some(address) = offset.checked_sub(self.code_start).filter(|_| !self.sections.is_empty()) else { return Vec::new() };
        let Some(tables) = self.tables.get_or_init(|| self.read(module).map(Mutex::new)) else { return Vec::new() };
        let tables = tables.lock().unwrap_or_else(|error| error.into_inner());
        let Ok(mut frames) = tables.find_frames(u64::from(address)).skip_all_loads() else { return Vec::new() };
        let mut places = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let Some(location) = frame.location else { continue };
            let Some(file) = location.file else { continue };
            let function = frame.function.and_then(|name| Some(demangled(&name.raw_name().ok()?).into_owned()));
            places.push(SourcePlace {
                function,
                file: file.to_owned(),
                line: location.line.unwrap_or(0),
                column: location.column.unwrap_or(0),
            });
        }
        places
    }

    fn read(&self, module: &[u8]) -> Option<Context> {
        let load = |id: SectionId| -> Result<_, gimli::Error> {
            let found = self.sections.iter().find(|(name, _)| name == id.name());
            let bytes: Arc<[u8]> = found.and_then(|(_, range)| module.get(range.clone())).unwrap_or_default().into();
            Ok(EndianArcSlice::new(bytes, LittleEndian))
        };
        let mut dwarf = Dwarf::load(load).ok()?;
        // (many units may share a long list)
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        if inlines_too_deep(&dwarf) {
            return None;
        }
        Context::from_dwarf(dwarf).ok()
    }
}

/// Whether calls are inlined deeper than [`DEEPEST_INLINING`]. Where a unit is damaged, what follows there is not looked at, here and by `addr2line`.
fn inlines_too_deep(dwarf: &Dwarf<Section>) -> bool {
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let Ok(mut entries) = unit.entries_raw(None) else { continue };
        // Depths of the inlined calls around the entry.
        let mut around: Vec<isize> = Vec::new();
        while !entries.is_empty() {
            let depth = entries.next_depth();
            let Ok(entry) = entries.read_abbreviation() else { break };
            let Some(entry) = entry else { continue };
            while around.pop_if(|outer| *outer >= depth).is_some() {}
            if entry.tag() == gimli::DW_TAG_inlined_subroutine {
                around.push(depth);
                if around.len() > DEEPEST_INLINING {
                    return true;
                }
            }
            if entries.skip_attributes(entry.attributes()).is_err() {
                break;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::demangled;

    #[test]
    fn names_are_as_in_the_source() {
        assert_eq!(demangled("_ZN4core9panicking5panic17h0123456789abcdefE"), "core::panicking::panic");
        assert_eq!(demangled("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(demangled("_ZNSt6vectorIiE4sizeEv"), "std::vector<int>::size()");
        for plain in ["main", "__wasm_call_ctors", "_start", "RNvC3foo", "_Z"] {
            assert_eq!(demangled(plain), plain);
        }
    }

    /// `A1<A0<A0.., A0..>, ..>`: each level of ten bytes has the level before it three times.
    #[test]
    fn names_that_stand_for_long_ones_stay_as_they_are() {
        let name = |levels: usize| {
            let (mut name, digits) = ("_Z1f1A1PIS_S_S_E".to_owned(), b"123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
            digits[..levels].iter().for_each(|&digit| name += &format!("S0_I{0}{0}{0}E", format!("S{}_", digit as char)));
            name
        };
        assert!(demangled(&name(2)).starts_with("f(A, P<A, A, A>, P<P<A, A, A>"), "{}", demangled(&name(2)));
        assert_eq!(demangled(&name(30)), name(30));
        // Read in exponential time at a larger depth.
        let slow = format!("_Zmi{}{}", "C1IT_mimi".repeat(16), "clREEEEEEEE".repeat(20));
        assert_eq!(demangled(&slow), slow);
    }
}
