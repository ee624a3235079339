//! What passes between the virtual machine and a compiler: requests, compiled code, and the [`Compiler`] trait.
//!
//! The compiler yields relocatable bytes with their tables; the machine places, publishes and retires them. `vm` never names Cranelift.

pub use crate::detour::{NOPS, ROOM as DETOUR_ROOM};
use crate::module::Module;
use crate::trap::TrapCode;
use lwp_feedback::eventset::EventSet;
use lwp_feedback::layout::EventId;
use lwp_feedback::policy::Plan;
use lwp_feedback::profile::NotInlinable;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

/// Which pipeline compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Tier 1: quick, with LWP sites and countdowns.
    Baseline,
    /// Tier 2: optimized, to a plan.
    Optimizing,
    /// Compiled as tier 1, with probes that write a burst ([`crate::burst`]).
    Instrumented,
}

/// Which entrance of a function is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Entrance {
    /// The function itself: its signature, tail convention.
    Body,
    /// The function from a loop header on: tail convention, one argument (address of the switch buffer, a
    /// [`SwitchHeader`](crate::layout::SwitchHeader) and slots), the function's results. The number is the byte offset of the `loop` opcode in the module.
    Loop(u32),
}

/// What to compile.
#[derive(Clone)]
pub struct CompileRequest {
    /// The module.
    pub module: Arc<Module>,
    /// Index in the module's function space (imports included).
    pub function: u32,
    /// Body or loop.
    pub entrance: Entrance,
    /// Pipeline.
    pub tier: Tier,
    /// The version's number, unique in the module; the code hands it to `Hot` and `Poll`.
    pub version: u32,
    /// What feedback says to do (tier 2). Advice: it never changes results.
    pub plan: Option<Arc<Plan>>,
    /// Tier 1 and instrumented: emit LWPVAL sites (off when feedback is off).
    pub sites: bool,
    /// Tier 1 only: emit countdowns that call [`Builtin::Hot`](crate::builtin::Builtin::Hot) (off when there is no tier above).
    pub countdowns: bool,
    /// A loop's arm of a trial (tier 2): its entrance counts the rounds of its loop down in a
    /// register, from [`VmStoreContext::rounds`](crate::layout::VmStoreContext), in place of that header's poll, and leaves at 0 as the poll does; its
    /// other headers look at the instance's poll word, so that asking its function to leave moves the other versions only.
    pub rounds: bool,
    /// An arm of a trial, of a loop or of a body: nothing that lasts, unless it [wins](Compiler::keep).
    pub arm: bool,
    /// A body's candidate: a [gate](crate::gate) goes with the code. It is no other code for it.
    pub gated: bool,
    /// A body's arm: where the function is inlined in itself that takes one off its countdown, as the gate does where it is called.
    pub counts_inlined: bool,
    /// Where the code is to stand, as far as processors look at it: at an address that is the same modulo [`arena::PERIOD`](crate::arena::PERIOD). `None`: anywhere.
    pub beside: Option<usize>,
    /// For tests of trials: makes the entered loop (with `rounds`), or every call (`gated`), slower.
    pub padding: Padding,
    /// For tests: every so many guards (and calls, loop headers and blocks, which otherwise have none) one is made to fail in tier 2; 0 none.
    pub fail_guards: u32,
    /// Events that may be recorded: sites and probes of the others are not placed.
    pub events: EventSet,
    /// Instrumented only: number of the first probe. Probes count from there, at most two per byte of the body and sixteen more.
    pub probe_base: u32,
    /// Also fill [`CompiledCode::listing`].
    pub listing: bool,
}

/// A loop that makes a version slower, for tests of trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Padding {
    /// Each time the count of rounds or calls is a multiple of this power of two; 0 for never.
    pub every: u32,
    /// Rounds of an empty loop: one subtraction, one branch.
    pub steps: u32,
}

