//! Plans and records that nothing real led to: what tier 2 is told is advice, and bad advice may cost time, never a result.
//!
//! Two ways in: [`RandomPlans`] stands between the machine and the compiler and replaces what the policy decided; [`lies`] writes records
//! that name real code and false values.

use crate::random::{Random, mix};
use jit::CraneliftCompiler;
use lwp_feedback::class::SiteClass;
use lwp_feedback::codemap::FunctionId;
use lwp_feedback::layout::Record;
use lwp_feedback::policy::{
    Because, Decision, InlineDecision, InlineTarget, LikelyDecision, MAX_TARGETS, OtherDecision, Plan, PrefetchDecision, PrefetchKind,
    SiteDecision, SpecializeDecision, SwitchOrderDecision, SwitchPathDecision,
};
use lwp_feedback::profile::NotInlinable;
use std::sync::Arc;
use vm::code::{Adapter, AdapterSignature, CompileError, CompileRequest, CompiledCode, Compiler, Tier};
use vm::engine::LoadedModule;
use vm::module::Module;
use wasmparser::Operator;

/// An operator that a decision or a record can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Offset in the module.
    pub offset: u32,
    /// What is there.
    pub kind: PointKind,
}

/// Kinds of operators that feedback is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// The function itself: its first byte.
    Function,
    /// `call_indirect`, of the type with this index.
    IndirectCall(u32),
    /// `call`, of this function.
    Call(u32),
    /// `if` or `br_if`.
    Branch,
    /// `br_table`.
    Switch,
    /// `select`.
    Select,
    /// A load or store.
    Access,
    /// Any other.
    Other,
}

/// The operators of a function that feedback can be about.
pub fn points(module: &Module, function: u32) -> Vec<Point> {
    let body = module.body(function);
    let mut points = vec![Point { offset: body.range().start as u32, kind: PointKind::Function }];
    let Ok(operators) = body.get_operators_reader() else { return points };
    for item in operators.into_iter_with_offsets() {
        let Ok((operator, offset)) = item else { break };
        let kind = match operator {
            Operator::CallIndirect { type_index, .. } => PointKind::IndirectCall(type_index),
            Operator::Call { function_index } => PointKind::Call(function_index),
            Operator::If { .. } | Operator::BrIf { .. } => PointKind::Branch,
            Operator::BrTable { .. } => PointKind::Switch,
            Operator::Select | Operator::TypedSelect { .. } => PointKind::Select,
            operator => match format!("{operator:?}") {
                name if name.contains("Load") || name.contains("Store") => PointKind::Access,
                _ => PointKind::Other,
            },
        };
        points.push(Point { offset: offset as u32, kind });
    }
    points
}

/// A decision of an experiment: of one that is registered, with its arguments, or, rarely where there is none, of one that is not.
fn other(offset: u32, random: &mut Random) -> Option<Decision> {
    let known: Vec<_> = jit::experiments().collect();
    let (name, names) = match known.as_slice() {
        [] if random.once_in(64) => ("nobody-knows-it", &["k"][..]),
        [] => return None,
        known => *random.of(known),
    };
    let mut arguments = std::collections::BTreeMap::new();
    for name in names {
        // Missing, small, or anything.
        match random.below(4) {
            0 => {}
            1 => drop(arguments.insert(name.to_string(), random.bits() as i64)),
            _ => drop(arguments.insert(name.to_string(), random.below(16) as i64)),
        }
    }
    Some(Decision::Other(OtherDecision { transformation: name.to_owned(), offset, arguments, ..OtherDecision::default() }))
}

/// A decision about a point, or none. **A new variant of [`Decision`] gets its arm here**: then every configuration with random plans tries it.
fn decision(module: &Module, function: u32, point: Point, random: &mut Random) -> Option<Decision> {
    let functions = module.functions.len() as u64;
    let offset = point.offset;
    let because = Because::default;
    if random.once_in(8)
        && let Some(decision) = other(offset, random)
    {
        return Some(decision);
    }
    Some(match point.kind {
        PointKind::Function => {
            let parameters = module.function_type(function).params().len() as u64;
            // Small values are what arguments often are: the guard passes as often as it fails.
            let value = if random.once_in(2) { 0 } else { random.below(16) };
            let value = if random.once_in(8) { random.bits() } else { value };
            Decision::Specialize(SpecializeDecision { offset, parameter: random.below(parameters + 1) as u32, value, because: because() })
        }
        PointKind::IndirectCall(ty) => {
            let fitting: Vec<u32> = (0..module.functions.len() as u32)
                .filter(|&function| Some(module.function_type(function)) == module.types.get(ty as usize))
                .collect();
            let count = 1 + random.below(MAX_TARGETS as u64);
            let targets = (0..count)
                .map(|_| {
                    // One in eight is a function of any type, or none at all.
                    let callee =
                        if fitting.is_empty() || random.once_in(8) { random.below(functions + 2) as u32 } else { *random.of(&fitting) };
                    InlineTarget { callee, ..InlineTarget::default() }
                })
                .collect();
            Decision::Inline(InlineDecision {
                offset,
                targets,
                side_exit: random.once_in(2),
                in_place: random.once_in(4),
                ..InlineDecision::default()
            })
        }
        PointKind::Call(callee) => {
            // One in eight is another function, or none at all.
            let callee = if random.once_in(8) { random.below(functions + 2) as u32 } else { callee };
            let targets = vec![InlineTarget { callee, ..InlineTarget::default() }];
            Decision::Inline(InlineDecision { offset, direct: true, targets, ..InlineDecision::default() })
        }
        PointKind::Branch if random.once_in(2) => Decision::BranchToSelect(SiteDecision { offset, because: because() }),
        PointKind::Branch => Decision::Layout(LikelyDecision { offset, likely: random.once_in(2), because: because() }),
        PointKind::Switch if random.once_in(2) => {
            let path = |random: &mut Random| (0..2 + random.below(4)).map(|_| random.below(8) as u32).collect();
            let paths = (0..1 + random.below(6)).map(|_| path(random)).collect();
            Decision::SwitchPath(SwitchPathDecision { offset, paths, because: because() })
        }
        PointKind::Switch => {
            let first = (0..1 + random.below(4)).map(|_| random.below(10) as u32).collect();
            Decision::SwitchOrder(SwitchOrderDecision { offset, first, because: because() })
        }
        PointKind::Select => Decision::SelectToBranch(LikelyDecision { offset, likely: random.once_in(2), because: because() }),
        PointKind::Access => {
            let kind = *random.of(&[PrefetchKind::Strided, PrefetchKind::Indirect, PrefetchKind::Outer]);
            Decision::Prefetch(PrefetchDecision { offset, kind, distance: 1 << random.below(8), because: because() })
        }
        // Now and then advice about an operator it does not fit.
        PointKind::Other if random.once_in(16) => {
            let kinds = [
                PointKind::IndirectCall(0),
                PointKind::Call(0),
                PointKind::Branch,
                PointKind::Switch,
                PointKind::Select,
                PointKind::Access,
            ];
            return decision(module, function, Point { offset, kind: *random.of(&kinds) }, random);
        }
        PointKind::Other => return None,
    })
}

