use super::*;
use iced_x86::{Formatter, NasmFormatter};

fn hex(text: &str) -> Vec<u8> {
    text.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn at(base: u8, displacement: i32) -> RegisterOrMemory {
    RegisterOrMemory::Memory(Memory { base: Some(base), displacement, ..Memory::default() })
}

/// Section 4.1 of the reference.
#[test]
fn vectors_encode_and_decode_byte_for_byte() {
    use LwpInstruction::{Llwpcb, Lwpins, Lwpval, Slwpcb};
    use RegisterOrMemory::Register as Reg;
    let imm = 0x1234_5678;
    let other = 0xa55a_1234;
    let complex = Memory { base: Some(12), index: Some((13, 2)), displacement: 0x10, ..Memory::default() };
    let vectors: Vec<(&str, u32, LwpInstruction)> = vec![
        ("8f e9 78 12 c0", 64, Llwpcb { register: 0, wide: false }),
        ("8f e9 78 12 cf", 32, Slwpcb { register: 7, wide: false }),
        ("8f c9 78 12 c0", 64, Llwpcb { register: 8, wide: false }),
        ("8f e9 f8 12 c1", 64, Llwpcb { register: 1, wide: true }),
        ("8f c9 f8 12 c2", 64, Llwpcb { register: 10, wide: true }),
        ("8f c9 f8 12 cc", 64, Slwpcb { register: 12, wide: true }),
        ("8f ea 78 12 c7 78 56 34 12", 32, Lwpins { first: 0, wide: false, operand: Reg(7), imm }),
        ("8f ca f8 12 c7 78 56 34 12", 64, Lwpins { first: 0, wide: true, operand: Reg(15), imm }),
        ("8f ea b0 12 c1 78 56 34 12", 64, Lwpins { first: 9, wide: true, operand: Reg(1), imm }),
        ("8f ca 68 12 cd 78 56 34 12", 64, Lwpval { first: 2, wide: false, operand: Reg(13), imm }),
        ("8f ea 90 12 cd 78 56 34 12", 64, Lwpval { first: 13, wide: true, operand: Reg(5), imm }),
        ("8f ea 60 12 04 24 78 56 34 12", 32, Lwpins { first: 3, wide: false, operand: at(4, 0), imm }),
        ("8f ea 68 12 4d 00 78 56 34 12", 32, Lwpval { first: 2, wide: false, operand: at(5, 0), imm }),
        ("8f ea 78 12 87 fe ca 00 00 78 56 34 12", 32, Lwpins { first: 0, wide: false, operand: at(7, 0xcafe), imm }),
        (
            "67 8f ca e8 12 8d fe ca 00 00 78 56 34 12",
            64,
            Lwpval {
                first: 2,
                wide: true,
                operand: RegisterOrMemory::Memory(Memory { base: Some(13), displacement: 0xcafe, address32: true, ..Memory::default() }),
                imm,
            },
        ),
        ("8f ea 48 12 c3 34 12 5a a5", 64, Lwpins { first: 6, wide: false, operand: Reg(3), imm: other }),
        ("8f ea 48 12 08 34 12 5a a5", 32, Lwpval { first: 6, wide: false, operand: at(0, 0), imm: other }),
        ("8f ea c0 12 06 78 56 34 12", 64, Lwpins { first: 7, wide: true, operand: at(6, 0), imm }),
        ("8f 8a 80 12 4c 6c 10 78 56 34 12", 64, Lwpval { first: 15, wide: true, operand: RegisterOrMemory::Memory(complex), imm }),
    ];
    assert_eq!(vectors.len(), 19);
    for (text, bitness, instruction) in vectors {
        let bytes = hex(text);
        assert_eq!(LwpInstruction::decode(&bytes, bitness), Some((instruction, bytes.len())), "{text}");
        assert_eq!(instruction.encode(), Ok(bytes), "{text}");
    }
    // The two vectors that are valid in every mode.
    for bitness in [16, 32, 64] {
        assert!(LwpInstruction::decode(&hex("8f e9 78 12 c0"), bitness).is_some());
        assert!(LwpInstruction::decode(&hex("8f ea 48 12 c3 34 12 5a a5"), bitness).is_some());
    }
}

#[test]
fn malformed_encodings_are_rejected() {
    let bad = [
        "8f e9 7c 12 c0",             // L = 1
        "8f e9 70 12 c0",             // vvvv != 1111
        "8f e9 78 12 00",             // memory form of llwpcb
        "8f ea f8 12 d1 78 56 34 12", // ModRM.reg 2
        "66 8f e9 78 12 c0",          // 66
        "f0 8f e9 78 12 c0",          // lock
        "48 8f e9 78 12 c0",          // REX
        "90",
    ];
    for text in bad {
        assert_eq!(LwpInstruction::decode(&hex(text), 64), None, "{text}");
    }
}

fn random_instruction(next: &mut impl FnMut(u64) -> u64) -> LwpInstruction {
    let register = next(16) as u8;
    let wide = next(2) == 0;
    let segment = [None, None, Some(Segment::Fs), Some(Segment::Gs)][next(4) as usize];
    let address32 = next(4) == 0;
    let displacement = match next(4) {
        0 => 0,
        1 => next(256) as i32 - 128,
        _ => next(1 << 32) as u32 as i32,
    };
    let operand = match next(4) {
        0 => RegisterOrMemory::Register(next(16) as u8),
        1 => RegisterOrMemory::Memory(Memory { displacement, rip: true, segment, address32, ..Memory::default() }),
        _ => {
            let base = (next(4) != 0).then(|| next(16) as u8);
            let index =
                Some(next(16) as u8).filter(|&index| index != 4 && (base.is_none() || next(2) == 0)).map(|index| (index, 1 << next(4)));
            // A displacement alone says nothing about the address size that a decoder could report back.
            let address32 = address32 && (base.is_some() || index.is_some());
            RegisterOrMemory::Memory(Memory { base, index, displacement, rip: false, segment, address32 })
        }
    };
    let imm = next(1 << 32) as u32;
    match next(4) {
        0 => LwpInstruction::Llwpcb { register, wide },
        1 => LwpInstruction::Slwpcb { register, wide },
        2 => LwpInstruction::Lwpins { first: register, wide, operand, imm },
        _ => LwpInstruction::Lwpval { first: register, wide, operand, imm },
    }
}

fn generator(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut x = seed;
    move |limit| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x % limit
    }
}

