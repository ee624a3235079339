//! A file of machine code: an index of versions, and each version's bytes and tables.
//!
//! ```text
//! magic (8) | index bytes u32 | index CRC-32 u32 | index | payload
//! ```
//! In the cache such parts may follow each other: of one function's versions the last one counts, and what follows the last whole part does not.
//!
//! A version in the payload:
//! ```text
//! bytes of the tables u32 | bytes of the code u32 | tables | code | positions
//! ```
//! Numbers are little-endian; index, tables and positions are in postcard's format. Every version has a CRC-32 of its own and is read when it is asked
//! for, so opening costs one read. Positions are more than all the rest and seldom needed: they are read and decoded when they are. A file of another build,
//! processor or module is recognised by the head of its index.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use lwp_feedback::policy::Plan;
use serde::{Deserialize, Serialize};
use vm::code::{CompileRequest, CompiledCode, Entrance, Positions, SourceMap, Tier};
use vm::module::{Bytes, Module, PRECOMPILED};

/// First bytes of a file, with the format's version last.
pub(crate) const MAGIC: [u8; 8] = {
    let [a, b, c, d, e, f, g] = PRECOMPILED;
    [a, b, c, d, e, f, g, 5]
};
const PREFIX_BYTES: u64 = 16;
/// Largest index that is read: a damaged length must not ask for memory.
const MOST_INDEX_BYTES: u32 = 256 << 20;
/// Parts of a file before it is written anew: each is two reads when it is opened, and holds what later ones have replaced.
const MOST_PARTS: usize = 16;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    #[error("it is no backedge code: bad magic number at byte offset {offset}")]
    Magic { offset: u64 },
    #[error("damaged at byte offset {offset}: {what}")]
    Damaged { offset: u64, what: &'static str },
    #[error("{0}")]
    Foreign(String),
    #[error("made for another module")]
    OtherModule,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Which build for which processor makes code: only the same may run it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Maker {
    pub version: String,
    pub sources: String,
    pub processor: String,
    /// Whether its code relies on guards behind memories: such code would be unsafe without them.
    pub guarded: bool,
}

impl Maker {
    pub(crate) fn here(guarded: bool) -> Maker {
        Maker {
            version: env!("CARGO_PKG_VERSION").into(),
            sources: jit::SOURCES.into(),
            processor: jit::processor().unwrap_or_else(|error| error),
            guarded,
        }
    }
}

impl Maker {
    /// How code of this maker is not what `here` makes, in words.
    fn difference(&self, here: &Maker) -> String {
        let build = |maker: &Maker| format!("backedge {} ({})", maker.version, &maker.sources[..maker.sources.len().min(12)]);
        let mut says = Vec::new();
        if (&self.version, &self.sources) != (&here.version, &here.sources) {
            says.push(format!("made by {}, this is {}", build(self), build(here)));
        }
        if self.processor != here.processor {
            let lacking = |of: &Maker, other: &Maker| {
                let has = |word: &&str| other.processor.split(' ').any(|known| known == *word);
                of.processor.split(' ').filter(|word| !has(word)).collect::<Vec<_>>().join(" ")
            };
            let sides = [("made for", lacking(self, here)), ("made without", lacking(here, self))];
            let named = sides.iter().filter(|(_, words)| !words.is_empty()).map(|(how, words)| format!("{how} {words}"));
            says.push(format!("for another processor ({})", named.collect::<Vec<_>>().join(", ")));
        }
        if self.guarded != here.guarded {
            says.push(
                if self.guarded {
                    "made without bounds checks, this is with bounds checks"
                } else {
                    "made with bounds checks, this is without"
                }
                .into(),
            );
        }
        says.join(", ")
    }
}

/// One version of a function's body.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub function: u32,
    pub tier: Tier,
    pub version: u32,
    pub plan: Option<Plan>,
    pub sites: bool,
    pub countdowns: bool,
    /// In the payload of its part; once that was read, in the file.
    offset: u64,
    length: u32,
    crc: u32,
}

impl Entry {
    /// An entry of a version that is about to be written.
    pub(crate) fn of(request: &CompileRequest) -> Entry {
        Entry {
            function: request.function,
            tier: request.tier,
            version: request.version,
            plan: request.plan.as_deref().cloned(),
            sites: request.sites,
            countdowns: request.countdowns,
            offset: 0,
            length: 0,
            crc: 0,
        }
    }

    /// The request that made it.
    pub(crate) fn request(&self, module: &Arc<Module>) -> CompileRequest {
        let mut request = CompileRequest::new(module.clone(), self.function, Entrance::Body, self.tier, self.version);
        request.plan = self.plan.clone().map(Arc::new);
        request.sites = self.sites;
        request.countdowns = self.countdowns;
        request
    }
}

