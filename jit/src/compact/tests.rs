use super::*;
use crate::finish::disassemble;
use crate::headers;

const RET: &[u8] = &[0xc3];
const CALL: &[u8] = &[0xe8, 0, 0, 0, 0];
const ALIGNMENT: u32 = 16;

/// What is known of code besides its bytes; every block that branches lead to is found without.
struct Code {
    bytes: Vec<u8>,
    starts: Vec<u32>,
    landings: Vec<u32>,
    polls: Vec<Poll>,
    relocated: Vec<u32>,
    fixed: Vec<u32>,
    returns_nothing: bool,
    without_base: Vec<u32>,
    has_footprints: bool,
}

impl Code {
    fn new(parts: &[&[u8]]) -> Code {
        // All calls are of the linker's.
        let begins = parts.iter().scan(0, |at, part| Some(std::mem::replace(at, *at + part.len() as u32)));
        let calls = parts.iter().zip(begins).filter(|(part, _)| part[..] == CALL[..]).map(|(_, begin)| begin + 1);
        Code {
            relocated: calls.collect(),
            bytes: parts.concat(),
            starts: vec![0],
            landings: Vec::new(),
            polls: Vec::new(),
            fixed: Vec::new(),
            returns_nothing: false,
            without_base: Vec::new(),
            has_footprints: false,
        }
    }

    /// Led and laid out as [`finish`](crate::finish) does; `None`: it stays.
    fn compacted(mut self) -> Option<(Vec<u8>, Compacted)> {
        let end = self.bytes.len() as u32;
        let jumps = headers::lead(&mut self.bytes, &self.starts, end, &self.polls);
        let places = Places {
            starts: &self.starts,
            landings: &self.landings,
            polls: &self.polls,
            relocated: &self.relocated,
            fixed: &self.fixed,
            jumps: &jumps,
            alignment: ALIGNMENT,
            returns_nothing: self.returns_nothing,
            without_base: &self.without_base,
            has_footprints: self.has_footprints,
        };
        let compacted = run(&mut self.bytes, &places)?;
        Some((self.bytes, compacted))
    }

    fn text(self) -> Vec<String> {
        let (bytes, _) = self.compacted().expect("it can be followed");
        disassemble(&bytes).lines().map(|line| line[8..].to_owned()).collect()
    }
}

fn text(parts: &[&[u8]]) -> Vec<String> {
    Code::new(parts).text()
}

/// `je` or `jmp` over so many bytes, which may be negative.
fn branch(over: i32) -> Vec<u8> {
    [&[0x0f, 0x84][..], &over.to_le_bytes()].concat()
}

fn jump(over: i32) -> Vec<u8> {
    [&[0xe9][..], &over.to_le_bytes()].concat()
}

/// So many bytes of instructions of four: `inc dword [rax+8]` and the like, and what is left of one.
fn filler(bytes: usize) -> Vec<u8> {
    let mut all = [0xff, 0x40, 0x08].repeat(bytes / 3);
    all.extend([&[][..], &[0xf9], &[0x89, 0xc0]][bytes % 3]);
    all
}

#[test]
fn branches_are_as_long_as_their_way() {
    for over in [1usize, 100, 126, 127, 128, 129, 500] {
        let (forth, _) = Code::new(&[&branch(over as i32), &filler(over), RET]).compacted().unwrap();
        assert_eq!(forth.len() - over - 1, if over <= 127 { 2 } else { 6 }, "forth over {over}");
        let back = Code::new(&[&filler(over), &jump(-(over as i32) - 5)]).compacted().unwrap().0;
        assert_eq!(back.len() - over, if over <= 126 { 2 } else { 5 }, "back over {over}");
    }
    // One that grows makes another too long: two ways over each other, of which the inner is of 130 bytes.
    let parts = [&branch(122 + 6)[..], &filler(122), &branch(130), &filler(130), RET];
    let (code, _) = Code::new(&parts).compacted().unwrap();
    assert_eq!(code.len(), 6 + 122 + 6 + 130 + 1);
    assert_eq!(
        text(&[&branch(5), &jump(0), RET]),
        ["je short 2", "ret"],
        "a jump to what follows is none, and who leads around it leads to the same"
    );
}