/// A plan for a function. `all`: every decision there can be, not a choice of them.
pub fn random_plan(module: &Module, function: u32, all: bool, random: &mut Random) -> Option<Plan> {
    let mut decisions = Vec::new();
    for point in points(module, function) {
        if all {
            // A function has several parameters, and a branch two kinds of decisions: a few draws find them.
            let draws = if matches!(point.kind, PointKind::Function | PointKind::Branch) { 4 } else { 1 };
            decisions.extend((0..draws).filter_map(|_| decision(module, function, point, random)));
        } else if !random.once_in(4) {
            decisions.extend(decision(module, function, point, random));
        }
    }
    let id = FunctionId { module: module.hash, func: function };
    (!decisions.is_empty()).then_some(Plan { function: id, decisions })
}

/// A compiler that gives tier 2 plans of its own.
pub struct RandomPlans {
    /// Who compiles.
    pub inner: Arc<CraneliftCompiler>,
    /// What the plans are made from.
    pub seed: u64,
    /// Whether they decide at every place where there is something to decide.
    pub all: bool,
}

impl Compiler for RandomPlans {
    fn compile(&self, request: &CompileRequest) -> Result<CompiledCode, CompileError> {
        if request.tier != Tier::Optimizing {
            return self.inner.compile(request);
        }
        let mut random = Random::new(mix(self.seed, u64::from(request.function) << 32 | u64::from(request.version)));
        let plan = random_plan(&request.module, request.function, self.all, &mut random).map(Arc::new);
        self.inner.compile(&CompileRequest { plan, ..request.clone() })
    }

    fn adapter(&self, adapter: Adapter, signature: &AdapterSignature) -> Result<CompiledCode, CompileError> {
        self.inner.adapter(adapter, signature)
    }

    fn inlinable(&self, module: &Module, function: u32) -> Result<(), NotInlinable> {
        self.inner.inlinable(module, function)
    }

    fn inlines_anyway(&self, module: &Module, function: u32) -> bool {
        self.inner.inlines_anyway(module, function)
    }
}

/// Writes `count` false records into this thread's ring, if it has one: half are bytes, half name real code, real sites and, often, one function
/// again and again, so that it looks dominant.
pub fn lies(loaded: &LoadedModule, random: &mut Random, count: usize) {
    let Some(ring) = loaded.engine().thread_ring() else { return };
    let Some(mut producer) = ring.producer() else { return };
    let module = &loaded.module;
    let functions = module.functions.len() as u64;
    let addresses = loaded.code.code_addresses();
    for _ in 0..count {
        let mut words = [random.bits(), random.bits(), random.bits(), random.bits()];
        if random.once_in(2) && !module.bodies.is_empty() {
            let own = random.below(module.bodies.len() as u64) as u32;
            let function = own + module.imported_functions;
            words[1] = match addresses.len() as u64 {
                0 => loaded.code.bytecode(function).address_range().start,
                _ if random.once_in(4) => loaded.code.bytecode(function).address_range().start,
                _ => {
                    let range = random.of(&addresses);
                    range.start + random.below((range.end - range.start).max(1))
                }
            };
            let class = *random.of(SiteClass::ALL);
            let id = if class.is_programmed() { 255 } else { 1 };
            let offset = match points(module, function).as_slice() {
                [] => random.bits() as u32,
                points => random.of(points).offset,
            };
            words[0] = id | u64::from(class.imm16(0)) << 16 | u64::from(offset) << 32;
            words[2] = random.below(functions + 2);
        }
        for _ in 0..1 + random.below(8) {
            producer.store(&Record { words });
        }
    }
}