#[derive(Serialize, Deserialize)]
struct Index {
    maker: Maker,
    /// BLAKE3 hash of the module.
    module: [u8; 32],
    /// The module's loops, which validation finds and a validated module is not asked for again.
    loops: Vec<u32>,
    /// Bytes of the module itself at the payload's begin, in precompiled files.
    module_bytes: u64,
    entries: Vec<Entry>,
}

/// Where the bytes are.
pub(crate) enum Source {
    /// In a file, read piece by piece.
    File(File),
    /// In memory.
    Memory(Vec<u8>),
    /// In a file that nobody changes: the module in it is mapped.
    Mapped(File),
}

impl Source {
    fn length(&self) -> io::Result<u64> {
        match self {
            Source::File(file) | Source::Mapped(file) => Ok(file.metadata()?.len()),
            Source::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Source::File(file) | Source::Mapped(file) => file.read_exact_at(into, offset),
            Source::Memory(bytes) => {
                let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
                let part = rest.get(..into.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
                into.copy_from_slice(part);
                Ok(())
            }
        }
    }
}

/// A part of a file.
struct Part {
    index: Index,
    /// Where its payload is.
    payload: u64,
    /// Where it ends.
    end: u64,
}

impl Part {
    /// Reads the index of the part that begins there, in a file of `length` bytes.
    fn read(file: &Source, length: u64, at: u64, maker: &Maker, module: Option<&[u8; 32]>) -> Result<Part, ArchiveError> {
        let mut prefix = [0; PREFIX_BYTES as usize];
        // However short it is: a module that was never compiled is not one that ends early.
        let magic = &mut prefix[..length.saturating_sub(at).min(8) as usize];
        file.read_exact_at(magic, at).map_err(short(at))?;
        if magic.is_empty() || !MAGIC.starts_with(magic) {
            return Err(ArchiveError::Magic { offset: at });
        }
        file.read_exact_at(&mut prefix, at).map_err(short(at))?;
        let word = |at: usize| u32::from_le_bytes(prefix[at..at + 4].try_into().expect("four bytes"));
        let (index_bytes, crc) = (word(8), word(12));
        if index_bytes > MOST_INDEX_BYTES || u64::from(index_bytes) > length - at {
            return Err(ArchiveError::Damaged { offset: at + 8, what: "the index does not fit in the file" });
        }
        let offset = at + PREFIX_BYTES;
        let mut bytes = vec![0; index_bytes as usize];
        file.read_exact_at(&mut bytes, offset).map_err(short(offset))?;
        if crc32fast::hash(&bytes) != crc {
            return Err(ArchiveError::Damaged { offset, what: "the index's checksum does not match" });
        }
        let mut index: Index =
            postcard::from_bytes(&bytes).map_err(|_| ArchiveError::Damaged { offset, what: "the index does not decode" })?;
        if index.maker != *maker {
            return Err(ArchiveError::Foreign(index.maker.difference(maker)));
        }
        if module.is_some_and(|wanted| *wanted != index.module) {
            return Err(ArchiveError::OtherModule);
        }
        let payload = offset + u64::from(index_bytes);
        let mut end = payload.saturating_add(index.module_bytes);
        for entry in &mut index.entries {
            entry.offset = entry.offset.saturating_add(payload);
            end = end.max(entry.offset.saturating_add(u64::from(entry.length)));
        }
        Ok(Part { index, payload, end })
    }
}

/// An open file.
pub(crate) struct Archive {
    file: Arc<Source>,
    /// Bytes of it, when it was opened.
    length: u64,
    /// Where another part may follow.
    end: u64,
    parts: usize,
    payload: u64,
    module: [u8; 32],
    loops: Arc<[u32]>,
    module_bytes: u64,
    /// By function.
    entries: Vec<Entry>,
}

impl Archive {
    /// Reads the index, or those of all parts. `module` is the digest it must be for, if that is known.
    pub(crate) fn open(file: Source, maker: &Maker, module: Option<&[u8; 32]>) -> Result<Archive, ArchiveError> {
        let length = file.length()?;
        let mut first = Part::read(&file, length, 0, maker, module)?;
        let (mut end, mut parts) = (first.end, 1);
        // A cache file's versions that are there are used all the same.
        if end > length && !matches!(file, Source::File(_)) {
            return Err(ArchiveError::Damaged { offset: length, what: "the file ends early" });
        }
        let mut last = BTreeMap::new();
        let mut take = |entries: Vec<Entry>| last.extend(entries.into_iter().map(|entry| (entry.function, entry)));
        take(std::mem::take(&mut first.index.entries));
        while let Source::File(_) = file
            && end < length
        {
            match Part::read(&file, length, end, maker, Some(&first.index.module)) {
                Ok(part) => {
                    take(part.index.entries);
                    (end, parts) = (part.end, parts + 1);
                }
                Err(error) => {
                    tracing::debug!(%error, "what follows in a cache file is not used");
                    break;
                }
            }
        }
        Ok(Archive {
            file: file.into(),
            length,
            end,
            parts,
            payload: first.payload,
            module: first.index.module,
            loops: first.index.loops.into(),
            module_bytes: first.index.module_bytes,
            entries: last.into_values().collect(),
        })
    }