#[test]
fn accesses_are_given_their_base() {
    // mov eax, [rdi+127]; add [rsi+128], rax; vmovups ymm1, [r12+16]; mov dword [rbp+0], 7
    let parts: [&[u8]; 5] = [
        &[0x8b, 0x47, 127],
        &[0x48, 0x01, 0x86, 128, 0, 0, 0],
        &[0xc4, 0xc1, 0x7c, 0x10, 0x4c, 0x24, 16],
        &[0xc7, 0x45, 0, 7, 0, 0, 0],
        RET,
    ];
    let code = Code { without_base: vec![0, 3, 10, 17], ..Code::new(&parts) };
    let expected = ["mov eax, [r15+rdi+7Fh]", "add [r15+rsi+80h], rax", "vmovups ymm1, [r15+r12+10h]", "mov dword [r15+rbp], 7", "ret"];
    let (bytes, compacted) = code.compacted().unwrap();
    assert_eq!(disassemble(&bytes).lines().map(|line| &line[8..]).collect::<Vec<_>>(), expected);
    assert_eq!([3, 10, 17].map(|at| compacted.map.get(at)), [Some(5), Some(13), Some(20)]);
    // mov eax, [rdi+rsi]; mov eax, [rsp]; mov eax, edi: nothing that an access without its base becomes.
    for other in [&[0x8b, 0x04, 0x37][..], &[0x8b, 0x04, 0x24], &[0x89, 0xf8]] {
        let code = Code { without_base: vec![0], ..Code::new(&[other, RET]) };
        assert!(code.compacted().is_none());
    }
}

#[test]
fn an_outcome_is_not_widened_where_its_register_can_be_cleared() {
    // cmp esi, edx; setb r9b; movzx r9d, r9b; ret
    let set = [0x41, 0x0f, 0x92, 0xc1];
    let widen = [0x45, 0x0f, 0xb6, 0xc9];
    assert_eq!(text(&[&[0x39, 0xd6], &set, &widen, RET]), ["xor r9d, r9d", "cmp esi, edx", "setb r9b", "ret"]);
    // test rdi, rdi; sete al; movzx eax, al; je to the beginning, which is the register's clearing
    let parts: [&[u8]; 5] = [&[0x48, 0x85, 0xff], &[0x0f, 0x94, 0xc0], &[0x0f, 0xb6, 0xc0], &branch(-15), RET];
    assert_eq!(text(&parts), ["xor eax, eax", "test rdi, rdi", "sete al", "je short 0", "ret"]);
    // The comparison reads the register; is of memory; the outcome goes elsewhere; something stands between.
    for (compare, set, widen) in [
        (&[0x44, 0x39, 0xce][..], &set[..], &widen[..]),
        (&[0x39, 0x17], &set, &widen),
        (&[0x39, 0xd6], &set, &[0x41, 0x0f, 0xb6, 0xc1]),
        (&[0x39, 0xd6], &[0x41, 0x0f, 0x92, 0xc1, 0xf9], &widen),
    ] {
        assert!(!text(&[compare, set, widen, RET])[0].starts_with("xor"));
    }
}

