//! Wasm body → [`Bytecode`], in one pass over the operators.
//!
//! The operand stack is simulated: an entry is a value in its canonical slot, or a local or constant that has not been copied yet ("forwarded") and
//! becomes an operand of the op that consumes it. Invariants:
//! 1. At labels, points and calls every entry is in its canonical slot (`flush`), since the paths that meet there must agree.
//! 2. Before a local is written, entries that forward it are copied (`preserve_local`).
//! 3. An op is changed or removed after the fact (result redirected into a local, comparison fused into a jump) only while it is the last one and no
//!    label or point lies behind it (`barrier`).

mod atomic;
mod control;
mod exceptions;
mod fuse;
mod handlers;
mod operators;
mod proposals;
mod stack;
mod vector;
mod watch;

use super::frame::{FrameLayout, slots_of_all};
use super::op::{Op, Slot};
use super::{Bytecode, Clause, Point, PointKind, TryBody, WatchedLoop};
use crate::code::ProbeKind;
use crate::module::Module;
use control::{Control, Label};
use stack::{Entry, OperandStack};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use wasmparser::Operator;

/// Translates a defined function. The module was validated, so nothing can fail.
///
/// With `counts` each block begins with an op that counts its operators.
pub fn translate(module: &Module, function: u32, counts: bool) -> Bytecode {
    translate_form(module, function, counts, None)
}

/// The form of a defined function that writes bursts, with probes numbered from `first_probe`: at most twice as many as the body has bytes, and some for its entry.
pub(crate) fn translate_watched(module: &Module, function: u32, counts: bool, first_probe: u32) -> Bytecode {
    translate_form(module, function, counts, Some(first_probe))
}

fn translate_form(module: &Module, function: u32, counts: bool, first_probe: Option<u32>) -> Bytecode {
    let layout = FrameLayout::new(module, function);
    let Room { ops, offsets, entries, labels, points } = ROOM.take();
    let mut translator = Translator {
        module,
        function,
        ops,
        offsets,
        stack: OperandStack::new(layout.stack_base(), entries),
        controls: Vec::new(),
        labels,
        points,
        offset: 0,
        barrier: 0,
        result: None,
        skipped_blocks: None,
        jump_offset: None,
        tail_calls: false,
        in_window: false,
        handlers: Vec::new(),
        tries: 0,
        waiting: Vec::new(),
        far_memories: module.has_far_memories(),
        has_vectors: false,
        counts,
        block_count: None,
        first_probe,
        probes: Vec::new(),
        open_loops: Vec::new(),
        watched_loops: Vec::new(),
        layout,
    };
    translator.run();
    translator.finish()
}

/// Room for the next function: a program that starts has thousands translated, one after the other.
#[derive(Default)]
struct Room {
    ops: Vec<Op>,
    offsets: Vec<u32>,
    entries: Vec<Entry>,
    labels: Vec<Label>,
    points: Vec<Point>,
}

thread_local! {
    static ROOM: Cell<Room> = Cell::default();
}
/// Ops for which room is kept.
const MOST_KEPT: usize = 1 << 16;

struct Translator<'m> {
    module: &'m Module,
    function: u32,
    layout: FrameLayout,
    ops: Vec<Op>,
    offsets: Vec<u32>,
    stack: OperandStack,
    controls: Vec<Control<'m>>,
    labels: Vec<Label>,
    points: Vec<Point>,
    /// Of the operator being translated.
    offset: u32,
    /// Ops before this index are final.
    barrier: usize,
    /// The last op, if its result is the top of the stack (in its canonical slot) and nowhere else.
    result: Option<usize>,
    /// In unreachable code: blocks opened there and still open.
    skipped_blocks: Option<u32>,
    /// Byte offset of the load that the next jump contains.
    jump_offset: Option<u32>,
    handlers: Vec<TryBody>,
    /// `try`s so far.
    tries: u32,
    /// Clauses of the `try_table`s that are open, by number. Handlers are pushed where their body ends, so the innermost comes first.
    waiting: Vec<(u32, Vec<Clause>)>,
    /// Whether the ops for memory 0 are told where to access another one.
    in_window: bool,
    /// Whether a tail call stands in it.
    tail_calls: bool,
    /// Whether the module has memories that the ops for loads and stores are not for.
    far_memories: bool,
    has_vectors: bool,
    /// Whether operators are counted.
    counts: bool,
    /// Place of the op that counts the running block's operators, and how many there were so far.
    block_count: Option<(usize, u32)>,
    /// Number of the first probe, in the watched form.
    first_probe: Option<u32>,
    probes: Vec<(ProbeKind, u32)>,
    /// Byte offsets of the loops that are open there, and those that were.
    open_loops: Vec<u32>,
    watched_loops: Vec<WatchedLoop>,
}

