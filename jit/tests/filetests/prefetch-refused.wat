;;! tier = optimizing
;;! show = assembly
;;! decision = {"prefetch": {"offset": "I32Load#0", "kind": "indirect", "distance": 64}}
;;! decision = {"prefetch": {"offset": "I32Load#1", "kind": "indirect", "distance": 64}}
;;! decision = {"prefetch": {"offset": "I32Load#2", "kind": "strided", "distance": 64}}
;;! decision = {"prefetch": {"offset": "I32Load#3", "kind": "strided", "distance": 0}}
;;! decision = {"prefetch": {"offset": "I32Load#4", "kind": "strided", "distance": 4}}
;;! decision = {"prefetch": {"offset": "I32Load#5", "kind": "strided", "distance": 4}}
;;! decision = {"prefetch": {"offset": "I32Load#6", "kind": "strided", "distance": 4}}
;;! decision = {"prefetch": {"offset": "I32Load#7", "kind": "indirect", "distance": 4}}
;;! lacks = prefetcht0
;;! lacks = function 0: done
;; A list walk, a call's result, an index from a load where the plan says strided, no distance, one place, no loop, one of two ways, and
;; an index that a division by an unknown number gives.
(module
  (memory 1)
  (func (param $n i32) (param $p i32) (param $q i32) (result i32) (local $x i32)
    (loop $next
      (local.set $p (i32.load (local.get $p)))
      (local.set $x (i32.add (local.get $x) (i32.load (memory.grow (i32.const 0)))))
      (local.set $x (i32.add (local.get $x) (i32.load (i32.load8_u (local.get $n)))))
      (local.set $x (i32.add (local.get $x) (i32.load (local.get $n))))
      (local.set $x (i32.add (local.get $x) (i32.load (i32.const 16))))
      (if (local.get $x) (then (local.set $q (i32.mul (local.get $x) (i32.const 8)))))
      (local.set $x (i32.add (local.get $x) (i32.load (local.get $q))))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.set $x (i32.add (local.get $x) (i32.load (local.get $q))))
    (loop $again
      (local.set $x (i32.add (local.get $x) (i32.load (i32.div_u (i32.const 100) (local.get $n)))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $x)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  sub rsp, 30h
;;>      8  mov [rsp+10h], rbx
;;>      d  mov [rsp+18h], r12
;;>     12  mov [rsp+20h], r13
;;>     17  mov [rsp+28h], r14
;;>     1c  mov [rsp], rdx
;;>     20  mov r12, r15
;;>     23  mov [rsp+8], r12
;;>     28  xor r12d, r12d
;;>     2b  mov rax, r15
;;>     2e  mov eax, [rax+70h]
;;>     31  test eax, eax
;;>     33  jne near 13Ah
;;>     39  mov rcx, [rsp+8]
;;>     3e  mov r13, rsi
;;>     41  mov r14, rdi
;;>     44  jmp 54h
;;>     49  mov rcx, [rsp+8]
;;>     4e  mov r13, rsi
;;>     51  mov r14, rdi
;;>     54  mov rbx, [rcx+40h]
;;>     58  mov [rsp+8], rcx
;;>     5d  mov ecx, r13d
;;>     60  mov r13d, [rbx+rcx]
;;>     64  mov rdi, r15
;;>     67  mov rcx, [rdi+30h]
;;>     6b  mov rcx, [rcx]
;;>     6e  xor esi, esi
;;>     70  xor rdx, rdx
;;>     73  call rcx
;;>     75  mov eax, eax
;;>     77  mov ecx, [rbx+rax]
;;>     7a  mov edx, r14d
;;>     7d  movzx rax, byte [rbx+rdx]
;;>     82  mov eax, eax
;;>     84  mov esi, [rbx+rax]
;;>     87  mov edx, [rbx+rdx]
;;>     8a  mov edi, [rbx+10h]
;;>     8d  lea eax, [r12+rcx]
;;>     91  add eax, esi
;;>     93  add eax, edx
;;>     95  lea ecx, [rax+rdi]
;;>     98  test ecx, ecx
;;>     9a  jne near 0A9h
;;>     a0  mov r8, [rsp]
;;>     a4  jmp 0B0h
;;>     a9  mov r8, rcx
;;>     ac  shl r8d, 3
;;>     b0  mov eax, r8d
;;>     b3  mov edx, [rbx+rax]
;;>     b6  mov rsi, r14
;;>     b9  sub esi, 1
;;>     bc  lea r12d, [rcx+rdx]
;;>     c0  test esi, esi
;;>     c2  je near 0D7h
;;>     c8  mov [rsp], r8
;;>     cc  mov rdi, rsi
;;>     cf  mov rsi, r13
;;>     d2  jmp 2Bh
;;>     d7  sub r14d, 1
;;>     db  lea eax, [r12+rdx]
;;>     df  mov rcx, rax
;;>     e2  mov rax, r15
;;>     e5  mov eax, [rax+70h]
;;>     e8  test eax, eax
;;>     ea  jne near 1DEh
;;>     f0  mov eax, 64h
;;>     f5  xor rdx, rdx
;;>     f8  div r14d
;;>     fb  mov r10d, eax
;;>     fe  mov r10d, [rbx+r10]
;;>    102  sub r14d, 1
;;>    106  mov rax, rcx
;;>    109  add eax, r10d
;;>    10c  test r14d, r14d
;;>    10f  je near 11Dh
;;>    115  mov rcx, rax
;;>    118  jmp 0E2h
;;>    11d  mov rbx, [rsp+10h]
;;>    122  mov r12, [rsp+18h]
;;>    127  mov r13, [rsp+20h]
;;>    12c  mov r14, [rsp+28h]
;;>    131  add rsp, 30h
;;>    135  mov rsp, rbp
;;>    138  pop rbp
;;>    139  ret
;;>    13a  mov rax, r15
;;>    13d  mov eax, [rax+70h]
;;>    140  test eax, 0FFFFFFFEh
;;>    145  je near 156h
;;>    14b  xor eax, 24h
;;>    14e  test eax, eax
;;>    150  jne near 49h
;;>    156  mov rax, r15
;;>    159  mov rax, [rax+8]
;;>    15d  mov rcx, [rax+28h]
;;>    161  mov rax, 2400000000h
;;>    16b  mov [rcx], rax
;;>    16e  mov qword [rcx+8], 7
;;>    176  mov r14, rdi
;;>    179  mov eax, r14d
;;>    17c  mov [rcx+10h], rax
;;>    180  mov r13, rsi
;;>    183  mov eax, r13d
;;>    186  mov [rcx+18h], rax
;;>    18a  mov r8, [rsp]
;;>    18e  mov eax, r8d
;;>    191  mov [rcx+20h], rax
;;>    195  mov eax, r12d
;;>    198  mov [rcx+28h], rax
;;>    19c  mov esi, [rcx]
;;>    19e  mov edx, [rcx+4]
;;>    1a1  mov ecx, [rcx+8]
;;>    1a4  mov rdi, r15
;;>    1a7  mov rax, [rdi+30h]
;;>    1ab  mov rax, [rax+60h]
;;>    1af  call rax
;;>    1b1  mov rcx, r15
;;>    1b4  mov rcx, [rcx+8]
;;>    1b8  mov rdi, [rcx+28h]
;;>    1bc  mov r10, rax
;;>    1bf  mov rbx, [rsp+10h]
;;>    1c4  mov r12, [rsp+18h]
;;>    1c9  mov r13, [rsp+20h]
;;>    1ce  mov r14, [rsp+28h]
;;>    1d3  add rsp, 30h
;;>    1d7  mov rsp, rbp
;;>    1da  pop rbp
;;>    1db  jmp r10
;;>    1de  mov rax, r15
;;>    1e1  mov eax, [rax+70h]
;;>    1e4  test eax, 0FFFFFFFEh
;;>    1e9  je near 1FCh
;;>    1ef  xor eax, 84h
;;>    1f4  test eax, eax
;;>    1f6  jne near 0F0h
;;>    1fc  mov rdi, r15
;;>    1ff  mov rdi, [rdi+8]
;;>    203  mov rdi, [rdi+28h]
;;>    207  mov r8, 8400000000h
;;>    211  mov [rdi], r8
;;>    214  mov qword [rdi+8], 7
;;>    21c  mov r9d, r14d
;;>    21f  mov [rdi+10h], r9
;;>    223  mov rax, rcx
;;>    226  mov r10d, eax
;;>    229  mov [rdi+28h], r10
;;>    22d  mov esi, [rdi]
;;>    22f  mov edx, [rdi+4]
;;>    232  mov ecx, [rdi+8]
;;>    235  mov rdi, r15
;;>    238  mov r11, [rdi+30h]
;;>    23c  mov r11, [r11+60h]
;;>    240  call r11
;;>    243  mov r11, r15
;;>    246  mov r11, [r11+8]
;;>    24a  mov rdi, [r11+28h]
;;>    24e  mov r10, rax
;;>    251  mov rbx, [rsp+10h]
;;>    256  mov r12, [rsp+18h]
;;>    25b  mov r13, [rsp+20h]
;;>    260  mov r14, [rsp+28h]
;;>    265  add rsp, 30h
;;>    269  mov rsp, rbp
;;>    26c  pop rbp
;;>    26d  jmp r10
;;> prefetch in function 0: the address follows from a value that the loop does not advance by a fixed step
;;> prefetch in function 0: the address comes from call_indirect, which cannot be done ahead of time
;;> prefetch in function 0: the address comes from a load, the plan says strided
;;> prefetch in function 0: a distance of 0 rounds, 1 to 65536 are possible
;;> prefetch in function 0: its loop does not change the address
;;> prefetch in function 0: the address depends on which way the loop took
;;> prefetch in function 0: it is in no loop
;;> prefetch in function 0: the address comes from udiv, which cannot be done ahead of time
