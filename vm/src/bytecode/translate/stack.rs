//! The simulated operand stack: what each entry is, and which canonical slot belongs to it.

use super::Translator;
use crate::bytecode::op::{Op, Slot};

/// What a stack entry is at translation time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// In its canonical slot.
    Canonical,
    /// The local with this slot, not yet copied.
    Local(Slot),
    /// A constant, as slot bits.
    Const(u64),
}

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) value: Value,
    /// Its canonical slot, of a v128 the first of two.
    pub(super) slot: Slot,
    /// Slots it takes.
    pub(super) slots: u32,
}

impl Entry {
    /// The slot behind it.
    pub(super) fn end(&self) -> Slot {
        Slot(self.slot.0 + self.slots)
    }
}

/// The entries, bottom first.
pub(super) struct OperandStack {
    base: Slot,
    entries: Vec<Entry>,
    /// One past the highest slot ever in use.
    highest: u32,
    /// Entries below this index are canonical.
    flushed: usize,
    /// How many entries forward a local at all: the common answer to "must anything be preserved" is no.
    forwarded: usize,
}

impl OperandStack {
    /// An empty stack, in the room of an earlier one's entries.
    pub(super) fn new(base: Slot, mut room: Vec<Entry>) -> OperandStack {
        room.clear();
        OperandStack { base, entries: room, highest: base.0, flushed: 0, forwarded: 0 }
    }

    pub(super) fn into_room(self) -> Vec<Entry> {
        self.entries
    }

    pub(super) fn highest(&self) -> u32 {
        self.highest
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The canonical slot of the next entry to be pushed.
    pub(super) fn next_slot(&self) -> Slot {
        match self.entries.last() {
            Some(entry) => entry.end(),
            None => self.base,
        }
    }

    pub(super) fn push(&mut self, value: Value) -> Slot {
        self.push_wide(value, 1)
    }

    /// Pushes a value of so many slots.
    pub(super) fn push_wide(&mut self, value: Value, slots: u32) -> Slot {
        let slot = self.next_slot();
        self.highest = self.highest.max(slot.0 + slots);
        if matches!(value, Value::Local(_)) {
            self.forwarded += 1;
        }
        self.entries.push(Entry { value, slot, slots });
        slot
    }

    /// Pushes an entry that an op writes, and gives its slot.
    pub(super) fn push_slot(&mut self) -> Slot {
        self.push(Value::Canonical)
    }

    pub(super) fn pop(&mut self) -> Entry {
        let entry = self.entries.pop().expect("validated code pops what is there");
        if matches!(entry.value, Value::Local(_)) {
            self.forwarded -= 1;
        }
        self.flushed = self.flushed.min(self.entries.len());
        entry
    }

    /// Drops entries above a height.
    pub(super) fn truncate(&mut self, height: usize) {
        while self.entries.len() > height {
            self.pop();
        }
    }

    /// The topmost `count` entries, bottom first.
    pub(super) fn top(&self, count: usize) -> &[Entry] {
        &self.entries[self.entries.len() - count..]
    }
}

impl Translator<'_> {
    /// Brings every entry into its canonical slot.
    pub(super) fn flush(&mut self) {
        for index in self.stack.flushed..self.stack.entries.len() {
            self.flush_entry(index);
        }
        self.stack.flushed = self.stack.entries.len();
    }

    fn flush_entry(&mut self, index: usize) {
        let entry = self.stack.entries[index];
        match entry.value {
            Value::Canonical => return,
            Value::Local(local) => {
                self.stack.forwarded -= 1;
                self.emit_move(entry.slot, local, entry.slots);
            }
            Value::Const(value) => {
                self.emit(Op::Const { dst: entry.slot, value });
            }
        }
        self.stack.entries[index].value = Value::Canonical;
    }

    /// Copies entries that forward a local which is about to be written.
    pub(super) fn preserve_local(&mut self, local: Slot) {
        if self.stack.forwarded == 0 {
            return;
        }
        for index in self.stack.flushed..self.stack.entries.len() {
            if self.stack.entries[index].value == Value::Local(local) {
                self.flush_entry(index);
            }
        }
    }

    /// A slot to read a popped entry from; a constant is put into the entry's own slot.
    pub(super) fn operand(&mut self, entry: Entry) -> Slot {
        match entry.value {
            Value::Canonical => entry.slot,
            Value::Local(local) => local,
            Value::Const(value) => {
                self.emit(Op::Const { dst: entry.slot, value });
                entry.slot
            }
        }
    }

    /// Pops a value and gives the slot to read it from.
    pub(super) fn pop_operand(&mut self) -> Slot {
        let entry = self.stack.pop();
        self.operand(entry)
    }

    /// Writes the popped entry to a local.
    pub(super) fn set_local(&mut self, local: Slot, entry: Entry) {
        self.preserve_local(local);
        let producer = match entry.value {
            Value::Canonical => self.producer(entry.slot),
            _ => None,
        };
        match (entry.value, producer) {
            (Value::Canonical, Some(at)) => {
                *self.ops[at].dst_mut().expect("a producer has a result") = local;
                self.result = None;
            }
            (Value::Canonical, _) => self.emit_move(local, entry.slot, entry.slots),
            (Value::Local(other), _) if other == local => {}
            (Value::Local(other), _) => self.emit_move(local, other, entry.slots),
            (Value::Const(value), _) => {
                self.emit(Op::Const { dst: local, value });
            }
        }
    }
}