impl Padding {
    /// What takes `ns` longer per round or call on this machine.
    pub fn of(ns: f64) -> Padding {
        /// Fewer in a row would hide behind what runs beside them, and leaving the loop costs a misprediction.
        const LEAST_STEPS: f64 = 2000.0;
        static STEP_NS: OnceLock<f64> = OnceLock::new();
        let step = *STEP_NS.get_or_init(step_ns);
        let every = ((LEAST_STEPS * step / ns.max(1e-3)).ceil().min(1_048_576.0) as u32).max(1).next_power_of_two();
        Padding { every, steps: (f64::from(every) * ns / step).round().clamp(1.0, 1e9) as u32 }
    }
}

/// Nanoseconds of one round of the loop: the least of some runs, since what disturbs one only adds.
fn step_ns() -> f64 {
    const STEPS: u64 = 20_000;
    let run = |_| {
        let began = Instant::now();
        // SAFETY: counts a register down to 0.
        unsafe {
            std::arch::asm!("2:", "sub {left:e}, 1", "test {left:e}, {left:e}", "jne 2b", left = inout(reg) STEPS => _, options(nomem, nostack));
        }
        began.elapsed().as_nanos() as f64 / STEPS as f64
    };
    (0..50).map(run).fold(f64::INFINITY, f64::min).max(0.05)
}

impl CompileRequest {
    /// A request without plan, sites, countdowns and listing.
    pub fn new(module: Arc<Module>, function: u32, entrance: Entrance, tier: Tier, version: u32) -> CompileRequest {
        let (sites, countdowns, rounds, arm, gated, counts_inlined, listing) = (false, false, false, false, false, false, false);
        let (padding, fail_guards, probe_base) = (Padding::default(), 0, 0);
        CompileRequest {
            module,
            function,
            entrance,
            tier,
            version,
            plan: None,
            sites,
            countdowns,
            rounds,
            arm,
            gated,
            counts_inlined,
            beside: None,
            padding,
            fail_guards,
            events: EventSet::ALL.without(EventId::INSTRUCTIONS),
            probe_base,
            listing,
        }
    }

    /// Whether another process can start with what comes of it: a function's body in the form that stays, not one made to be measured.
    pub fn lasting(&self) -> bool {
        self.lasts_if_it_wins() && !self.arm
    }

    /// The same of a trial's candidate, should it win.
    pub fn lasts_if_it_wins(&self) -> bool {
        let usual = match self.tier {
            Tier::Baseline => self.sites && self.countdowns,
            Tier::Instrumented => false,
            Tier::Optimizing => !self.countdowns,
        };
        usual && self.entrance == Entrance::Body && !self.listing && !self.rounds
    }
}

/// One wasm position of compiled code; several where functions are inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SourcePosition {
    /// Index in [`Positions::positions`] of the call site this body was inlined at, if it was.
    pub inlined_at: Option<u32>,
    /// Function index in the module.
    pub function: u32,
    /// Byte offset in the module.
    pub offset: u32,
}

/// What a relocation names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RelocTarget {
    /// The code itself, at an offset (self-recursion, constants).
    Own(u32),
}

/// A 32-bit pc-relative relocation: `target + addend - place` is written at `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloc {
    /// Place in the code.
    pub offset: u32,
    /// What it names.
    pub target: RelocTarget,
    /// Added to it.
    pub addend: i64,
}

/// An LWPVAL site in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueSite {
    /// The site's class (imm16).
    pub class: u16,
    /// Data1: the wasm byte offset of the operator.
    pub offset: u32,
    /// Function whose operator it is.
    pub function: u32,
}

/// A guard whose failure leaves the code: its index in [`CompiledCode::guards`] is its number in records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guard {
    /// Function in whose code it stands.
    pub function: u32,
    /// Byte offset of the operator whose decision it guards.
    pub offset: u32,
    /// Which part of which decision is taken back where it fails too often.
    pub kind: GuardKind,
}

/// What a [`Guard`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum GuardKind {
    /// The callee of an indirect call, tested before the loop in which it cannot change. Taken back, the test moves to the call.
    HoistedCallee,
    /// The callee of an indirect call, tested at the call. Taken back, the generic call stands behind the test.
    Callee,
    /// The value of a parameter. Taken back, there is no specialization.
    Parameter,
    /// Put in by a test; never taken back.
    Forced,
}

