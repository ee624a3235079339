//! One pass over a body for the policy: [`FunctionShape`], what its formulas need to know about code that records cannot tell.
//!
//! Enters: a validated body. Leaves: loops, the arms of two-way branches, what each parameter decides, which selects a loop carries. All of it is an
//! estimate: a wrong shape makes a plan that does not pay, which the trial takes back.
//!
//! What a parameter decides is followed through the operand stack and through locals in program order: a value that is computed from one
//! parameter and constants alone is *known* when the parameter is; one that a parameter took part in is *touched* by it. Values that
//! cross a control operator on the stack are forgotten, and so is what a loop assigns before it is read.

use crate::module::Module;
use lwp_feedback::profile::{ArmObstacle, ArmShape, BranchShape, FunctionShape, LoopShape, ParamShape, SelectShape, SwitchShape};
use std::collections::{HashMap, HashSet};
use wasmparser::{BrTable, ModuleArity, Operator, ValType};

/// Parameters that are followed.
const MOST_PARAMS: usize = 64;
/// Parameters of a function that get a site.
const MOST_RECORDED: usize = 4;
/// Arms that are followed at a time: each operator counts in all of them. Of more the outermost, or what began first, are given up: nobody makes a select of something that large.
const MOST_FOLLOWED: usize = 256;
/// Weight of a loop in the counts of [`ParamShape`].
const LOOP_WEIGHT: u32 = 8;

/// The shape of a defined function; empty but for its length where the body cannot be read.
pub fn shape(module: &Module, function: u32) -> FunctionShape {
    let mut shape = FunctionShape { func: function, ..FunctionShape::default() };
    let Some(own) = module.defined(function) else {
        return shape;
    };
    shape.body_bytes = module.bodies.get(own).map_or(0, |body| body.len() as u32);
    // Validated when it was loaded, so it reads; if it ever does not, nothing is known.
    let Some(mut scan) = Scan::new(module, function) else {
        return shape;
    };
    if scan.run(module).is_none() {
        return shape;
    }
    scan.params.retain(ParamShape::unlocks);
    scan.loops.sort_unstable_by_key(|it| it.offset);
    scan.branches.sort_unstable_by_key(|it| it.offset);
    FunctionShape {
        params: scan.params,
        loops: scan.loops,
        branches: scan.branches,
        selects: scan.selects,
        switches: scan.switches,
        ..shape
    }
}

/// Numbers of the parameters of a defined function that decide something: those of its [`shape`], in a quarter of the time. None where the body cannot be read.
pub fn deciding_params(module: &Module, function: u32) -> Vec<u32> {
    let scan = module.defined(function).and_then(|_| Scan::new(module, function));
    let Some(mut scan) = scan.filter(|scan| !scan.params.is_empty()) else {
        return Vec::new();
    };
    scan.params_only = true;
    match scan.run(module) {
        Some(()) => scan.params.iter().filter(|it| it.unlocks()).map(|it| it.param).collect(),
        None => Vec::new(),
    }
}

/// Parameters of a function that records tell the values of: the first integers that decide something, for of others the policy would have no use for the value.
pub fn recorded_params(module: &Module, function: u32) -> Vec<(u8, ValType)> {
    let deciding = deciding_params(module, function);
    let params = module.function_type(function).params();
    let integers = params.iter().zip(0..u8::MAX).filter(|(ty, _)| matches!(ty, ValType::I32 | ValType::I64));
    integers.filter(|&(_, index)| deciding.contains(&u32::from(index))).map(|(&ty, index)| (index, ty)).take(MOST_RECORDED).collect()
}

/// What is known of a value: bit sets of parameters.
#[derive(Clone, Copy, Default)]
struct Value {
    /// Computed from constants and at most these parameters alone.
    known: bool,
    /// Parameters that took part.
    touched: u64,
    /// The local it was read from last, for loop-carried selects.
    local: Option<u32>,
}

