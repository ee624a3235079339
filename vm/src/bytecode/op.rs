//! The operator table: one line an op gives its enum variant, the name of its body in `crate::interp::ops`, its mnemonic and its operands.
//!
//! An op is 16 bytes: a 16-bit tag and up to 14 bytes of operands, whole; what needs more continues in an [`Op::Operand`]. Since the enum *is* the
//! encoding, encoder and decoder cannot drift apart. The interpreter's dispatch tables come from the same table.

use crate::vector::{Binary, Extract, LanePlace, Load, Reduce, Shift, Splat, Ternary, Unary};
use std::fmt;

/// A frame slot: index of 8 bytes from the frame's first local.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Slot(pub u32);

/// A jump's distance in ops, from the op that jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Target(pub i32);

/// Calls a macro with the whole table: `Variant body "mnemonic" { operand: Type, … }`.
macro_rules! for_each_op {
    ($callback:ident) => {
        $callback! {
            // Control. Targets are relative to the op itself; those that lie behind are loop headers. `own`: index among the defined functions.
            Unreachable unreachable "unreachable" {}
            LoopHeader loop_header "loop" { offset: u32, own: u32 }
            // At the beginning of a block of so many operators, where instructions are counted.
            Count count_operators "count" { operators: u32 }
            // Of the watched form, by the number of its probe ([`crate::burst`]). `what` of a slot: see `crate::interp::CONDITION`. A mark tells the activation; a loop's round
            // stands behind its header. Calls go to the callee's watched form while a burst is under way.
            Probe probe "probe" { what: u16, number: u32, slot: Slot }
            ProbeCall probe_call "probe.callee" { table: u16, number: u32, slot: Slot }
            ProbeMark probe_mark "probe.mark" { number: u32 }
            WatchedLoop watched_loop "probe.loop" { offset: u32, number: u32 }
            WatchedReturn watched_return "probe.return" { number: u32 }
            WatchedCall watched_call "probe.call" { function: u32, base: Slot }
            WatchedCallIndirect watched_call_indirect "probe.call_indirect" { table: u16, signature: u32, callee: Slot, base: Slot }
            Jump jump "jump" { target: Target }
            BrTable br_table "br_table" { index: Slot, count: u32 }
            Return return_none "return" {}
            ReturnOne return_one "return" { src: Slot }
            ReturnConst return_constant "return" { value: u64 }
            ReturnMany return_many "return" { from: Slot, count: u32 }
            Call call "call" { function: u32, base: Slot }
            CallImport call_import "call.import" { function: u32, base: Slot, place: i32 }
            CallIndirect call_indirect "call_indirect" { table: u16, signature: u32, callee: Slot, base: Slot }
            CallRef call_ref "call_ref" { callee: Slot, base: Slot }
            // Calls in place of the running frame; `params`: slots of the arguments, which lie from `base`.
            ReturnCall return_call "return_call" { function: u32, base: Slot }
            ReturnCallImport return_call_import "return_call.import" { params: u16, base: Slot, place: i32 }
            ReturnCallIndirect return_call_indirect "return_call_indirect" { table: u16, signature: u32, callee: Slot, base: Slot }
            ReturnCallRef return_call_ref "return_call_ref" { callee: Slot, base: Slot }
            // The values from `base`; a thrown object.
            Throw throw "throw" { tag: u32, base: Slot }
            ThrowRef throw_ref "throw_ref" { src: Slot }
            RefAsNonNull ref_as_non_null "ref.as_non_null" { src: Slot }
            // One of `crate::interp::rare`, by its number: operands in consecutive slots from `base`, where the result goes too; the `Immediate` behind it is part of it.
            Rare rare "rare" { what: u16, base: Slot, index: u32 }
            // Moves. `Select` takes its condition from the `Operand` behind it.
            Copy copy "copy" { dst: Slot, src: Slot }
            CopyTwo copy_two "copy2" { to: Slot, a: Slot, b: Slot }
            CopyMany copy_many "copy.many" { to: Slot, from: Slot, count: u32 }
            Const constant "const" { dst: Slot, value: u64 }
            Select select "select" { dst: Slot, a: Slot, b: Slot }
            Operand operand ".." { slot: Slot }
            // Globals, at a byte offset from the context: the value itself, or (imported) a pointer to it.
            GlobalGet global_get "global.get" { dst: Slot, place: i32 }
            GlobalGetImported global_get_imported "global.get.imported" { dst: Slot, place: i32 }
            GlobalSet global_set "global.set" { src: Slot, place: i32 }
            GlobalSetImported global_set_imported "global.set.imported" { src: Slot, place: i32 }
            RefFunc ref_func "ref.func" { dst: Slot, place: i32 }
            RefFuncImported ref_func_imported "ref.func.imported" { dst: Slot, place: i32 }
            // Tables and bulk memory. Operands lie in consecutive slots from `base`.
            TableGet table_get "table.get" { dst: Slot, index: Slot, table: u32 }
            TableSet table_set "table.set" { table: u32, index: Slot, value: Slot }
            TableSize table_size "table.size" { dst: Slot, table: u32 }
            TableGrow table_grow "table.grow" { base: Slot, table: u32 }
            TableFill table_fill "table.fill" { base: Slot, table: u32 }
            TableCopy table_copy "table.copy" { base: Slot, to: u32, from: u32 }
            TableInit table_init "table.init" { base: Slot, table: u32, segment: u32 }
            ElemDrop elem_drop "elem.drop" { segment: u32 }
            MemorySize memory_size "memory.size" { dst: Slot, memory: u32 }
            MemoryGrow memory_grow "memory.grow" { dst: Slot, delta: Slot, memory: u32 }
            MemoryCopy memory_copy "memory.copy" { base: Slot, to: u32, from: u32 }
            MemoryFill memory_fill "memory.fill" { base: Slot, memory: u32 }
            MemoryInit memory_init "memory.init" { base: Slot, memory: u32, segment: u32 }
            DataDrop data_drop "data.drop" { segment: u32 }
            // Loads and stores of memory 0. `...At`: at a constant address, which includes the offset.
            Load8U load8_u "load8_u" { dst: Slot, address: Slot, offset: u32 }
            Load16U load16_u "load16_u" { dst: Slot, address: Slot, offset: u32 }
            Load32 load32 "load32" { dst: Slot, address: Slot, offset: u32 }
            Load64 load64 "load64" { dst: Slot, address: Slot, offset: u32 }
            I32Load8S i32_load8_s "i32.load8_s" { dst: Slot, address: Slot, offset: u32 }
            I32Load16S i32_load16_s "i32.load16_s" { dst: Slot, address: Slot, offset: u32 }
            I64Load8S i64_load8_s "i64.load8_s" { dst: Slot, address: Slot, offset: u32 }
            I64Load16S i64_load16_s "i64.load16_s" { dst: Slot, address: Slot, offset: u32 }
            I64Load32S i64_load32_s "i64.load32_s" { dst: Slot, address: Slot, offset: u32 }
            Load8UAt load8_u_at "load8_u.at" { dst: Slot, address: u64 }
            Load16UAt load16_u_at "load16_u.at" { dst: Slot, address: u64 }
            Load32At load32_at "load32.at" { dst: Slot, address: u64 }
            Load64At load64_at "load64.at" { dst: Slot, address: u64 }
            I32Load8SAt i32_load8_s_at "i32.load8_s.at" { dst: Slot, address: u64 }
            I32Load16SAt i32_load16_s_at "i32.load16_s.at" { dst: Slot, address: u64 }
            I64Load8SAt i64_load8_s_at "i64.load8_s.at" { dst: Slot, address: u64 }
            I64Load16SAt i64_load16_s_at "i64.load16_s.at" { dst: Slot, address: u64 }
            I64Load32SAt i64_load32_s_at "i64.load32_s.at" { dst: Slot, address: u64 }
            Store8 store8 "store8" { address: Slot, value: Slot, offset: u32 }
            Store16 store16 "store16" { address: Slot, value: Slot, offset: u32 }
            Store32 store32 "store32" { address: Slot, value: Slot, offset: u32 }
            Store64 store64 "store64" { address: Slot, value: Slot, offset: u32 }
            Store8At store8_at "store8.at" { value: Slot, address: u64 }
            Store16At store16_at "store16.at" { value: Slot, address: u64 }
            Store32At store32_at "store32.at" { value: Slot, address: u64 }
            Store64At store64_at "store64.at" { value: Slot, address: u64 }
            Store8Imm store8_imm "store8.imm" { address: Slot, value: i32, offset: u32 }
            Store16Imm store16_imm "store16.imm" { address: Slot, value: i32, offset: u32 }
            Store32Imm store32_imm "store32.imm" { address: Slot, value: i32, offset: u32 }
            Store64Imm store64_imm "store64.imm" { address: Slot, value: i32, offset: u32 }
            // Several ops in one. `scaled`: offset * 8 + shift, for the address a + (b << shift) + offset. `add`: added to `a` in place before the jump.
            Load8UIndexed load8_u_indexed "load8_u.indexed" { scaled: u16, dst: Slot, a: Slot, b: Slot }
            Load16UIndexed load16_u_indexed "load16_u.indexed" { scaled: u16, dst: Slot, a: Slot, b: Slot }
            Load32Indexed load32_indexed "load32.indexed" { scaled: u16, dst: Slot, a: Slot, b: Slot }
            Load64Indexed load64_indexed "load64.indexed" { scaled: u16, dst: Slot, a: Slot, b: Slot }
            I32Load8SIndexed i32_load8_s_indexed "i32.load8_s.indexed" { scaled: u16, dst: Slot, a: Slot, b: Slot }
            I32Load16SIndexed i32_load16_s_indexed "i32.load16_s.indexed" { scaled: u16, dst: Slot, a: Slot, b: Slot }
            I64Load8SIndexed i64_load8_s_indexed "i64.load8_s.indexed" { scaled: u16, dst: Slot, a: Slot, b: Slot }
            I64Load16SIndexed i64_load16_s_indexed "i64.load16_s.indexed" { scaled: u16, dst: Slot, a: Slot, b: Slot }
            I64Load32SIndexed i64_load32_s_indexed "i64.load32_s.indexed" { scaled: u16, dst: Slot, a: Slot, b: Slot }
            Store8Indexed store8_indexed "store8.indexed" { scaled: u16, a: Slot, b: Slot, value: Slot }
            Store16Indexed store16_indexed "store16.indexed" { scaled: u16, a: Slot, b: Slot, value: Slot }
            Store32Indexed store32_indexed "store32.indexed" { scaled: u16, a: Slot, b: Slot, value: Slot }
            Store64Indexed store64_indexed "store64.indexed" { scaled: u16, a: Slot, b: Slot, value: Slot }
            I32AddShl i32_add_shl "i32.add.shl" { shift: u16, dst: Slot, a: Slot, b: Slot }
            JumpLoad32EqImm jump_load32_eq_imm "jump.load32.eq.imm" { offset: u16, address: Slot, imm: i32, target: Target }
            JumpLoad32NeImm jump_load32_ne_imm "jump.load32.ne.imm" { offset: u16, address: Slot, imm: i32, target: Target }
            JumpLoad8UEqImm jump_load8_u_eq_imm "jump.load8_u.eq.imm" { offset: u16, address: Slot, imm: i32, target: Target }
            JumpLoad8UNeImm jump_load8_u_ne_imm "jump.load8_u.ne.imm" { offset: u16, address: Slot, imm: i32, target: Target }
            AddJumpI32Ne add_jump_i32_ne "add.jump.i32.ne" { add: i16, a: Slot, b: Slot, target: Target }
            AddJumpI32LtU add_jump_i32_lt_u "add.jump.i32.lt_u" { add: i16, a: Slot, b: Slot, target: Target }
            AddJumpI32LtS add_jump_i32_lt_s "add.jump.i32.lt_s" { add: i16, a: Slot, b: Slot, target: Target }
            AddJumpI32NeImm add_jump_i32_ne_imm "add.jump.i32.ne.imm" { add: i16, a: Slot, imm: i32, target: Target }
            // i32: arithmetic; `imm` is sign-extended to the type.
            I32Add i32_add "i32.add" { dst: Slot, a: Slot, b: Slot }
            I32Sub i32_sub "i32.sub" { dst: Slot, a: Slot, b: Slot }
            I32Mul i32_mul "i32.mul" { dst: Slot, a: Slot, b: Slot }
            I32DivS i32_div_s "i32.div_s" { dst: Slot, a: Slot, b: Slot }
            I32DivU i32_div_u "i32.div_u" { dst: Slot, a: Slot, b: Slot }
            I32RemS i32_rem_s "i32.rem_s" { dst: Slot, a: Slot, b: Slot }
            I32RemU i32_rem_u "i32.rem_u" { dst: Slot, a: Slot, b: Slot }
            I32And i32_and "i32.and" { dst: Slot, a: Slot, b: Slot }
            I32Or i32_or "i32.or" { dst: Slot, a: Slot, b: Slot }
            I32Xor i32_xor "i32.xor" { dst: Slot, a: Slot, b: Slot }
            I32Shl i32_shl "i32.shl" { dst: Slot, a: Slot, b: Slot }
            I32ShrS i32_shr_s "i32.shr_s" { dst: Slot, a: Slot, b: Slot }
            I32ShrU i32_shr_u "i32.shr_u" { dst: Slot, a: Slot, b: Slot }
            I32Rotl i32_rotl "i32.rotl" { dst: Slot, a: Slot, b: Slot }
            I32Rotr i32_rotr "i32.rotr" { dst: Slot, a: Slot, b: Slot }
            I32AddImm i32_add_imm "i32.add.imm" { dst: Slot, a: Slot, imm: i32 }
            I32MulImm i32_mul_imm "i32.mul.imm" { dst: Slot, a: Slot, imm: i32 }
            I32DivSImm i32_div_s_imm "i32.div_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I32DivUImm i32_div_u_imm "i32.div_u.imm" { dst: Slot, a: Slot, imm: i32 }
            I32RemSImm i32_rem_s_imm "i32.rem_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I32RemUImm i32_rem_u_imm "i32.rem_u.imm" { dst: Slot, a: Slot, imm: i32 }
            I32AndImm i32_and_imm "i32.and.imm" { dst: Slot, a: Slot, imm: i32 }
            I32OrImm i32_or_imm "i32.or.imm" { dst: Slot, a: Slot, imm: i32 }
            I32XorImm i32_xor_imm "i32.xor.imm" { dst: Slot, a: Slot, imm: i32 }
            I32ShlImm i32_shl_imm "i32.shl.imm" { dst: Slot, a: Slot, imm: i32 }
            I32ShrSImm i32_shr_s_imm "i32.shr_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I32ShrUImm i32_shr_u_imm "i32.shr_u.imm" { dst: Slot, a: Slot, imm: i32 }
            I32RotlImm i32_rotl_imm "i32.rotl.imm" { dst: Slot, a: Slot, imm: i32 }
            I32Clz i32_clz "i32.clz" { dst: Slot, a: Slot }
            I32Ctz i32_ctz "i32.ctz" { dst: Slot, a: Slot }
            I32Popcnt i32_popcnt "i32.popcnt" { dst: Slot, a: Slot }
            I32Extend8S i32_extend8_s "i32.extend8_s" { dst: Slot, a: Slot }
            I32Extend16S i32_extend16_s "i32.extend16_s" { dst: Slot, a: Slot }
            // i32: comparisons, to a value or as a jump.
            I32Eq i32_eq "i32.eq" { dst: Slot, a: Slot, b: Slot }
            I32Ne i32_ne "i32.ne" { dst: Slot, a: Slot, b: Slot }
            I32LtS i32_lt_s "i32.lt_s" { dst: Slot, a: Slot, b: Slot }
            I32LtU i32_lt_u "i32.lt_u" { dst: Slot, a: Slot, b: Slot }
            I32LeS i32_le_s "i32.le_s" { dst: Slot, a: Slot, b: Slot }
            I32LeU i32_le_u "i32.le_u" { dst: Slot, a: Slot, b: Slot }
            I32EqImm i32_eq_imm "i32.eq.imm" { dst: Slot, a: Slot, imm: i32 }
            I32NeImm i32_ne_imm "i32.ne.imm" { dst: Slot, a: Slot, imm: i32 }
            I32LtSImm i32_lt_s_imm "i32.lt_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I32LtUImm i32_lt_u_imm "i32.lt_u.imm" { dst: Slot, a: Slot, imm: i32 }
            I32LeSImm i32_le_s_imm "i32.le_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I32LeUImm i32_le_u_imm "i32.le_u.imm" { dst: Slot, a: Slot, imm: i32 }
            I32GtSImm i32_gt_s_imm "i32.gt_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I32GtUImm i32_gt_u_imm "i32.gt_u.imm" { dst: Slot, a: Slot, imm: i32 }
            I32GeSImm i32_ge_s_imm "i32.ge_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I32GeUImm i32_ge_u_imm "i32.ge_u.imm" { dst: Slot, a: Slot, imm: i32 }
            JumpI32Eq jump_i32_eq "jump.i32.eq" { a: Slot, b: Slot, target: Target }
            JumpI32Ne jump_i32_ne "jump.i32.ne" { a: Slot, b: Slot, target: Target }
            JumpI32LtS jump_i32_lt_s "jump.i32.lt_s" { a: Slot, b: Slot, target: Target }
            JumpI32LtU jump_i32_lt_u "jump.i32.lt_u" { a: Slot, b: Slot, target: Target }
            JumpI32LeS jump_i32_le_s "jump.i32.le_s" { a: Slot, b: Slot, target: Target }
            JumpI32LeU jump_i32_le_u "jump.i32.le_u" { a: Slot, b: Slot, target: Target }
            JumpI32EqImm jump_i32_eq_imm "jump.i32.eq.imm" { a: Slot, imm: i32, target: Target }
            JumpI32NeImm jump_i32_ne_imm "jump.i32.ne.imm" { a: Slot, imm: i32, target: Target }
            JumpI32LtSImm jump_i32_lt_s_imm "jump.i32.lt_s.imm" { a: Slot, imm: i32, target: Target }
            JumpI32LtUImm jump_i32_lt_u_imm "jump.i32.lt_u.imm" { a: Slot, imm: i32, target: Target }
            JumpI32LeSImm jump_i32_le_s_imm "jump.i32.le_s.imm" { a: Slot, imm: i32, target: Target }
            JumpI32LeUImm jump_i32_le_u_imm "jump.i32.le_u.imm" { a: Slot, imm: i32, target: Target }
            JumpI32GtSImm jump_i32_gt_s_imm "jump.i32.gt_s.imm" { a: Slot, imm: i32, target: Target }
            JumpI32GtUImm jump_i32_gt_u_imm "jump.i32.gt_u.imm" { a: Slot, imm: i32, target: Target }
            JumpI32GeSImm jump_i32_ge_s_imm "jump.i32.ge_s.imm" { a: Slot, imm: i32, target: Target }
            JumpI32GeUImm jump_i32_ge_u_imm "jump.i32.ge_u.imm" { a: Slot, imm: i32, target: Target }
            JumpI32And jump_i32_and "jump.i32.and" { a: Slot, b: Slot, target: Target }
            JumpI32AndImm jump_i32_and_imm "jump.i32.and.imm" { a: Slot, imm: i32, target: Target }
            JumpI32Nand jump_i32_nand "jump.i32.nand" { a: Slot, b: Slot, target: Target }
            JumpI32NandImm jump_i32_nand_imm "jump.i32.nand.imm" { a: Slot, imm: i32, target: Target }
            // i64: arithmetic; `imm` is sign-extended to the type.
            I64Add i64_add "i64.add" { dst: Slot, a: Slot, b: Slot }
            I64Sub i64_sub "i64.sub" { dst: Slot, a: Slot, b: Slot }
            I64Mul i64_mul "i64.mul" { dst: Slot, a: Slot, b: Slot }
            I64DivS i64_div_s "i64.div_s" { dst: Slot, a: Slot, b: Slot }
            I64DivU i64_div_u "i64.div_u" { dst: Slot, a: Slot, b: Slot }
            I64RemS i64_rem_s "i64.rem_s" { dst: Slot, a: Slot, b: Slot }
            I64RemU i64_rem_u "i64.rem_u" { dst: Slot, a: Slot, b: Slot }
            I64And i64_and "i64.and" { dst: Slot, a: Slot, b: Slot }
            I64Or i64_or "i64.or" { dst: Slot, a: Slot, b: Slot }
            I64Xor i64_xor "i64.xor" { dst: Slot, a: Slot, b: Slot }
            I64Shl i64_shl "i64.shl" { dst: Slot, a: Slot, b: Slot }
            I64ShrS i64_shr_s "i64.shr_s" { dst: Slot, a: Slot, b: Slot }
            I64ShrU i64_shr_u "i64.shr_u" { dst: Slot, a: Slot, b: Slot }
            I64Rotl i64_rotl "i64.rotl" { dst: Slot, a: Slot, b: Slot }
            I64Rotr i64_rotr "i64.rotr" { dst: Slot, a: Slot, b: Slot }
            I64AddImm i64_add_imm "i64.add.imm" { dst: Slot, a: Slot, imm: i32 }
            I64MulImm i64_mul_imm "i64.mul.imm" { dst: Slot, a: Slot, imm: i32 }
            I64DivSImm i64_div_s_imm "i64.div_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I64DivUImm i64_div_u_imm "i64.div_u.imm" { dst: Slot, a: Slot, imm: i32 }
            I64RemSImm i64_rem_s_imm "i64.rem_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I64RemUImm i64_rem_u_imm "i64.rem_u.imm" { dst: Slot, a: Slot, imm: i32 }
            I64AndImm i64_and_imm "i64.and.imm" { dst: Slot, a: Slot, imm: i32 }
            I64OrImm i64_or_imm "i64.or.imm" { dst: Slot, a: Slot, imm: i32 }
            I64XorImm i64_xor_imm "i64.xor.imm" { dst: Slot, a: Slot, imm: i32 }
            I64ShlImm i64_shl_imm "i64.shl.imm" { dst: Slot, a: Slot, imm: i32 }
            I64ShrSImm i64_shr_s_imm "i64.shr_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I64ShrUImm i64_shr_u_imm "i64.shr_u.imm" { dst: Slot, a: Slot, imm: i32 }
            I64RotlImm i64_rotl_imm "i64.rotl.imm" { dst: Slot, a: Slot, imm: i32 }
            I64Clz i64_clz "i64.clz" { dst: Slot, a: Slot }
            I64Ctz i64_ctz "i64.ctz" { dst: Slot, a: Slot }
            I64Popcnt i64_popcnt "i64.popcnt" { dst: Slot, a: Slot }
            I64Extend8S i64_extend8_s "i64.extend8_s" { dst: Slot, a: Slot }
            I64Extend16S i64_extend16_s "i64.extend16_s" { dst: Slot, a: Slot }
            I64Extend32S i64_extend32_s "i64.extend32_s" { dst: Slot, a: Slot }
            // i64: comparisons, to a value or as a jump.
            I64Eq i64_eq "i64.eq" { dst: Slot, a: Slot, b: Slot }
            I64Ne i64_ne "i64.ne" { dst: Slot, a: Slot, b: Slot }
            I64LtS i64_lt_s "i64.lt_s" { dst: Slot, a: Slot, b: Slot }
            I64LtU i64_lt_u "i64.lt_u" { dst: Slot, a: Slot, b: Slot }
            I64LeS i64_le_s "i64.le_s" { dst: Slot, a: Slot, b: Slot }
            I64LeU i64_le_u "i64.le_u" { dst: Slot, a: Slot, b: Slot }
            I64EqImm i64_eq_imm "i64.eq.imm" { dst: Slot, a: Slot, imm: i32 }
            I64NeImm i64_ne_imm "i64.ne.imm" { dst: Slot, a: Slot, imm: i32 }
            I64LtSImm i64_lt_s_imm "i64.lt_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I64LtUImm i64_lt_u_imm "i64.lt_u.imm" { dst: Slot, a: Slot, imm: i32 }
            I64LeSImm i64_le_s_imm "i64.le_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I64LeUImm i64_le_u_imm "i64.le_u.imm" { dst: Slot, a: Slot, imm: i32 }
            I64GtSImm i64_gt_s_imm "i64.gt_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I64GtUImm i64_gt_u_imm "i64.gt_u.imm" { dst: Slot, a: Slot, imm: i32 }
            I64GeSImm i64_ge_s_imm "i64.ge_s.imm" { dst: Slot, a: Slot, imm: i32 }
            I64GeUImm i64_ge_u_imm "i64.ge_u.imm" { dst: Slot, a: Slot, imm: i32 }
            JumpI64Eq jump_i64_eq "jump.i64.eq" { a: Slot, b: Slot, target: Target }
            JumpI64Ne jump_i64_ne "jump.i64.ne" { a: Slot, b: Slot, target: Target }
            JumpI64LtS jump_i64_lt_s "jump.i64.lt_s" { a: Slot, b: Slot, target: Target }
            JumpI64LtU jump_i64_lt_u "jump.i64.lt_u" { a: Slot, b: Slot, target: Target }
            JumpI64LeS jump_i64_le_s "jump.i64.le_s" { a: Slot, b: Slot, target: Target }
            JumpI64LeU jump_i64_le_u "jump.i64.le_u" { a: Slot, b: Slot, target: Target }
            JumpI64EqImm jump_i64_eq_imm "jump.i64.eq.imm" { a: Slot, imm: i32, target: Target }
            JumpI64NeImm jump_i64_ne_imm "jump.i64.ne.imm" { a: Slot, imm: i32, target: Target }
            JumpI64LtSImm jump_i64_lt_s_imm "jump.i64.lt_s.imm" { a: Slot, imm: i32, target: Target }
            JumpI64LtUImm jump_i64_lt_u_imm "jump.i64.lt_u.imm" { a: Slot, imm: i32, target: Target }
            JumpI64LeSImm jump_i64_le_s_imm "jump.i64.le_s.imm" { a: Slot, imm: i32, target: Target }
            JumpI64LeUImm jump_i64_le_u_imm "jump.i64.le_u.imm" { a: Slot, imm: i32, target: Target }
            JumpI64GtSImm jump_i64_gt_s_imm "jump.i64.gt_s.imm" { a: Slot, imm: i32, target: Target }
            JumpI64GtUImm jump_i64_gt_u_imm "jump.i64.gt_u.imm" { a: Slot, imm: i32, target: Target }
            JumpI64GeSImm jump_i64_ge_s_imm "jump.i64.ge_s.imm" { a: Slot, imm: i32, target: Target }
            JumpI64GeUImm jump_i64_ge_u_imm "jump.i64.ge_u.imm" { a: Slot, imm: i32, target: Target }
            JumpI64And jump_i64_and "jump.i64.and" { a: Slot, b: Slot, target: Target }
            JumpI64AndImm jump_i64_and_imm "jump.i64.and.imm" { a: Slot, imm: i32, target: Target }
            JumpI64Nand jump_i64_nand "jump.i64.nand" { a: Slot, b: Slot, target: Target }
            JumpI64NandImm jump_i64_nand_imm "jump.i64.nand.imm" { a: Slot, imm: i32, target: Target }
            // f32.
            F32Add f32_add "f32.add" { dst: Slot, a: Slot, b: Slot }
            F32Sub f32_sub "f32.sub" { dst: Slot, a: Slot, b: Slot }
            F32Mul f32_mul "f32.mul" { dst: Slot, a: Slot, b: Slot }
            F32Div f32_div "f32.div" { dst: Slot, a: Slot, b: Slot }
            F32Min f32_min "f32.min" { dst: Slot, a: Slot, b: Slot }
            F32Max f32_max "f32.max" { dst: Slot, a: Slot, b: Slot }
            F32Copysign f32_copysign "f32.copysign" { dst: Slot, a: Slot, b: Slot }
            F32Abs f32_abs "f32.abs" { dst: Slot, a: Slot }
            F32Neg f32_neg "f32.neg" { dst: Slot, a: Slot }
            F32Ceil f32_ceil "f32.ceil" { dst: Slot, a: Slot }
            F32Floor f32_floor "f32.floor" { dst: Slot, a: Slot }
            F32Trunc f32_trunc "f32.trunc" { dst: Slot, a: Slot }
            F32Nearest f32_nearest "f32.nearest" { dst: Slot, a: Slot }
            F32Sqrt f32_sqrt "f32.sqrt" { dst: Slot, a: Slot }
            F32Eq f32_eq "f32.eq" { dst: Slot, a: Slot, b: Slot }
            F32Ne f32_ne "f32.ne" { dst: Slot, a: Slot, b: Slot }
            F32Lt f32_lt "f32.lt" { dst: Slot, a: Slot, b: Slot }
            F32Le f32_le "f32.le" { dst: Slot, a: Slot, b: Slot }
            JumpF32Eq jump_f32_eq "jump.f32.eq" { a: Slot, b: Slot, target: Target }
            JumpF32Ne jump_f32_ne "jump.f32.ne" { a: Slot, b: Slot, target: Target }
            JumpF32Lt jump_f32_lt "jump.f32.lt" { a: Slot, b: Slot, target: Target }
            JumpF32NotLt jump_f32_not_lt "jump.f32.not_lt" { a: Slot, b: Slot, target: Target }
            JumpF32Le jump_f32_le "jump.f32.le" { a: Slot, b: Slot, target: Target }
            JumpF32NotLe jump_f32_not_le "jump.f32.not_le" { a: Slot, b: Slot, target: Target }
            // f64.
            F64Add f64_add "f64.add" { dst: Slot, a: Slot, b: Slot }
            F64Sub f64_sub "f64.sub" { dst: Slot, a: Slot, b: Slot }
            F64Mul f64_mul "f64.mul" { dst: Slot, a: Slot, b: Slot }
            F64Div f64_div "f64.div" { dst: Slot, a: Slot, b: Slot }
            F64Min f64_min "f64.min" { dst: Slot, a: Slot, b: Slot }
            F64Max f64_max "f64.max" { dst: Slot, a: Slot, b: Slot }
            F64Copysign f64_copysign "f64.copysign" { dst: Slot, a: Slot, b: Slot }
            F64Abs f64_abs "f64.abs" { dst: Slot, a: Slot }
            F64Neg f64_neg "f64.neg" { dst: Slot, a: Slot }
            F64Ceil f64_ceil "f64.ceil" { dst: Slot, a: Slot }
            F64Floor f64_floor "f64.floor" { dst: Slot, a: Slot }
            F64Trunc f64_trunc "f64.trunc" { dst: Slot, a: Slot }
            F64Nearest f64_nearest "f64.nearest" { dst: Slot, a: Slot }
            F64Sqrt f64_sqrt "f64.sqrt" { dst: Slot, a: Slot }
            F64Eq f64_eq "f64.eq" { dst: Slot, a: Slot, b: Slot }
            F64Ne f64_ne "f64.ne" { dst: Slot, a: Slot, b: Slot }
            F64Lt f64_lt "f64.lt" { dst: Slot, a: Slot, b: Slot }
            F64Le f64_le "f64.le" { dst: Slot, a: Slot, b: Slot }
            JumpF64Eq jump_f64_eq "jump.f64.eq" { a: Slot, b: Slot, target: Target }
            JumpF64Ne jump_f64_ne "jump.f64.ne" { a: Slot, b: Slot, target: Target }
            JumpF64Lt jump_f64_lt "jump.f64.lt" { a: Slot, b: Slot, target: Target }
            JumpF64NotLt jump_f64_not_lt "jump.f64.not_lt" { a: Slot, b: Slot, target: Target }
            JumpF64Le jump_f64_le "jump.f64.le" { a: Slot, b: Slot, target: Target }
            JumpF64NotLe jump_f64_not_le "jump.f64.not_le" { a: Slot, b: Slot, target: Target }
            // Conversions. Those that keep the bits of a slot (`i64.extend_i32_u`, reinterpretations) need no op.
            I32WrapI64 i32_wrap_i64 "i32.wrap_i64" { dst: Slot, a: Slot }
            I64ExtendI32S i64_extend_i32_s "i64.extend_i32_s" { dst: Slot, a: Slot }
            I32TruncF32S i32_trunc_f32_s "i32.trunc_f32_s" { dst: Slot, a: Slot }
            I32TruncSatF32S i32_trunc_sat_f32_s "i32.trunc_sat_f32_s" { dst: Slot, a: Slot }
            F32ConvertI32S f32_convert_i32_s "f32.convert_i32_s" { dst: Slot, a: Slot }
            I32TruncF32U i32_trunc_f32_u "i32.trunc_f32_u" { dst: Slot, a: Slot }
            I32TruncSatF32U i32_trunc_sat_f32_u "i32.trunc_sat_f32_u" { dst: Slot, a: Slot }
            F32ConvertI32U f32_convert_i32_u "f32.convert_i32_u" { dst: Slot, a: Slot }
            I32TruncF64S i32_trunc_f64_s "i32.trunc_f64_s" { dst: Slot, a: Slot }
            I32TruncSatF64S i32_trunc_sat_f64_s "i32.trunc_sat_f64_s" { dst: Slot, a: Slot }
            F64ConvertI32S f64_convert_i32_s "f64.convert_i32_s" { dst: Slot, a: Slot }
            I32TruncF64U i32_trunc_f64_u "i32.trunc_f64_u" { dst: Slot, a: Slot }
            I32TruncSatF64U i32_trunc_sat_f64_u "i32.trunc_sat_f64_u" { dst: Slot, a: Slot }
            F64ConvertI32U f64_convert_i32_u "f64.convert_i32_u" { dst: Slot, a: Slot }
            I64TruncF32S i64_trunc_f32_s "i64.trunc_f32_s" { dst: Slot, a: Slot }
            I64TruncSatF32S i64_trunc_sat_f32_s "i64.trunc_sat_f32_s" { dst: Slot, a: Slot }
            F32ConvertI64S f32_convert_i64_s "f32.convert_i64_s" { dst: Slot, a: Slot }
            I64TruncF32U i64_trunc_f32_u "i64.trunc_f32_u" { dst: Slot, a: Slot }
            I64TruncSatF32U i64_trunc_sat_f32_u "i64.trunc_sat_f32_u" { dst: Slot, a: Slot }
            F32ConvertI64U f32_convert_i64_u "f32.convert_i64_u" { dst: Slot, a: Slot }
            I64TruncF64S i64_trunc_f64_s "i64.trunc_f64_s" { dst: Slot, a: Slot }
            I64TruncSatF64S i64_trunc_sat_f64_s "i64.trunc_sat_f64_s" { dst: Slot, a: Slot }
            F64ConvertI64S f64_convert_i64_s "f64.convert_i64_s" { dst: Slot, a: Slot }
            I64TruncF64U i64_trunc_f64_u "i64.trunc_f64_u" { dst: Slot, a: Slot }
            I64TruncSatF64U i64_trunc_sat_f64_u "i64.trunc_sat_f64_u" { dst: Slot, a: Slot }
            F64ConvertI64U f64_convert_i64_u "f64.convert_i64_u" { dst: Slot, a: Slot }
            F32DemoteF64 f32_demote_f64 "f32.demote_f64" { dst: Slot, a: Slot }
            F64PromoteF32 f64_promote_f32 "f64.promote_f32" { dst: Slot, a: Slot }
            // Vectors: operands and results that are one name the first of their two slots. Of `Const`, `Shuffle`, `Ternary`, `Bitselect`, `Select` and `LoadLane` the rest
            // stands in the op behind.
            VectorConst vector_constant "v128.const" { dst: Slot, low: u64 }
            VectorShuffle vector_shuffle "v128.shuffle" { dst: Slot, a: Slot, b: Slot }
            Immediate immediate_part ".." { high: u16, low: u64 }
            VectorUnary vector_unary "v128.unary" { function: Unary, dst: Slot, a: Slot }
            // The commonest of both (`crate::vector::quick`). These and those below but ternary ones have a handler for each function.
            VectorUnaryQuick vector_unary_quick "v128.unary.quick" { function: Unary, dst: Slot, operand: Slot }
            VectorBinary vector_binary "v128.binary" { function: Binary, dst: Slot, a: Slot, b: Slot }
            VectorBinaryQuick vector_binary_quick "v128.binary.quick" { function: Binary, dst: Slot, left: Slot, right: Slot }
            VectorTernary vector_ternary "v128.ternary" { function: Ternary, dst: Slot, a: Slot, b: Slot }
            VectorBitselect vector_bitselect "v128.bitselect" { dst: Slot, a: Slot, b: Slot }
            VectorShift vector_shift "v128.shift" { function: Shift, dst: Slot, vector: Slot, by: Slot }
            VectorSplat vector_splat "v128.splat" { function: Splat, dst: Slot, scalar: Slot }
            VectorReduce vector_reduce "v128.reduce" { function: Reduce, dst: Slot, vector: Slot }
            VectorExtract vector_extract "v128.extract" { function: Extract, dst: Slot, vector: Slot, lane: u32 }
            VectorReplace vector_replace "v128.replace" { place: LanePlace, dst: Slot, a: Slot, b: Slot }
            VectorSelect vector_select "v128.select" { dst: Slot, a: Slot, b: Slot }
            VectorLoad vector_load "v128.load.part" { function: Load, dst: Slot, place: Slot, offset: u32 }
            VectorLoadWhole vector_load_whole "v128.load" { dst: Slot, address: Slot, offset: u32 }
            VectorLoadLane vector_load_lane "v128.load_lane" { place: LanePlace, dst: Slot, address: Slot, offset: u32 }
            VectorStore vector_store "v128.store" { address: Slot, value: Slot, offset: u32 }
            VectorStoreLane vector_store_lane "v128.store_lane" { place: LanePlace, address: Slot, value: Slot, offset: u32 }
            VectorGlobalGet vector_global_get "v128.global.get" { dst: Slot, place: i32 }
            VectorGlobalGetImported vector_global_get_imported "v128.global.get.imported" { dst: Slot, place: i32 }
            VectorGlobalSet vector_global_set "v128.global.set" { src: Slot, place: i32 }
            VectorGlobalSetImported vector_global_set_imported "v128.global.set.imported" { src: Slot, place: i32 }
        }
    };
}
#[allow(unused_imports)]
pub(crate) use for_each_op;