impl GuardKind {
    /// As reports print it.
    pub fn name(self) -> &'static str {
        match self {
            GuardKind::HoistedCallee => "hoisted-callee",
            GuardKind::Callee => "callee",
            GuardKind::Parameter => "parameter",
            GuardKind::Forced => "forced",
        }
    }
}

/// A load that yields zero where it would fault ([`crate::speculative`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeculativeLoad {
    /// Place of the instruction in the code.
    pub offset: u32,
    /// Its bytes, 1 to 15.
    pub length: u8,
    /// What it writes, whole.
    pub target: LoadTarget,
}

/// Where an exception goes on that comes out of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landing {
    /// Place behind the call.
    pub returns_to: u32,
    /// Where to go on, the thrown object in rax.
    pub landing: u32,
    /// From the frame pointer down to the stack pointer.
    pub frame_bytes: u32,
}

/// A jump to a loop's header, from its end or from in front of the poll. It leads to the header's poll, or to the loop's body: which of the two, one byte of it says, so that it may change while the code
/// runs ([`crate::tiering`] says when).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackEdge {
    /// Place of the byte in the code.
    pub at: u32,
    /// Its value where the jump leads to the poll, as in the code that the compiler yields.
    pub polls: u8,
    /// Its value where the jump leads behind the poll.
    pub passes: u8,
    /// The poll's word: byte offset in the context of the eight bytes that are compared.
    pub word: i32,
}

/// A register that a load writes, by the processor's number, 0 to 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoadTarget {
    /// A general register, all 64 bits.
    General(u8),
    /// An XMM register, all 128 bits.
    Vector(u8),
}

/// What a probe of instrumented code watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ProbeKind {
    /// A conditional branch: 1 where its condition holds.
    Branch,
    /// A `br_table`: its index.
    Switch,
    /// A `call_indirect`: the callee's function index.
    IndirectCall,
    /// The function was entered: the low half of its return address.
    Entry,
    /// It returns: the same.
    Return,
    /// A direct call of a short function: of that one.
    Call(u32),
    /// A `select`: 1 where its condition holds.
    Select,
    /// A round of a loop begins.
    Round,
    /// A load: the ticks it took; the next word is its address.
    Load,
    /// A value site of that imm16 that no other probe sees; the next word is the value.
    Value(u16),
    /// As `Entry` in the watched form: the activation, for there is no return address.
    EntryOf,
    /// As `Return`, the same.
    ReturnOf,
    /// A tail call: its frame is given up and no branch returns from it. What `Return` or `ReturnOf` would say, by the form of the code.
    TailCall,
    /// A loop of the watched form is about to begin: the activation.
    Begin,
    /// The loop of that byte offset is left, there: the activation. What is read of it is the loop's trip count, where its beginning was seen.
    Trips(u32),
}

/// A probe of instrumented code. Its number is the request's `probe_base` plus its place in [`CompiledCode::probes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// What it watches.
    pub kind: ProbeKind,
    /// Index in [`Positions::positions`] of the operator.
    pub position: u32,
    /// Of a load: byte offset of the load whose value its address is computed from, where there is one.
    pub feeder: Option<u32>,
}

/// What an optimization did, for counters and reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Its name, e.g. `inline-guarded`.
    pub name: &'static str,
    /// Function and wasm offset it was applied at.
    pub function: u32,
    /// See `function`.
    pub offset: u32,
    /// Which of several decisions of that name there ([`Decision::detail`](lwp_feedback::policy::Decision::detail)).
    pub detail: u32,
    /// `None` when it fired, or why it did not.
    pub refused: Option<String>,
}

/// Which wasm position each place in the code has.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Positions {
    /// Code offset → index in `positions`, sorted by offset; each holds from its offset to the next one's.
    pub locations: Vec<(u32, u32)>,
    /// Wasm positions.
    pub positions: Vec<SourcePosition>,
}