const UNKNOWN: Value = Value { known: false, touched: 0, local: None };

enum Kind {
    Block,
    Loop,
    If,
}

/// An open control operator.
struct Open {
    kind: Kind,
    offset: u32,
    /// Operators read when it was opened.
    operators_before: u32,
    has_loop: bool,
    has_call: bool,
    /// Locals read in it, before anything else of this round, for loops.
    read: HashSet<u32>,
    /// Locals a select's result was stored to, with the indices in `selects`, for loops.
    selected: HashMap<u32, Vec<usize>>,
    /// The branch whose arms are being counted: index in `branches`.
    branch: Option<usize>,
    /// Whether the second arm of an `if` is being read.
    in_else: bool,
}

/// A `br_if` that jumps forward, until both ways join.
struct Pending {
    /// Index in `branches`.
    branch: usize,
    /// Control operators open around the label where the arm that is being read ends.
    end: usize,
    /// Of a diamond, the same of the label where the other arm ends; that arm is read next.
    other_end: Option<usize>,
    /// Whether the arm that is being read is the one behind the jump.
    in_taken: bool,
}

impl Pending {
    /// The arm that is being read.
    fn arm<'a>(&self, branches: &'a mut [BranchShape]) -> &'a mut ArmShape {
        let branch = &mut branches[self.branch];
        if self.in_taken { &mut branch.taken } else { &mut branch.not_taken }
    }
}

struct Scan<'a> {
    reader: wasmparser::OperatorsReader<'a>,
    locals: Vec<Value>,
    stack: Vec<Value>,
    open: Vec<Open>,
    operators: u32,
    params: Vec<ParamShape>,
    loops: Vec<LoopShape>,
    branches: Vec<BranchShape>,
    selects: Vec<SelectShape>,
    switches: Vec<SwitchShape>,
    /// `br_if`s that jump forward.
    pending: Vec<Pending>,
    /// The select whose result is on top of the stack.
    fresh_select: Option<usize>,
    /// Loops among `open`.
    loops_open: u32,
    /// Arms and selects are of no interest.
    params_only: bool,
}

impl<'a> Scan<'a> {
    fn new(module: &'a Module, function: u32) -> Option<Scan<'a>> {
        let body = module.body(function);
        let params = module.function_type(function).params().len().min(MOST_PARAMS);
        let mut locals: Vec<Value> = (0..params).map(|param| Value { known: true, touched: 1 << param, local: None }).collect();
        locals.resize(module.function_type(function).params().len(), UNKNOWN);
        for entry in body.get_locals_reader().ok()? {
            let (count, _) = entry.ok()?;
            // Zero until they are written.
            locals.extend(std::iter::repeat_n(Value { known: true, touched: 0, local: None }, count as usize));
        }
        Some(Scan {
            reader: body.get_operators_reader().ok()?,
            locals,
            stack: Vec::new(),
            open: Vec::new(),
            operators: 0,
            params: (0..params as u32).map(|param| ParamShape { param, ..ParamShape::default() }).collect(),
            loops: Vec::new(),
            branches: Vec::new(),
            selects: Vec::new(),
            switches: Vec::new(),
            pending: Vec::new(),
            fresh_select: None,
            loops_open: 0,
            params_only: false,
        })
    }

    fn run(&mut self, module: &Module) -> Option<()> {
        // A local that a loop assigns is not what it was before: all writes inside loops are found first.
        let written = self.written_in_loops()?;
        while !self.reader.eof() {
            let (operator, offset) = self.reader.read_with_offset().ok()?;
            self.operators += 1;
            self.operator(module, &operator, offset as u32, &written);
        }
        Some(())
    }

    /// Locals written inside any loop.
    fn written_in_loops(&self) -> Option<Vec<bool>> {
        let mut written = vec![false; self.locals.len()];
        let mut reader = self.reader.clone();
        let mut open: Vec<bool> = Vec::new();
        let mut loops = 0;
        while !reader.eof() {
            match reader.read().ok()? {
                Operator::Loop { .. } => {
                    open.push(true);
                    loops += 1;
                }
                Operator::Block { .. } | Operator::If { .. } | Operator::TryTable { .. } | Operator::Try { .. } => open.push(false),
                Operator::End | Operator::Delegate { .. } => loops -= u32::from(open.pop() == Some(true)),
                Operator::LocalSet { local_index } | Operator::LocalTee { local_index } if loops > 0 => {
                    if let Some(flag) = written.get_mut(local_index as usize) {
                        *flag = true;
                    }
                }
                _ => {}
            }
        }
        Some(written)
    }

    fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or(UNKNOWN)
    }