#[test]
fn what_counts_where_a_condition_holds_adds_the_carry() {
    let [one_more, test, compare]: [&[u8]; 3] = [&[0x8d, 0x48, 1], &[0x85, 0xd2], &[0x39, 0xf2]];
    let [equal, unequal, above, below]: [&[u8]; 4] = [&[0x0f, 0x44, 0xc8], &[0x0f, 0x45, 0xc8], &[0x0f, 0x43, 0xc8], &[0x0f, 0x42, 0xc8]];
    // xor edx, edx: flags are others.
    let behind: &[u8] = &[0x31, 0xd2];
    for (compare, choose, expected) in [
        (test, equal, ["mov ecx, eax", "cmp edx, 1", "sbb ecx, 0FFFFFFFFh"]),
        (test, unequal, ["mov ecx, eax", "cmp edx, 1", "adc ecx, 0"]),
        (compare, above, ["mov ecx, eax", "cmp edx, esi", "adc ecx, 0"]),
        (compare, below, ["mov ecx, eax", "cmp edx, esi", "sbb ecx, 0FFFFFFFFh"]),
    ] {
        assert_eq!(text(&[one_more, compare, choose, behind, RET])[..3], expected);
    }
    // mov edi, eax; cmove or cmovb edi, ecx: the sum is in a third register, which xor ecx, ecx ends
    let [copy, equal_to, below_to]: [&[u8]; 3] = [&[0x89, 0xc7], &[0x0f, 0x44, 0xf9], &[0x0f, 0x42, 0xf9]];
    let gone: &[u8] = &[0x31, 0xc9];
    assert_eq!(text(&[one_more, test, copy, equal_to, gone, RET])[..3], ["cmp edx, 1", "mov edi, eax", "adc edi, 0"]);
    assert_eq!(text(&[one_more, compare, copy, below_to, gone, RET])[..3], ["cmp edx, esi", "mov edi, eax", "adc edi, 0"]);
    assert_eq!(text(&[one_more, compare, copy, &[0x0f, 0x43, 0xf9], gone, RET])[2], "sbb edi, 0FFFFFFFFh");
    assert_eq!(text(&[one_more, compare, &[0x48, 0x89, 0xc7], below_to, gone, RET])[1..3], ["mov rdi, rax", "adc edi, 0"]);
    assert_eq!(text(&[one_more, test, copy, equal_to, behind, RET])[0], "lea ecx, [rax+1]", "who returns may return the sum");
    // Of another number, from memory, to another register, of 16 bits.
    for copy in [&[0x89, 0xdf][..], &[0x8b, 0x38], &[0x89, 0xc6], &[0x66, 0x89, 0xc7]] {
        assert_eq!(text(&[one_more, test, copy, equal_to, gone, RET])[0], "lea ecx, [rax+1]", "{copy:x?}");
    }
    let wide = text(&[&[0x48, 0x8d, 0x48, 1], &[0x48, 0x85, 0xd2], &[0x48, 0x0f, 0x44, 0xc8], behind, RET]);
    assert_eq!(wide[..3], ["mov rcx, rax", "cmp rdx, 1", "sbb rcx, 0FFFFFFFFFFFFFFFFh"]);
    // Two more; more of another; signed; the comparison reads what the sum is in; half of the sum is chosen; flags are read, or may be.
    for (add, compare, choose, behind) in [
        (&[0x8d, 0x48, 2][..], test, equal, behind),
        (&[0x8d, 0x4b, 1], test, equal, behind),
        (&[0x8d, 0x4c, 0x18, 1], test, equal, behind),
        (one_more, compare, &[0x0f, 0x4c, 0xc8], behind),
        (one_more, test, above, behind),
        (one_more, compare, equal, behind),
        (one_more, &[0x85, 0xc9], equal, behind),
        (one_more, &[0x39, 0xca], above, behind),
        (one_more, &[0x85, 0xfa], equal, behind),
        (one_more, test, equal, &[0x0f, 0x45, 0xf7, 0x31, 0xd2]),
        (one_more, test, equal, &[0x89, 0xd6]),
        (one_more, test, equal, &[0x75, 0]),
    ] {
        let text = text(&[add, compare, choose, behind, RET]);
        assert!(text[0].starts_with("lea ecx"), "{text:?}");
    }
    let mut code = Code::new(&[one_more, test, equal, behind, RET]);
    code.fixed = vec![3];
    assert!(code.text()[0].starts_with("lea ecx"), "a table tells of the comparison");
}

#[test]
fn what_flags_and_upper_halves_hold_already_is_not_made_again() {
    // test edx, edx; cmove ecx, eax; and once more
    let [test, choose]: [&[u8]; 2] = [&[0x85, 0xd2], &[0x0f, 0x44, 0xc8]];
    assert_eq!(text(&[test, choose, &[0x8d, 0x73, 1], test, choose, RET]).iter().filter(|it| it.starts_with("test")).count(), 1);
    // Flags are others, the register is, the comparison is (of 64 bits), a call, another block.
    for between in [&[0xff, 0xc6][..], &[0x89, 0xf2], &[0x48, 0x85, 0xd2], CALL, &[0x74, 0]] {
        assert!(text(&[test, choose, between, test, choose, RET]).iter().filter(|it| **it == "test edx, edx").count() == 2, "{between:x?}");
    }
    // mov ecx, ecx
    let clear: &[u8] = &[0x89, 0xc9];
    for (writes, is_gone) in [
        (choose, true),
        (&[0x8b, 0x0c, 0x24][..], true),
        (&[0x0f, 0xb6, 0xca], true),
        (&[0x48, 0x0f, 0x44, 0xc8], false),
        (&[0x0f, 0xbc, 0xca], false),
        (&[0xb1, 1], false),
        (&[0x39, 0xd1], false),
        (&[0x89, 0xca], false),
    ] {
        let is_there = text(&[writes, clear, RET]).contains(&"mov ecx, ecx".to_owned());
        assert_eq!(is_there, !is_gone, "{writes:x?}");
    }
    for between in [&[0x48, 0x89, 0xc1][..], &[0xb1, 1], CALL, &[0x74, 0]] {
        assert!(text(&[choose, between, clear, RET]).contains(&"mov ecx, ecx".to_owned()), "{between:x?}");
    }
}