impl Translator<'_> {
    fn run(&mut self) {
        let module = self.module;
        self.open_function();
        self.watch_entry();
        self.begin_count();
        let mut reader = module.body(self.function).get_operators_reader().expect("the body was validated");
        while !reader.eof() {
            let (operator, offset) = reader.read_with_offset().expect("the body was validated");
            self.offset = offset as u32;
            if self.skipped_blocks.is_some() {
                self.skip(&operator);
                // (does nothing unless that was where code is reached again)
                self.begin_count();
            } else {
                let ends_block = self.counts && ends_block(&operator);
                if let Some((_, count)) = &mut self.block_count
                    && is_counted(&operator)
                {
                    *count += 1;
                }
                self.operator(operator);
                if ends_block {
                    self.end_count();
                    self.begin_count();
                }
            }
        }
        self.end_count();
    }

    /// Where a block begins, if it is reached. What stands there is led to by branches alone where the code in front of it is not reached.
    fn begin_count(&mut self) {
        if self.counts && self.skipped_blocks.is_none() && !self.controls.is_empty() {
            let at = self.emit(Op::Count { operators: 0 });
            self.barrier = self.ops.len();
            self.block_count = Some((at, 0));
        }
    }

    /// Where it ends.
    fn end_count(&mut self) {
        if let Some((at, operators)) = self.block_count.take() {
            self.ops[at] = Op::Count { operators };
        }
    }

    fn finish(mut self) -> Bytecode {
        let ty = self.module.function_type(self.function);
        let result_slots = slots_of_all(ty.results());
        let targets = self.labels.iter().filter_map(Label::target).chain(self.points.iter().map(|point| point.pc as usize));
        let (ops, modes) = handlers::assign(&self.ops, targets);
        let bytecode = Bytecode {
            function: self.function,
            ops,
            modes,
            // Results are returned in the slots of the parameters.
            frame_slots: self.stack.highest().max(result_slots),
            param_slots: self.layout.param_slots(),
            result_slots,
            local_slots: self.layout.stack_base().0,
            has_vectors: self.has_vectors,
            offsets: (*self.offsets).into(),
            probes: self.probes.into(),
            loops: self.watched_loops.into(),
            points: (*self.points).into(),
            tail_calls: self.tail_calls,
            handlers: self.handlers.into(),
            templates: OnceLock::new(),
            called_out: AtomicU32::new(0),
            brief: false,
            entry: Point {
                offset: self.module.body(self.function).range().start as u32,
                pc: 0,
                live_slots: self.layout.stack_base().0,
                kind: PointKind::Entry,
            },
        };
        if self.ops.len() <= MOST_KEPT {
            self.ops.clear();
            self.offsets.clear();
            self.labels.clear();
            self.points.clear();
            let Translator { ops, offsets, stack, labels, points, .. } = self;
            ROOM.set(Room { ops, offsets, entries: stack.into_room(), labels, points });
        }
        bytecode
    }

    /// Appends an op.
    fn emit(&mut self, op: Op) -> usize {
        self.result = None;
        self.ops.push(op);
        self.offsets.push(self.offset);
        self.ops.len() - 1
    }

    /// Appends an op whose result is the new top of the stack; it is given the slot.
    fn emit_result(&mut self, op: impl FnOnce(Slot) -> Op) {
        let dst = self.stack.push_slot();
        let at = self.emit(op(dst));
        self.result = Some(at);
    }

    /// Appends a move; two to neighbouring slots become one op.
    fn emit_copy(&mut self, dst: Slot, src: Slot) {
        if self.ops.len() > self.barrier
            && let Some(&Op::Copy { dst: first, src: first_src }) = self.ops.last()
            && first.0 + 1 == dst.0
            && src != first
        {
            let at = self.ops.len() - 1;
            self.ops[at] = Op::CopyTwo { to: first, a: first_src, b: src };
            self.result = None;
            return;
        }
        self.emit(Op::Copy { dst, src });
    }

    /// Appends the move of a value of one or two slots.
    fn emit_move(&mut self, dst: Slot, src: Slot, slots: u32) {
        if slots == 1 {
            return self.emit_copy(dst, src);
        }
        self.emit(Op::CopyTwo { to: dst, a: src, b: Slot(src.0 + 1) });
    }

    /// The op that produced the value in `slot`, if it may still be changed.
    fn producer(&self, slot: Slot) -> Option<usize> {
        let at = self.result.filter(|&at| at >= self.barrier)?;
        (fuse::dst(&self.ops[at]) == Some(slot)).then_some(at)
    }

    /// Records that the frame is canonical here for the operator being translated.
    fn point(&mut self, kind: PointKind) {
        self.barrier = self.ops.len();
        self.result = None;
        self.points.push(Point { offset: self.offset, pc: self.ops.len() as u32, live_slots: self.stack.next_slot().0, kind });
    }
}