    fn weight(&self) -> u32 {
        LOOP_WEIGHT.pow(self.loops_open.min(3))
    }

    /// Counts a decision that `value` makes.
    fn decided(&mut self, value: Value, count: impl Fn(&mut ParamShape, u32)) {
        let weight = self.weight();
        // Only one parameter: with two, knowing one decides nothing.
        if value.known && value.touched.count_ones() == 1 {
            let param = value.touched.trailing_zeros() as usize;
            if let Some(shape) = self.params.get_mut(param) {
                count(shape, weight);
            }
        }
    }

    /// Every arm that is being read gets what an operator is.
    fn note(&mut self, note: impl Fn(&mut ArmShape)) {
        if self.params_only {
            return;
        }
        for open in self.open.iter().rev().take(MOST_FOLLOWED) {
            if let Some(branch) = open.branch {
                let branch = &mut self.branches[branch];
                note(if open.in_else { &mut branch.not_taken } else { &mut branch.taken });
            }
        }
        for pending in &self.pending {
            note(pending.arm(&mut self.branches));
        }
    }

    fn obstacle(&mut self, why: ArmObstacle) {
        self.note(|arm| arm.obstacle = arm.obstacle.or(Some(why)));
    }

    fn open(&mut self, kind: Kind, offset: u32, branch: Option<usize>) {
        if matches!(kind, Kind::Loop) {
            // (where one has, all around it have)
            self.open.iter_mut().rev().take_while(|it| !it.has_loop).for_each(|it| it.has_loop = true);
            self.loops_open += 1;
        }
        self.stack.clear();
        self.open.push(Open {
            kind,
            offset,
            operators_before: self.operators,
            has_loop: false,
            has_call: false,
            read: HashSet::new(),
            selected: HashMap::new(),
            branch,
            in_else: false,
        });
    }

    fn close(&mut self, offset: u32) {
        self.stack.clear();
        let depth = self.open.len();
        // The end of a block is where a forward `br_if` to it lands: both ways join here, or the second arm of a diamond begins.
        let ends = depth.wrapping_sub(1);
        self.pending.retain_mut(|pending| {
            if pending.end != ends {
                return true;
            }
            let Some(other_end) = pending.other_end.take() else { return false };
            (pending.end, pending.in_taken) = (other_end, true);
            true
        });
        let Some(closed) = self.open.pop() else {
            return; // the function's own end
        };
        if matches!(closed.kind, Kind::Loop) {
            self.loops_open -= 1;
            for &select in closed.selected.iter().filter(|(local, _)| closed.read.contains(local)).flat_map(|(_, selects)| selects) {
                self.selects[select].loop_carried = true;
            }
            self.loops.push(LoopShape {
                offset: closed.offset,
                end: offset,
                operators: self.operators - closed.operators_before,
                depth: self.loops_open,
                has_loop: closed.has_loop,
                has_call: closed.has_call,
            });
        }
    }