#[test]
fn what_does_nothing_is_gone() {
    // nop; nop dword; mov eax, eax, which clears the upper half; mov rcx, rcx
    let parts: [&[u8]; 5] = [&[0x90], &[0x0f, 0x1f, 0x44, 0, 0], &[0x89, 0xc0], &[0x48, 0x89, 0xc9], RET];
    assert_eq!(text(&parts), ["mov eax, eax", "mov rcx, rcx", "ret"]);
    // Code that nothing leads to: jmp over three bytes
    assert_eq!(text(&[&[0xff, 0xc0], &jump(3), &[0xff, 0xc1, 0x90], RET]), ["inc eax", "ret"]);
}

#[test]
fn copies_that_nobody_reads_are_gone() {
    let [load, copy, read, write]: [&[u8]; 4] = [&[0x48, 0x8b, 0x4c, 0x24, 8], &[0x48, 0x89, 0xc1], &[0x48, 0xff, 0xc1], &[0x31, 0xc9]];
    // mov rcx, [rsp+8] or mov rcx, rax; inc rcx or xor ecx, ecx
    for first in [load, copy] {
        assert_eq!(text(&[first, write, RET]).len(), 2, "it is written before it is read");
        assert_eq!(text(&[first, read, RET]).len(), 3, "it is read");
        assert_eq!(text(&[first, RET]).len(), 2, "who returns may return it");
        assert_eq!(text(&[first, CALL, write, RET]).len(), 4, "it may be an argument");
        assert_eq!(text(&[first, &branch(2), write, RET]).len(), 4, "one way leaves it");
        assert_eq!(text(&[first, &[0xb1, 1], RET]).len(), 3, "mov cl, 1 leaves the rest");
        assert_eq!(text(&[first, &[0x0f, 0x44, 0xca], RET]).len(), 3, "cmove ecx, edx may leave all");
        // Only a copy reads it that nobody reads itself: mov rdx, rcx; xor edx, edx
        assert_eq!(text(&[first, &[0x48, 0x89, 0xca], &[0x31, 0xd2], write, RET]).len(), 3);
        let mut code = Code::new(&[first, RET]);
        code.returns_nothing = true;
        assert_eq!(code.text(), ["ret"], "the callers' registers are others");
        let mut code = Code::new(&[first, write, RET]);
        code.fixed = vec![0];
        assert_eq!(code.text().len(), 3, "a table tells of it");
    }
    // In a loop: mov rcx, rax; inc rdx; je back to the begin; xor ecx, ecx
    assert_eq!(text(&[copy, &[0x48, 0xff, 0xc2], &branch(-12), write, RET]).len(), 4);
    // What others own: mov rbx, rax, which callers keep; mov rbp, rsp; mov r15, rax; a load that may trap: mov rcx, [rdx+8]
    for (kept, returns_nothing) in
        [(&[0x48, 0x89, 0xc3][..], true), (&[0x48, 0x89, 0xe5], true), (&[0x49, 0x89, 0xc7], true), (&[0x48, 0x8b, 0x4a, 8], false)]
    {
        let mut code = Code::new(&[kept, write, RET]);
        code.returns_nothing = returns_nothing;
        assert_eq!(code.text().len(), 3, "{kept:x?}");
    }
    // Vectors: movaps xmm1, xmm2, written by movdqu xmm1, [rax] or in part by movss xmm1, xmm3
    let vector: &[u8] = &[0x0f, 0x28, 0xca];
    assert_eq!(text(&[vector, &[0xf3, 0x0f, 0x6f, 0x08], RET]).len(), 2);
    assert_eq!(text(&[vector, &[0xf3, 0x0f, 0x10, 0xcb], RET]).len(), 3);
}

