;;! tier = optimizing
;;! show = assembly
;;! function = 1
;;! plan = 0 -> 0
;;! contains = inline-guarded in function 1: done

;; As inline-guard.wat, down to the instructions.
(module
  (type $unary (func (param i32) (result i32)))
  (table (export "table") 8 8 funcref)
  (global $index (export "index") (mut i32) (i32.const 0))
  (func $step (type $unary) (i32.add (local.get 0) (i32.const 1)))
  (func (export "run") (param $n i32) (result i32)
    (local $x i32) (local $i i32)
    (loop $again
      (local.set $x (call_indirect (type $unary) (local.get $x) (global.get $index)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $x)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  sub rsp, 30h
;;>      8  mov [rsp+10h], rbx
;;>      d  mov [rsp+18h], r12
;;>     12  mov [rsp+20h], r13
;;>     17  mov r12, rdi
;;>     1a  mov r13, r15
;;>     1d  mov rax, r15
;;>     20  mov eax, [rax+1Ch]
;;>     23  test eax, eax
;;>     25  jne near 9Ch
;;>     2b  xor edi, edi
;;>     2d  mov rbx, rdi
;;>     30  mov rdx, r15
;;>     33  mov edx, [rdx+0A4h]
;;>     39  test edx, edx
;;>     3b  jne near 0BDh
;;>     41  mov ecx, [r13+50h]
;;>     45  cmp ecx, 8
;;>     48  jae near 14Dh
;;>     4e  mov rax, [r13+40h]
;;>     52  mov rdx, rcx
;;>     55  shl edx, 4
;;>     58  mov rax, [rax+rdx+8]
;;>     5d  lea rdx, [r13+60h]
;;>     61  cmp rax, rdx
;;>     64  jne near 14Dh
;;>     6a  lea eax, [rdi+1]
;;>     6d  add ebx, 1
;;>     73  cmp ebx, r12d
;;>     76  jae near 84h
;;>     7c  mov rdi, rax
;;>     7f  jmp 30h
;;>     84  mov rbx, [rsp+10h]
;;>     89  mov r12, [rsp+18h]
;;>     8e  mov r13, [rsp+20h]
;;>     93  add rsp, 30h
;;>     97  mov rsp, rbp
;;>     9a  pop rbp
;;>     9b  ret
;;>     9c  mov rdi, r15
;;>     9f  mov rax, [rdi+30h]
;;>     a3  mov rax, [rax+60h]
;;>     a7  mov esi, 1
;;>     ac  mov edx, 0FFFFFFFFh
;;>     b1  mov ecx, 7
;;>     b6  call rax
;;>     b8  jmp 2Bh
;;>     bd  mov rsi, r15
;;>     c0  mov esi, [rsi+0A4h]
;;>     c6  test esi, 0FFFFFFFEh
;;>     cc  je near 0DDh
;;>     d2  xor esi, 4Ch
;;>     d5  test esi, esi
;;>     d7  jne near 41h
;;>     dd  mov rax, r15
;;>     e0  mov rax, [rax+8]
;;>     e4  mov rax, [rax+28h]
;;>     e8  mov rcx, 4C00000001h
;;>     f2  mov [rax], rcx
;;>     f5  mov qword [rax+8], 7
;;>     fd  mov ecx, r12d
;;>    100  mov [rax+10h], rcx
;;>    104  mov ecx, edi
;;>    106  mov [rax+18h], rcx
;;>    10a  mov ecx, ebx
;;>    10c  mov [rax+20h], rcx
;;>    110  mov esi, [rax]
;;>    112  mov edx, [rax+4]
;;>    115  mov ecx, [rax+8]
;;>    118  mov rdi, r15
;;>    11b  mov rax, [rdi+30h]
;;>    11f  mov rax, [rax+60h]
;;>    123  call rax
;;>    125  mov rcx, r15
;;>    128  mov rcx, [rcx+8]
;;>    12c  mov rdi, [rcx+28h]
;;>    130  mov r10, rax
;;>    133  mov rbx, [rsp+10h]
;;>    138  mov r12, [rsp+18h]
;;>    13d  mov r13, [rsp+20h]
;;>    142  add rsp, 30h
;;>    146  mov rsp, rbp
;;>    149  pop rbp
;;>    14a  jmp r10
;;>    14d  cmp ecx, 8
;;>    150  jae near 1BDh
;;>    156  mov rdx, [r13+40h]
;;>    15a  mov rax, rcx
;;>    15d  shl eax, 4
;;>    160  add rax, rdx
;;>    163  cmp ecx, 8
;;>    166  cmovae rax, rdx
;;>    16a  mov rcx, [rax]
;;>    16d  cmp rcx, 1
;;>    171  jne near 1AEh
;;>    177  mov rax, [rax+8]
;;>    17b  mov rcx, [rax+8]
;;>    17f  cmp rcx, r13
;;>    182  jne near 192h
;;>    188  mov rax, [rax]
;;>    18b  call rax
;;>    18d  jmp 6Dh
;;>    192  mov [rcx+10h], r13
;;>    196  mov [rsp], r13
;;>    19a  mov rax, [rax]
;;>    19d  mov r15, rcx
;;>    1a0  call rax
;;>    1a2  mov rcx, [rsp]
;;>    1a6  mov r15, rcx
;;>    1a9  jmp 6Dh
;;>    1ae  mov rax, [rax+8]
;;>    1b2  test rax, rax
;;>    1b5  je near 1BFh
;;>    1bb  ud2
;;>    1bd  ud2
;;>    1bf  ud2
;;> inline-guarded in function 1: done