    /// A branch to the `depth`th enclosing label under a condition.
    fn conditional(&mut self, condition: Value, offset: u32, depth: u32) {
        let Some(target) = self.open.len().checked_sub(1 + depth as usize) else {
            // To the function's end: a return.
            self.decided(condition, |shape, weight| shape.branches += weight);
            self.obstacle(ArmObstacle::Leaves);
            let leaves = ArmShape { obstacle: Some(ArmObstacle::Leaves), ..ArmShape::default() };
            self.branches.push(BranchShape { offset, taken: leaves, not_taken: leaves, back_edge: false });
            return;
        };
        let back_edge = matches!(self.open[target].kind, Kind::Loop);
        let leaves_loop = self.open[target..].iter().any(|it| matches!(it.kind, Kind::Loop));
        if leaves_loop {
            for param in 0..self.params.len() {
                if condition.touched >> param & 1 != 0 {
                    let weight = self.weight();
                    self.params[param].loop_bounds += weight;
                }
            }
        } else {
            self.decided(condition, |shape, weight| shape.branches += weight);
        }
        // What encloses this branch and is left by it does not join at one place.
        for index in target..self.open.len() {
            if let Some(branch) = self.open[index].branch {
                let open = &self.open[index];
                // Leaving an `if` to its own end is what its arm does anyway, but not as one straight piece.
                let arm = if open.in_else { &mut self.branches[branch].not_taken } else { &mut self.branches[branch].taken };
                arm.obstacle = arm.obstacle.or(Some(ArmObstacle::Leaves));
            }
        }
        for pending in &self.pending {
            if pending.end != target {
                pending.arm(&mut self.branches).obstacle.get_or_insert(ArmObstacle::Leaves);
            }
        }
        let mut shape = BranchShape { offset, back_edge, ..BranchShape::default() };
        if leaves_loop {
            shape.taken.obstacle = Some(ArmObstacle::Leaves);
            shape.not_taken.obstacle = Some(ArmObstacle::Leaves);
            self.branches.push(shape);
        } else {
            self.branches.push(shape);
            if self.pending.len() == MOST_FOLLOWED {
                self.pending.remove(0).arm(&mut self.branches).obstacle.get_or_insert(ArmObstacle::Leaves);
            }
            self.pending.push(Pending { branch: self.branches.len() - 1, end: target, other_end: None, in_taken: false });
        }
    }

    /// Where the indices of a `br_table` go, by how many control operators are open around the label.
    fn switch(&mut self, targets: &BrTable<'_>, offset: u32) {
        if self.params_only {
            return;
        }
        let depths = targets.targets().chain([Ok(targets.default())]);
        let around = |depth: u32| self.open.len().saturating_sub(depth as usize) as u32;
        // Validated when it was loaded, so all are there.
        let targets = depths.filter_map(|depth| depth.ok()).map(around).collect();
        self.switches.push(SwitchShape { offset, targets });
    }

    /// Whether a `br` is the last operator of a first arm and jumps over the second: `block block br_if 0 … br 1 end … end`. If so, the arm behind the inner
    /// end is that branch's other one.
    fn ends_arm(&mut self, depth: u32) -> bool {
        let Some(inner) = self.open.len().checked_sub(1) else { return false };
        let Some(join) = inner.checked_sub(depth as usize).filter(|&join| join < inner) else { return false };
        let last = matches!(self.reader.clone().read(), Ok(Operator::End));
        let straight = self.open[join..].iter().all(|it| matches!(it.kind, Kind::Block));
        let arms = self.pending.iter().filter(|it| it.end == inner).count();
        // Whatever else is being read must go on where the jump lands.
        let others = self.pending.iter().all(|it| it.end == inner || it.end <= join);
        if !(last && straight && arms == 1 && others) {
            return false;
        }
        let pending = self.pending.iter_mut().find(|it| it.end == inner).expect("counted above");
        if pending.in_taken || pending.other_end.is_some() {
            return false;
        }
        pending.other_end = Some(join);
        true
    }

    fn call(&mut self) {
        self.open.iter_mut().rev().take_while(|it| !it.has_call).for_each(|it| it.has_call = true);
        self.obstacle(ArmObstacle::Call);
    }

