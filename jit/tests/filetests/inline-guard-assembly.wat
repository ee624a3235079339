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
;;>     17  mov [rsp+28h], r14
;;>     1c  mov [rsp+8], rdi
;;>     21  mov r14, r15
;;>     24  xor edi, edi
;;>     26  mov rbx, [r15-70h]
;;>     2a  mov rax, [r15-8]
;;>     2e  mov r13d, [rax]
;;>     31  mov r12, rdi
;;>     34  mov ecx, [r14-60h]
;;>     38  cmp ecx, 8
;;>     3b  jae short 97h
;;>     3d  mov rax, rcx
;;>     40  shl eax, 4
;;>     43  mov rax, [rbx+rax+8]
;;>     48  lea rdx, [r14-0B0h]
;;>     4f  cmp rax, rdx
;;>     52  jne short 97h
;;>     54  lea eax, [rdi+1]
;;>     57  add r12d, 1
;;>     5b  mov rcx, [rsp+8]
;;>     60  cmp r12d, ecx
;;>     63  jae short 7Ah
;;>     65  mov rdi, rax
;;>     68  jmp short 6Ah
;;>     6a  cmp r15, [r15-0B8h]
;;>     72  jb near 0F3h
;;>     78  jmp short 34h
;;>     7a  mov rbx, [rsp+10h]
;;>     7f  mov r12, [rsp+18h]
;;>     84  mov r13, [rsp+20h]
;;>     89  mov r14, [rsp+28h]
;;>     8e  add rsp, 30h
;;>     92  mov rsp, rbp
;;>     95  pop rbp
;;>     96  ret
;;>     97  cmp ecx, 8
;;>     9a  jae near 167h
;;>     a0  mov rax, rcx
;;>     a3  shl eax, 4
;;>     a6  add rax, rbx
;;>     a9  cmp ecx, 8
;;>     ac  cmovae rax, rbx
;;>     b0  mov rcx, [rax]
;;>     b3  cmp rcx, r13
;;>     b6  jne short 0E8h
;;>     b8  mov rcx, [rax+8]
;;>     bc  mov rdx, [rcx+8]
;;>     c0  cmp rdx, r14
;;>     c3  jne short 0CCh
;;>     c5  mov rsi, [rcx]
;;>     c8  call rsi
;;>     ca  jmp short 57h
;;>     cc  mov [rdx-38h], r14
;;>     d0  mov [rsp], r14
;;>     d4  mov rsi, [rcx]
;;>     d7  mov r15, rdx
;;>     da  call rsi
;;>     dc  mov rdi, [rsp]
;;>     e0  mov r15, rdi
;;>     e3  jmp 57h
;;>     e8  mov rax, [rax+8]
;;>     ec  test rax, rax
;;>     ef  je short 169h
;;>     f1  ud2
;;>     f3  mov rcx, [rsp+8]
;;>     f8  mov rax, [r15-40h]
;;>     fc  mov rax, [rax+28h]
;;>    100  mov rdx, 4C00000001h
;;>    10a  mov [rax], rdx
;;>    10d  mov qword [rax+8], 7
;;>    115  mov edx, r12d
;;>    118  mov [rax+20h], rdx
;;>    11c  mov edx, edi
;;>    11e  mov [rax+18h], rdx
;;>    122  mov ecx, ecx
;;>    124  mov [rax+10h], rcx
;;>    128  mov esi, [rax]
;;>    12a  mov edx, [rax+4]
;;>    12d  mov ecx, [rax+8]
;;>    130  mov rdi, r15
;;>    133  mov rax, [r15-10h]
;;>    137  mov rax, [rax+70h]
;;>    13b  call rax
;;>    13d  mov rcx, [r15-40h]
;;>    141  mov rdi, [rcx+28h]
;;>    145  mov r10, rax
;;>    148  mov rbx, [rsp+10h]
;;>    14d  mov r12, [rsp+18h]
;;>    152  mov r13, [rsp+20h]
;;>    157  mov r14, [rsp+28h]
;;>    15c  add rsp, 30h
;;>    160  mov rsp, rbp
;;>    163  pop rbp
;;>    164  jmp r10
;;>    167  ud2
;;>    169  ud2
;;> inline-guarded in function 1: done
