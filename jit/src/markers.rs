//! Markers: ordinary memory accesses that stand for instructions Cranelift does not have. They carry a user trap code, so that none is
//! removed as dead and the trap table says where each ended up; [`finish`](crate::finish) turns them into what they stand for.
//!
//! | marker | access | becomes |
//! |---|---|---|
//! | prefetch | `load.i16 little`, result unused | `prefetcht0` (or `t1`) of the same address, in the same bytes |
//! | speculative load | a load at offset -1 of an address of its own | stays; the machine is told its place, length and register ([`vm::speculative`]) |
//! | poll | a load of 64 bits at the context, compared with it | one `cmp` of the pinned register with memory, see [`patch_poll`] |
//!
//! # Speculative loads, for passes and the translator
//!
//! A speculative load reads what a load would, and yields zero where that load would fault. So it may stand where the program never
//! loads: above a branch, or ahead of its time. [`speculative_load`] emits one from the pieces of a real load; [`Load::of`] takes a real
//! load into those pieces. The value is the program's own where the program would
//! have loaded at that point without a trap; in all other cases nothing the program can see may depend on it. A fault costs
//! microseconds and is counted (`vm::speculative::faults`, and per version in the report).
//!
//! # Why the accesses look the way they do
//!
//! Redundant-load elimination ignores trap codes and endianness. Its key is the address *value*, the offset, the type and the opcode; so a
//! marker must differ from every access of the program in one of these, or the program would be given a marker's result.
//! 1. `load.i16` is emitted by nothing else: the translator's own loads of 16 bits extend (`uload16`).
//! 2. A speculative load has offset -1; the program's offsets are not negative. Its address value is the program's plus the program's
//!    offset plus 1, which instruction selection folds away again.
//! 3. A load with one use may be merged into the instruction that uses it, which the fault handler could not step over. Loads that
//!    extend are never merged; the others are followed by a `sequence_point`, which emits nothing and is not crossed.
//!
//! After each compile [`Census`] is compared: markers left in the optimized CLIF, trap records of markers, markers finished; and no
//! prefetch marker's result may have a use. Where that does not hold the version is refused.

use cranelift_codegen::cursor::FuncCursor;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, DataFlowGraph, Function, Inst, InstBuilder, InstBuilderBase, InstructionData, MemFlagsData};
use cranelift_codegen::ir::{Endianness, Opcode, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

use vm::code::{LoadTarget, SpeculativeLoad};

use crate::headers::Poll;

/// What a marked access stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `prefetcht0` of its address.
    Prefetch,
    /// `prefetcht1` of its address: into the second cache.
    PrefetchFar,
    /// A load that yields zero where it would fault.
    Speculative,
    /// The load of a poll's eight bytes. It never faults.
    Poll,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Prefetch, Kind::PrefetchFar, Kind::Speculative, Kind::Poll];

    /// The trap code that marks it: user codes apart from the machine's traps.
    fn code(self) -> ir::TrapCode {
        match self {
            Kind::Prefetch => ir::TrapCode::unwrap_user(0x40),
            Kind::Speculative => ir::TrapCode::unwrap_user(0x41),
            Kind::Poll => ir::TrapCode::unwrap_user(0x42),
            Kind::PrefetchFar => ir::TrapCode::unwrap_user(0x43),
        }
    }

    fn is_prefetch(self) -> bool {
        matches!(self, Kind::Prefetch | Kind::PrefetchFar)
    }

    /// The marker of a trap code, if it is one.
    pub(crate) fn of(code: ir::TrapCode) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// Where instructions are put: the translator's builder or a pass's cursor.
pub(crate) trait Place {
    /// A builder for one instruction.
    fn put(&mut self) -> impl InstBuilder<'_>;
    /// The function's data.
    fn data(&self) -> &DataFlowGraph;
}

impl Place for FuncCursor<'_> {
    fn put(&mut self) -> impl InstBuilder<'_> {
        self.ins()
    }

    fn data(&self) -> &DataFlowGraph {
        &self.func.dfg
    }
}

impl Place for FunctionBuilder<'_> {
    fn put(&mut self) -> impl InstBuilder<'_> {
        self.ins()
    }

    fn data(&self) -> &DataFlowGraph {
        &self.func.dfg
    }
}

