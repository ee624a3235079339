//! What the tests of the interpreter, which run with templates too, and the spec suite do not show: that each instruction is what it is meant to be, which ops have
//! templates, and that these are put in place when and where they may.

use super::asm::*;
use crate::bytecode::Op;
use crate::engine::{Engine, EngineConfig, TierPolicy};
use crate::interp::tests::{Guest, trap};
use crate::trap::TrapCode;
use iced_x86::{ConditionCode, Decoder, DecoderOptions, Formatter, Mnemonic, NasmFormatter};
use std::sync::atomic::Ordering;

/// What the assembler emitted, one instruction a line.
fn decoded(emit: impl FnOnce(&mut Assembler)) -> Vec<String> {
    let mut assembler = Assembler::default();
    emit(&mut assembler);
    let mut formatter = NasmFormatter::new();
    formatter.options_mut().set_branch_leading_zeros(false);
    let lines = Decoder::with_ip(64, &assembler.code, 0, DecoderOptions::NONE).into_iter().map(|instruction| {
        assert!(!instruction.is_invalid(), "{:x?}", assembler.code);
        let mut line = String::new();
        formatter.format(&instruction, &mut line);
        line
    });
    lines.collect()
}

#[test]
fn instructions_are_what_they_are_meant_to_be() {
    let lines = decoded(|a| {
        a.memory(W32, MOV, R9, at(RSI, 8));
        a.memory(W64, MOV, R9, at(RSI, 0));
        a.memory(W64, MOV, RAX, at(R8, 0x1000));
        a.memory(W32, ADD, R9, at(RSI, -128));
        a.memory(W32, MOVZX8, R9, Memory { base: RDX, index: Some(RAX), displacement: 0 });
        a.memory(W64, MOVSX16, R9, Memory { base: RDX, index: Some(RAX), displacement: 300 });
        a.memory(W64, MOVSXD, R9, at(RSI, 16));
        a.memory(W64, LEA, R10, at(RAX, 12));
        a.memory(W64, CMP_MEMORY, R9, at(RSI, 24));
        a.memory(W32, TEST, RAX, at(RSI, 24));
        a.registers(W64, CMP, R10, RCX);
        a.registers(W32, IMUL, R9, RAX);
        a.registers(W32, MOVSX8, R9, RSI);
        a.registers(W32, MOVZX8, R9, RAX);
        a.copy(W64, RCX, R10);
        a.group_immediate(W32, GROUP_SUB, R10, 1);
        a.group_immediate(W64, GROUP_XOR, R9, i32::MIN);
        a.group_immediate_memory(W64, GROUP_CMP, at(RAX, 0), 0);
        a.group_immediate_memory(W32, GROUP_CMP, at(RSI, 8), 1000);
        a.test_immediate(W32, R9, 7);
        a.test_immediate_memory(W64, at(RSI, 8), -2);
        a.shift_immediate(W32, GROUP_SHL, RAX, 3);
        a.shift(W64, GROUP_ROR, R9);
        a.multiply_immediate(W64, R9, R9, -5);
        a.divide(W32, GROUP_IDIV, R10);
        a.divide(W64, GROUP_DIV, R10);
        a.extend_sign(W32);
        a.extend_sign(W64);
    });
    let expected = "mov r9d,[rsi+8]
        mov r9,[rsi]
        mov rax,[r8+1000h]
        add r9d,[rsi-80h]
        movzx r9d,byte [rdx+rax]
        movsx r9,word [rdx+rax+12Ch]
        movsxd r9,[rsi+10h]
        lea r10,[rax+0Ch]
        cmp [rsi+18h],r9
        test [rsi+18h],eax
        cmp r10,rcx
        imul r9d,eax
        movsx r9d,sil
        movzx r9d,al
        mov rcx,r10
        sub r10d,1
        xor r9,0FFFFFFFF80000000h
        cmp qword [rax],0
        cmp dword [rsi+8],3E8h
        test r9d,7
        test qword [rsi+8],0FFFFFFFFFFFFFFFEh
        shl eax,3
        ror r9,cl
        imul r9,0FFFFFFFFFFFFFFFBh
        idiv r10d
        div r10
        cdq
        cqo";
    assert_eq!(lines, expected.lines().map(str::trim).collect::<Vec<_>>());
}