    fn read_local(&mut self, local: u32) {
        if self.params_only {
            return;
        }
        for open in self.open.iter_mut().filter(|it| matches!(it.kind, Kind::Loop)) {
            if !open.selected.contains_key(&local) {
                open.read.insert(local);
            }
        }
    }

    fn write_local(&mut self, local: u32, value: Value, written: &[bool]) {
        let in_loop_later = written.get(local as usize).copied().unwrap_or(true);
        if let Some(select) = self.fresh_select {
            for open in self.open.iter_mut().filter(|it| matches!(it.kind, Kind::Loop)) {
                open.selected.entry(local).or_default().push(select);
            }
        }
        if let Some(slot) = self.locals.get_mut(local as usize) {
            // One arm of a branch may write and the other not.
            let conditional = self.open.iter().any(|it| it.branch.is_some()) || !self.pending.is_empty();
            let before = *slot;
            *slot = Value {
                known: value.known && !in_loop_later && !conditional,
                touched: if conditional || in_loop_later { value.touched | before.touched } else { value.touched },
                local: None,
            };
        }
    }

    fn operator(&mut self, module: &Module, operator: &Operator<'_>, offset: u32, written: &[bool]) {
        use Operator::*;
        if !matches!(operator, End | Else | Block { .. }) {
            self.note(|arm| arm.operators += 1);
        }
        let fresh_select = self.fresh_select.take();
        match operator {
            Block { .. } => self.open(Kind::Block, offset, None),
            Loop { .. } => {
                self.obstacle(ArmObstacle::Loop);
                self.open(Kind::Loop, offset, None);
            }
            If { .. } => {
                let condition = self.pop();
                self.decided(condition, |shape, weight| shape.branches += weight);
                self.branches.push(BranchShape { offset, ..BranchShape::default() });
                let branch = self.branches.len() - 1;
                self.open(Kind::If, offset, Some(branch));
            }
            Else => {
                self.stack.clear();
                if let Some(open) = self.open.last_mut() {
                    open.in_else = true;
                }
            }
            TryTable { .. } | Try { .. } => {
                self.obstacle(ArmObstacle::Effect);
                self.open(Kind::Block, offset, None);
            }
            Catch { .. } | CatchAll => {
                self.obstacle(ArmObstacle::Effect);
                self.stack.clear();
            }
            End | Delegate { .. } => self.close(offset),
            BrIf { relative_depth } => {
                let condition = self.pop();
                self.conditional(condition, offset, *relative_depth);
            }
            Br { relative_depth } if self.ends_arm(*relative_depth) => self.stack.clear(),
            Br { .. } | Return | Unreachable | Throw { .. } | ThrowRef | Rethrow { .. } => {
                self.obstacle(ArmObstacle::Leaves);
                self.stack.clear();
            }
            BrTable { targets } => {
                let index = self.pop();
                self.decided(index, |shape, weight| shape.switches += weight);
                self.switch(targets, offset);
                self.obstacle(ArmObstacle::Leaves);
                self.stack.clear();
            }
            Select | TypedSelect { .. } => {
                let condition = self.pop();
                self.decided(condition, |shape, weight| shape.branches += weight);
                let (second, first) = (self.pop(), self.pop());
                self.selects.push(SelectShape { offset, loop_carried: false });
                self.fresh_select = Some(self.selects.len() - 1);
                let known = condition.known && first.known && second.known;
                self.stack.push(Value { known, touched: condition.touched | first.touched | second.touched, local: None });
            }
            LocalGet { local_index } => {
                self.read_local(*local_index);
                let mut value = self.locals.get(*local_index as usize).copied().unwrap_or(UNKNOWN);
                value.known &= !(written.get(*local_index as usize).copied().unwrap_or(true) && self.loops_open > 0);
                value.local = Some(*local_index);
                self.stack.push(value);
            }
            LocalSet { local_index } => {
                self.fresh_select = fresh_select;
                let value = self.pop();
                self.write_local(*local_index, value, written);
                self.fresh_select = None;
            }
            LocalTee { local_index } => {
                self.fresh_select = fresh_select;
                let value = self.pop();
                self.write_local(*local_index, value, written);
                self.stack.push(value);
            }
            Call { function_index } => {
                let ty = module.function_type(*function_index);
                let (params, results) = (ty.params().len(), ty.results().len());
                (0..params).for_each(|_| _ = self.pop());
                self.stack.extend(std::iter::repeat_n(UNKNOWN, results));
                self.call();
            }
            CallIndirect { type_index, .. } => {
                let index = self.pop();
                self.decided(index, |shape, weight| shape.calls += weight);
                let ty = &module.types[*type_index as usize];
                let (params, results) = (ty.params().len(), ty.results().len());
                (0..params).for_each(|_| _ = self.pop());
                self.stack.extend(std::iter::repeat_n(UNKNOWN, results));
                self.call();
            }
            ReturnCall { .. } | ReturnCallIndirect { .. } | ReturnCallRef { .. } | CallRef { .. } => {
                self.call();
                self.stack.clear();
            }
            I32Const { .. } | I64Const { .. } | F32Const { .. } | F64Const { .. } => {
                self.stack.push(Value { known: true, touched: 0, local: None });
            }
            GlobalGet { .. } => self.stack.push(UNKNOWN),
            GlobalSet { .. } => {
                self.pop();
                self.note(|arm| arm.stores += 1);
            }
            other => self.plain(other),
        }
    }

