//! A listener that saves what the monitor drains, and passes it on.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::{Chunk, RecordWriter};
use crate::codemap::{CodeEntry, CodeMap, Resolved};
use crate::layout::Record;
use crate::monitor::{Hot, Listener, PollSummary, RingId};
use crate::record::Typed;

/// Records per chunk at most, so that a damaged chunk costs little.
const CHUNK_RECORDS: usize = 1024;

struct State<W: Write> {
    writer: Option<RecordWriter<W>>,
    error: Option<io::Error>,
    ring: u64,
    pending: Vec<Record>,
    /// Code already in the file, by start; valid for `generation`.
    written: HashMap<u64, (Range<u64>, Arc<CodeEntry>)>,
    /// Entries that were looked up since the code map last changed.
    current: Vec<Range<u64>>,
    generation: u64,
}

/// Saves every record, each after the code it came from. Clones share the file: one goes to the monitor, another calls
/// [`Self::finish`].
pub struct Recorder<W: Write> {
    code: Arc<CodeMap>,
    state: Arc<Mutex<State<W>>>,
    inner: Option<Box<dyn Listener>>,
}

impl<W: Write> Recorder<W> {
    /// Begins a file with a note; `inner` gets all calls too.
    pub fn new(out: W, note: &str, code: Arc<CodeMap>, inner: Box<dyn Listener>) -> io::Result<Self> {
        let mut writer = RecordWriter::new(out)?;
        writer.write(&Chunk::Note(note.to_owned()))?;
        let generation = code.generation();
        let state = State {
            writer: Some(writer),
            error: None,
            ring: 0,
            pending: Vec::with_capacity(CHUNK_RECORDS),
            written: HashMap::new(),
            current: Vec::new(),
            generation,
        };
        Ok(Self { code, state: Arc::new(Mutex::new(state)), inner: Some(inner) })
    }

    /// A second handle to the same file, without the inner listener: keep it to end the file.
    pub fn handle(&self) -> Self {
        Self { code: self.code.clone(), state: self.state.clone(), inner: None }
    }

    /// Writes what is pending and ends the file. The first error of any write comes back here. A second call is an error too.
    pub fn finish(&self) -> io::Result<W> {
        let mut state = self.lock();
        state.flush();
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        let writer = state.writer.take().ok_or_else(|| io::Error::other("the record file is finished already"))?;
        writer.finish()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<W: Write> State<W> {
    fn write(&mut self, chunk: &Chunk) {
        let Some(writer) = self.writer.as_mut().filter(|_| self.error.is_none()) else {
            return;
        };
        if let Err(error) = writer.write(chunk) {
            self.error = Some(error);
        }
    }

    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let records = std::mem::replace(&mut self.pending, Vec::with_capacity(CHUNK_RECORDS));
            self.write(&Chunk::Records { ring: self.ring, records });
        }
    }

    /// An address that no longer resolves: a reader must not resolve it either.
    fn ensure_gone(&mut self, ip: u64) {
        let old = self.written.values().map(|(range, _)| range).find(|range| range.start <= ip && ip <= range.end).cloned();
        if let Some(range) = old {
            self.flush();
            self.write(&Chunk::Gone(range.clone()));
            self.written.remove(&range.start);
            self.current.retain(|current| *current != range);
        }
    }

    fn ensure_code(&mut self, code: &CodeMap, ip: u64) {
        let generation = code.generation();
        if generation != self.generation {
            self.generation = generation;
            self.current.clear();
        }
        // A return address may lie just behind its range.
        if self.current.iter().any(|range| range.start <= ip && ip <= range.end) {
            return;
        }
        let Some((range, entry)) = code.entry_at(ip) else {
            return;
        };
        let known = self.written.get(&range.start).is_some_and(|(old, saved)| *old == range && Arc::ptr_eq(saved, &entry));
        if !known {
            self.flush();
            self.write(&Chunk::Code(range.clone(), entry.clone()));
            self.written.retain(|_, (old, _)| old.end <= range.start || old.start >= range.end);
            self.written.insert(range.start, (range.clone(), entry));
        }
        self.current.push(range);
    }
}

impl<W: Write + Send> Listener for Recorder<W> {
    fn hot(&mut self, event: &Hot) {
        if let Some(inner) = &mut self.inner {
            inner.hot(event);
        }
    }

    fn wants_records(&self) -> bool {
        true
    }

    fn record(&mut self, ring: RingId, record: &Record, resolved: Option<&Resolved>) {
        let mut state = self.lock();
        if resolved.is_some() {
            state.ensure_code(&self.code, record.address());
            // Where a branch leads may be code that no record comes from.
            if let Typed::Branch(branch) = record.typed()
                && branch.target() != 0
            {
                state.ensure_code(&self.code, branch.target() + 1);
            }
        } else {
            state.ensure_gone(record.address());
        }
        if state.ring != ring.0 || state.pending.len() >= CHUNK_RECORDS {
            state.flush();
            state.ring = ring.0;
        }
        state.pending.push(*record);
        drop(state);
        if let Some(inner) = self.inner.as_mut().filter(|inner| inner.wants_records()) {
            inner.record(ring, record, resolved);
        }
    }

    fn missed(&mut self, ring: RingId, count: u64) {
        let mut state = self.lock();
        state.flush();
        state.write(&Chunk::Missed { ring: ring.0, count });
        drop(state);
        if let Some(inner) = self.inner.as_mut().filter(|inner| inner.wants_records()) {
            inner.missed(ring, count);
        }
    }

    fn polled(&mut self, summary: &PollSummary) {
        if let Some(inner) = &mut self.inner {
            inner.polled(summary);
        }
    }
}
