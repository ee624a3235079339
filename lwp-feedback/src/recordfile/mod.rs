//! Record files: saved rings with the code map beside them, to be decoded or replayed without the program.
//!
//! Layout, little endian: 8 bytes magic `LWPRING\n`, u32 version, then chunks `{u8 kind, u32 payload bytes, payload, u32 crc32 of kind, length
//! and payload}`. A file ends with an end chunk that carries the number of records. Whatever is damaged, every chunk before it is readable,
//! and the error names the byte offset of the chunk that is not and how many records come behind it in chunks that are whole. A chunk has at
//! most [`CHUNK_RECORDS`] records, so that is the most that damage takes with it of what came before.

mod recorder;
mod replay;

use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

use crate::codemap::{CodeEntry, FunctionId, InlinedRange, Tier};
use crate::layout::{EventId, RECORD_BYTES, Record};

pub use recorder::Recorder;
pub use replay::{ReplaySummary, replay};

/// First bytes of a record file.
pub const MAGIC: [u8; 8] = *b"LWPRING\n";
/// Version this crate writes and reads.
pub const VERSION: u32 = 1;
/// Most records that [`RecordWriter`] puts into one chunk, under one checksum: 1.6 % of the file are headers and checksums.
pub const CHUNK_RECORDS: usize = 32;
/// Largest payload: a damaged length must not make a reader allocate gigabytes.
const MAX_PAYLOAD: u32 = 16 << 20;

/// A part of a record file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// Text about the recording: command, processor.
    Note(String),
    /// From here on `range` holds this code; older code there is gone.
    Code(Range<u64>, Arc<CodeEntry>),
    /// From here on there is no code in this range.
    Gone(Range<u64>),
    /// Records of one ring, oldest first.
    Records {
        /// The ring's number.
        ring: u64,
        /// Its records.
        records: Vec<Record>,
    },
    /// Records that a ring missed since the last such chunk.
    Missed {
        /// The ring's number.
        ring: u64,
        /// How many.
        count: u64,
    },
}

/// A record file that cannot be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum RecordFileError {
    /// Not a record file.
    #[error("offset 0: not a record file (expected \"LWPRING\")")]
    NotARecordFile,
    /// Another version.
    #[error("offset 8: record file version {found}, expected {VERSION}")]
    Version {
        /// What the file says.
        found: u32,
    },
    /// The file ends inside a chunk or without its end chunk.
    #[error("offset {offset}: the file is cut off (after {records} readable records)")]
    Truncated {
        /// Where the incomplete chunk begins.
        offset: u64,
        /// Records before it.
        records: u64,
    },
    /// A checksum or a field is wrong.
    #[error("offset {offset}: damaged chunk: {what} (after {records} readable records){}", unread(.behind))]
    Damaged {
        /// Where the chunk begins.
        offset: u64,
        /// What is wrong.
        what: &'static str,
        /// Records before it.
        records: u64,
        /// Records in whole chunks behind it, which are not read: the code map that they are about may be what is damaged. `None` where no chunk
        /// can be found behind it.
        behind: Option<u64>,
    },
    /// The file could not be read.
    #[error("offset {offset}: {source}")]
    Io {
        /// Where.
        offset: u64,
        /// Why.
        source: io::Error,
    },
}

fn unread(behind: &Option<u64>) -> String {
    match behind {
        Some(0) => String::new(),
        Some(count) => format!("; {count} records in whole chunks behind it are not read"),
        None => "; what is behind it cannot be found".into(),
    }
}

const NOTE: u8 = 1;
const CODE: u8 = 2;
const RECORDS: u8 = 3;
const MISSED: u8 = 4;
const GONE: u8 = 5;
const END: u8 = 255;
/// What is wrong with a chunk of more than [`MAX_PAYLOAD`].
const LENGTH: &str = "length";
const BEHIND: &str = "bytes behind the end chunk";

/// Writes a record file.
#[derive(Debug)]
pub struct RecordWriter<W> {
    out: W,
    records: u64,
}