    /// An operator that only computes, loads or stores.
    fn plain(&mut self, operator: &Operator<'_>) {
        let Some((pops, pushes)) = operator.operator_arity(&NoModule) else {
            self.obstacle(ArmObstacle::Effect);
            self.stack.clear();
            return;
        };
        let mut value = Value { known: pops > 0, touched: 0, local: None };
        for _ in 0..pops {
            let operand = self.pop();
            value.known &= operand.known;
            value.touched |= operand.touched;
        }
        match effect(operator, pops, pushes) {
            Effect::None => {}
            Effect::Load => {
                self.note(|arm| arm.loads += 1);
                // What a known address holds is not known.
                value = UNKNOWN;
            }
            Effect::Store => self.note(|arm| arm.stores += 1),
            Effect::Traps => self.obstacle(ArmObstacle::Traps),
            Effect::Other => {
                self.obstacle(ArmObstacle::Effect);
                value = UNKNOWN;
            }
        }
        self.stack.extend(std::iter::repeat_n(value, pushes as usize));
    }
}

enum Effect {
    None,
    Load,
    Store,
    Traps,
    Other,
}

/// What an operator without control does, by its name: wasmparser has one name a meaning, and there are 500 of them.
fn effect(operator: &Operator<'_>, pops: u32, pushes: u32) -> Effect {
    use Operator::*;
    match operator {
        Nop | Drop | RefNull { .. } | RefIsNull | RefFunc { .. } | MemorySize { .. } | TableSize { .. } => return Effect::None,
        I32DivS | I32DivU | I32RemS | I32RemU | I64DivS | I64DivU | I64RemS | I64RemU => return Effect::Traps,
        I32TruncF32S | I32TruncF32U | I32TruncF64S | I32TruncF64U | I64TruncF32S | I64TruncF32U | I64TruncF64S | I64TruncF64U => {
            return Effect::Traps;
        }
        _ => {}
    }
    let name = name(operator);
    if name.contains("Atomic")
        || name.starts_with("Memory")
        || name.starts_with("Table")
        || name.starts_with("Data")
        || name.starts_with("Elem")
    {
        Effect::Other
    } else if name.contains("Load") && pushes == 1 {
        Effect::Load
    } else if name.contains("Store") && pushes == 0 {
        Effect::Store
    } else if pushes == 1 && pops <= 3 && name.starts_with(['I', 'F', 'V']) {
        Effect::None
    } else {
        Effect::Other
    }
}

