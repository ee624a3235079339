//! A loop around a `br_table`, as interpreters have it.

use wasm_encoder::{BlockType, Instruction as I};

use super::Writer;

/// Ways of the switch, at most.
const MOST_WAYS: u64 = 5;

impl Writer<'_> {
    /// Operations in a row: a loop whose header reads the next one, and a way for each. What reads stands mostly alone between the header and the `br_table`.
    pub(super) fn interpreter(&mut self, depth: u32) {
        let counter = self.counters + self.loops;
        let ways = 2 + self.random.below(MOST_WAYS - 1) as u32;
        let rounds = 1 + self.random.below(40) as i32;
        self.op(I::I32Const(rounds));
        self.op(I::LocalSet(counter));
        // Out, the loop, where ways meet, and the ways.
        self.op(I::Block(BlockType::Empty));
        self.labels.push(true);
        self.op(I::Loop(BlockType::Empty));
        self.labels.push(true);
        self.loops += 1;
        for _ in 0..=ways {
            self.op(I::Block(BlockType::Empty));
            self.labels.push(true);
        }
        for instruction in [I::LocalGet(counter), I::I32Const(1), I::I32Sub, I::LocalTee(counter), I::I32Eqz, I::BrIf(ways + 2)] {
            self.op(instruction);
        }
        self.operation(counter, depth);
        // Each way, where they meet, the loop or out.
        let targets: Vec<u32> = (0..8)
            .map(|nth| match self.random.below(16) {
                0 => ways + self.random.below(3) as u32,
                _ => nth % ways,
            })
            .collect();
        self.op(I::BrTable(targets.into(), ways - 1));
        for way in 0..ways {
            self.labels.pop();
            self.op(I::End);
            // Not the header: what reads is to be nothing but a few values.
            self.fuel();
            for _ in 0..1 + self.random.below(3) {
                self.statement(depth);
            }
            let meet = ways - way - 1;
            if self.random.once_in(4) {
                // Left on the operand stack, where a branch leaves it behind.
                self.op(I::I32Const(7));
                let to = meet + self.random.below(2) as u32;
                self.op(I::Br(to));
                continue;
            }
            match self.random.below(4) {
                0 => {}
                1 => self.op(I::Br(meet + 1)),
                _ => self.op(I::Br(meet)),
            }
        }
        self.labels.pop();
        self.op(I::End);
        if self.random.once_in(2) {
            self.statement(depth);
        }
        self.op(I::Br(0));
        self.loops -= 1;
        self.labels.pop();
        self.op(I::End);
        self.labels.pop();
        self.op(I::End);
    }

    /// Which operation is next, 0 to 7: by the round, from memory, or by whatever.
    fn operation(&mut self, counter: u32, depth: u32) {
        match self.random.below(4) {
            0 => self.expression(wasm_encoder::ValType::I32, depth),
            1 => self.op(I::LocalGet(counter)),
            _ => {
                let mask = (1 << self.random.below(8)) - 1;
                for instruction in [I::LocalGet(counter), I::I32Const(mask), I::I32And] {
                    self.op(instruction);
                }
                let place = self.place(0);
                self.op(I::I32Load8U(place));
            }
        }
        for instruction in [I::I32Const(7), I::I32And] {
            self.op(instruction);
        }
    }
}