#[test]
fn accesses_go_through_the_pinned_register_itself() {
    // mov rax, r15; mov rax, [rax+48h]; and mov [rax], eax, whose new form takes one byte more
    let copy: &[u8] = &[0x4c, 0x89, 0xf8];
    assert_eq!(text(&[copy, &[0x48, 0x8b, 0x40, 0x48], RET]), ["mov rax, [r15+48h]", "ret"]);
    assert_eq!(text(&[copy, &[0x89, 0x08], &[0x31, 0xc0], RET]), ["mov [r15], ecx", "xor eax, eax", "ret"]);
    // A copy of the copy; and the copy itself is read: mov rcx, rax; mov rdx, [rcx]
    assert_eq!(text(&[copy, &[0x48, 0x89, 0xc1], &[0x48, 0x8b, 0x11], RET])[2], "mov rdx, [r15]");
    // Not what the register holds later, in another block, behind a call, or where the linker writes.
    let read: &[u8] = &[0x48, 0x8b, 0x40, 0x48];
    for between in [&[0x48, 0xff, 0xc0][..], &[0x31, 0xc0], &[0x74, 0], CALL, &[0x48, 0x8b, 0x44, 0x24, 8], &[0x48, 0x89, 0xc8]] {
        assert!(text(&[copy, between, read, RET]).contains(&"mov rax, [rax+48h]".to_owned()), "{between:x?}");
    }
    // The pinned register is another's: mov r15, rcx; mov r15, [rsp+8]; pop r15; and mov r15, rax leaves it what it was.
    for other in [&[0x49, 0x89, 0xcf][..], &[0x4c, 0x8b, 0x7c, 0x24, 8], &[0x41, 0x5f]] {
        assert!(text(&[copy, other, read, RET]).contains(&"mov rax, [rax+48h]".to_owned()), "{other:x?}");
    }
    assert_eq!(text(&[copy, &[0x49, 0x89, 0xc7], read, RET])[2], "mov rax, [r15+48h]");
    let mut code = Code::new(&[copy, &[0x48, 0x8b, 0x80, 0, 0, 0, 0], RET]);
    code.relocated = vec![6];
    assert_eq!(code.text(), ["mov rax, r15", "mov rax, [rax]", "ret"]);
}

#[test]
fn constants_of_one_byte_take_one() {
    // add r8d, -1; add eax, 4; cmp rcx, 10h; sub dword [rax+8], 1; and those that do not fit or cannot: add ecx, 80h; test eax, 3; mov ecx, 1
    let short: [(&[u8], &str, usize); 4] = [
        (&[0x41, 0x81, 0xc0, 0xff, 0xff, 0xff, 0xff], "add r8d, 0FFFFFFFFh", 4),
        (&[0x05, 4, 0, 0, 0], "add eax, 4", 3),
        (&[0x48, 0x81, 0xf9, 0x10, 0, 0, 0], "cmp rcx, 10h", 4),
        (&[0x81, 0x68, 8, 1, 0, 0, 0], "sub dword [rax+8], 1", 4),
    ];
    for (bytes, same, length) in short {
        let (code, _) = Code::new(&[bytes, RET]).compacted().unwrap();
        assert_eq!((disassemble(&code).lines().next().map(|line| &line[8..]), code.len()), (Some(same), length + 1));
    }
    for bytes in [&[0x81, 0xc1, 0x80, 0, 0, 0][..], &[0xa9, 3, 0, 0, 0], &[0xb9, 1, 0, 0, 0], &[0x66, 0x81, 0xc1, 1, 0]] {
        assert_eq!(Code::new(&[bytes, RET]).compacted().unwrap().0.len(), bytes.len() + 1, "{bytes:x?}");
    }
}