macro_rules! define_name {
    ($(@$proposal:ident $op:ident $({ $($arg:ident: $ty:ty),* })? => $visit:ident ($($ann:tt)*) )*) => {
        fn name(operator: &Operator<'_>) -> &'static str {
            match operator {
                $(Operator::$op { .. } => stringify!($op),)*
                _ => "",
            }
        }
    };
}
wasmparser::for_each_operator!(define_name);

/// Only operators of fixed arity are asked for.
struct NoModule;

impl ModuleArity for NoModule {
    fn sub_type_at(&self, _: u32) -> Option<&wasmparser::SubType> {
        None
    }
    fn tag_type_arity(&self, _: u32) -> Option<(u32, u32)> {
        None
    }
    fn type_index_of_function(&self, _: u32) -> Option<u32> {
        None
    }
    fn func_type_of_cont_type(&self, _: &wasmparser::ContType) -> Option<&wasmparser::FuncType> {
        None
    }
    fn sub_type_of_ref_type(&self, _: &wasmparser::RefType) -> Option<&wasmparser::SubType> {
        None
    }
    fn control_stack_height(&self) -> u32 {
        0
    }
    fn label_block(&self, _: u32) -> Option<(wasmparser::BlockType, wasmparser::FrameKind)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> FunctionShape {
        let module = Module::new(text.as_bytes()).expect("the test's module is valid");
        let shape = shape(&module, module.imported_functions);
        let deciding: Vec<u32> = shape.params.iter().map(|it| it.param).collect();
        assert_eq!(deciding_params(&module, module.imported_functions), deciding, "the short way is the long one");
        shape
    }

    #[test]
    fn the_arms_of_an_if_are_counted() {
        let shape = of(r#"(module (memory 1) (func (param i32 i32)
            (if (local.get 0)
                (then (i32.store (local.get 1) (i32.load (local.get 1))))
                (else (drop (i32.div_u (local.get 1) (i32.const 3)))))))"#);
        let [branch] = shape.branches[..] else { panic!("{shape:?}") };
        assert_eq!((branch.taken.loads, branch.taken.stores, branch.taken.operators, branch.taken.obstacle), (1, 1, 4, None));
        assert_eq!(branch.not_taken.obstacle, Some(ArmObstacle::Traps));
    }

    #[test]
    fn a_forward_br_if_guards_what_it_jumps_over() {
        let shape = of(r#"(module (memory 1) (global $g (mut i32) (i32.const 0)) (func (param i32 i32) (local i32)
            (loop $next
                (block $skip
                    (br_if $skip (i32.eqz (i32.load (local.get 2))))
                    (i32.store (local.get 1) (i32.const 7))
                    (local.set 1 (i32.add (local.get 1) (i32.const 4))))
                (br_if $next (i32.lt_u (local.tee 2 (i32.add (local.get 2) (i32.const 4))) (local.get 0))))))"#);
        let [skip, back] = shape.branches[..] else { panic!("{shape:?}") };
        assert_eq!((skip.taken.operators, skip.not_taken.stores, skip.not_taken.operators, skip.not_taken.obstacle), (0, 1, 7, None));
        assert!(back.back_edge && back.taken.obstacle == Some(ArmObstacle::Leaves));
        let [only] = shape.loops[..] else { panic!("{shape:?}") };
        assert!(only.operators > 15 && !only.has_loop && only.offset < skip.offset && back.offset < only.end);
        assert_eq!(shape.loop_around(skip.offset).unwrap().offset, only.offset);
        // Parameter 0 bounds the loop; parameter 1 decides nothing.
        assert_eq!(shape.params, [ParamShape { param: 0, loop_bounds: 8, ..ParamShape::default() }]);
    }

    #[test]
    fn both_arms_of_a_diamond_of_blocks_are_counted() {
        let shape = of(r#"(module (memory 1) (func (param i32 i32)
            (block $join
                (block $else
                    (br_if $else (local.get 0))
                    (i32.store (local.get 1) (i32.const 7))
                    (br $join))
                (i32.store16 (local.get 1) (i32.const 8))
                (i32.store8 (local.get 1) (i32.const 9)))
            (i32.store (local.get 1) (i32.const 1))))"#);
        let [branch] = shape.branches[..] else { panic!("{shape:?}") };
        assert_eq!((branch.not_taken.stores, branch.not_taken.operators, branch.not_taken.obstacle), (1, 4, None));
        assert_eq!((branch.taken.stores, branch.taken.operators, branch.taken.obstacle), (2, 6, None));
        // One that jumps elsewhere leaves.
        let shape = of(r#"(module (memory 1) (func (param i32 i32)
            (loop $again
                (block $else (br_if $else (local.get 0)) (i32.store (local.get 1) (i32.const 7)) (br $again))
                (i32.store8 (local.get 1) (i32.const 9)))))"#);
        assert_eq!(shape.branches[0].not_taken.obstacle, Some(ArmObstacle::Leaves));
    }

    #[test]
    fn a_parameter_decides_what_only_it_computes() {
        let shape = of(r#"(module (type $t (func)) (table 4 funcref) (func (param $mode i32) (param $x i32) (result i32)
            (call_indirect (type $t) (i32.and (local.get $mode) (i32.const 3)))
            (if (i32.eq (local.get $mode) (local.get $x)) (then (nop)))
            (block (block (br_table 0 1 (local.get $mode))))
            (select (i32.const 1) (local.get $x) (i32.eqz (local.get $mode)))))"#);
        assert_eq!(shape.params, [ParamShape { param: 0, branches: 1, loop_bounds: 0, switches: 1, calls: 1 }]);
    }

    #[test]
    fn a_counter_that_starts_at_a_parameter_is_a_bound() {
        let shape = of(r#"(module (func (param i32) (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))))"#);
        assert_eq!(shape.params, [ParamShape { param: 0, loop_bounds: 8, ..ParamShape::default() }]);
    }

    #[test]
    fn a_select_that_the_next_round_reads_is_loop_carried() {
        let shape = of(r#"(module (memory 1) (func (param i32) (result i32) (local $best i32) (local $x i32)
            (loop $next
                (local.set $x (i32.load (local.get 0)))
                (local.set $best (select (local.get $best) (local.get $x) (i32.gt_s (local.get $best) (local.get $x))))
                (drop (select (local.get $x) (i32.const 0) (local.get $x)))
                (br_if $next (local.tee 0 (i32.sub (local.get 0) (i32.const 4)))))
            (local.get $best)))"#);
        assert_eq!(shape.selects.iter().map(|it| it.loop_carried).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn indices_of_a_switch_are_told_apart_by_where_they_go() {
        let shape = of("(module (func (param i32) (block (block (block (br_table 0 2 0 3 1 (local.get 0)))))))");
        let [switch] = &shape.switches[..] else { panic!("{shape:?}") };
        let targets = [0, 1, 2, 3, 4, 1_000_000].map(|index| switch.target(index).expect("some place"));
        assert_eq!(targets, [3, 1, 3, 0, 2, 2]);
    }

    #[test]
    fn calls_and_loops_are_obstacles() {
        let shape = of(r#"(module (func $f (param i32)
            (if (local.get 0) (then (call $f (i32.const 0))) (else (loop (nop))))
            (if (local.get 0) (then (return)))))"#);
        let [first, second] = shape.branches[..] else { panic!("{shape:?}") };
        assert_eq!((first.taken.obstacle, first.not_taken.obstacle), (Some(ArmObstacle::Call), Some(ArmObstacle::Loop)));
        assert_eq!(second.taken.obstacle, Some(ArmObstacle::Leaves));
    }
}