/// A load in its pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// `load` or one that extends.
    pub opcode: Opcode,
    /// Type of the result.
    pub ty: Type,
    pub flags: MemFlagsData,
    pub address: Value,
    pub offset: i32,
}

impl Load {
    /// The pieces of an instruction, if it is a load with an offset.
    pub(crate) fn of(data: &DataFlowGraph, inst: Inst) -> Option<Load> {
        let &InstructionData::Load { opcode, flags, offset, arg } = &data.insts[inst] else { return None };
        let ty = data.value_type(data.first_result(inst));
        Some(Load { opcode, ty, flags: data.mem_flags[flags], address: arg, offset: offset.into() })
    }
}

/// Puts a speculative load; yields its value, of type `load.ty`. `None` where the machine could not step over it: an extending vector
/// load, or an offset that leaves no room.
pub(crate) fn speculative_load(place: &mut impl Place, load: &Load) -> Option<Value> {
    let beyond = i64::from(load.offset) + 1;
    if !can_be_speculative(load.opcode) || beyond < 1 || !matches!(place.data().value_type(load.address), types::I64) {
        return None;
    }
    let step = place.put().iconst(types::I64, beyond);
    let address = place.put().iadd(load.address, step);
    let flags = load.flags.with_trap_code(Some(Kind::Speculative.code()));
    let (opcode, ty) = match load.ty {
        types::I32 if load.opcode == Opcode::Load => (Opcode::Uload32, types::I64),
        ty => (load.opcode, ty),
    };
    let value = raw_load(place, opcode, ty, flags, address, -1);
    if opcode == Opcode::Load {
        place.put().sequence_point();
    }
    Some(if ty == load.ty { value } else { place.put().ireduce(load.ty, value) })
}

/// Whether a load of this kind can be a speculative one (at an address of 64 bits and an offset that is not negative).
pub(crate) fn can_be_speculative(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, Load | Uload8 | Sload8 | Uload16 | Sload16 | Uload32 | Sload32)
}

/// Puts a prefetch of `address + offset`, of one of the two kinds. `flags` are those of the access it is for (their alias region counts).
pub(crate) fn prefetch(place: &mut impl Place, kind: Kind, flags: MemFlagsData, address: Value, offset: i32) {
    debug_assert!(kind.is_prefetch());
    let flags = flags.with_endianness(Endianness::Little).with_trap_code(Some(kind.code()));
    raw_load(place, Opcode::Load, types::I16, flags, address, offset);
}

/// Whether the context, which is in the pinned register, lies below the eight bytes at `offset` of it ([`vm::layout::ASKED`]). `flags` say the region.
pub(crate) fn poll(place: &mut impl Place, flags: MemFlagsData, offset: i32) -> Value {
    let context = place.put().get_pinned_reg(types::I64);
    let asked = raw_load(place, Opcode::Load, types::I64, flags.with_trap_code(Some(Kind::Poll.code())), context, offset);
    place.put().icmp(IntCC::UnsignedLessThan, context, asked)
}

fn raw_load(place: &mut impl Place, opcode: Opcode, ty: Type, flags: MemFlagsData, address: Value, offset: i32) -> Value {
    let mut builder = place.put();
    let flags = builder.data_flow_graph_mut().mem_flags.insert(flags).expect("a few kinds of flags");
    let (inst, data) = builder.Load(opcode, ty, flags, offset.into(), address);
    data.first_result(inst)
}

/// Markers by kind: in CLIF, in trap records, finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census([usize; Kind::ALL.len()]);