#[test]
fn tables_and_constants_are_found_where_they_are() {
    // lea rcx, [table]; movsxd rdx, [rcx+rdx*4]; add rcx, rdx; jmp rcx; table: two blocks: movsd xmm0, [constant]; je, which becomes short; ret; and constants
    let begin = [&[0x90; 5][..], &[0x48, 0x8d, 0x0d, 9, 0, 0, 0], &[0x48, 0x63, 0x14, 0x91], &[0x48, 0x01, 0xd1], &[0xff, 0xe1]].concat();
    let table = begin.len() as u32;
    let blocks = [table + 8, table + 8 + 8 + 6 + 1];
    let constant = (blocks[1] + 15).next_multiple_of(ALIGNMENT) + 8;
    let block = |at: u32| [&[0xf2, 0x0f, 0x10, 0x05][..], &(constant - (at + 8)).to_le_bytes(), &branch(0), RET].concat();
    let mut bytes = [&begin[..], &blocks.map(|at| (at - table).to_le_bytes()).concat(), &block(blocks[0]), &block(blocks[1])].concat();
    bytes.resize(constant as usize, 0xaa);
    bytes.extend(1.5f64.to_le_bytes());
    let mut code = Code::new(&[&bytes]);
    code.starts = vec![0, blocks[0], blocks[1]];
    let (now, Compacted { map, lead_in, .. }) = code.compacted().unwrap();
    let table_now = map.get(table).unwrap();
    assert_eq!(table_now, table - 5);
    for (number, block) in blocks.into_iter().enumerate() {
        let word = table_now as usize + 4 * number;
        let leads = table_now + u32::from_le_bytes(now[word..word + 4].try_into().unwrap());
        assert_eq!(Some(leads), map.get(block));
        let load = Decoder::with_ip(64, &now[leads as usize..], leads.into(), DecoderOptions::NONE).decode();
        let at = load.ip_rel_memory_address() as usize;
        assert_eq!(now[at..at + 8], 1.5f64.to_le_bytes());
        assert_eq!((lead_in + at as u32) % ALIGNMENT, constant % ALIGNMENT, "aligned as it was, from an aligned place");
        assert_eq!(map.get(constant), Some(at as u32));
    }
}

#[test]
fn what_tables_tell_of_is_told_of_where_it_is() {
    // nop; call; je over (inc eax; jmp, gone); a gap; ret
    let parts = [&[0x90][..], CALL, &branch(0), &[0xff, 0xc0], &jump(2), &[0xcc, 0xcc], RET];
    let (code, Compacted { map, .. }) = Code::new(&parts).compacted().unwrap();
    assert_eq!(disassemble(&code).lines().map(|line| line[8..].to_owned()).collect::<Vec<_>>(), ["call 5", "je short 7", "inc eax", "ret"]);
    assert_eq!([0, 1, 2, 6, 12, 14, 19, 21].map(|at| map.get(at)), [None, Some(0), Some(1), Some(5), Some(7), Some(9), None, Some(9)]);
    assert_eq!([0, 14, 19].map(|at| map.at_or_behind(at)), [0, 9, 9]);
    assert_eq!((map.end(6), map.end(1)), (Some(5), None), "where the call returns to; the nop is gone");
    assert_eq!(map.spans(&[(0, 7), (1, 8), (12, 9), (14, 7), (21, 8)]), [(0, 8), (7, 9), (9, 8)]);
}

#[test]
fn what_cannot_be_followed_stays() {
    // loop; a jump that the linker writes; a jump to where no instruction begins; memory of the code's own
    assert!(Code::new(&[&[0xe2, 0], RET]).compacted().is_none());
    let mut code = Code::new(&[&jump(0), RET]);
    code.relocated = vec![1];
    assert!(code.compacted().is_none());
    assert!(Code::new(&[&jump(-3), RET]).compacted().is_none());
    let mut code = Code::new(&[CALL, RET]);
    code.relocated = Vec::new();
    assert!(code.compacted().is_none(), "a call of the code's own");
    assert!(Code::new(&[&[0x48, 0x8b, 0x05, 5, 0, 0, 0], &jump(1), &[0xcc], RET]).compacted().is_none(), "a word that is in a gap");
}

/// `inc eax`, a poll of five bytes' filler, `inc ecx` so often, and back by `je`; then `ret`, and what the poll leads to.
fn polling(before: &[u8], rounds: usize) -> Code {
    polling_around(before, &[0xff, 0xc1].repeat(rounds))
}

fn polling_around(before: &[u8], body: &[u8]) -> Code {
    let at = before.len() as u32;
    let poll: &[u8] = &[0x0f, 0x1f, 0x44, 0, 0, 0x4d, 0x3b, 0xbc, 0x27, 0x68, 3, 0, 0, 0x0f, 0x82];
    let behind = (body.len() + 6 + 1) as i32;
    let back = branch(-(19 + body.len() as i32 + 6));
    let mut code = Code::new(&[before, poll, &behind.to_le_bytes(), body, &back, RET, &[0x31, 0xc0], RET]);
    code.polls = vec![Poll { at, filler: 5, word: 0x368 }];
    code.starts = vec![0, at, at + 19, at + 19 + (body.len() + 6) as u32, at + 19 + (body.len() + 7) as u32];
    code.starts.dedup();
    code
}

