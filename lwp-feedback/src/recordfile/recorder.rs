//! A listener that saves what the monitor drains, and passes it on.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use super::{Chunk, RecordWriter};
use crate::codemap::{CodeEntry, CodeMap, Resolved};
use crate::layout::Record;
use crate::monitor::{Haste, Hot, Listener, PollSummary, RingId};
use crate::record::Typed;

/// Records that are kept before they are written; the writer makes smaller chunks of them, so that a damaged one costs little.
const PENDING_RECORDS: usize = 1024;

struct State<W: Write> {
    writer: Option<RecordWriter<W>>,
    error: Option<io::Error>,
    ring: u64,
    pending: Vec<Record>,
    /// Code already in the file, by start; disjoint.
    written: BTreeMap<u64, Written>,
}

/// A range of code in the file.
struct Written {
    end: u64,
    entry: Arc<CodeEntry>,
    /// The code map's generation when it was last found there.
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
        let state =
            State { writer: Some(writer), error: None, ring: 0, pending: Vec::with_capacity(PENDING_RECORDS), written: BTreeMap::new() };
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
            let records = std::mem::replace(&mut self.pending, Vec::with_capacity(PENDING_RECORDS));
            self.write(&Chunk::Records { ring: self.ring, records });
        }
    }

    /// An address that no longer resolves: a reader must not resolve it either.
    fn ensure_gone(&mut self, ip: u64) {
        while let Some((start, end)) = self.reader_finds(ip) {
            self.flush();
            self.write(&Chunk::Gone(start..end));
            self.written.remove(&start);
        }
    }

    /// The range in the file that an address means, as [`CodeMap::resolve`] has it: of code with return addresses the byte before.
    fn reader_finds(&self, ip: u64) -> Option<(u64, u64)> {
        let containing = |address: u64, return_addresses: bool| {
            let (&start, it) = self.written.range(..=address).next_back()?;
            (address < it.end && it.entry.return_addresses == return_addresses).then_some((start, it.end))
        };
        containing(ip, false).or_else(|| containing(ip.checked_sub(1)?, true))
    }

    fn ensure_code(&mut self, code: &CodeMap, ip: u64) {
        let generation = code.generation();
        // Inside a range there is no other one; what stands just behind it may be the next one's.
        let inside = |start: u64, it: &Written| ip < it.end && (ip > start || !it.entry.return_addresses);
        if self.written.range(..=ip).next_back().is_some_and(|(&start, it)| it.generation == generation && inside(start, it)) {
            return;
        }
        let Some((range, entry)) = code.entry_at(ip) else {
            return;
        };
        if let Some(saved) = self.written.get_mut(&range.start).filter(|it| it.end == range.end && Arc::ptr_eq(&it.entry, &entry)) {
            saved.generation = generation;
            return;
        }
        self.flush();
        self.write(&Chunk::Code(range.clone(), entry.clone()));
        // The reader forgets what it overlaps.
        while let Some((&start, _)) = self.written.range(..range.end).next_back().filter(|(_, it)| it.end > range.start) {
            self.written.remove(&start);
        }
        self.written.insert(range.start, Written { end: range.end, entry, generation });
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
                state.ensure_code(&self.code, branch.target().saturating_add(1));
            }
        } else {
            state.ensure_gone(record.address());
        }
        if state.ring != ring.0 || state.pending.len() >= PENDING_RECORDS {
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

    fn tick(&mut self, summary: &PollSummary) {
        if let Some(inner) = &mut self.inner {
            inner.tick(summary);
        }
    }

    fn haste(&self) -> Haste {
        self.inner.as_ref().map_or(Haste::Full, |inner| inner.haste())
    }
}