    /// Whether it is whole, and another part may follow.
    pub(crate) fn can_grow(&self) -> bool {
        matches!(*self.file, Source::File(_)) && self.end == self.length && self.parts < MOST_PARTS
    }

    /// The file that it is read from; `None`: it is in memory.
    pub(crate) fn file(&self) -> Option<&File> {
        match &*self.file {
            Source::File(file) | Source::Mapped(file) => Some(file),
            Source::Memory(_) => None,
        }
    }

    /// Its size in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// BLAKE3 hash of the module it is for.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.module
    }

    /// Its loops: [`Module::loops`].
    pub(crate) fn loops(&self) -> &Arc<[u32]> {
        &self.loops
    }

    /// The module's own bytes, where the file holds them.
    pub(crate) fn module_bytes(&self) -> Result<Bytes, ArchiveError> {
        if self.module_bytes > self.length {
            return Err(ArchiveError::Damaged { offset: PREFIX_BYTES, what: "the module does not fit in the file" });
        }
        if let Source::Mapped(file) = &*self.file {
            // SAFETY: whoever made the source said that nobody changes it.
            return unsafe { Bytes::map(file, self.payload as usize, self.module_bytes as usize) }.map_err(short(self.payload));
        }
        let mut bytes = vec![0; self.module_bytes as usize];
        self.file.read_exact_at(&mut bytes, self.payload).map_err(short(self.payload))?;
        Ok(bytes.into())
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    pub(crate) fn entry(&self, function: u32) -> Option<&Entry> {
        let at = self.entries.binary_search_by_key(&function, |entry| entry.function).ok()?;
        Some(&self.entries[at])
    }

    /// Largest version number.
    pub(crate) fn last_version(&self) -> u32 {
        self.entries.iter().map(|entry| entry.version).max().unwrap_or(0)
    }

    /// A version as it is written.
    pub(crate) fn encoded(&self, entry: &Entry) -> Result<Vec<u8>, ArchiveError> {
        let offset = entry.offset;
        // A file that became shorter since ends early.
        if offset.saturating_add(u64::from(entry.length)) > self.length {
            return Err(ArchiveError::Damaged { offset, what: "a version does not fit in the file" });
        }
        read_version(&self.file, offset, entry.length, entry.crc)
    }

    /// A version's code.
    pub(crate) fn code(&self, entry: &Entry) -> Result<CompiledCode, ArchiveError> {
        let offset = entry.offset;
        let mut code = decode(&self.encoded(entry)?).ok_or(ArchiveError::Damaged { offset, what: "a version does not decode" })?;
        let (file, length, crc) = (self.file.clone(), entry.length, entry.crc);
        code.source = SourceMap::later(move || {
            let bytes = read_version(&file, offset, length, crc).inspect_err(|error| tracing::debug!(%error, "positions are not known"));
            bytes
                .ok()
                .and_then(|bytes| {
                    let [_, _, positions] = parts(&bytes)?;
                    postcard::from_bytes(positions).ok()
                })
                .unwrap_or_default()
        });
        Ok(code)
    }
}

/// A version as it is written, from this offset on.
fn read_version(file: &Source, offset: u64, length: u32, crc: u32) -> Result<Vec<u8>, ArchiveError> {
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, offset).map_err(short(offset))?;
    if crc32fast::hash(&bytes) != crc {
        return Err(ArchiveError::Damaged { offset, what: "a version's checksum does not match" });
    }
    Ok(bytes)
}

fn short(offset: u64) -> impl Fn(io::Error) -> ArchiveError {
    move |error| match error.kind() {
        io::ErrorKind::UnexpectedEof => ArchiveError::Damaged { offset, what: "the file ends early" },
        _ => ArchiveError::Io(error),
    }
}

