//! A function as the interpreter runs it: ops on frame slots, and the maps between them and wasm byte offsets.
//!
//! Enters: a validated body. Leaves: [`Bytecode`], immutable. [`translate`] makes it, at the function's first call. Invariants:
//! 1. Every operand names a slot below `frame_slots`; every jump stays inside `ops`; the last op never falls through.
//! 2. At every [`Point`] all live locals and stack values are in their canonical slots ([`FrameLayout`]).

pub mod frame;
pub mod op;
mod translate;

pub use frame::FrameLayout;
pub use op::{Op, Slot, Target};
pub(crate) use translate::translate_watched;
pub use translate::{ends_block, is_counted, translate};

use crate::code::ProbeKind;
use crate::interp::{Handler, Surroundings, Templates};
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a [`Point`] stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// A loop's body, its parameters on the stack. The pc is behind the loop's countdown, so that whoever lands there makes progress.
    Loop,
    /// A call, its arguments (and the table index) on the stack. The op behind it is where the call returns to, its results on the stack.
    Call,
    /// The beginning of a `block`, its parameters on the stack.
    Block,
    /// The function's first operator. Its offset is that of the body, where the locals are declared.
    Entry,
}

/// A place at which the frame is canonical, so that another tier may land there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Byte offset in the module of the operator.
    pub offset: u32,
    /// Index of the op to continue at.
    pub pc: u32,
    /// Slots in use: locals and operand stack.
    pub live_slots: u32,
    /// What stands there.
    pub kind: PointKind,
}

/// A piece of code in which exceptions may be caught.
#[derive(Clone, Debug)]
pub(crate) struct TryBody {
    /// Number of the `try` in its function.
    pub(crate) id: u32,
    /// Its body: ops from..to.
    pub(crate) body: std::ops::Range<u32>,
    /// What catches, in order.
    pub(crate) clauses: Box<[Clause]>,
    /// Of a `try` that ends with `delegate`: the one around it that goes on, `None` for the function's caller.
    pub(crate) delegate: Option<Option<u32>>,
}

/// Where the reference to a caught exception goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaughtReference {
    /// Nowhere.
    None,
    /// Before the values (`try`, for its `rethrow`).
    First,
    /// Behind the values.
    Last,
}

/// What a `try` catches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clause {
    /// The tag; all where there is none.
    pub(crate) tag: Option<u32>,
    /// Whether and where the reference is wanted.
    pub(crate) reference: CaughtReference,
    /// Whether the reference may be used.
    pub(crate) kept: bool,
    /// First slot of what is caught.
    pub(crate) to: Slot,
    /// The op to go on with.
    pub(crate) pc: u32,
}

/// An op where it is run.
#[repr(C)]
pub struct Inst {
    /// What the interpreter runs for it: the only thing here that changes, once, when the function gets templates.
    pub(crate) handler: Handler,
    /// The op.
    pub op: Op,
}

/// A translated function.
pub struct Bytecode {
    /// Its index in the module.
    pub function: u32,
    /// The ops.
    pub ops: Box<[Inst]>,
    /// Which of its operands the accumulator holds, by op: `crate::interp::FIRST`, `SECOND` or 0.
    pub(crate) modes: Box<[u8]>,
    /// Slots of a frame, the arguments and results of its calls included.
    pub frame_slots: u32,
    /// Slots of parameters.
    pub param_slots: u32,
    /// Slots of results.
    pub result_slots: u32,
    /// Slots of all locals, parameters included.
    pub local_slots: u32,
    /// Whether it is so short, and calls nothing, that going over to compiled code takes the interpreter longer than running it.
    pub(crate) brief: bool,
    /// Whether it calls in place of its own frame.
    pub tail_calls: bool,
    /// Whether anything is computed on v128, at which the interpreter is slow.
    pub has_vectors: bool,
    /// Who catches what is thrown where, innermost first.
    pub(crate) handlers: Box<[TryBody]>,
    /// Byte offset in the module of each op's operator.
    offsets: Box<[u32]>,
    /// Of the *watched form*, which writes bursts: its probes by number less the first, and the ops that they are. Empty in the ordinary one.
    pub(crate) probes: Box<[(ProbeKind, u32)]>,
    /// Of the watched form: its loops, inner ones first.
    pub(crate) loops: Box<[WatchedLoop]>,
    /// Sorted by offset.
    points: Box<[Point]>,
    entry: Point,
    /// Its templates, once asked for; `None` where it gets none.
    templates: OnceLock<Option<Templates>>,
    /// How often it called compiled code, about: threads that count at once may lose a call.
    called_out: AtomicU32,
}