impl Positions {
    /// Index in `positions` of what holds at an offset in the code.
    pub fn at(&self, offset: u32) -> Option<u32> {
        let index = self.locations.partition_point(|&(start, _)| start <= offset).checked_sub(1)?;
        Some(self.locations[index].1)
    }

    /// By code offset, the byte offset in the module of the operator in the function itself: of inlined code that of the call.
    pub fn outermost(&self) -> Arc<[(u32, u32)]> {
        let outermost = |index: u32| {
            let mut position = self.positions.get(index as usize)?;
            while let Some(at) = position.inlined_at {
                position = self.positions.get(at as usize)?;
            }
            Some(position.offset)
        };
        self.locations.iter().filter_map(|&(at, position)| Some((at, outermost(position)?))).collect()
    }

    /// Where operators of inlined functions are, and of which: first code offset, the one after the last, function index; disjoint and ascending.
    pub fn inlined(&self) -> Vec<(u32, u32, u32)> {
        let mut ranges: Vec<(u32, u32, u32)> = Vec::new();
        for (at, &(start, position)) in self.locations.iter().enumerate() {
            let end = self.locations.get(at + 1).map_or(u32::MAX, |next| next.0);
            let Some(position) = self.positions.get(position as usize).filter(|position| position.inlined_at.is_some()) else { continue };
            match ranges.last_mut() {
                Some(last) if last.1 == start && last.2 == position.function => last.1 = end,
                _ => ranges.push((start, end, position.function)),
            }
        }
        ranges
    }
}

/// [`Positions`] that are made when they are first asked for: of most code that comes from a file, never.
#[derive(Clone)]
pub struct SourceMap(Arc<LazyLock<Positions, Box<dyn FnOnce() -> Positions + Send>>>);

impl SourceMap {
    /// What `make` will say.
    pub fn later(make: impl FnOnce() -> Positions + Send + 'static) -> SourceMap {
        SourceMap(Arc::new(LazyLock::new(Box::new(make))))
    }
}

impl From<Positions> for SourceMap {
    fn from(positions: Positions) -> SourceMap {
        SourceMap::later(|| positions)
    }
}

impl Default for SourceMap {
    fn default() -> SourceMap {
        Positions::default().into()
    }
}

impl Deref for SourceMap {
    type Target = Positions;

    fn deref(&self) -> &Positions {
        &self.0
    }
}

impl fmt::Debug for SourceMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SourceMap").field(&**self).finish()
    }
}

/// Machine code and its tables. Offsets are from the first byte.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CompiledCode {
    /// The code, then its constants. Kept code has them beside its tables.
    #[serde(skip)]
    pub bytes: Vec<u8>,
    /// Alignment of the first byte, a power of two.
    pub alignment: u32,
    /// Bytes between a place of that alignment and the first byte: so the loops lie best.
    pub lead_in: u32,
    /// pc-relative places.
    pub relocs: Vec<Reloc>,
    /// Instructions that may trap, by offset.
    pub traps: Vec<(u32, TrapCode)>,
    /// Loads that do not trap.
    pub speculative: Vec<SpeculativeLoad>,
    /// Where it comes from. Kept code has it beside its other tables.
    #[serde(skip)]
    pub source: SourceMap,
    /// LWPVAL sites.
    pub sites: Vec<ValueSite>,
    /// Guards whose failure leaves the code, by number.
    pub guards: Vec<Guard>,
    /// Where exceptions go on, by the calls they come out of; sorted.
    pub landings: Vec<Landing>,
    /// Jumps to polls that may lead behind them, in the order of the code.
    pub back_edges: Vec<BackEdge>,
    /// LWPINS sites: places that say that a function or loop became hot.
    pub hot_sites: u32,
    /// Probes of instrumented code.
    pub probes: Vec<Probe>,
    /// Whether it counts where it is inlined in itself ([`CompileRequest::counts_inlined`]): no code that stays.
    #[serde(skip)]
    pub counts_inlined: bool,
    /// Optimizations that fired or refused. Not kept with kept code.
    #[serde(skip)]
    pub applied: Vec<Applied>,
    /// CLIF before and after optimization, and disassembly, when asked for.
    #[serde(skip)]
    pub listing: Option<Listing>,
}