#[test]
fn a_poll_is_where_nobody_falls_in_and_one_byte_leads_to_it() {
    for rounds in [1, 20, 40, 45, 50, 55] {
        let (mut code, Compacted { back_edges, .. }) = polling(&[0xff, 0xc0], rounds).compacted().unwrap();
        let [edge] = &back_edges[..] else { panic!("{rounds}: {back_edges:?}\n{}", disassemble(&code)) };
        assert_eq!((code[edge.at as usize], edge.word), (edge.polls, 0x368));
        assert_eq!(code[..4], [0xff, 0xc0, 0xff, 0xc1], "who falls in falls into the loop");
        let target = |code: &[u8]| {
            let back = &code[2 + 2 * rounds..];
            Decoder::with_ip(64, back, (2 + 2 * rounds) as u64, DecoderOptions::NONE).decode().near_branch64() as usize
        };
        let poll = target(&code);
        assert_eq!(code[poll..poll + COMPARE], [0x4d, 0x3b, 0xbc, 0x27, 0x68, 3, 0, 0]);
        code[edge.at as usize] = edge.passes;
        assert_eq!(target(&code), 2, "{rounds}");
        // Who polls and is not asked goes on in the loop.
        let back = Decoder::with_ip(64, &code[poll + 14..], poll as u64 + 14, DecoderOptions::NONE).decode();
        assert_eq!(back.near_branch64(), 2);
    }
}

#[test]
fn who_passes_a_poll_goes_where_the_jump_behind_it_leads() {
    // jmp to the body; a poll, and a jump over so many bytes to the body; inc ecx; je back to the poll.
    for over in [3, 60, 160, 300] {
        let skipped = [&filler(over)[..], RET].concat();
        let poll: &[u8] = &[0x0f, 0x1f, 0x44, 0, 0, 0x4d, 0x3b, 0xbc, 0x27, 0x68, 3, 0, 0, 0x0f, 0x82];
        let body: &[u8] = &[0xff, 0xc1];
        let (ahead, at) = (branch(24), 6 + 3);
        let to_exit = (5 + skipped.len() + body.len() + 6 + 1) as i32;
        let back = branch(-((19 + 5 + skipped.len() + body.len() + 6) as i32));
        let entry = [&[0x85, 0xd2, 0x90][..], &ahead].concat();
        let parts = [&entry[..], poll, &to_exit.to_le_bytes(), &jump(skipped.len() as i32), &skipped, body, &back, RET, &[0x31, 0xc0], RET];
        let mut code = Code::new(&parts);
        // Who does not fall into the poll comes to what is skipped.
        let begin = at as u32;
        let skips = begin + 19 + 5;
        code.polls = vec![Poll { at: begin, filler: 5, word: 0x368 }];
        let behind = skips + skipped.len() as u32;
        code.starts = vec![0, begin, begin + 19, skips, behind, behind + 8, behind + 9];
        let (mut bytes, Compacted { map, back_edges, .. }) = code.compacted().unwrap();
        let edge = back_edges.iter().max_by_key(|edge| edge.at).unwrap();
        let target = |bytes: &[u8]| {
            let last = map.get(behind + 2).unwrap();
            Decoder::with_ip(64, &bytes[last as usize..], last.into(), DecoderOptions::NONE).decode().near_branch64() as u32
        };
        assert_eq!(Some(target(&bytes)), map.get(begin + 5), "it polls");
        bytes[edge.at as usize] = edge.passes;
        let past = [map.get(behind), map.get(begin + 19)];
        assert!(past.contains(&Some(target(&bytes))), "{over}: {}", disassemble(&bytes));
        assert_eq!(past[0] == Some(target(&bytes)), over < 200, "{over}: {}", disassemble(&bytes));
    }
}

#[test]
fn a_poll_in_the_middle_of_its_loop_stays() {
    // The loop goes back to what stands before the poll, as a countdown does: inc eax; poll; ...; je to the begin.
    let mut code = polling(&[0xff, 0xc0], 1);
    let back = 2 + 19 + 2;
    code.bytes[back + 2..back + 6].copy_from_slice(&(-(back as i32 + 6)).to_le_bytes());
    let (bytes, Compacted { back_edges, .. }) = code.compacted().unwrap();
    assert_eq!((bytes[2], back_edges.len(), back_edges[0].at), (0xeb, 1, 3), "the jump in front of it, steered as before");
    // And one that nobody falls into: it begins the function behind a jump.
    let (bytes, Compacted { back_edges, .. }) = polling(&[0xff, 0xc0, 0xe9, 5, 0, 0, 0], 3).compacted().unwrap();
    assert_eq!(back_edges.len(), 1, "{}", disassemble(&bytes));
}

