//! Value specialization: a body for the values that parameters nearly always have, and beside it the general one.
//!
//! After *run-time value specialization* (Calder, Feller, Eustace, "Value profiling", MICRO 1997; Muth, Watterson, Debray, "Code specialization
//! based on value profiles", SAS 2000). The entry compares the parameters with the plan's values. Equal: the body is translated with them as
//! constants, which folds what follows from them, drops the ways that are never taken ([`super::constant`]) and unrolls loops whose trip
//! count is now known ([`super::unroll`]). Different: the general body, in the same version and out of line, so a plan that lies costs the
//! compare and no result.
//!
//! At a loop's entrance the same compare is made with the local that the switch buffer holds. It says nothing about what the parameter
//! was at the call, and need not: from there on the value is what was compared.
//!
//! A plan may also name the parameter of a function that the planned one calls directly. Then the arguments are compared at the call, and where they are
//! the values the callee's body is translated in place with them; else the code is left at the call ([`Translator::try_inline_specialized`]).

use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use smallvec::SmallVec;

use vm::code::{Entrance, Guard, GuardKind, Tier};
use wasmparser::{FunctionBody, Operator, ValType};

use super::control::arguments;
use super::exits::Exit;
use super::inline::SIDE_EXIT;
use super::{Input, Result, Translator, malformed};
use crate::scan::Scan;

/// Name in reports, the policy's.
pub(super) const NAME: &str = "specialize";
/// Bytes of a body that is translated twice; bounds compile time. A guess.
const MOST_BODY_BYTES: u64 = 4000;
/// Locals of such a body: every one becomes values at every loop, twice. A guess.
const MOST_LOCALS: usize = 200;
/// Parameters compared at an entry.
const MOST_PARAMETERS: usize = 4;

/// Parameters and the values they are to have, as slots.
pub(super) type Values = Vec<(u32, u64)>;

/// What a plan says of a callee's parameters: none of the function that is compiled itself.
pub(super) fn values_of(input: &Input<'_>, callee: u32) -> Values {
    let Some(start) = input.module.defined(callee).and_then(|own| input.module.bodies.get(own)).map(|body| body.start) else {
        return Values::new();
    };
    if callee == input.function {
        return Values::new();
    }
    let of = input.plan.specialize.iter().filter(|&&(offset, ..)| offset as usize == start);
    of.map(|&(_, parameter, value)| (parameter, value)).take(MOST_PARAMETERS).collect()
}

impl Translator<'_, '_> {
    /// What the plan wants of the outermost function and may have; every refusal is reported.
    pub(super) fn specialized_values(&mut self, scan: &Scan, body: &FunctionBody<'_>) -> Result<Values> {
        let mut taken = Values::new();
        let wanted = &self.input.plan.specialize;
        if self.input.tier != Tier::Optimizing || wanted.is_empty() {
            return Ok(taken);
        }
        let range = body.range();
        for &(offset, parameter, value) in wanted {
            if self.is_of_another(offset) {
                continue;
            }
            let refused = match self.refuses(scan, &range, parameter, value, &taken) {
                None => self.not_at_entrance(scan, body, parameter)?,
                refused => refused,
            };
            if refused.is_none() {
                taken.push((parameter, value));
            }
            self.applied_one(NAME, self.input.function, range.start as u32, parameter, refused);
        }
        Ok(taken)
    }

    fn refuses(&self, scan: &Scan, range: &Range<u64>, parameter: u32, value: u64, taken: &Values) -> Option<String> {
        let params = self.module.function_type(self.input.function).params();
        let wide = match params.get(parameter as usize) {
            None => return Some("no such parameter".into()),
            Some(ValType::I32) => false,
            Some(ValType::I64) => true,
            Some(_) => return Some("not an integer".into()),
        };
        if taken.iter().any(|&(of, _)| of == parameter) {
            Some("named twice".into())
        } else if taken.len() == MOST_PARAMETERS {
            Some(format!("more than {MOST_PARAMETERS} parameters"))
        } else if !wide && value > u64::from(u32::MAX) {
            Some("no i32 has that value".into())
        } else if range.end - range.start > MOST_BODY_BYTES || scan.locals.len() > MOST_LOCALS {
            Some(format!("more than {MOST_BODY_BYTES} bytes or {MOST_LOCALS} locals"))
        } else {
            None
        }
    }

    /// Whether a body begins there that is not the planned function's. Any other offset is taken for its own.
    fn is_of_another(&self, offset: u32) -> bool {
        let found = self.module.bodies.binary_search_by_key(&(offset as usize), |body| body.start).ok();
        found.is_some_and(|own| self.module.defined(self.input.function) != Some(own))
    }

