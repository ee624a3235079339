//! Calls, and how a recursion ends.

use wasm_encoder::{BlockType, Instruction as I, ValType};

use super::Writer;
use ValType::{I32, I64};

impl Writer<'_> {
    pub(super) fn arguments(&mut self, ty: u32, depth: u32) {
        for param in self.plan.signatures[ty as usize].0.clone() {
            self.expression(param, depth);
            self.canonical(param);
        }
    }

    /// A table index: mostly one that the loop's counter or the arguments decide, sometimes always the same.
    pub(super) fn table_index(&mut self, depth: u32) {
        if self.loops > 0 && self.random.once_in(2) {
            let counter = self.open_counter();
            self.op(I::LocalGet(counter));
            if self.random.once_in(2) {
                self.op(I::I32Const(2));
                self.op(I::I32ShrU);
            }
        } else if self.random.once_in(2) {
            self.constant(I32);
        } else {
            self.expression(I32, depth);
        }
        if !self.random.once_in(400) {
            self.op(I::I32Const(self.plan.table as i32 - 1));
            self.op(I::I32And);
        }
    }

    /// A call of something with a type, direct or through the table.
    pub(super) fn call_of(&mut self, ty: u32, depth: u32) {
        // Mostly downwards, so that calls do not multiply; recursion now and then.
        let lowest = if self.random.once_in(12) { 0 } else { self.index + 1 };
        let direct: Vec<u32> = (0..self.plan.imported)
            .chain(lowest.max(self.plan.imported)..self.plan.functions.len() as u32)
            .filter(|&function| self.plan.functions[function as usize] == ty)
            .collect();
        self.arguments(ty, depth);
        if self.returns_early && self.plan.functions[self.index as usize] == ty && self.random.once_in(2) {
            self.op(I::Call(self.index));
            return;
        }
        // Entries of another type trap.
        let indirect = if ty == self.liked { self.random.once_in(2) } else { self.random.once_in(100) };
        if direct.is_empty() && ty != self.liked && !indirect {
            for param in self.plan.signatures[ty as usize].0.iter().rev() {
                let scratch = self.scratch.iter().find(|(other, _)| other == param).map_or(0, |(_, local)| *local);
                self.f.instruction(&I::LocalSet(scratch));
            }
            for result in self.plan.signatures[ty as usize].1.clone() {
                self.constant(result);
            }
        } else if direct.is_empty() || indirect {
            self.table_index(depth);
            self.op(I::CallIndirect { type_index: ty, table_index: 0 });
        } else {
            let function = *self.random.of(&direct);
            self.op(I::Call(function));
        }
    }

    /// A tail call of a function with our results; false where no type fits.
    pub(super) fn tail_call(&mut self) -> bool {
        let mut fitting: Vec<u32> = (0..self.plan.functions.len() as u32)
            .filter(|&f| self.plan.signatures[self.plan.functions[f as usize] as usize].1 == self.results)
            .collect();
        // Imports are first.
        let imported = fitting.partition_point(|&f| f < self.plan.imported);
        if imported != 0 && self.plan.partner.is_some() && self.random.once_in(2) {
            fitting.truncate(imported);
        }
        if fitting.is_empty() {
            return false;
        }
        let function = *self.random.of(&fitting);
        let ty = self.plan.functions[function as usize];
        self.arguments(ty, 2);
        if self.random.once_in(2) {
            self.table_index(1);
            self.op(I::ReturnCallIndirect { type_index: ty, table_index: 0 });
        } else {
            self.op(I::ReturnCall(function));
        }
        true
    }

    /// The type to call: mostly the one that the table's entries have.
    pub(super) fn callable(&mut self) -> u32 {
        if self.random.once_in(3) { self.random.below(self.plan.signatures.len() as u64) as u32 } else { self.liked }
    }

    /// What may stand at a function's beginning: a test behind which it returns, before it takes fuel, as a recursion ends.
    pub(super) fn early_return(&mut self) {
        // What stands here calls nothing: no fuel was taken yet.
        let leaf = std::mem::replace(&mut self.leaf, true);
        self.test_and_return();
        self.leaf = leaf;
    }

    fn test_and_return(&mut self) {
        // A comparison, so that both ways are taken.
        self.expression(I32, 1);
        match self.random.below(3) {
            0 => {
                self.constant(I32);
                self.op(I::I32LtU);
            }
            1 => {
                self.op(I::I32Const(3));
                self.op(I::I32And);
            }
            _ => {}
        }
        match self.random.below(4) {
            0 => {
                self.op(I::If(BlockType::Empty));
                self.simple_results();
                self.op(I::Return);
                self.op(I::End);
            }
            1 => {
                // The way out falls through.
                let test = self.scratch[0].1;
                self.op(I::LocalSet(test));
                self.op(I::Block(BlockType::Empty));
                self.op(I::LocalGet(test));
                self.op(I::BrIf(0));
                self.simple_results();
                self.op(I::Return);
                self.op(I::End);
            }
            2 => {
                // A branch out of the body with the results, and something below them.
                let test = self.scratch[0].1;
                self.op(I::LocalSet(test));
                self.constant(I64);
                self.simple_results();
                self.op(I::LocalGet(test));
                self.op(I::BrIf(0));
                for _ in 0..self.results.len() + 1 {
                    self.op(I::Drop);
                }
            }
            _ => {
                self.op(I::If(BlockType::Empty));
                self.op(I::Else);
                self.simple_results();
                self.op(I::Br(1));
                self.op(I::End);
            }
        }
    }

    fn simple_results(&mut self) {
        for ty in self.results.clone() {
            self.expression(ty, 1);
        }
    }
}