impl<W: Write> RecordWriter<W> {
    /// Begins a file.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        Ok(Self { out, records: 0 })
    }

    /// Records written so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Adds a chunk; several where it has more than [`CHUNK_RECORDS`] records.
    pub fn write(&mut self, chunk: &Chunk) -> io::Result<()> {
        if let Chunk::Records { ring, records } = chunk
            && records.len() > CHUNK_RECORDS
        {
            return records.chunks(CHUNK_RECORDS).try_for_each(|part| self.write(&Chunk::Records { ring: *ring, records: part.to_vec() }));
        }
        let mut payload = Vec::new();
        let kind = match chunk {
            Chunk::Note(text) => {
                payload.extend(text.as_bytes());
                NOTE
            }
            Chunk::Code(range, entry) => {
                encode_code(&mut payload, range, entry);
                CODE
            }
            Chunk::Gone(range) => {
                payload.extend(range.start.to_le_bytes());
                payload.extend(range.end.to_le_bytes());
                GONE
            }
            Chunk::Records { ring, records } => {
                payload.extend(ring.to_le_bytes());
                records.iter().for_each(|record| payload.extend(record.to_bytes()));
                self.records += records.len() as u64;
                RECORDS
            }
            Chunk::Missed { ring, count } => {
                payload.extend(ring.to_le_bytes());
                payload.extend(count.to_le_bytes());
                MISSED
            }
        };
        self.chunk(kind, &payload)
    }

    /// Ends the file; without this a reader reports it as cut off.
    pub fn finish(mut self) -> io::Result<W> {
        let records = self.records.to_le_bytes();
        self.chunk(END, &records)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn chunk(&mut self, kind: u8, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).ok().filter(|&length| length <= MAX_PAYLOAD);
        let length = length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "chunk too large"))?;
        let mut header = [kind, 0, 0, 0, 0];
        header[1..].copy_from_slice(&length.to_le_bytes());
        self.out.write_all(&header)?;
        self.out.write_all(payload)?;
        self.out.write_all(&checksum(&header, payload).to_le_bytes())
    }
}

fn checksum(header: &[u8; 5], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    hasher.update(payload);
    hasher.finalize()
}

/// Reads a record file, chunk by chunk. After an error it yields nothing more.
#[derive(Debug)]
pub struct RecordReader<R> {
    input: R,
    offset: u64,
    records: u64,
    done: bool,
}

impl<R: Read> RecordReader<R> {
    /// Opens a file.
    pub fn new(mut input: R) -> Result<Self, RecordFileError> {
        let mut header = [0; 12];
        let read = read_up_to(&mut input, &mut header).map_err(|source| RecordFileError::Io { offset: 0, source })?;
        if read < 8 || header[..8] != MAGIC {
            return Err(RecordFileError::NotARecordFile);
        }
        if read < 12 {
            return Err(RecordFileError::Truncated { offset: 8, records: 0 });
        }
        let found = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        if found != VERSION {
            return Err(RecordFileError::Version { found });
        }
        Ok(Self { input, offset: 12, records: 0, done: false })
    }

    /// Records read so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Records in the whole chunks from here on; `None` where the file does not go on as chunks.
    fn skim(&mut self) -> Option<u64> {
        let (mut records, mut any) = (0, false);
        loop {
            let mut header = [0; 5];
            let length = match read_up_to(&mut self.input, &mut header) {
                Ok(5) => u32::from_le_bytes([header[1], header[2], header[3], header[4]]),
                _ => return any.then_some(records),
            };
            if length > MAX_PAYLOAD {
                return any.then_some(records);
            }
            let mut payload = vec![0; length as usize];
            let mut crc = [0; 4];
            let read = |input: &mut R, into: &mut [u8]| read_up_to(input, into).is_ok_and(|read| read == into.len());
            if !read(&mut self.input, &mut payload) || !read(&mut self.input, &mut crc) {
                return any.then_some(records);
            }
            if u32::from_le_bytes(crc) == checksum(&header, &payload) {
                any = true;
                match header[0] {
                    RECORDS => records += u64::from(length.saturating_sub(8) / RECORD_BYTES),
                    END => return Some(records),
                    _ => {}
                }
            }
        }
    }