impl Census {
    /// The markers of a function as it was given to instruction selection. `Err` where the result of one that stands for nothing is used.
    ///
    /// Those that access the function's own frame do not count: such an access cannot fault, so it gets no trap record and stays an ordinary load. They
    /// come from branches that became selects of a scratch slot, and whose condition was then found to be constant.
    pub(crate) fn of(function: &Function) -> Result<Census, String> {
        let mut census = Census::default();
        let mut patched = Vec::new();
        for block in function.layout.blocks() {
            for inst in function.layout.block_insts(block) {
                let code = function.dfg.insts[inst].memflags_trap_code(&function.dfg);
                let Some(kind) = code.and_then(Kind::of) else { continue };
                if !is_of_frame(function, inst) {
                    census.count(kind);
                }
                if kind.is_prefetch() {
                    patched.push(function.dfg.first_result(inst));
                }
            }
        }
        if !patched.is_empty() {
            let used = |value: Value| patched.contains(&function.dfg.resolve_aliases(value));
            for block in function.layout.blocks() {
                for inst in function.layout.block_insts(block) {
                    if function.dfg.inst_values(inst).any(used) {
                        return Err(format!("the result of a marker is used by {}", function.dfg.display_inst(inst)));
                    }
                }
            }
        }
        Ok(census)
    }

    fn count(&mut self, kind: Kind) {
        self.0[kind as usize] += 1;
    }
}

/// Whether an access is of a stack slot. Instruction selection looks through no more than this (`to_amode`).
fn is_of_frame(function: &Function, inst: Inst) -> bool {
    let InstructionData::Load { arg, .. } = function.dfg.insts[inst] else { return false };
    let address = function.dfg.value_def(function.dfg.resolve_aliases(arg)).inst();
    address.is_some_and(|address| function.dfg.insts[address].opcode() == Opcode::StackAddr)
}

/// What came of a version's markers.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    pub(crate) speculative: Vec<SpeculativeLoad>,
    /// Polls of one comparison, in the order of the code.
    pub(crate) polls: Vec<Poll>,
    /// How many there were.
    pub(crate) census: Census,
}

/// Turns marked instructions into what they stand for. Enters: the code and where its markers are. `Err` names an instruction that is not what its marker
/// must have become.
pub(crate) fn finish(bytes: &mut [u8], markers: &[(u32, Kind)]) -> Result<Finished, String> {
    let Finished { mut speculative, mut polls, mut census } = Finished::default();
    for &(offset, kind) in markers {
        let at = offset as usize;
        let instruction = decode(bytes.get(at..).ok_or("a marker outside the code")?, offset);
        let outcome = match kind {
            Kind::Prefetch => patch_prefetch(&mut bytes[at..], &instruction, offset, Code::Prefetcht0_m8),
            Kind::PrefetchFar => patch_prefetch(&mut bytes[at..], &instruction, offset, Code::Prefetcht1_m8),
            Kind::Speculative => match target(&instruction) {
                Some(target) => {
                    speculative.push(SpeculativeLoad { offset, length: instruction.len() as u8, target });
                    Some(())
                }
                None => None,
            },
            Kind::Poll => {
                polls.extend(patch_poll(bytes, at));
                Some(())
            }
        };
        outcome.ok_or_else(|| format!("{kind:?} marker at {offset:#x} became {instruction}"))?;
        census.count(kind);
    }
    polls.sort_unstable_by_key(|poll| poll.at);
    Ok(Finished { speculative, polls, census })
}

fn decode(code: &[u8], offset: u32) -> Instruction {
    Decoder::with_ip(64, code, u64::from(offset), DecoderOptions::NONE).decode()
}

/// The register a load writes, if the instruction does nothing else.
fn target(instruction: &Instruction) -> Option<LoadTarget> {
    use Mnemonic::*;
    let simple = matches!(
        instruction.mnemonic(),
        Mov | Movzx
            | Movsx
            | Movsxd
            | Movss
            | Movsd
            | Movups
            | Movupd
            | Movaps
            | Movdqu
            | Movd
            | Movq
            | Vmovss
            | Vmovsd
            | Vmovups
            | Vmovupd
            | Vmovdqu
    );
    let forms = (instruction.op_count(), instruction.op0_kind(), instruction.op1_kind());
    if !simple || forms != (2, OpKind::Register, OpKind::Memory) {
        return None;
    }
    let register = instruction.op0_register();
    match register {
        _ if register.is_gpr64() || register.is_gpr32() => Some(LoadTarget::General(register.number() as u8)),
        _ if register.is_xmm() => Some(LoadTarget::Vector(register.number() as u8)),
        _ => None,
    }
}