/// Picks the operand named `dst` out of a list, if it is there.
macro_rules! dst_of {
    () => { None };
    (dst $value:ident $(, $rest:ident $same:ident)*) => { Some($value) };
    ($other:ident $value:ident $(, $rest:ident $same:ident)*) => { dst_of!($($rest $same),*) };
}

/// Picks the operand named `target` out of a list, if it is there.
macro_rules! target_of {
    () => { None };
    (target $value:ident $(, $rest:ident $same:ident)*) => { Some($value) };
    ($other:ident $value:ident $(, $rest:ident $same:ident)*) => { target_of!($($rest $same),*) };
}

/// Fills in which of a list of operands are slots that the op reads one value from: the first operand has one of four names, the second one of two.
macro_rules! reads_of {
    ($reads:ident;) => {};
    ($reads:ident; a Slot $value:ident $($rest:ident)*) => { $reads[0] = Some(*$value); reads_of!($reads; $($rest)*) };
    ($reads:ident; address Slot $value:ident $($rest:ident)*) => { $reads[0] = Some(*$value); reads_of!($reads; $($rest)*) };
    ($reads:ident; src Slot $value:ident $($rest:ident)*) => { $reads[0] = Some(*$value); reads_of!($reads; $($rest)*) };
    ($reads:ident; index Slot $value:ident $($rest:ident)*) => { $reads[0] = Some(*$value); reads_of!($reads; $($rest)*) };
    ($reads:ident; b Slot $value:ident $($rest:ident)*) => { $reads[1] = Some(*$value); reads_of!($reads; $($rest)*) };
    ($reads:ident; value Slot $value:ident $($rest:ident)*) => { $reads[1] = Some(*$value); reads_of!($reads; $($rest)*) };
    ($reads:ident; $other:ident $ty:ident $value:ident $($rest:ident)*) => { reads_of!($reads; $($rest)*) };
}

