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
;;>     23  mov rax, r15
;;>     26  xor r12d, r12d
;;>     29  mov r13, [rax+48h]
;;>     2d  jmp short 32h
;;>     2f  add [rax], r8b
;;>     32  cmp r15, [r15+88h]
;;>     3a  jb near 193h
;;>     40  mov rbx, rsi
;;>     43  mov eax, ebx
;;>     45  mov ebx, [r13+rax]
;;>     4a  mov rdi, r15
;;>     4d  mov rax, [rdi+38h]
;;>     51  mov rax, [rax]
;;>     54  xor esi, esi
;;>     56  xor rdx, rdx
;;>     59  call rax
;;>     5b  mov eax, eax
;;>     5d  mov eax, [r13+rax]
;;>     62  mov rdi, r14
;;>     65  mov ecx, edi
;;>     67  movzx rdx, byte [r13+rcx]
;;>     6d  mov edx, edx
;;>     6f  mov edx, [r13+rdx]
;;>     74  mov ecx, [r13+rcx]
;;>     79  mov esi, [r13+10h]
;;>     7d  add eax, r12d
;;>     80  add eax, edx
;;>     82  add eax, ecx
;;>     84  add eax, esi
;;>     86  test eax, eax
;;>     88  jne near 97h
;;>     8e  mov rdx, [rsp]
;;>     92  jmp 9Dh
;;>     97  mov rdx, rax
;;>     9a  shl edx, 3
;;>     9d  mov ecx, edx
;;>     9f  mov ecx, [r13+rcx]
;;>     a4  sub edi, 1
;;>     a7  lea r12d, [rax+rcx]
;;>     ab  test edi, edi
;;>     ad  je near 0C2h
;;>     b3  mov rsi, rbx
;;>     b6  mov r14, rdi
;;>     b9  mov [rsp], rdx
;;>     bd  jmp 32h
;;>     c2  lea eax, [r12+rcx]
;;>     c6  mov rsi, rax
;;>     c9  jmp short 0CEh
;;>     cb  add [rax], r8b
;;>     ce  cmp r15, [r15+90h]
;;>     d6  jb near 122h
;;>     dc  mov eax, 64h
;;>     e1  xor rdx, rdx
;;>     e4  div edi
;;>     e6  mov eax, eax
;;>     e8  mov ecx, [r13+rax]
;;>     ed  sub edi, 1
;;>     f0  mov rax, rsi
;;>     f3  add eax, ecx
;;>     f5  test edi, edi
;;>     f7  je near 105h
;;>     fd  mov rsi, rax
;;>    100  jmp 0CEh
;;>    105  mov rbx, [rsp+10h]
;;>    10a  mov r12, [rsp+18h]
;;>    10f  mov r13, [rsp+20h]
;;>    114  mov r14, [rsp+28h]
;;>    119  add rsp, 30h
;;>    11d  mov rsp, rbp
;;>    120  pop rbp
;;>    121  ret
;;>    122  mov rax, rsi
;;>    125  mov rcx, r15
;;>    128  mov rcx, [rcx+8]
;;>    12c  mov rcx, [rcx+28h]
;;>    130  mov rdx, 8400000000h
;;>    13a  mov [rcx], rdx
;;>    13d  mov qword [rcx+8], 7
;;>    145  mov eax, eax
;;>    147  mov [rcx+28h], rax
;;>    14b  mov eax, edi
;;>    14d  mov [rcx+10h], rax
;;>    151  mov esi, [rcx]
;;>    153  mov edx, [rcx+4]
;;>    156  mov ecx, [rcx+8]
;;>    159  mov rdi, r15
;;>    15c  mov rax, [rdi+38h]
;;>    160  mov rax, [rax+70h]
;;>    164  call rax
;;>    166  mov rcx, r15
;;>    169  mov rcx, [rcx+8]
;;>    16d  mov rdi, [rcx+28h]
;;>    171  mov r10, rax
;;>    174  mov rbx, [rsp+10h]
;;>    179  mov r12, [rsp+18h]
;;>    17e  mov r13, [rsp+20h]
;;>    183  mov r14, [rsp+28h]
;;>    188  add rsp, 30h
;;>    18c  mov rsp, rbp
;;>    18f  pop rbp
;;>    190  jmp r10
;;>    193  nop dword [rax]
;;>    197  mov rbx, rsi
;;>    19a  mov rdi, r14
;;>    19d  mov rax, r15
;;>    1a0  mov rax, [rax+8]
;;>    1a4  mov rax, [rax+28h]
;;>    1a8  mov rcx, 2400000000h
;;>    1b2  mov [rax], rcx
;;>    1b5  mov qword [rax+8], 7
;;>    1bd  mov ecx, r12d
;;>    1c0  mov [rax+28h], rcx
;;>    1c4  mov ecx, edx
;;>    1c6  mov [rax+20h], rcx
;;>    1ca  mov ecx, ebx
;;>    1cc  mov [rax+18h], rcx
;;>    1d0  mov ecx, edi
;;>    1d2  mov [rax+10h], rcx
;;>    1d6  mov esi, [rax]
;;>    1d8  mov edx, [rax+4]
;;>    1db  mov ecx, [rax+8]
;;>    1de  mov rdi, r15
;;>    1e1  mov rax, [rdi+38h]
;;>    1e5  mov rax, [rax+70h]
;;>    1e9  call rax
;;>    1eb  mov rcx, r15
;;>    1ee  mov rcx, [rcx+8]
;;>    1f2  mov rdi, [rcx+28h]
;;>    1f6  mov r10, rax
;;>    1f9  mov rbx, [rsp+10h]
;;>    1fe  mov r12, [rsp+18h]
;;>    203  mov r13, [rsp+20h]
;;>    208  mov r14, [rsp+28h]
;;>    20d  add rsp, 30h
;;>    211  mov rsp, rbp
;;>    214  pop rbp
;;>    215  jmp r10
;;> prefetch in function 0: the address follows from a value that the loop does not advance by a fixed step
;;> prefetch in function 0: the address comes from call_indirect, which cannot be done ahead of time
;;> prefetch in function 0: the address comes from a load, the plan says strided
;;> prefetch in function 0: a distance of 0 rounds, 1 to 65536 are possible
;;> prefetch in function 0: its loop does not change the address
;;> prefetch in function 0: the address depends on which way the loop took
;;> prefetch in function 0: it is in no loop
;;> prefetch in function 0: the address comes from udiv, which cannot be done ahead of time