    fn next_chunk(&mut self) -> Result<Option<Chunk>, RecordFileError> {
        let outcome = self.read_chunk();
        let Err(RecordFileError::Damaged { offset, what, records, .. }) = outcome else { return outcome };
        // The chunk was read as long as it says it is, so the next one begins here, unless it is the length that is wrong.
        let behind = if what == LENGTH || what == BEHIND { None } else { self.skim() };
        Err(RecordFileError::Damaged { offset, what, records, behind })
    }

    fn read_chunk(&mut self) -> Result<Option<Chunk>, RecordFileError> {
        let (offset, records) = (self.offset, self.records);
        let damaged = |what| RecordFileError::Damaged { offset, what, records, behind: None };
        let mut header = [0; 5];
        self.exact(&mut header)?;
        let length = u32::from_le_bytes([header[1], header[2], header[3], header[4]]);
        if length > MAX_PAYLOAD {
            return Err(damaged(LENGTH));
        }
        let mut payload = vec![0; length as usize];
        self.exact(&mut payload)?;
        let mut crc = [0; 4];
        self.exact(&mut crc)?;
        if u32::from_le_bytes(crc) != checksum(&header, &payload) {
            return Err(damaged("checksum"));
        }
        self.offset += 9 + u64::from(length);
        let mut fields = Fields(&payload);
        let chunk = match header[0] {
            NOTE => Chunk::Note(String::from_utf8(payload).map_err(|_| damaged("note is not UTF-8"))?),
            CODE => decode_code(&mut fields).ok_or_else(|| damaged("code entry"))?,
            RECORDS => {
                let ring = fields.u64().ok_or_else(|| damaged("ring number"))?;
                if !fields.0.len().is_multiple_of(RECORD_BYTES as usize) {
                    return Err(damaged("part of a record"));
                }
                let (slots, _) = fields.0.as_chunks::<32>();
                let records: Vec<Record> = slots.iter().map(Record::from_bytes).collect();
                self.records += records.len() as u64;
                Chunk::Records { ring, records }
            }
            MISSED => match (fields.u64(), fields.u64()) {
                (Some(ring), Some(count)) => Chunk::Missed { ring, count },
                _ => return Err(damaged("missed count")),
            },
            GONE => match (fields.u64(), fields.u64()) {
                (Some(start), Some(end)) => Chunk::Gone(start..end),
                _ => return Err(damaged("code range")),
            },
            END => {
                return match fields.u64() {
                    Some(count) if count == self.records => self.nothing_behind(),
                    _ => Err(damaged("number of records")),
                };
            }
            _ => return Err(damaged("unknown kind")),
        };
        Ok(Some(chunk))
    }

    /// The end chunk was read: two files in one, or junk, are not passed over in silence.
    fn nothing_behind(&mut self) -> Result<Option<Chunk>, RecordFileError> {
        let (offset, records) = (self.offset, self.records);
        match read_up_to(&mut self.input, &mut [0]) {
            Ok(0) => Ok(None),
            Ok(_) => Err(RecordFileError::Damaged { offset, what: BEHIND, records, behind: None }),
            Err(source) => Err(RecordFileError::Io { offset, source }),
        }
    }

    fn exact(&mut self, into: &mut [u8]) -> Result<(), RecordFileError> {
        match read_up_to(&mut self.input, into) {
            Ok(read) if read == into.len() => Ok(()),
            Ok(_) => Err(RecordFileError::Truncated { offset: self.offset, records: self.records }),
            Err(source) => Err(RecordFileError::Io { offset: self.offset, source }),
        }
    }
}