/// `Option::copied`, for what may be `None` of any type.
fn copied<T: Copy>(value: Option<&T>) -> Option<T> {
    value.copied()
}

/// `str::starts_with`, for constants.
const fn begins(text: &str, with: &str) -> bool {
    let (text, with) = (text.as_bytes(), with.as_bytes());
    let mut at = 0;
    while at < with.len() {
        if at >= text.len() || text[at] != with[at] {
            return false;
        }
        at += 1;
    }
    true
}

macro_rules! define_op {
    ($($variant:ident $body:ident $text:literal { $($field:ident : $ty:ident),* })*) => {
        /// One operation of the register bytecode; see the table in this file.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(u16)]
        #[allow(missing_docs)]
        pub enum Op { $($variant { $($field: $ty),* },)* }

        /// How many kinds of op there are.
        pub const OP_COUNT: usize = [$($text),*].len();

        impl Op {
            /// The mnemonic.
            pub fn mnemonic(&self) -> &'static str {
                match self { $(Op::$variant { .. } => $text,)* }
            }

            /// Its kind's number, below [`OP_COUNT`].
            #[cfg(all(threaded_dispatch, not(debug_assertions)))]
            pub(crate) fn number(&self) -> usize {
                enum Number { $($variant),* }
                match self { $(Op::$variant { .. } => Number::$variant as usize,)* }
            }

            /// Whether it goes on elsewhere under a condition, or always.
            pub(super) fn is_jump(&self) -> bool {
                match self { $(Op::$variant { .. } => const { begins($text, "jump.") },)* }
            }

            /// The slot that receives the result, where a later move may change it.
            #[allow(unused_variables)]
            pub(super) fn dst_mut(&mut self) -> Option<&mut Slot> {
                match self { $(Op::$variant { $($field),* } => dst_of!($($field $field),*),)* }
            }

            /// The same to read.
            #[allow(unused_variables)]
            pub(super) fn dst(&self) -> Option<Slot> {
                match self { $(Op::$variant { $($field),* } => copied(dst_of!($($field $field),*)),)* }
            }

            /// The jump target.
            #[allow(unused_variables)]
            pub(super) fn target(&self) -> Option<Target> {
                match self { $(Op::$variant { $($field),* } => copied(target_of!($($field $field),*)),)* }
            }

            /// The jump target, to patch.
            #[allow(unused_variables)]
            pub(super) fn target_mut(&mut self) -> Option<&mut Target> {
                match self { $(Op::$variant { $($field),* } => target_of!($($field $field),*),)* }
            }

            /// The slots of the first and the second operand that the interpreter may take from its accumulator instead
            /// (`crate::interp::machine::Regs::first`).
            #[allow(unused_variables, unused_mut)]
            pub(super) fn reads(&self) -> [Option<Slot>; 2] {
                let mut reads = [None; 2];
                match self { $(Op::$variant { $($field),* } => { reads_of!(reads; $($field $ty $field)*); })* }
                reads
            }

            fn write_operands(&self, pc: u32, f: &mut dyn fmt::Write) -> fmt::Result {
                match self {
                    $(Op::$variant { $($field),* } => {
                        let operands: &[(&str, &dyn Operand)] = &[$((stringify!($field), $field)),*];
                        for (index, (name, operand)) in operands.iter().enumerate() {
                            f.write_str(if index == 0 { " " } else { ", " })?;
                            operand.write(name, pc, f)?;
                        }
                        Ok(())
                    })*
                }
            }
        }
    };
}
for_each_op!(define_op);