#[test]
fn a_loop_that_nothing_leads_to_is_none() {
    // jmp behind a loop, whose blocks are there; ret
    let parts = [&jump(2 + 5)[..], &[0xff, 0xc0], &jump(-7), RET];
    let mut code = Code::new(&parts);
    code.starts = vec![0, 5, 12];
    assert_eq!(
        code.compacted().map(|(bytes, compacted)| (bytes, compacted.lead_in)),
        Some((RET.to_vec(), placement::lead_in(Vec::new(), &[], Vec::new(), 1)))
    );
}

#[test]
fn endless_loops_stay() {
    // jmp to itself; with a nop or a copy that nobody reads; two jumps to each other
    for parts in [&[&jump(-5)[..]][..], &[&[0x90], &jump(-6)], &[&[0x48, 0x89, 0xc1], &jump(-8)], &[&jump(1), RET, &jump(-11)]] {
        let (code, _) = Code::new(parts).compacted().unwrap();
        let last = Decoder::new(64, &code, DecoderOptions::NONE).iter().last().expect("a jump");
        assert_eq!((last.flow_control(), last.near_branch64()), (FlowControl::UnconditionalBranch, 0), "{}", disassemble(&code));
    }
}

#[test]
fn a_call_returns_to_its_end_whatever_follows() {
    // A call falls into a loop whose poll is set aside.
    let (bytes, Compacted { map, .. }) = polling(CALL, 1).compacted().unwrap();
    assert_eq!((map.end(5), map.get(5)), (Some(5), Some(10)), "{}", disassemble(&bytes));
}

#[test]
fn branches_that_make_each_other_long_end() {
    // Each leads over as many of the next as it may while those are short, or by half of that, and the last over bytes more.
    for over in [63, 31] {
        let count = 3000;
        let to_end = |at: i32| 6 * (count - at - 1) + 130;
        let parts: Vec<Vec<u8>> = (0..count).map(|at| branch(if at + over < count { 6 * over } else { to_end(at) })).collect();
        let bytes = [&parts.concat()[..], &filler(130), RET].concat();
        let began = std::time::Instant::now();
        assert!(Code::new(&[&bytes]).compacted().is_some());
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
    }
}

/// A loop whose branch over one arm and jump over the other leave the same footprint where it begins 24 or 56 bytes into a line, nearly the same from 14 on and from 46 on. See [`Fork`]. With a call
/// on the way to the jump, or where the function returns there, the two are no fork.
#[test]
fn a_fork_looks_different_either_way() {
    // Three bytes each.
    let work = |times| [0x0f, 0xc8, 0x99].repeat(times);
    let begins = |arm: Vec<u8>, ends: &[u8], has_footprints| {
        let mut code = polling_around(&[], &[work(6), branch(18 + ends.len() as i32), arm, ends.to_vec(), work(12)].concat());
        code.starts.extend([24, 42 + ends.len() as u32, 60 + ends.len() as u32].map(|at| 19 + at));
        code.starts.sort_unstable();
        let calls = code.bytes.windows(CALL.len()).position(|bytes| bytes == CALL).map(|at| at as u32 + 1);
        code.relocated.extend(calls);
        let (bytes, Compacted { lead_in, .. }) = Code { has_footprints, ..code }.compacted().unwrap();
        assert_eq!(bytes[0x22], 0x74, "the branch is where it was measured: {}", disassemble(&bytes));
        (lead_in + 0x10) % placement::LINE
    };
    let over = jump(18);
    let calls = || [CALL.to_vec(), vec![0x99], work(4)].concat();
    let cases = [
        ("a fork", work(6), &over[..], 12),
        ("a call on the way", calls(), &over, 16),
        ("it returns", work(6), &[0xc3, 0x99, 0x99, 0x99, 0x99], 16),
    ];
    for (name, arm, ends, expected) in cases {
        assert_eq!(begins(arm.clone(), ends, false), 16, "{name}");
        assert_eq!(begins(arm, ends, true), expected, "{name}");
    }
}