#[test]
fn random_encodings_agree_with_iced() {
    let mut next = generator(0x1234_5678_9abc_def1);
    for _ in 0..100_000 {
        let instruction = random_instruction(&mut next);
        let bytes = match instruction.encode() {
            Err(EncodeError::TooLong(16)) => continue,
            bytes => bytes.unwrap(),
        };
        let decoded = LwpInstruction::decode(&bytes, 64);
        let normal = normalized(instruction);
        assert_eq!(decoded.map(|(instruction, length)| (normalized(instruction), length)), Some((normal, bytes.len())), "{bytes:02x?}");
    }
}

/// A displacement alone says nothing about the address size that a decoder could report back.
fn normalized(mut instruction: LwpInstruction) -> LwpInstruction {
    if let LwpInstruction::Lwpins { operand, .. } | LwpInstruction::Lwpval { operand, .. } = &mut instruction
        && let RegisterOrMemory::Memory(memory) = operand
        && memory.base.is_none()
        && memory.index.is_none()
        && !memory.rip
    {
        memory.address32 = false;
    }
    instruction
}

/// objdump is not always there; where it is, it must see the same mnemonics.
#[test]
fn objdump_agrees_where_present() {
    let Ok(version) = std::process::Command::new("objdump").arg("--version").output() else {
        return;
    };
    assert!(version.status.success());
    let mut next = generator(99);
    let instructions: Vec<LwpInstruction> =
        (0..600).map(|_| random_instruction(&mut next)).filter(|instruction| instruction.encode().is_ok()).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("code.bin");
    let code: Vec<u8> = instructions.iter().flat_map(|instruction| instruction.encode().unwrap()).collect();
    std::fs::write(&file, &code).unwrap();
    let output = std::process::Command::new("objdump")
        .args(["-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "-w"])
        .arg(&file)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split('\t').nth(2))
        .map(|instruction| instruction.split_whitespace().find(|word| word.contains("lwp")).unwrap_or(instruction))
        .collect();
    let expected: Vec<&str> = instructions
        .iter()
        .map(|instruction| match instruction {
            LwpInstruction::Llwpcb { .. } => "llwpcb",
            LwpInstruction::Slwpcb { .. } => "slwpcb",
            LwpInstruction::Lwpins { .. } => "lwpins",
            LwpInstruction::Lwpval { .. } => "lwpval",
        })
        .collect();
    assert_eq!(names, expected);
}

#[test]
fn operands_without_encoding_are_errors() {
    let too_long =
        Memory { base: Some(12), index: Some((13, 8)), displacement: 1 << 20, rip: false, segment: Some(Segment::Fs), address32: true };
    let lwpins = |memory| LwpInstruction::Lwpins { first: 0, wide: false, operand: RegisterOrMemory::Memory(memory), imm: 0 }.encode();
    assert_eq!(lwpins(too_long), Err(EncodeError::TooLong(16)));
    assert_eq!(lwpins(Memory { index: Some((4, 1)), ..Memory::default() }), Err(EncodeError::StackPointerIndex));
    assert_eq!(lwpins(Memory { index: Some((1, 3)), ..Memory::default() }), Err(EncodeError::Scale(3)));
    assert_eq!(lwpins(Memory { base: Some(1), rip: true, ..Memory::default() }), Err(EncodeError::RipWithRegisters));
    assert_eq!(LwpInstruction::Llwpcb { register: 16, wide: true }.encode(), Err(EncodeError::Register(16)));
}

#[test]
fn text_as_assemblers_write_it() {
    let (instruction, _) = LwpInstruction::decode(&hex("8f ca 68 12 cd 78 56 34 12"), 64).unwrap();
    let bytes = instruction.encode().unwrap();
    let mut text = String::new();
    NasmFormatter::new().format(&Decoder::new(64, &bytes, 0).decode(), &mut text);
    assert_eq!(text, "lwpval edx,r13d,12345678h");
}