/// Whether an operator does something: the ends of blocks are marks in the text.
pub fn is_counted(operator: &Operator<'_>) -> bool {
    use Operator::*;
    !matches!(operator, Block { .. } | Loop { .. } | Else | End | Try { .. } | TryTable { .. } | Catch { .. } | CatchAll | Delegate { .. })
}

/// Whether what follows an operator may run more or less often than what stands before it. Calls return, but for a trap or an exception.
pub fn ends_block(operator: &Operator<'_>) -> bool {
    use Operator::*;
    matches!(
        operator,
        Loop { .. }
            | If { .. }
            | Else
            | End
            | Try { .. }
            | TryTable { .. }
            | Catch { .. }
            | CatchAll
            | Delegate { .. }
            | Br { .. }
            | BrIf { .. }
            | BrTable { .. }
            | BrOnNull { .. }
            | BrOnNonNull { .. }
            | Return
            | ReturnCall { .. }
            | ReturnCallIndirect { .. }
            | ReturnCallRef { .. }
            | Throw { .. }
            | ThrowRef
            | Rethrow { .. }
            | Unreachable
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwp_feedback::class::SiteClass;

    /// The ops of function 0, one a line.
    fn ops(text: &str) -> String {
        let module = Module::new(text.as_bytes()).expect("valid");
        let bytecode = translate(&module, module.imported_functions, false);
        let lines: Vec<String> =
            (bytecode.ops.iter().enumerate()).map(|(pc, op)| super::super::op::At(pc as u32, op.op).to_string()).collect();
        lines.join("\n")
    }

    #[track_caller]
    fn assert_ops(text: &str, expected: &[&str]) {
        assert_eq!(ops(text), expected.join("\n"));
    }

    #[test]
    fn operands_are_forwarded_and_results_redirected() {
        assert_ops(
            "(module (func (param i32 i32) (result i32) (local i32)
               local.get 0 local.get 1 i32.add local.set 2
               local.get 2 i32.const 5 i32.sub))",
            &["i32.add %2, %0, %1", "i32.add.imm %3, %2, -5", "return %3"],
        );
    }

    #[test]
    fn a_forwarded_local_is_copied_before_it_is_written() {
        assert_ops(
            "(module (func (param i32) (result i32)
               local.get 0
               local.get 0 i32.const 1 i32.add local.set 0
               local.get 0 i32.mul))",
            &["i32.add.imm %2, %0, 1", "copy %1, %0", "copy %0, %2", "i32.mul %1, %1, %0", "return %1"],
        );
    }

    #[test]
    fn fib_calls_in_place() {
        assert_ops(
            "(module (func $fib (param i32) (result i32)
               local.get 0 i32.const 2 i32.lt_s
               if (result i32) local.get 0
               else
                 local.get 0 i32.const 1 i32.sub call $fib
                 local.get 0 i32.const 2 i32.sub call $fib
                 i32.add
               end))",
            &[
                "jump.i32.ge_s.imm %0, 2, ->3",
                "copy %1, %0",
                "jump ->8",
                "i32.add.imm %1, %0, -1",
                "call function=0, %1",
                "i32.add.imm %2, %0, -2",
                "call function=0, %2",
                "i32.add %1, %1, %2",
                "return %1",
            ],
        );
    }

    #[test]
    fn a_counted_loop_has_one_fused_jump() {
        let text = "(module (func (param i32) (result i32) (local i32)
               loop
                 local.get 1 local.get 0 i32.add local.set 1
                 local.get 0 i32.const -1 i32.add local.tee 0
                 br_if 0
               end
               local.get 1))";
        let module = Module::new(text.as_bytes()).unwrap();
        let bytecode = translate(&module, 0, false);
        let [point] = bytecode.points() else { panic!("{:?}", bytecode.points()) };
        assert_eq!((point.kind, point.pc, point.live_slots), (PointKind::Loop, 1, 2));
        assert_eq!(bytecode.pc_at(point.offset), Some(1));
        assert_ops(
            text,
            &[&format!("loop offset={}, own=0", point.offset), "i32.add %1, %1, %0", "add.jump.i32.ne.imm -1, %0, 0, ->0", "return %1"],
        );
    }

    #[test]
    fn branches_with_values_move_them_on_the_taken_path_only() {
        assert_ops(
            "(module (func (param i32) (result i32)
               block (result i32)
                 i32.const 7
                 i32.const 9
                 local.get 0
                 br_if 0
                 i32.add
               end))",
            &["jump.i32.eq.imm %0, 0, ->3", "const %1, 0x9", "jump ->5", "const %1, 0x7", "i32.add.imm %1, %1, 9", "return %1"],
        );
    }

    #[test]
    fn tests_of_bits_and_negations_fuse() {
        assert_ops(
            "(module (func (param i64 i64)
               block
                 local.get 0 local.get 1 i64.and i64.eqz br_if 0
                 local.get 0 local.get 1 i64.lt_u i32.eqz br_if 0
                 unreachable
               end))",
            &["jump.i64.nand %0, %1, ->3", "jump.i64.le_u %1, %0, ->3", "unreachable", "return"],
        );
    }

    #[test]
    fn br_table_jumps_through_a_row_of_jumps() {
        assert_ops(
            "(module (func (param i32) (result i32)
               block block block
                 local.get 0 br_table 0 1 2
               end i32.const 10 return
               end i32.const 11 return
               end i32.const 12))",
            &["br_table %0, count=2", "jump ->4", "jump ->5", "jump ->6", "return 0xa", "return 0xb", "return 0xc"],
        );
    }

    #[test]
    fn memory_operands_hold_constants() {
        assert_ops(
            "(module (memory 1) (func (param i32) (result i32)
               local.get 0 i32.const 3 i32.store8 offset=4
               i32.const 16 local.get 0 i32.store offset=2
               i32.const 8 i32.load16_s offset=1))",
            &["store8.imm %0, 3, offset=4", "store32.at %0, 0x12", "i32.load16_s.at %1, 0x9", "return %1"],
        );
    }

    #[test]
    fn addresses_and_tests_of_loads_fuse() {
        assert_ops(
            "(module (memory 1) (func (param i32 i32) (result i32)
               local.get 0 local.get 1 i32.const 2 i32.shl i32.add local.get 1 i32.store16 offset=3
               block
                 local.get 0 i32.load8_u offset=1 i32.eqz br_if 0
                 local.get 0 local.get 1 i32.const 3 i32.shl i32.add i32.load offset=8 return
               end
               local.get 1 local.get 0 i32.add))",
            &[
                "store16.indexed scaled=26, %0, %1, %1",
                "jump.load8_u.eq.imm offset=1, %0, 0, ->4",
                "load32.indexed scaled=67, %2, %0, %1",
                "return %2",
                "i32.add %2, %1, %0",
                "return %2",
            ],
        );
    }

    #[test]
    fn everything_is_canonical_at_a_call() {
        let text = "(module (import \"a\" \"b\" (func $f (param i32) (result i32)))
               (func (param i32) (result i32)
                 local.get 0 i32.const 4 local.get 0 call $f i32.add i32.add))";
        let module = Module::new(text.as_bytes()).unwrap();
        let crate::layout::FunctionPlace::Pointer(place) = module.offsets().function(0) else { panic!("imported") };
        assert_ops(
            text,
            &[
                "copy %1, %0",
                "const %2, 0x4",
                "copy %3, %0",
                &format!("call.import function=0, %3, {place}"),
                "i32.add %2, %2, %3",
                "i32.add %1, %1, %2",
                "return %1",
            ],
        );
        let bytecode = translate(&module, 1, false);
        assert_eq!(bytecode.points()[0].kind, PointKind::Call);
        assert_eq!(bytecode.points()[0].live_slots, 4);
        assert_eq!(bytecode.frame_slots, 4);
    }

    #[test]
    fn each_block_counts_its_operators() {
        let text = "(module (func (param i32) (result i32)
               loop
                 local.get 0 if
                   local.get 0 i32.const 1 i32.sub local.set 0
                   br 1
                 end
               end
               local.get 0))";
        let module = Module::new(text.as_bytes()).unwrap();
        let counts: Vec<u32> = translate(&module, 0, true)
            .ops
            .iter()
            .filter_map(|inst| if let Op::Count { operators } = inst.op { Some(operators) } else { None })
            .collect();
        // Before the loop; its condition; the arm; behind the `if`, where nothing is; behind the loop.
        assert_eq!(counts, [0, 2, 5, 0, 1]);
    }

    /// What follows a jump away is reached by others.
    #[test]
    fn what_is_reached_by_branches_alone_is_counted() {
        let counts = |body: &str| -> Vec<u32> {
            let module = Module::new(format!("(module (tag $e) (func (param i32) {body}))").as_bytes()).unwrap();
            let ops = translate(&module, 0, true).ops;
            ops.iter().filter_map(|inst| if let Op::Count { operators } = inst.op { Some(operators) } else { None }).collect()
        };
        assert_eq!(counts("block br 0 end nop nop"), [1, 2]);
        assert_eq!(counts("block local.get 0 br_table 0 0 end nop nop nop"), [2, 3]);
        assert_eq!(counts("local.get 0 if return else nop nop end nop"), [2, 1, 2, 1]);
        assert_eq!(counts("block br 0 nop block nop end nop end nop"), [1, 1]);
        assert_eq!(counts("try unreachable catch $e nop nop catch_all nop end nop nop nop"), [0, 1, 2, 1, 3]);
        assert_eq!(counts("block try br 1 delegate 0 nop end nop nop"), [0, 1, 2]);
        assert_eq!(counts("block try_table (catch $e 0) throw $e end end nop nop"), [0, 1, 2]);
        assert_eq!(counts("block block return end nop end"), [1]);
    }

    #[test]
    fn the_watched_form_has_a_probe_before_each_decision_and_the_same_points() {
        let text = "(module (func (param i32) (result i32)
               loop
                 local.get 0 i32.const 3 i32.lt_u if
                   i32.const 1 local.get 0 local.get 0 select return
                 end
                 local.get 0 i32.const 1 i32.sub local.tee 0
                 br_if 0
               end
               local.get 0))";
        let module = Module::new(text.as_bytes()).unwrap();
        let (ordinary, watched) = (translate(&module, 0, false), translate_watched(&module, 0, false, 70));
        let offset = watched.points()[0].offset;
        let lines: Vec<String> = watched.ops.iter().map(|inst| super::super::op::At(0, inst.op).to_string()).collect();
        let expected = [
            "probe.mark number=70",
            "probe what=2, number=71, %0",
            "probe.mark number=72",
            &format!("loop offset={offset}, own=0"),
            &format!("probe.loop offset={offset}, number=73"),
            "i32.lt_u.imm %1, %0, 3",
            "probe what=0, number=74, %1",
            "jump.i32.eq.imm %1, 0, ->7",
            "probe what=0, number=75, %0",
            "const %1, 0x1",
            "select %1, %1, %0",
            ".. %0",
            "probe.return number=76",
            "return %1",
            "i32.add.imm %0, %0, -1",
            "probe what=0, number=77, %0",
            "jump.i32.ne.imm %0, 0, ->-13",
            "probe.mark number=78",
            "probe.return number=79",
            "return %0",
        ];
        assert_eq!(lines, expected);
        let kinds: Vec<ProbeKind> = watched.probes.iter().map(|probe| probe.0).collect();
        use ProbeKind::{Begin, Branch, EntryOf, ReturnOf, Round, Select, Trips, Value};
        let param = Value(SiteClass::Param.imm16(0));
        assert_eq!(kinds, [EntryOf, param, Begin, Round, Branch, Select, ReturnOf, Branch, Trips(offset), ReturnOf]);
        assert!(watched.is_watched() && !ordinary.is_watched());
        let points = |code: &Bytecode| code.points().iter().map(|point| (point.offset, point.live_slots, point.kind)).collect::<Vec<_>>();
        assert_eq!(points(&ordinary), points(&watched));
        // Behind the loop there are its own end, `local.get 0` and the body's.
        let end = module.body(0).range().end as u32;
        assert_eq!(*watched.loops, [WatchedLoop { start: offset, end: end - 4, repeats: true }]);
    }

    #[test]
    fn unreachable_code_is_dropped() {
        assert_ops(
            "(module (func (result i32)
               block (result i32)
                 i32.const 1 return
                 loop (result i32) i32.const 2 br 0 end
                 drop
               end
               i32.const 3 i32.add))",
            &["return 0x1"],
        );
    }
}
