//! Tables and references. A reference is a 64-bit word, null is 0.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use wasmparser::Operator;

use vm::builtin::Builtin;
use vm::layout::{FunctionPlace, VmTableEntry, table, table_entry, table_ref};
use vm::trap::TrapCode;

use super::regions::Region;
use super::{Result, Translator};
use crate::traps;

/// log2 of a table entry's bytes.
const ENTRY_BITS: i64 = size_of::<VmTableEntry>().trailing_zeros() as i64;

impl Translator<'_, '_> {
    /// Translates table and reference operators; false for all others.
    pub(super) fn table_operator(&mut self, operator: &Operator<'_>) -> Result<bool> {
        match *operator {
            Operator::TableGet { table } => {
                let index = self.pop();
                let outside = self.outside_table(table, index);
                self.b.ins().trapnz(outside, traps::to_clif(TrapCode::TableOutOfBounds));
                let entry = self.table_entry_within(table, index, outside);
                let value = self.load(Region::Table(table), types::I64, entry, table_entry::reference);
                self.push(value);
            }
            Operator::TableSet { table } => {
                let [index, value] = self.pop_many();
                let index = self.wide(index);
                let table = self.iconst32(table);
                self.builtin(Builtin::TableSet, &[table, index, value]);
            }
            Operator::TableSize { table } => {
                let length = self.table_length(table);
                let length = self.as_table_index(table, length);
                self.push(length);
            }
            Operator::TableGrow { table } => {
                let [initial, delta] = self.pop_many();
                let delta = self.wide(delta);
                let number = self.iconst32(table);
                let old = self.builtin(Builtin::TableGrow, &[number, initial, delta]).expect("table.grow has a result");
                let old = self.as_table_index(table, old);
                self.push(old);
            }
            Operator::TableFill { table } => {
                let [index, value, count] = self.pop_many();
                let (index, count) = (self.wide(index), self.wide(count));
                let table = self.iconst32(table);
                self.builtin(Builtin::TableFill, &[table, index, value, count]);
            }
            Operator::TableCopy { dst_table, src_table } => {
                let [to, from, count] = self.pop_many::<3>().map(|value| self.wide(value));
                let (dst, src) = (self.iconst32(dst_table), self.iconst32(src_table));
                self.builtin(Builtin::TableCopy, &[dst, src, to, from, count]);
            }
            Operator::TableInit { elem_index, table } => {
                let [to, from, count] = self.pop_many();
                let to = self.wide(to);
                let (table, segment) = (self.iconst32(table), self.iconst32(elem_index));
                self.builtin(Builtin::TableInit, &[table, segment, to, from, count]);
            }
            Operator::ElemDrop { elem_index } => {
                let segment = self.iconst32(elem_index);
                self.builtin(Builtin::ElemDrop, &[segment]);
            }
            Operator::RefNull { .. } => {
                let null = self.address_const(0);
                self.push(null);
            }
            Operator::RefIsNull => {
                let value = self.pop();
                let null = self.address_const(0);
                let is_null = self.b.ins().icmp(IntCC::Equal, value, null);
                let is_null = self.truth(is_null);
                self.push(is_null);
            }
            Operator::RefFunc { function_index } => {
                let function = self.function_reference(function_index);
                self.push(function);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The `VmFunc` of a function of this module: its identity.
    pub(super) fn function_reference(&mut self, function: u32) -> Value {
        let context = self.invariant_context();
        match self.module.offsets().function(function) {
            FunctionPlace::Pointer(offset) => self.load_invariant(types::I64, context, offset),
            FunctionPlace::Inline(offset) => {
                let offset = self.address_const(i64::from(offset));
                self.b.ins().iadd(context, offset)
            }
        }
    }

    /// An index or size of a table, given as an i64, as the table's operators have it.
    fn as_table_index(&mut self, table: u32, value: Value) -> Value {
        if self.module.tables[table as usize].table64 { value } else { self.b.ins().ireduce(types::I32, value) }
    }

    /// Entries of a table, as an i64.
    fn table_length(&mut self, index: u32) -> Value {
        if let Some(length) = self.constant_length(index) {
            return self.address_const(i64::from(length));
        }
        let context = self.invariant_context();
        let place = self.module.offsets().table(index) + table_ref::table;
        let table = self.load_invariant(types::I64, context, place);
        self.load(Region::Lengths, types::I64, table, table::length)
    }

    /// Whether an index lies outside a table.
    pub(super) fn outside_table(&mut self, table: u32, index: Value) -> Value {
        let (index, length) = match self.constant_length(table) {
            Some(length) => (index, self.iconst32(length)),
            None => (self.wide(index), self.table_length(table)),
        };
        self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, length)
    }

    /// Entries of a table whose type leaves no choice (an import has to lie within its declared limits) and whose byte offsets fit 32
    /// bits, so that an index that was checked can be scaled as it is.
    fn constant_length(&self, table: u32) -> Option<u32> {
        let ty = &self.module.tables[table as usize];
        let length = u32::try_from(ty.initial).ok()?;
        (!ty.table64 && ty.maximum == Some(ty.initial) && length < 1 << (32 - ENTRY_BITS)).then_some(length)
    }

    /// Address of an entry behind a bounds check. An access mispredicted past that check goes to the table's first bytes (Spectre
    /// variant 1, as wasmtime's default).
    pub(super) fn table_entry_within(&mut self, table: u32, index: Value, outside: Value) -> Value {
        let base = self.table_base(table);
        let entry = self.table_entry(table, index);
        self.b.ins().select_spectre_guard(outside, base, entry)
    }

    fn table_base(&mut self, table: u32) -> Value {
        let context = self.invariant_context();
        let place = self.module.offsets().table(table) + table_ref::base;
        self.load_invariant(types::I64, context, place)
    }

    /// Address of the entry at an index that a bounds check has let through.
    pub(super) fn table_entry(&mut self, table: u32, index: Value) -> Value {
        let base = self.table_base(table);
        let bits = self.address_const(ENTRY_BITS);
        let scaled = if self.constant_length(table).is_some() {
            // 32-bit operations leave the upper half zero, so widening behind the shift is free.
            let scaled = self.b.ins().ishl(index, bits);
            self.b.ins().uextend(types::I64, scaled)
        } else {
            let index = self.wide(index);
            self.b.ins().ishl(index, bits)
        };
        self.b.ins().iadd(base, scaled)
    }
}
