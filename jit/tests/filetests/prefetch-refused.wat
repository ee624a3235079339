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
;;>     1c  mov r14, rdi
;;>     1f  mov [rsp], rdx
;;>     23  xor r12d, r12d
;;>     26  mov r13, [r15+48h]
;;>     2a  mov rbx, rsi
;;>     2d  mov eax, ebx
;;>     2f  mov ebx, [r13+rax]
;;>     34  mov rdi, r15
;;>     37  mov rax, [r15+38h]
;;>     3b  mov rax, [rax]
;;>     3e  xor esi, esi
;;>     40  xor rdx, rdx
;;>     43  call rax
;;>     45  mov eax, eax
;;>     47  mov eax, [r13+rax]
;;>     4c  mov rdi, r14
;;>     4f  mov ecx, edi
;;>     51  movzx rdx, byte [r13+rcx]
;;>     57  mov edx, edx
;;>     59  mov edx, [r13+rdx]
;;>     5e  mov ecx, [r13+rcx]
;;>     63  mov esi, [r13+10h]
;;>     67  add eax, r12d
;;>     6a  add eax, edx
;;>     6c  add eax, ecx
;;>     6e  add eax, esi
;;>     70  test eax, eax
;;>     72  jne short 8Ah
;;>     74  mov rdx, [rsp]
;;>     78  jmp short 90h
;;>     7a  cmp r15, [r15+88h]
;;>     82  jb near 172h
;;>     88  jmp short 2Ah
;;>     8a  mov rdx, rax
;;>     8d  shl edx, 3
;;>     90  mov ecx, edx
;;>     92  mov ecx, [r13+rcx]
;;>     97  sub edi, 1
;;>     9a  lea r12d, [rax+rcx]
;;>     9e  test edi, edi
;;>     a0  je short 0C1h
;;>     a2  mov rsi, rbx
;;>     a5  mov r14, rdi
;;>     a8  mov [rsp], rdx
;;>     ac  jmp 7Ah
;;>     b1  cmp r15, [r15+90h]
;;>     b9  jb near 107h
;;>     bf  jmp short 0C8h
;;>     c1  lea eax, [r12+rcx]
;;>     c5  mov rsi, rax
;;>     c8  mov eax, 64h
;;>     cd  xor rdx, rdx
;;>     d0  div edi
;;>     d2  mov eax, eax
;;>     d4  mov ecx, [r13+rax]
;;>     d9  sub edi, 1
;;>     dc  mov rax, rsi
;;>     df  add eax, ecx
;;>     e1  test edi, edi
;;>     e3  je short 0EAh
;;>     e5  mov rsi, rax
;;>     e8  jmp short 0B1h
;;>     ea  mov rbx, [rsp+10h]
;;>     ef  mov r12, [rsp+18h]
;;>     f4  mov r13, [rsp+20h]
;;>     f9  mov r14, [rsp+28h]
;;>     fe  add rsp, 30h
;;>    102  mov rsp, rbp
;;>    105  pop rbp
;;>    106  ret
;;>    107  mov rax, rsi
;;>    10a  mov rcx, [r15+8]
;;>    10e  mov rcx, [rcx+28h]
;;>    112  mov rdx, 8400000000h
;;>    11c  mov [rcx], rdx
;;>    11f  mov qword [rcx+8], 7
;;>    127  mov eax, eax
;;>    129  mov [rcx+28h], rax
;;>    12d  mov eax, edi
;;>    12f  mov [rcx+10h], rax
;;>    133  mov esi, [rcx]
;;>    135  mov edx, [rcx+4]
;;>    138  mov ecx, [rcx+8]
;;>    13b  mov rdi, r15
;;>    13e  mov rax, [r15+38h]
;;>    142  mov rax, [rax+70h]
;;>    146  call rax
;;>    148  mov rcx, [r15+8]
;;>    14c  mov rdi, [rcx+28h]
;;>    150  mov r10, rax
;;>    153  mov rbx, [rsp+10h]
;;>    158  mov r12, [rsp+18h]
;;>    15d  mov r13, [rsp+20h]
;;>    162  mov r14, [rsp+28h]
;;>    167  add rsp, 30h
;;>    16b  mov rsp, rbp
;;>    16e  pop rbp
;;>    16f  jmp r10
;;>    172  mov rbx, rsi
;;>    175  mov rdi, r14
;;>    178  mov rax, [r15+8]
;;>    17c  mov rax, [rax+28h]
;;>    180  mov rcx, 2400000000h
;;>    18a  mov [rax], rcx
;;>    18d  mov qword [rax+8], 7
;;>    195  mov ecx, r12d
;;>    198  mov [rax+28h], rcx
;;>    19c  mov ecx, edx
;;>    19e  mov [rax+20h], rcx
;;>    1a2  mov ecx, ebx
;;>    1a4  mov [rax+18h], rcx
;;>    1a8  mov ecx, edi
;;>    1aa  mov [rax+10h], rcx
;;>    1ae  mov esi, [rax]
;;>    1b0  mov edx, [rax+4]
;;>    1b3  mov ecx, [rax+8]
;;>    1b6  mov rdi, r15
;;>    1b9  mov rax, [r15+38h]
;;>    1bd  mov rax, [rax+70h]
;;>    1c1  call rax
;;>    1c3  mov rcx, [r15+8]
;;>    1c7  mov rdi, [rcx+28h]
;;>    1cb  mov r10, rax
;;>    1ce  mov rbx, [rsp+10h]
;;>    1d3  mov r12, [rsp+18h]
;;>    1d8  mov r13, [rsp+20h]
;;>    1dd  mov r14, [rsp+28h]
;;>    1e2  add rsp, 30h
;;>    1e6  mov rsp, rbp
;;>    1e9  pop rbp
;;>    1ea  jmp r10
;;> prefetch in function 0: the address follows from a value that the loop does not advance by a fixed step
;;> prefetch in function 0: the address comes from call_indirect, which cannot be done ahead of time
;;> prefetch in function 0: the address comes from a load, the plan says strided
;;> prefetch in function 0: a distance of 0 rounds, 1 to 65536 are possible
;;> prefetch in function 0: its loop does not change the address
;;> prefetch in function 0: the address depends on which way the loop took
;;> prefetch in function 0: it is in no loop
;;> prefetch in function 0: the address comes from udiv, which cannot be done ahead of time