    /// Inlines a direct call for the values that the plan names of the callee's parameters. False where it names none, or it cannot be done.
    pub(super) fn try_inline_specialized(&mut self, callee: u32, offset: u32, values: &[Value]) -> Result<bool> {
        let wanted = values_of(self.input, callee);
        if wanted.is_empty() {
            return Ok(false);
        }
        let function = self.frame().function;
        let ty = self.module.functions[callee as usize];
        let is_integer = |&(parameter, _): &(u32, u64)| {
            let ty = values.get(parameter as usize).map(|&value| self.b.func.dfg.value_type(value));
            ty == Some(types::I32) || ty == Some(types::I64)
        };
        let refused = match self.accept(ty, callee, &[]) {
            Err(reason) => Some(reason),
            Ok(()) if !wanted.iter().all(is_integer) => Some("no such parameter, or not an integer".into()),
            Ok(()) => None,
        };
        self.applied(NAME, function, offset, refused.clone());
        if refused.is_some() {
            return Ok(false);
        }
        let mut arguments_there = SmallVec::<[Value; 8]>::from_slice(values);
        let mut all: Option<Value> = None;
        for (parameter, value) in wanted {
            let argument = values[parameter as usize];
            let ty = self.b.func.dfg.value_type(argument);
            let value = if ty == types::I32 { i64::from(value as u32) } else { value as i64 };
            let expected = self.b.ins().iconst(ty, value);
            arguments_there[parameter as usize] = expected;
            let other = self.b.ins().icmp(IntCC::NotEqual, argument, expected);
            all = Some(match all {
                None => other,
                Some(before) => self.b.ins().bor(before, other),
            });
        }
        let other = all.expect("there is a value to compare");
        let next = self.result_block(ty);
        let (same, general) = (self.new_block(), self.b.create_block());
        self.b.set_cold_block(general);
        self.b.ins().brif(other, general, &[], same, &[]);
        self.b.seal_block(same);
        self.enter(same);
        let folding = std::mem::replace(&mut self.folding, true);
        self.inline_body(callee, offset, &arguments_there, next)?;
        self.folding = folding;
        self.reachable = true;
        if self.can_exit(values.len()).is_ok() {
            // Nothing comes back from there, so the loop around keeps its registers.
            let start = self.module.body(callee).range().start as u32;
            let guard = Guard { function, offset: start, kind: GuardKind::Parameter };
            let scan = self.frame().scan.clone();
            let live = scan.live_at_calls.get(&offset).and_then(Option::as_ref);
            self.fill_exit(general, &Exit { guard, offset, live, operands: values }, |translator| {
                translator.address_const(i64::from(callee))
            });
            self.applied(SIDE_EXIT, function, offset, None);
            self.resume_at(next);
            return Ok(true);
        }
        self.b.seal_block(general);
        self.enter(general);
        let out_of_line = std::mem::replace(&mut self.out_of_line, true);
        let results = self.direct_call(callee, values);
        self.out_of_line = out_of_line;
        self.b.ins().jump(next, &arguments(&results));
        self.resume_at(next);
        Ok(true)
    }

    /// At a loop's entrance the value must be there, and hold whenever the loop is entered again.
    fn not_at_entrance(&self, scan: &Scan, body: &FunctionBody<'_>, parameter: u32) -> Result<Option<String>> {
        let Entrance::Loop(offset) = self.input.entrance else { return Ok(None) };
        let live = scan.loops.get(&offset).and_then(|facts| facts.live.as_ref());
        if live.is_some_and(|live| !live.contains(parameter as usize)) {
            return Ok(Some("not read from this loop on".into()));
        }
        let function = self.input.function;
        let mut reader = body.get_operators_reader().map_err(|error| malformed(function, &error))?;
        while !reader.eof() {
            if let Operator::LocalSet { local_index } | Operator::LocalTee { local_index } =
                reader.read().map_err(|error| malformed(function, &error))?
                && local_index == parameter
            {
                return Ok(Some("written, and entered at a loop".into()));
            }
        }
        Ok(None)
    }

    /// Compares the parameters: yields the block for the values of the plan, which hold there as constants, and the one for all others. Both
    /// are sealed; the builder stands in neither.
    pub(super) fn split_by_values(&mut self) -> (Block, Block) {
        let mut all: Option<Value> = None;
        for (parameter, value) in self.specialized.clone() {
            let (variable, ty) = self.frame().locals[parameter as usize];
            let local = self.b.use_var(variable);
            let value = if ty == types::I32 { i64::from(value as u32) } else { value as i64 };
            let expected = self.b.ins().iconst(ty, value);
            let other = self.b.ins().icmp(IntCC::NotEqual, local, expected);
            all = Some(match all {
                None => other,
                Some(before) => self.b.ins().bor(before, other),
            });
        }
        let other = all.expect("there is a value to compare");
        let (special, general) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(general);
        self.b.ins().brif(other, general, &[], special, &[]);
        self.b.seal_block(special);
        self.b.seal_block(general);
        (special, general)
    }

    /// Makes the compared values constants; the builder stands in the specialized block.
    pub(super) fn define_values(&mut self) {
        for (parameter, value) in self.specialized.clone() {
            let (variable, ty) = self.frame().locals[parameter as usize];
            let value = if ty == types::I32 { i64::from(value as u32) } else { value as i64 };
            let constant = self.b.ins().iconst(ty, value);
            self.b.def_var(variable, constant);
        }
        self.constants = true;
        self.folding = self.input.entrance == Entrance::Body;
    }

    /// The same in the preheader of the loop that the code is entered at. In front of it nothing is folded: what the locals hold there is
    /// not what they held when the code that ran before came this way.
    pub(super) fn define_values_at_entered_loop(&mut self) {
        if !self.specialized.is_empty() {
            self.define_values();
            self.folding = true;
        }
    }

    /// Forgets what the translation of the specialized body left, and goes on in the general one.
    pub(super) fn begin_again(&mut self, general: Block) {
        self.stack.clear();
        self.control.clear();
        self.specialized.clear();
        self.facts.clear();
        self.reachable = true;
        self.folding = false;
        self.loop_context = None;
        self.forget_context();
        self.inlined_bytes = 0;
        self.general = Some(general);
        self.enter(general);
    }
}