/// Human-readable stages of one compile.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// CLIF as translated.
    pub clif: String,
    /// CLIF after the passes.
    pub optimized: String,
    /// Machine code.
    pub assembly: String,
}

/// A bridge between calling conventions, made once per signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Adapter {
    /// System V `fn(code: *const u8, slots: *mut u64)`, run on the wasm stack with the pinned register set: loads the arguments from the slots,
    /// calls `code` with the tail convention, writes the results to the slots.
    Enter,
    /// Tail convention, the signature's: puts the arguments into slots on its frame, calls `Builtin::CallSlow`, returns the results, or goes on in place of
    /// itself where that says so.
    CallSlow,
    /// Tail convention, one address in (ignored), the signature's results out: calls `Builtin::Resume` and returns the results, or goes on as `CallSlow`. Polls and side
    /// exits leave to it.
    Resume,
    /// Tail convention, the switch buffer's address in, the signature's results out: the buffer holds a function and then its arguments; calls it in place of itself.
    Tail,
    /// The same, but calls it and puts the context back that it was entered with.
    TailForeign,
}

/// Types of a signature as adapters see them, by slot kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AdapterSignature {
    /// Parameters.
    pub params: Vec<wasmparser::ValType>,
    /// Results.
    pub results: Vec<wasmparser::ValType>,
}

/// Why a function was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The compiler does not handle something the interpreter does; the function stays interpreted.
    #[error("function {function} not compiled: {reason}")]
    Unsupported {
        /// Function index.
        function: u32,
        /// What.
        reason: String,
    },
    /// A limit on code size or time was reached.
    #[error("function {function} not compiled: {reason}")]
    Limit {
        /// Function index.
        function: u32,
        /// Which.
        reason: String,
    },
    /// Our own bug: the code generator refused what we gave it.
    #[error("internal compiler error in function {function}: {reason}")]
    Internal {
        /// Function index.
        function: u32,
        /// What it said.
        reason: String,
    },
}

/// Turns wasm functions into machine code. Called from compile threads; shared by all modules of an engine.
pub trait Compiler: Send + Sync {
    /// Compiles one entrance of one function.
    fn compile(&self, request: &CompileRequest) -> Result<CompiledCode, CompileError>;
    /// Makes an adapter.
    fn adapter(&self, adapter: Adapter, signature: &AdapterSignature) -> Result<CompiledCode, CompileError>;
    /// Whether a defined function can be inlined, whatever the profile says.
    fn inlinable(&self, module: &Module, function: u32) -> Result<(), NotInlinable>;
    /// Whether direct calls of it are inlined without feedback.
    fn inlines_anyway(&self, module: &Module, function: u32) -> bool;
    /// The largest version number of a module's code kept from an earlier process, if there is any. New versions take
    /// larger ones. Asked once of each module that is made ready to run.
    fn last_kept(&self, _module: &Arc<Module>) -> Option<u32> {
        None
    }
    /// The loops ([`Module::loops`]) of the module with that digest that was valid in an earlier process, and of which something was kept.
    fn kept_loops(&self, _digest: &[u8; 32]) -> Option<Arc<[u32]>> {
        None
    }
    /// Whether something lasts of what it makes.
    fn keeps(&self) -> bool {
        false
    }
    /// A trial's candidate has won, which took that long to compile: it is what lasts of its function from now on.
    fn keep(&self, _request: &CompileRequest, _code: &CompiledCode, _took: Duration) {}
    /// What made the body of a function that is [kept](Compiler::kept) from an earlier process.
    fn kept_request(&self, _module: &Arc<Module>, _function: u32) -> Option<CompileRequest> {
        None
    }
    /// A function's body kept from an earlier process, and the request that made it.
    fn kept(&self, _module: &Arc<Module>, _function: u32) -> Option<(CompileRequest, CompiledCode)> {
        None
    }
}
