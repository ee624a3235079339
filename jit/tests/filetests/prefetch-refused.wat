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
;;>     29  mov r13, [rax+40h]
;;>     2d  mov rax, r15
;;>     30  mov eax, [rax+70h]
;;>     33  test eax, eax
;;>     35  jne near 1B4h
;;>     3b  mov rbx, rsi
;;>     3e  mov eax, ebx
;;>     40  mov ebx, [r13+rax]
;;>     45  mov rdi, r15
;;>     48  mov rax, [rdi+30h]
;;>     4c  mov rax, [rax]
;;>     4f  xor esi, esi
;;>     51  xor rdx, rdx
;;>     54  call rax
;;>     56  mov eax, eax
;;>     58  mov eax, [r13+rax]
;;>     5d  mov rdi, r14
;;>     60  mov ecx, edi
;;>     62  movzx rdx, byte [r13+rcx]
;;>     68  mov edx, edx
;;>     6a  mov edx, [r13+rdx]
;;>     6f  mov ecx, [r13+rcx]
;;>     74  mov esi, [r13+10h]
;;>     78  add eax, r12d
;;>     7b  add eax, edx
;;>     7d  add eax, ecx
;;>     7f  add eax, esi
;;>     81  test eax, eax
;;>     83  jne near 92h
;;>     89  mov rdx, [rsp]
;;>     8d  jmp 98h
;;>     92  mov rdx, rax
;;>     95  shl edx, 3
;;>     98  mov ecx, edx
;;>     9a  mov ecx, [r13+rcx]
;;>     9f  sub edi, 1
;;>     a2  lea r12d, [rax+rcx]
;;>     a6  test edi, edi
;;>     a8  je near 0BDh
;;>     ae  mov rsi, rbx
;;>     b1  mov r14, rdi
;;>     b4  mov [rsp], rdx
;;>     b8  jmp 2Dh
;;>     bd  lea eax, [r12+rcx]
;;>     c1  mov rsi, rax
;;>     c4  mov rax, r15
;;>     c7  mov eax, [rax+70h]
;;>     ca  test eax, eax
;;>     cc  jne near 118h
;;>     d2  mov eax, 64h
;;>     d7  xor rdx, rdx
;;>     da  div edi
;;>     dc  mov eax, eax
;;>     de  mov ecx, [r13+rax]
;;>     e3  sub edi, 1
;;>     e6  mov rax, rsi
;;>     e9  add eax, ecx
;;>     eb  test edi, edi
;;>     ed  je near 0FBh
;;>     f3  mov rsi, rax
;;>     f6  jmp 0C4h
;;>     fb  mov rbx, [rsp+10h]
;;>    100  mov r12, [rsp+18h]
;;>    105  mov r13, [rsp+20h]
;;>    10a  mov r14, [rsp+28h]
;;>    10f  add rsp, 30h
;;>    113  mov rsp, rbp
;;>    116  pop rbp
;;>    117  ret
;;>    118  mov rax, rsi
;;>    11b  mov rcx, r15
;;>    11e  mov edx, [rcx+70h]
;;>    121  test dx, dx
;;>    124  jne near 146h
;;>    12a  xor edx, 850000h
;;>    130  test edx, edx
;;>    132  je near 146h
;;>    138  mov word [rcx+72h], 0
;;>    13e  mov rsi, rax
;;>    141  jmp 0C4h
;;>    146  mov rcx, r15
;;>    149  mov rcx, [rcx+8]
;;>    14d  mov rcx, [rcx+28h]
;;>    151  mov rdx, 8400000000h
;;>    15b  mov [rcx], rdx
;;>    15e  mov qword [rcx+8], 7
;;>    166  mov edx, edi
;;>    168  mov [rcx+10h], rdx
;;>    16c  mov eax, eax
;;>    16e  mov [rcx+28h], rax
;;>    172  mov esi, [rcx]
;;>    174  mov edx, [rcx+4]
;;>    177  mov ecx, [rcx+8]
;;>    17a  mov rdi, r15
;;>    17d  mov rax, [rdi+30h]
;;>    181  mov rax, [rax+60h]
;;>    185  call rax
;;>    187  mov rcx, r15
;;>    18a  mov rcx, [rcx+8]
;;>    18e  mov rdi, [rcx+28h]
;;>    192  mov r10, rax
;;>    195  mov rbx, [rsp+10h]
;;>    19a  mov r12, [rsp+18h]
;;>    19f  mov r13, [rsp+20h]
;;>    1a4  mov r14, [rsp+28h]
;;>    1a9  add rsp, 30h
;;>    1ad  mov rsp, rbp
;;>    1b0  pop rbp
;;>    1b1  jmp r10
;;>    1b4  mov rdx, [rsp]
;;>    1b8  mov rbx, rsi
;;>    1bb  mov rdi, r14
;;>    1be  mov rax, r15
;;>    1c1  mov ecx, [rax+70h]
;;>    1c4  test cx, cx
;;>    1c7  jne near 1F0h
;;>    1cd  xor ecx, 250000h
;;>    1d3  test ecx, ecx
;;>    1d5  je near 1F0h
;;>    1db  mov word [rax+72h], 0
;;>    1e1  mov rsi, rbx
;;>    1e4  mov r14, rdi
;;>    1e7  mov [rsp], rdx
;;>    1eb  jmp 2Dh
;;>    1f0  mov r8, r15
;;>    1f3  mov r8, [r8+8]
;;>    1f7  mov r8, [r8+28h]
;;>    1fb  mov r9, 2400000000h
;;>    205  mov [r8], r9
;;>    208  mov qword [r8+8], 7
;;>    210  mov r9d, edi
;;>    213  mov [r8+10h], r9
;;>    217  mov r10d, ebx
;;>    21a  mov [r8+18h], r10
;;>    21e  mov r11d, edx
;;>    221  mov [r8+20h], r11
;;>    225  mov eax, r12d
;;>    228  mov [r8+28h], rax
;;>    22c  mov esi, [r8]
;;>    22f  mov edx, [r8+4]
;;>    233  mov ecx, [r8+8]
;;>    237  mov rdi, r15
;;>    23a  mov rax, [rdi+30h]
;;>    23e  mov rax, [rax+60h]
;;>    242  call rax
;;>    244  mov rcx, r15
;;>    247  mov rcx, [rcx+8]
;;>    24b  mov rdi, [rcx+28h]
;;>    24f  mov r10, rax
;;>    252  mov rbx, [rsp+10h]
;;>    257  mov r12, [rsp+18h]
;;>    25c  mov r13, [rsp+20h]
;;>    261  mov r14, [rsp+28h]
;;>    266  add rsp, 30h
;;>    26a  mov rsp, rbp
;;>    26d  pop rbp
;;>    26e  jmp r10
;;> prefetch in function 0: the address follows from a value that the loop does not advance by a fixed step
;;> prefetch in function 0: the address comes from call_indirect, which cannot be done ahead of time
;;> prefetch in function 0: the address follows from a value that the loop does not advance by a fixed step
;;> prefetch in function 0: a distance of 0 rounds, 1 to 65536 are possible
;;> prefetch in function 0: its loop does not change the address
;;> prefetch in function 0: the address depends on which way the loop took
;;> prefetch in function 0: it is in no loop
;;> prefetch in function 0: the address comes from udiv, which cannot be done ahead of time