/// A version's code as it is written.
pub(crate) fn encode(code: &CompiledCode) -> Vec<u8> {
    let tables = postcard::to_stdvec(code).expect("tables are plain data");
    let positions = postcard::to_stdvec::<Positions>(&code.source).expect("positions are plain data");
    let lengths = [tables.len() as u32, code.bytes.len() as u32].map(u32::to_le_bytes);
    [lengths.as_flattened(), &tables, &code.bytes, &positions].concat()
}

/// Tables, code and positions of a version as it is written.
fn parts(bytes: &[u8]) -> Option<[&[u8]; 3]> {
    let (lengths, rest) = bytes.split_at_checked(8)?;
    let length = |at: usize| u32::from_le_bytes(lengths[at..at + 4].try_into().expect("four bytes")) as usize;
    let (tables, rest) = rest.split_at_checked(length(0))?;
    let (code, positions) = rest.split_at_checked(length(4))?;
    Some([tables, code, positions])
}

/// A version's code, without its positions.
fn decode(bytes: &[u8]) -> Option<CompiledCode> {
    let [tables, code, _] = parts(bytes)?;
    let decoded: CompiledCode = postcard::from_bytes(tables).ok()?;
    Some(CompiledCode { bytes: code.to_vec(), ..decoded })
}

/// Writes a file, or one more part of it: the module's bytes first where they are given, then the versions.
pub(crate) fn write(
    out: &mut impl Write,
    maker: &Maker,
    module: &[u8; 32],
    loops: &[u32],
    module_bytes: &[u8],
    versions: &[(Entry, Vec<u8>)],
) -> io::Result<()> {
    let mut at = module_bytes.len() as u64;
    let entries = versions
        .iter()
        .map(|(entry, bytes)| {
            let entry = Entry { offset: at, length: bytes.len() as u32, crc: crc32fast::hash(bytes), ..entry.clone() };
            at += bytes.len() as u64;
            entry
        })
        .collect();
    let index = Index { maker: maker.clone(), module: *module, loops: loops.to_vec(), module_bytes: module_bytes.len() as u64, entries };
    let index = postcard::to_stdvec(&index).map_err(io::Error::other)?;
    out.write_all(&MAGIC)?;
    out.write_all(&(index.len() as u32).to_le_bytes())?;
    out.write_all(&crc32fast::hash(&index).to_le_bytes())?;
    out.write_all(&index)?;
    out.write_all(module_bytes)?;
    versions.iter().try_for_each(|(_, bytes)| out.write_all(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vm::code::SourcePosition;

    #[test]
    fn a_refusal_names_what_differs_and_nothing_else() {
        let maker = |sources: &str, processor: &str, guarded| Maker {
            version: "1.0".into(),
            sources: sources.into(),
            processor: processor.into(),
            guarded,
        };
        let here = maker("aaaa", "x86-64 has_avx has_fma", true);
        assert_eq!(
            maker("bbbb", "x86-64 has_avx has_fma", true).difference(&here),
            "made by backedge 1.0 (bbbb), this is backedge 1.0 (aaaa)"
        );
        assert_eq!(
            maker("aaaa", "x86-64 has_avx has_bmi1", false).difference(&here),
            "for another processor (made for has_bmi1, made without has_fma), made with bounds checks, this is without"
        );
    }

    #[test]
    fn a_version_is_read_as_it_was_written() {
        let positions =
            [(None, 3, 100), (Some(0), 7, 2_000_000)].map(|(inlined_at, function, offset)| SourcePosition { inlined_at, function, offset });
        let source = Positions { locations: vec![(0, 0), (5, 1)], positions: positions.into() };
        let code = CompiledCode { bytes: vec![0x90; 300], alignment: 64, source: source.into(), hot_sites: 2, ..CompiledCode::default() };
        let written = encode(&code);
        let maker = Maker::here(true);
        let request = CompileRequest::new(Arc::new(Module::new(b"(module)").unwrap()), 7, Entrance::Body, Tier::Optimizing, 1);
        let mut file = Vec::new();
        write(&mut file, &maker, &[5; 32], &[], &[], &[(Entry::of(&request), written.clone())]).unwrap();
        let archive = Archive::open(Source::Memory(file), &maker, Some(&[5; 32])).unwrap();
        assert!(archive.entry(6).is_none());
        let read = archive.code(archive.entry(7).expect("it is there")).expect("it is whole");
        assert_eq!(format!("{read:?}"), format!("{code:?}"));
        assert_eq!(read.source.outermost()[..], [(0, 100), (5, 100)]);
        assert!((0..written.len() - 30).all(|length| decode(&written[..length]).is_none()), "code or tables are cut off");
    }
}