#[test]
fn moves_jumps_and_vector_instructions_are_too() {
    let lines = decoded(|a| {
        a.constant(R9, 0);
        a.constant(RDI, 1 << 31);
        a.constant(R9, -1_i64 as u64);
        a.constant(R9, 0x1234_5678_9abc);
        a.store_constant(1, at(RDX, 5), -1);
        a.store_constant(2, at(RDX, 5), 0x1234);
        a.store_constant(4, at(RDX, 5), 7);
        a.store_constant(8, at(RDX, 5), -7);
        a.store(1, at(RDX, 5), R9);
        a.store(2, at(RDX, 5), R11);
        a.store(4, at(RSI, 1 << 20), R9);
        a.store(8, Memory { base: RDX, index: Some(RAX), displacement: 1 }, R11);
        a.set(ABOVE, RAX);
        a.set(NO_PARITY, R10);
        a.move_if(EQUAL, W64, R9, R10);
        let place = a.jump_if(LESS);
        a.fill(place, 0);
        let place = a.jump();
        a.fill(place, 0);
        a.jump_register(RAX);
        let place = a.address_ahead(R10);
        a.fill(place, 0x100);
        a.registers(W32, MOVD_TO_XMM, XMM1, R9);
        a.registers(W64, MOVD_FROM_XMM, XMM0, R9);
        a.registers(W32, two_with(0xf2, 0x58), XMM0, XMM1);
        a.memory(W32, two_with(0xf3, 0x10), XMM1, at(RSI, 8));
        a.registers(W32, two_with(0x66, 0x2e), XMM1, XMM0);
        a.registers(W64, two_with(0xf2, 0x2a), XMM0, RAX);
        a.registers(W64, two_with(0xf3, 0x2c), RAX, XMM0);
        a.registers(W32, two(0x57), XMM0, XMM0);
        a.registers(W32, ROUNDSD, XMM0, XMM0);
        a.code.push(9);
        a.registers(W64, LZCNT, R9, R9);
        a.memory(W32, POPCNT, R9, at(RSI, 8));
        a.registers(W64, two(0xba), Reg(7), R9);
        a.code.push(63);
    });
    let expected = "xor r9d,r9d
        mov edi,80000000h
        mov r9,0FFFFFFFFFFFFFFFFh
        mov r9,123456789ABCh
        mov byte [rdx+5],0FFh
        mov word [rdx+5],1234h
        mov dword [rdx+5],7
        mov qword [rdx+5],0FFFFFFFFFFFFFFF9h
        mov [rdx+5],r9b
        mov [rdx+5],r11w
        mov [rsi+100000h],r9d
        mov [rdx+rax+1],r11
        seta al
        setnp r10b
        cmove r9,r10
        jl near 0
        jmp 0
        jmp rax
        lea r10,[rel 100h]
        movd xmm1,r9d
        movq r9,xmm0
        addsd xmm0,xmm1
        movss xmm1,[rsi+8]
        ucomisd xmm1,xmm0
        cvtsi2sd xmm0,rax
        cvttss2si rax,xmm0
        xorps xmm0,xmm0
        roundsd xmm0,xmm0,9
        lzcnt r9,r9
        popcnt r9d,[rsi+8]
        btc r9,3Fh";
    assert_eq!(lines, expected.lines().map(str::trim).collect::<Vec<_>>());
}

