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
;;! lacks = prefetcht
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
;;>      4  sub rsp, 20h
;;>      8  mov [rsp], rbx
;;>      c  mov [rsp+8], r12
;;>     11  mov [rsp+10h], r13
;;>     16  mov [rsp+18h], r14
;;>     1b  mov r13, rdi
;;>     1e  mov r14, rdx
;;>     21  xor r12d, r12d
;;>     24  mov rax, [r15-60h]
;;>     28  mov rbx, rsi
;;>     2b  mov eax, ebx
;;>     2d  mov ebx, [r15+rax]
;;>     31  mov rdi, r15
;;>     34  mov rcx, [r15-10h]
;;>     38  mov rcx, [rcx]
;;>     3b  xor esi, esi
;;>     3d  xor rdx, rdx
;;>     40  call rcx
;;>     42  mov eax, eax
;;>     44  mov ecx, [r15+rax]
;;>     48  mov rdi, r13
;;>     4b  mov esi, edi
;;>     4d  movzx rax, byte [r15+rsi]
;;>     52  mov eax, eax
;;>     54  mov edx, [r15+rax]
;;>     58  mov esi, [r15+rsi]
;;>     5c  mov r8d, [r15+10h]
;;>     60  lea eax, [r12+rcx]
;;>     64  add eax, edx
;;>     66  add eax, esi
;;>     68  lea ecx, [rax+r8]
;;>     6c  test ecx, ecx
;;>     6e  jne short 75h
;;>     70  mov rdx, r14
;;>     73  jmp short 7Bh
;;>     75  mov rdx, rcx
;;>     78  shl edx, 3
;;>     7b  mov eax, edx
;;>     7d  mov esi, [r15+rax]
;;>     81  sub edi, 1
;;>     84  lea r12d, [rcx+rsi]
;;>     88  test edi, edi
;;>     8a  je short 0B7h
;;>     8c  mov rsi, rbx
;;>     8f  mov r13, rdi
;;>     92  mov r14, rdx
;;>     95  jmp short 97h
;;>     97  cmp r15, [r15-90h]
;;>     9f  jb near 165h
;;>     a5  jmp short 28h
;;>     a7  cmp r15, [r15-88h]
;;>     af  jb near 0FBh
;;>     b5  jmp short 0BEh
;;>     b7  lea eax, [r12+rsi]
;;>     bb  mov rsi, rax
;;>     be  mov eax, 64h
;;>     c3  xor rdx, rdx
;;>     c6  div edi
;;>     c8  mov eax, eax
;;>     ca  mov ecx, [r15+rax]
;;>     ce  sub edi, 1
;;>     d1  mov rax, rsi
;;>     d4  add eax, ecx
;;>     d6  test edi, edi
;;>     d8  je short 0DFh
;;>     da  mov rsi, rax
;;>     dd  jmp short 0A7h
;;>     df  mov rbx, [rsp]
;;>     e3  mov r12, [rsp+8]
;;>     e8  mov r13, [rsp+10h]
;;>     ed  mov r14, [rsp+18h]
;;>     f2  add rsp, 20h
;;>     f6  mov rsp, rbp
;;>     f9  pop rbp
;;>     fa  ret
;;>     fb  mov rax, rsi
;;>     fe  mov rcx, [r15-40h]
;;>    102  mov rcx, [rcx+28h]
;;>    106  mov rdx, 8400000000h
;;>    110  mov [rcx], rdx
;;>    113  mov qword [rcx+8], 7
;;>    11b  mov eax, eax
;;>    11d  mov [rcx+28h], rax
;;>    121  mov eax, edi
;;>    123  mov [rcx+10h], rax
;;>    127  mov esi, [rcx]
;;>    129  mov edx, [rcx+4]
;;>    12c  mov ecx, [rcx+8]
;;>    12f  mov rdi, r15
;;>    132  mov rax, [r15-10h]
;;>    136  mov rax, [rax+70h]
;;>    13a  call rax
;;>    13c  mov rcx, [r15-40h]
;;>    140  mov rdi, [rcx+28h]
;;>    144  mov r10, rax
;;>    147  mov rbx, [rsp]
;;>    14b  mov r12, [rsp+8]
;;>    150  mov r13, [rsp+10h]
;;>    155  mov r14, [rsp+18h]
;;>    15a  add rsp, 20h
;;>    15e  mov rsp, rbp
;;>    161  pop rbp
;;>    162  jmp r10
;;>    165  mov rdx, r14
;;>    168  mov rbx, rsi
;;>    16b  mov rdi, r13
;;>    16e  mov rax, [r15-40h]
;;>    172  mov rcx, [rax+28h]
;;>    176  mov rax, 2400000000h
;;>    180  mov [rcx], rax
;;>    183  mov qword [rcx+8], 7
;;>    18b  mov eax, r12d
;;>    18e  mov [rcx+28h], rax
;;>    192  mov eax, edx
;;>    194  mov [rcx+20h], rax
;;>    198  mov eax, ebx
;;>    19a  mov [rcx+18h], rax
;;>    19e  mov eax, edi
;;>    1a0  mov [rcx+10h], rax
;;>    1a4  mov esi, [rcx]
;;>    1a6  mov edx, [rcx+4]
;;>    1a9  mov ecx, [rcx+8]
;;>    1ac  mov rdi, r15
;;>    1af  mov rax, [r15-10h]
;;>    1b3  mov rax, [rax+70h]
;;>    1b7  call rax
;;>    1b9  mov rcx, [r15-40h]
;;>    1bd  mov rdi, [rcx+28h]
;;>    1c1  mov r10, rax
;;>    1c4  mov rbx, [rsp]
;;>    1c8  mov r12, [rsp+8]
;;>    1cd  mov r13, [rsp+10h]
;;>    1d2  mov r14, [rsp+18h]
;;>    1d7  add rsp, 20h
;;>    1db  mov rsp, rbp
;;>    1de  pop rbp
;;>    1df  jmp r10
;;> prefetch in function 0: the address follows from a value that the loop does not advance by a fixed step
;;> prefetch in function 0: the address comes from call_indirect, which cannot be done ahead of time
;;> prefetch in function 0: the address comes from a load, the plan says strided
;;> prefetch in function 0: a distance of 0 rounds, 1 to 65536 are possible
;;> prefetch in function 0: its loop does not change the address
;;> prefetch in function 0: the address depends on which way the loop took
;;> prefetch in function 0: it is in no loop
;;> prefetch in function 0: the address comes from udiv, which cannot be done ahead of time