/// A loop of the watched form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WatchedLoop {
    /// Byte offset of its operator.
    pub(crate) start: u32,
    /// And of its end.
    pub(crate) end: u32,
    /// Whether anything leads back to its beginning.
    pub(crate) repeats: bool,
}

impl Bytecode {
    /// Byte offset in the module of the operator that the op at `pc` belongs to.
    pub fn offset_at(&self, pc: u32) -> Option<u32> {
        self.offsets.get(pc as usize).copied()
    }

    /// Where to continue for the operator at a byte offset, if the frame is canonical there.
    pub fn pc_at(&self, offset: u32) -> Option<u32> {
        Some(self.point_at(offset)?.pc)
    }

    /// The point at a byte offset, if the frame is canonical there.
    pub fn point_at(&self, offset: u32) -> Option<&Point> {
        if offset == self.entry.offset {
            return Some(&self.entry);
        }
        let index = self.points.binary_search_by_key(&offset, |point| point.offset).ok()?;
        Some(&self.points[index])
    }

    /// All points but the entry's, by offset.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Whether there is a (reachable) `loop` operator at a byte offset.
    pub fn has_loop(&self, offset: u32) -> bool {
        matches!(self.point_at(offset), Some(point) if point.kind == PointKind::Loop)
    }

    /// It calls compiled code.
    #[inline(always)]
    pub(crate) fn count_call_out(&self) {
        self.called_out.store(self.called_out.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
    }

    /// How often it did so far, about.
    pub(crate) fn called_out(&self) -> u32 {
        self.called_out.load(Ordering::Relaxed)
    }

    /// Whether none of its ops runs more than once in a call, nor anything else: it has no loops and calls nothing.
    pub(crate) fn runs_once(&self) -> bool {
        !self.tail_calls && !self.points.iter().any(|point| matches!(point.kind, PointKind::Loop | PointKind::Call))
    }

    /// Addresses of the ops: what an interpreter's record gives as instruction address lies in it.
    pub fn address_range(&self) -> std::ops::Range<u64> {
        let range = self.ops.as_ptr_range();
        range.start as u64..range.end as u64
    }

    /// Strings the ops together as machine code, unless that was done before; `None` where that cannot be.
    pub(crate) fn string_together(&self, surroundings: &Surroundings) -> Option<&Templates> {
        let templates = self.templates.get_or_init(|| Templates::make(self, surroundings)).as_ref()?;
        // Not before they are found here: what faults in one is looked up.
        templates.publish(self);
        Some(templates)
    }

    /// Its templates, if it has some. Async-signal-safe.
    pub(crate) fn templates(&self) -> Option<&Templates> {
        self.templates.get()?.as_ref()
    }

    /// Whether [`Bytecode::string_together`] was called.
    pub(crate) fn asked_for_templates(&self) -> bool {
        self.templates.get().is_some()
    }

    /// Whether this is the form that writes bursts.
    pub(crate) fn is_watched(&self) -> bool {
        !self.probes.is_empty()
    }

    /// Byte offset in the module of each op's operator, by the op's index.
    pub(crate) fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Bytes of memory this takes.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.ops) + size_of_val(&*self.modes) + size_of_val(&*self.offsets) + size_of_val(&*self.points)
    }
}

impl fmt::Debug for Bytecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One line an op: pc, wasm byte offset where it changes, mnemonic, operands.
impl fmt::Display for Bytecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "function {}: {} parameter, {} local, {} frame slots, {} result",
            self.function, self.param_slots, self.local_slots, self.frame_slots, self.result_slots
        )?;
        let mut previous = None;
        for (pc, op) in self.ops.iter().enumerate() {
            let offset = self.offsets[pc];
            if previous == Some(offset) {
                write!(f, "{pc:5}          ")?;
            } else {
                write!(f, "{pc:5}  {offset:#08x}")?;
            }
            previous = Some(offset);
            writeln!(f, "  {}", op::At(pc as u32, op.op))?;
        }
        Ok(())
    }
}