const _: () = assert!(size_of::<Op>() == 16);

/// How an operand is printed.
trait Operand {
    fn write(&self, name: &str, pc: u32, f: &mut dyn fmt::Write) -> fmt::Result;
}

impl Operand for Slot {
    fn write(&self, _: &str, _: u32, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl Operand for Target {
    fn write(&self, _: &str, pc: u32, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "->{}", pc as i64 + self.0 as i64)
    }
}

impl Operand for i32 {
    fn write(&self, _: &str, _: u32, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Operand for i16 {
    fn write(&self, _: &str, _: u32, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{self:+}")
    }
}

impl Operand for u16 {
    fn write(&self, name: &str, pc: u32, f: &mut dyn fmt::Write) -> fmt::Result {
        u32::from(*self).write(name, pc, f)
    }
}

impl Operand for u32 {
    fn write(&self, name: &str, _: u32, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{name}={self}")
    }
}

macro_rules! named_operands {
    ($($ty:ty)*) => {
        $(impl Operand for $ty {
            fn write(&self, _: &str, _: u32, f: &mut dyn fmt::Write) -> fmt::Result {
                write!(f, "{self:?}")
            }
        })*
    };
}
named_operands! { Unary Binary Ternary Shift Splat Reduce Extract Load }

impl Operand for LanePlace {
    fn write(&self, _: &str, _: u32, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{}x8[{}]", self.bytes(), self.index())
    }
}

impl Operand for u64 {
    fn write(&self, _: &str, _: u32, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "{self:#x}")
    }
}

/// An op with the pc it stands at, for printing.
pub struct At(pub u32, pub Op);

impl Op {
    /// Whether it is no op that runs, but part of the one before it.
    pub(crate) fn is_operand(&self) -> bool {
        matches!(self, Op::Operand { .. } | Op::Immediate { .. })
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.1.mnemonic())?;
        self.1.write_operands(self.0, f)
    }
}