const SUM: &str = r#"(module (memory 1) (global $g (mut i32) (i32.const 0))
    (func $one (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
    (func (export "sum") (param $n i32) (result i32) (local $s i32)
      (loop $l
        (global.set $g (i32.add (global.get $g) (i32.load (i32.and (local.get $n) (i32.const 0xfffc)))))
        (local.set $s (i32.add (local.get $s) (call $one (local.get $n))))
        (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
      (i32.add (local.get $s) (global.get $g))))"#;

fn sum(n: u32) -> u32 {
    n * (n + 1) / 2 + n
}

/// Which ops of a function lead to templates.
fn strung(guest: &Guest, function: u32) -> Vec<(Op, bool)> {
    let ops = &guest.instance.instance().code.bytecode(function).ops;
    let plain = |op: &Op| crate::interp::handler(op, 0).0.load(Ordering::Relaxed);
    let of_templates = |inst: &crate::bytecode::Inst| {
        let address = inst.handler.0.load(Ordering::Relaxed);
        address != 0 && address.abs_diff(plain(&inst.op)) > 1 << 30
    };
    ops.iter().map(|inst| (inst.op, of_templates(inst))).collect()
}

#[test]
fn a_running_loop_goes_on_in_its_templates_and_only_where_there_are_to_be_some() {
    for (tier, templates, expected) in [
        (TierPolicy::Auto, true, true),
        (TierPolicy::Auto, false, false),
        (TierPolicy::Interpreter, true, false),
        (TierPolicy::Templates, true, true),
    ] {
        let config = EngineConfig { tier, templates, ..EngineConfig::default() };
        let mut guest = Guest::with(Engine::new(config, None).unwrap(), SUM, Vec::new());
        assert_eq!(guest.call("sum", 1).unwrap(), sum(1));
        let after_one = strung(&guest, 1).iter().any(|&(_, strung)| strung);
        assert_eq!(after_one, tier == TierPolicy::Templates);
        // One call: its fourth round finds them, the rest runs in them.
        assert_eq!(guest.call("sum", 1000).unwrap(), sum(1000));
        let ops = strung(&guest, 1);
        let plain: Vec<&Op> = ops.iter().filter(|&&(_, strung)| !strung).map(|(op, _)| op).collect();
        if expected {
            assert!(plain.is_empty(), "{plain:?}");
        } else {
            assert_eq!(plain.len(), ops.len());
        }
    }
}

#[test]
fn what_is_not_usual_is_the_handlers() {
    // Division by zero and overflow, truncation out of range, accesses out of bounds, each with a neighbour that is in order.
    let text = r#"(module (memory 1)
        (func (export "div") (param i32) (result i32) (i32.div_s (i32.const 0x80000000) (local.get 0)))
        (func (export "rem") (param i32) (result i32) (i32.rem_s (i32.const 0x80000000) (local.get 0)))
        (func (export "trunc") (param i32) (result i32) (i32.trunc_f64_s (f64.mul (f64.convert_i32_u (local.get 0)) (f64.const -1))))
        (func (export "load") (param i32) (result i32) (i32.load (local.get 0)))
        (func (export "load_far") (param i32) (result i32) (i32.load offset=0xfffffff0 (local.get 0)))
        (func (export "store") (param i32) (result i32) (i64.store (local.get 0) (i64.const -1)) (i32.load8_u (local.get 0))))"#;
    let mut guest = Guest::new(TierPolicy::Templates, text, Vec::new());
    for (name, argument, expected) in [
        ("div", 2, Ok(0xc000_0000)),
        ("div", 0, Err(TrapCode::IntegerDivisionByZero)),
        ("div", u32::MAX, Err(TrapCode::IntegerOverflow)),
        ("rem", u32::MAX, Ok(0)),
        ("rem", 3, Ok(-2_i32 as u32)),
        ("trunc", 1 << 31, Ok(1 << 31)),
        ("trunc", (1 << 31) + 1, Err(TrapCode::IntegerOverflow)),
        ("load", 65532, Ok(0)),
        ("load", 65533, Err(TrapCode::MemoryOutOfBounds)),
        ("load", u32::MAX, Err(TrapCode::MemoryOutOfBounds)),
        ("load_far", 65532, Err(TrapCode::MemoryOutOfBounds)),
        ("store", 65528, Ok(255)),
        ("store", 65529, Err(TrapCode::MemoryOutOfBounds)),
    ] {
        let outcome = guest.call(name, argument);
        match expected {
            Ok(value) => assert_eq!(outcome.unwrap(), value, "{name} {argument}"),
            Err(code) => assert_eq!(trap(outcome).0, code, "{name} {argument}"),
        }
    }
}

#[test]
fn what_a_guard_catches_is_not_checked_and_traps_as_if_it_were() {
    // A load, a store and a jump that loads, behind calls: the frames are those of the fault.
    let text = r#"(module (memory 1)
        (func $load (param i32) (result i32) (i32.load offset=4 (local.get 0)))
        (func $store (param i32) (result i32) (i64.store16 offset=6 (local.get 0) (i64.const 1)) (i32.const 2))
        (func $jump (param i32) (result i32) (if (i32.eqz (i32.load8_u (local.get 0))) (then (return (i32.const 3)))) (i32.const 4))
        (func (export "load") (param i32) (result i32) (i32.add (call $load (local.get 0)) (i32.const 1)))
        (func (export "store") (param i32) (result i32) (i32.add (call $store (local.get 0)) (i32.const 1)))
        (func (export "jump") (param i32) (result i32) (i32.add (call $jump (local.get 0)) (i32.const 1))))"#;
    let cases = [("load", 65528, 1), ("store", 65528, 3), ("jump", 65535, 4)];
    let mut seen = Vec::new();
    for guarded in [true, false] {
        let config = EngineConfig { tier: TierPolicy::Templates, guarded_memories: Some(guarded), ..EngineConfig::default() };
        let mut guest = Guest::with(Engine::new(config, None).unwrap(), text, Vec::new());
        let mut frames = Vec::new();
        for (name, last, result) in cases {
            assert_eq!(guest.call(name, last).unwrap(), result);
            for beyond in [last + 1, u32::MAX] {
                let (code, trapped) = trap(guest.call(name, beyond));
                assert_eq!((code, trapped.len()), (TrapCode::MemoryOutOfBounds, 2), "{name} {beyond}");
                frames.push(format!("{trapped:?}"));
            }
        }
        seen.push(frames);
        for function in 0..3 {
            let code = &guest.instance.instance().code;
            let bytes = code.bytecode(function).templates().expect("it was called").bytes();
            let compares = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE)
                .into_iter()
                .take_while(|instruction| instruction.mnemonic() != Mnemonic::Int3)
                .filter(|instruction| instruction.condition_code() == ConditionCode::a);
            assert_eq!(compares.count(), usize::from(!guarded), "function {function}");
        }
    }
    assert_eq!(seen[0], seen[1], "the same frames at the same places");
}