fn read_up_to(input: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < into.len() {
        match input.read(&mut into[read..]) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

impl<R: Read> Iterator for RecordReader<R> {
    type Item = Result<Chunk, RecordFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let chunk = self.next_chunk().transpose();
        self.done = !matches!(chunk, Some(Ok(_)));
        chunk
    }
}

fn encode_code(out: &mut Vec<u8>, range: &Range<u64>, entry: &CodeEntry) {
    for value in [range.start, range.end, entry.function.module] {
        out.extend(value.to_le_bytes());
    }
    let counts = [entry.offsets.len() as u32, entry.inlined.len() as u32];
    for value in [entry.function.func, entry.version].into_iter().chain(counts) {
        out.extend(value.to_le_bytes());
    }
    out.push(entry.tier as u8);
    out.push(entry.return_addresses.into());
    for &(code, wasm) in entry.offsets.iter() {
        out.extend(code.to_le_bytes());
        out.extend(wasm.to_le_bytes());
    }
    for range in entry.inlined.iter() {
        for value in [range.start, range.end, range.func] {
            out.extend(value.to_le_bytes());
        }
    }
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u8(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn u32(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*first))
    }

    fn u64(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }
}

fn decode_code(fields: &mut Fields<'_>) -> Option<Chunk> {
    let range = fields.u64()?..fields.u64()?;
    let module = fields.u64()?;
    let (func, version, offsets, inlined) = (fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?);
    let tiers = [Tier::Interpreter, Tier::Baseline, Tier::Instrumented, Tier::Optimizing];
    let tier = *tiers.get(usize::from(fields.u8()?))?;
    let return_addresses = fields.u8()? != 0;
    // The counts are bounded by the payload, which is there.
    let offsets: Option<Arc<[_]>> = (0..offsets).map(|_| Some((fields.u32()?, fields.u32()?))).collect();
    let inlined: Option<Arc<[_]>> =
        (0..inlined).map(|_| Some(InlinedRange { start: fields.u32()?, end: fields.u32()?, func: fields.u32()? })).collect();
    let entry = CodeEntry {
        function: FunctionId { module, func },
        version,
        tier,
        offsets: offsets?.into(),
        return_addresses,
        inlined: inlined?.into(),
    };
    // What `CodeMap::insert` takes.
    let bytes = u32::try_from(range.end.checked_sub(range.start)?).ok()?;
    (bytes != 0 && fields.0.is_empty()).then(|| Chunk::Code(range, Arc::new(entry)))
}

/// Prints a record file as text, one line a record, without the events in `drop`. What was readable is in `out` even when an error
/// comes back.
pub fn decode(input: impl Read, drop: &[EventId], out: &mut impl Write) -> Result<(), DecodeError> {
    for chunk in RecordReader::new(input)? {
        match chunk? {
            Chunk::Note(text) => writeln!(out, "# {text}")?,
            Chunk::Code(range, entry) => writeln!(
                out,
                "# code {:#x}..{:#x}: function {} version {} {:?}",
                range.start, range.end, entry.function, entry.version, entry.tier
            )?,
            Chunk::Gone(range) => writeln!(out, "# no code in {:#x}..{:#x}", range.start, range.end)?,
            Chunk::Records { ring, records } => {
                for record in records.iter().filter(|record| !drop.contains(&record.event_id())) {
                    writeln!(out, "ring {ring}: {record}")?;
                }
            }
            Chunk::Missed { ring, count } => writeln!(out, "ring {ring}: {count} missed")?,
        }
    }
    Ok(())
}

/// Copies a record file without the records of some events. What comes before damage is copied, and the copy is whole.
pub fn filter(input: impl Read, drop: &[EventId], out: impl Write) -> Result<(), DecodeError> {
    let reader = RecordReader::new(input)?;
    let mut writer = RecordWriter::new(out)?;
    let mut damage = None;
    for chunk in reader {
        match chunk {
            Ok(Chunk::Records { ring, mut records }) => {
                records.retain(|record| !drop.contains(&record.event_id()));
                if !records.is_empty() {
                    writer.write(&Chunk::Records { ring, records })?;
                }
            }
            Ok(chunk) => writer.write(&chunk)?,
            Err(error) => damage = Some(error),
        }
    }
    writer.finish()?.flush()?;
    damage.map_or(Ok(()), |error| Err(error.into()))
}

/// Decoding stopped.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The file.
    #[error(transparent)]
    File(#[from] RecordFileError),
    /// The output.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

#[cfg(test)]
mod tests;