/// `[REX] 0F B7 /r mem` to `[REX without R] 0F 18 /1 mem`, or `/2`.
fn patch_prefetch(code: &mut [u8], before: &Instruction, offset: u32, becomes: Code) -> Option<()> {
    if !matches!(before.code(), Code::Movzx_r32_rm16 | Code::Movzx_r64_rm16) || before.op1_kind() != OpKind::Memory {
        return None;
    }
    if before.memory_base() == Register::RIP {
        return None;
    }
    let mut at = 0;
    if code[0] & 0xf0 == 0x40 {
        code[0] &= !4;
        at = 1;
    }
    if code[at..at + 2] != [0x0f, 0xb7] {
        return None;
    }
    let hint = if becomes == Code::Prefetcht0_m8 { 1 } else { 2 };
    code[at + 1] = 0x18;
    code[at + 2] = code[at + 2] & 0xc7 | hint << 3;
    let after = decode(code, offset);
    let place = |it: &Instruction| {
        (it.len(), it.memory_base(), it.memory_index(), it.memory_index_scale(), it.memory_displacement64(), it.segment_prefix())
    };
    (after.code() == becomes && place(&after) == place(before)).then_some(())
}

/// Bytes of `mov` and of `cmp` between 64-bit registers.
const OF_REGISTERS: usize = 3;
/// Bytes of `cmp r15, [r15 + displacement of 32 bits]`, its longest encoding without prefixes: REX, opcode, ModRM, SIB, displacement.
pub(crate) const COMPARE: usize = 8;
/// What fills up in front of the comparison, and what [`spills`](crate::spills) leaves. (Five segment prefixes on the comparison, which would take no slot at all, made
/// loops up to a quarter slower on an Intel Xeon of model 167 than the three instructions were.)
pub(crate) use vm::code::NOPS;
/// The register that holds the context.
pub(crate) const PINNED: Register = Register::R15;