#[test]
fn a_call_finds_what_was_translated_or_put_into_a_table_since() {
    let text = r#"(module (type $f (func (param i32) (result i32)))
        (table (export "table") 3 funcref) (elem (i32.const 0) $one $two)
        (func $one (param i32) (result i32) (local i64 i64 i64) (i32.add (local.get 0) (i32.wrap_i64 (i64.add (local.get 1) (local.get 3)))))
        (func $two (param i32) (result i32) (local.set 0 (i32.add (local.get 0) (i32.const 2))) (call $one (local.get 0)))
        (func $dirty (param i32) (result i32) (local i64 i64 i64 i64)
          (local.set 1 (i64.const -1)) (local.set 2 (i64.const -1)) (local.set 3 (i64.const -1)) (local.set 4 (i64.const -1)) (local.get 0))
        (func (export "direct") (param i32) (result i32) (drop (call $dirty (i32.const 0))) (call $two (local.get 0)))
        (func (export "indirect") (param i32) (result i32) (drop (call $dirty (i32.const 0))) (call_indirect (type $f) (i32.const 40) (local.get 0))))"#;
    for form in crate::interp::tests::FORMS {
        let mut guest = Guest::new(form, text, Vec::new());
        for _ in 0..3 {
            // (what is called may not be translated the first time, and locals are zero whatever the stack held)
            assert_eq!(guest.call("direct", 5).unwrap(), 7, "{form:?}");
            assert_eq!(guest.call("indirect", 0).unwrap(), 40);
            assert_eq!(guest.call("indirect", 1).unwrap(), 42);
        }
        assert_eq!(trap(guest.call("indirect", 2)).0, TrapCode::IndirectCallToNull);
        assert_eq!(trap(guest.call("indirect", 3)).0, TrapCode::TableOutOfBounds);
        let calls =
            |function| strung(&guest, function).into_iter().filter(|(op, _)| matches!(op, Op::Call { .. } | Op::CallIndirect { .. }));
        assert!((3..5).flat_map(calls).all(|(_, strung)| strung == (form == TierPolicy::Templates)));
    }
}

#[test]
fn only_short_leaves_are_run_in_templates_where_they_have_code() {
    // What calls may call itself, and would never reach its code.
    let text = r#"(module
        (func $leaf (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
        (func $calls (param i32) (result i32) (if (result i32) (local.get 0) (then (call 1 (i32.sub (local.get 0) (i32.const 1)))) (else (i32.const 0))))
        (func $tail (param i32) (result i32) (return_call 0 (local.get 0)))
        (func $loops (param i32) (result i32) (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))) (local.get 0)))"#;
    let guest = Guest::with(Engine::new(EngineConfig::default(), None).unwrap(), text, Vec::new());
    let brief = [0, 1, 2, 3].map(|function| guest.instance.instance().code.bytecode(function).brief);
    assert_eq!(brief, [true, false, false, false]);
}

#[test]
fn templates_come_back_with_their_module() {
    // (other tests run beside this one)
    let before = crate::arena::used_bytes();
    for _ in 0..200 {
        let mut guest = Guest::new(TierPolicy::Templates, SUM, Vec::new());
        assert_eq!(guest.call("sum", 10).unwrap(), sum(10));
    }
    assert!(crate::arena::used_bytes() < before + (64 << 10));
}