/// `mov rX, r15; mov rY, [rX + d]; cmp rX, rY` to `nop; cmp r15, [r15 + d]` in the same bytes, which fuses with the branch behind it to one operation: Cranelift reads the
/// pinned register by a move, and merges no load into a branch's comparison. rX and rY are the poll's own ([`poll`] makes nothing else of them). What does not look like
/// this (a spill in between) stays as it is, and means the same. Yields the poll, if it was done.
///
/// The three are in one basic block, so nothing jumps between them. That the bytes before the load are its `mov` and not the end of something longer: between the two stands
/// at most what the register allocator puts there, moves of registers and stack slots, whose bytes no guest chooses.
fn patch_poll(bytes: &mut [u8], load_at: usize) -> Option<Poll> {
    let (Some(begin), true) = (load_at.checked_sub(OF_REGISTERS), load_at < bytes.len()) else { return None };
    let [read, load] = [begin, load_at].map(|at| decode(&bytes[at..], at as u32));
    let compare_at = load_at + load.len();
    if compare_at + OF_REGISTERS > bytes.len() {
        return None;
    }
    let compare = decode(&bytes[compare_at..], compare_at as u32);
    let (context, asked) = (load.memory_base(), load.op0_register());
    let registers = |it: &Instruction| (it.len(), it.op0_register(), it.op1_register());
    let is_load = load.code() == Code::Mov_r64_rm64 && load.op1_kind() == OpKind::Memory && load.memory_index() == Register::None;
    let is_poll = is_load
        && read.mnemonic() == Mnemonic::Mov
        && registers(&read) == (OF_REGISTERS, context, PINNED)
        && compare.mnemonic() == Mnemonic::Cmp
        && registers(&compare) == (OF_REGISTERS, context, asked);
    let end = compare_at + OF_REGISTERS;
    let displacement = i32::try_from(load.memory_displacement64() as i64).ok()?;
    if !is_poll || !(COMPARE..COMPARE + NOPS.len()).contains(&(end - begin)) {
        return None;
    }
    let code = &mut bytes[begin..end];
    let (filler, compare) = code.split_at_mut(code.len() - COMPARE);
    filler.copy_from_slice(NOPS[filler.len()]);
    compare[..4].copy_from_slice(&[0x4d, 0x3b, 0xbc, 0x27]);
    compare[4..].copy_from_slice(&displacement.to_le_bytes());
    Some(Poll { at: begin as u32, filler: filler.len() as u32, word: displacement })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finish::Style;

    #[test]
    fn every_form_of_movzx_is_patched() {
        for (bytes, place) in [
            (&[0x0f, 0xb7, 0x07][..], "[rdi]"),
            (&[0x44, 0x0f, 0xb7, 0x47, 0x10], "[rdi+10h]"),
            (&[0x4c, 0x0f, 0xb7, 0x3c, 0x8f], "[rdi+rcx*4]"),
            (&[0x47, 0x0f, 0xb7, 0xbc, 0xa5, 0, 0, 0, 0x40], "[r13+r12*4+40000000h]"),
            (&[0x0f, 0xb7, 0x04, 0x25, 0, 0x10, 0, 0], "[1000h]"),
        ] {
            for (kind, mnemonic, counted) in [(Kind::Prefetch, "prefetcht0", [1, 0, 0, 0]), (Kind::PrefetchFar, "prefetcht1", [0, 1, 0, 0])]
            {
                let mut bytes = bytes.to_vec();
                let length = bytes.len();
                bytes.push(0xc3);
                let Finished { speculative, census, .. } = finish(&mut bytes, &[(0, kind)]).unwrap();
                assert!(speculative.is_empty());
                assert_eq!(census, Census(counted));
                let after = decode(&bytes, 0);
                assert_eq!((after.to_string(), after.len()), (format!("{mnemonic} {place}"), length));
                assert_eq!(bytes[length], 0xc3);
            }
        }
    }

    #[test]
    fn a_poll_becomes_one_comparison_of_the_same_length() {
        // mov rdx, r15; mov rcx, [rdx + 368h]; cmp rdx, rcx; jb +8
        let before = [0x4c, 0x89, 0xfa, 0x48, 0x8b, 0x8a, 0x68, 3, 0, 0, 0x48, 0x39, 0xca, 0x72, 8];
        let mut bytes = before;
        let Finished { polls, census, .. } = finish(&mut bytes, &[(3, Kind::Poll)]).unwrap();
        assert_eq!((census, &polls[..]), (Census([0, 0, 0, 1]), &[Poll { at: 0, filler: 5, word: 0x368 }][..]));
        assert_eq!((decode(&bytes, 0).mnemonic(), decode(&bytes, 0).len()), (Mnemonic::Nop, 5));
        let after = decode(&bytes[5..], 0);
        assert_eq!((after.code(), after.len()), (Code::Cmp_r64_rm64, 8));
        assert_eq!((after.op0_register(), after.memory_base(), after.memory_index()), (PINNED, PINNED, Register::None));
        assert_eq!(after.memory_displacement64(), 0x368);
        assert_eq!(bytes[13..], before[13..]);
        // The other encodings of the moves and of the comparison, and a short displacement: mov r9, r15; mov rax, [r9 + 18h]; cmp r9, rax
        let mut bytes = [0x4d, 0x8b, 0xcf, 0x49, 0x8b, 0x41, 0x18, 0x4c, 0x3b, 0xc8];
        assert_eq!(patch_poll(&mut bytes, 3), Some(Poll { at: 0, filler: 2, word: 0x18 }));
        let after = decode(&bytes[2..], 0);
        assert_eq!((decode(&bytes, 0).len(), after.len(), after.op0_register(), after.memory_displacement64()), (2, 8, PINNED, 0x18));
    }

    #[test]
    fn what_is_not_quite_a_poll_stays() {
        let poll = [0x4c, 0x89, 0xfa, 0x48, 0x8b, 0x8a, 0x68, 3, 0, 0, 0x48, 0x39, 0xca, 0x72, 8];
        // Another register is read; the load has another base; the comparison is the other way round, or of other registers, or not there.
        for (at, byte) in [(2, 0xf2), (5, 0x89), (12, 0xd1), (12, 0xc2), (11, 0x21)] {
            let mut bytes = poll;
            bytes[at] = byte;
            let before = bytes;
            assert_eq!(patch_poll(&mut bytes, 3), None, "{at} {byte:#x}");
            assert_eq!(bytes, before);
        }
        assert_eq!(patch_poll(&mut poll[3..].to_vec(), 0), None, "nothing before it");
        assert_eq!(patch_poll(&mut poll[..11].to_vec(), 3), None, "nothing behind it");
    }

    #[test]
    fn what_is_not_a_plain_load_is_refused() {
        // movzx eax, cx; movzx eax, word [rip]; movzx eax, byte [rdi]
        for bytes in [&[0x0f, 0xb7, 0xc1][..], &[0x0f, 0xb7, 0x05, 0, 0, 0, 0], &[0x0f, 0xb6, 0x07]] {
            finish(&mut bytes.to_vec(), &[(0, Kind::Prefetch)]).unwrap_err();
        }
        // add eax, [rdi]; cmp [rdi], eax; mov [rdi], eax; push [rdi]
        for bytes in [&[0x03, 0x07][..], &[0x39, 0x07], &[0x89, 0x07], &[0xff, 0x37]] {
            finish(&mut bytes.to_vec(), &[(0, Kind::Speculative)]).unwrap_err();
        }
        let mut code = vec![0x4c, 0x63, 0x27, 0xf2, 0x44, 0x0f, 0x10, 0x07]; // movsxd r12, [rdi]; movsd xmm8, [rdi]
        let loads = finish(&mut code, &[(0, Kind::Speculative), (3, Kind::Speculative)]).unwrap().speculative;
        assert_eq!(loads[0], SpeculativeLoad { offset: 0, length: 3, target: LoadTarget::General(12) });
        assert_eq!(loads[1], SpeculativeLoad { offset: 3, length: 5, target: LoadTarget::Vector(8) });
    }

    /// Compiles a function of one address made by `fill`; yields machine code text, or what the checks said.
    fn compiled(fill: impl FnOnce(&mut FunctionBuilder<'_>, Value)) -> Result<(String, Census, usize), String> {
        use cranelift_codegen::settings::{self, Configurable};
        let mut flags = settings::builder();
        flags.set("opt_level", "speed").unwrap();
        let isa = cranelift_native::builder().unwrap().finish(settings::Flags::new(flags)).unwrap();
        let mut memory = cranelift_frontend::FunctionBuilderContext::new();
        let mut context = cranelift_codegen::Context::new();
        context.func.signature.call_conv = cranelift_codegen::isa::CallConv::SystemV;
        context.func.signature.params.push(ir::AbiParam::new(types::I64));
        context.func.signature.returns.push(ir::AbiParam::new(types::I64));
        let mut b = FunctionBuilder::new(&mut context.func, &mut memory);
        let block = b.create_block();
        b.append_block_params_for_function_params(block);
        b.switch_to_block(block);
        b.seal_block(block);
        let address = b.block_params(block)[0];
        fill(&mut b, address);
        b.finalize(isa.frontend_config());
        context.compile(&*isa, &mut Default::default()).map_err(|error| format!("{:?}", error.inner))?;
        let census = Census::of(&context.func)?;
        let code = crate::finish::finish(
            context.compiled_code().unwrap(),
            &context.func.signature,
            16,
            census,
            &[],
            Vec::new(),
            Style { tidy: true, intel: false },
        )?;
        let code = code.unwrap();
        Ok((crate::finish::disassemble(&code.bytes), census, code.speculative.len()))
    }

    /// Flags of the program's access to memory 0.
    fn program(b: &mut FunctionBuilder<'_>) -> MemFlagsData {
        let data = ir::AliasRegionData { user_id: 1, description: "memory".into() };
        let region = b.func.dfg.alias_regions.insert(data);
        let trap = crate::traps::to_clif(vm::trap::TrapCode::MemoryOutOfBounds);
        MemFlagsData::new().with_alias_region(Some(region)).with_trap_code(Some(trap))
    }

    /// (Found by the fuzzer.)
    #[test]
    fn markers_of_the_frame_do_not_count() {
        let (text, census, loads) = compiled(|b, address| {
            let flags = program(b);
            let slot = b.create_sized_stack_slot(ir::StackSlotData::new(ir::StackSlotKind::ExplicitSlot, 16, 4));
            let scratch = b.ins().stack_addr(types::I64, slot, 0);
            let nine = b.ins().iconst(types::I32, 9);
            let zero = b.ins().icmp_imm_s(ir::condcodes::IntCC::Equal, nine, 0);
            let selected = b.ins().select(zero, address, scratch);
            prefetch(b, Kind::Prefetch, flags, selected, 0);
            prefetch(b, Kind::Prefetch, flags, selected, 8);
            prefetch(b, Kind::Prefetch, flags, address, 8);
            let load = Load { opcode: Opcode::Load, ty: types::I64, flags, address: selected, offset: 8 };
            let value = speculative_load(b, &load).unwrap();
            b.ins().return_(&[value]);
        })
        .unwrap();
        assert_eq!(census, Census([1, 0, loads, 0]), "{text}");
        assert_eq!(text.matches("prefetcht0").count(), 1, "{text}");
    }

    #[test]
    fn the_program_is_never_given_a_markers_result() {
        let (text, census, loads) = compiled(|b, address| {
            let flags = program(b);
            let load = Load { opcode: Opcode::Load, ty: types::I64, flags, address, offset: 8 };
            let early = speculative_load(b, &load).unwrap();
            prefetch(b, Kind::Prefetch, flags, address, 8);
            let half = b.ins().uload16(types::I64, flags, address, 8);
            let real = b.ins().load(types::I64, flags, address, 8);
            let sum = b.ins().iadd(early, real);
            let sum = b.ins().iadd(sum, half);
            b.ins().return_(&[sum]);
        })
        .unwrap();
        assert_eq!((census, loads), (Census([1, 0, 1, 0]), 1));
        assert_eq!(text.matches("[rdi+8]").count(), 4, "{text}");
        assert_eq!(text.matches("prefetcht0").count(), 1, "{text}");
    }

    #[test]
    fn loads_of_every_type_stay_loads() {
        let kinds = [
            (Opcode::Load, types::I32),
            (Opcode::Load, types::I64),
            (Opcode::Uload8, types::I32),
            (Opcode::Sload8, types::I32),
            (Opcode::Uload16, types::I32),
            (Opcode::Sload16, types::I64),
            (Opcode::Uload32, types::I64),
            (Opcode::Sload32, types::I64),
            (Opcode::Load, types::F32),
            (Opcode::Load, types::F64),
        ];
        let (text, census, loads) = compiled(|b, address| {
            let flags = program(b);
            let mut sum = b.ins().iconst(types::I64, 1);
            for (n, &(opcode, ty)) in kinds.iter().enumerate() {
                let load = Load { opcode, ty, flags, address, offset: n as i32 * 8 };
                let value = speculative_load(b, &load).unwrap();
                // Used once and at once: what merges loads elsewhere.
                sum = match ty {
                    types::I32 => {
                        let one = b.ins().iconst(types::I32, 9);
                        let value = b.ins().isub(one, value);
                        let value = b.ins().uextend(types::I64, value);
                        b.ins().iadd(sum, value)
                    }
                    types::I64 => b.ins().iadd(sum, value),
                    float => {
                        let value = b.ins().fadd(value, value);
                        let bits = b.ins().bitcast(float.as_int(), MemFlagsData::new(), value);
                        let bits = if float == types::F32 { b.ins().uextend(types::I64, bits) } else { bits };
                        b.ins().iadd(sum, bits)
                    }
                };
            }
            b.ins().return_(&[sum]);
        })
        .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((census, loads), (Census([0, 0, kinds.len(), 0]), kinds.len()), "{text}");
        // The address arithmetic is folded away.
        assert!(text.contains("[rdi+48h]") && !text.contains("-1]"), "{text}");
    }

    #[test]
    fn a_used_marker_is_found() {
        let error = compiled(|b, address| {
            let flags = program(b);
            prefetch(b, Kind::Prefetch, flags, address, 0);
            let little = flags.with_endianness(Endianness::Little);
            let stolen = b.ins().load(types::I16, little, address, 0);
            let wide = b.ins().uextend(types::I64, stolen);
            b.ins().return_(&[wide]);
        })
        .unwrap_err();
        assert!(error.contains("result of a marker is used"), "{error}");
    }
}
