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
;;>     26  mov rbx, [r15+48h]
;;>     2a  mov rax, [r15+40h]
;;>     2e  mov r13d, [rax]
;;>     31  mov r12, rdi
;;>     34  mov ecx, [r14+60h]
;;>     38  cmp ecx, 8
;;>     3b  jae short 94h
;;>     3d  mov rax, rcx
;;>     40  shl eax, 4
;;>     43  mov rax, [rbx+rax+8]
;;>     48  lea rdx, [r14+70h]
;;>     4c  cmp rax, rdx
;;>     4f  jne short 94h
;;>     51  lea eax, [rdi+1]
;;>     54  add r12d, 1
;;>     58  mov rcx, [rsp+8]
;;>     5d  cmp r12d, ecx
;;>     60  jae short 77h
;;>     62  mov rdi, rax
;;>     65  jmp short 67h
;;>     67  cmp r15, [r15+0C0h]
;;>     6f  jb near 0F0h
;;>     75  jmp short 34h
;;>     77  mov rbx, [rsp+10h]
;;>     7c  mov r12, [rsp+18h]
;;>     81  mov r13, [rsp+20h]
;;>     86  mov r14, [rsp+28h]
;;>     8b  add rsp, 30h
;;>     8f  mov rsp, rbp
;;>     92  pop rbp
;;>     93  ret
;;>     94  cmp ecx, 8
;;>     97  jae near 164h
;;>     9d  mov rax, rcx
;;>     a0  shl eax, 4
;;>     a3  add rax, rbx
;;>     a6  cmp ecx, 8
;;>     a9  cmovae rax, rbx
;;>     ad  mov rcx, [rax]
;;>     b0  cmp rcx, r13
;;>     b3  jne short 0E5h
;;>     b5  mov rcx, [rax+8]
;;>     b9  mov rdx, [rcx+8]
;;>     bd  cmp rdx, r14
;;>     c0  jne short 0C9h
;;>     c2  mov rsi, [rcx]
;;>     c5  call rsi
;;>     c7  jmp short 54h
;;>     c9  mov [rdx+10h], r14
;;>     cd  mov [rsp], r14
;;>     d1  mov rsi, [rcx]
;;>     d4  mov r15, rdx
;;>     d7  call rsi
;;>     d9  mov rdi, [rsp]
;;>     dd  mov r15, rdi
;;>     e0  jmp 54h
;;>     e5  mov rax, [rax+8]
;;>     e9  test rax, rax
;;>     ec  je short 166h
;;>     ee  ud2
;;>     f0  mov rcx, [rsp+8]
;;>     f5  mov rax, [r15+8]
;;>     f9  mov rax, [rax+28h]
;;>     fd  mov rdx, 4C00000001h
;;>    107  mov [rax], rdx
;;>    10a  mov qword [rax+8], 7
;;>    112  mov edx, r12d
;;>    115  mov [rax+20h], rdx
;;>    119  mov edx, edi
;;>    11b  mov [rax+18h], rdx
;;>    11f  mov ecx, ecx
;;>    121  mov [rax+10h], rcx
;;>    125  mov esi, [rax]
;;>    127  mov edx, [rax+4]
;;>    12a  mov ecx, [rax+8]
;;>    12d  mov rdi, r15
;;>    130  mov rax, [r15+38h]
;;>    134  mov rax, [rax+70h]
;;>    138  call rax
;;>    13a  mov rcx, [r15+8]
;;>    13e  mov rdi, [rcx+28h]
;;>    142  mov r10, rax
;;>    145  mov rbx, [rsp+10h]
;;>    14a  mov r12, [rsp+18h]
;;>    14f  mov r13, [rsp+20h]
;;>    154  mov r14, [rsp+28h]
;;>    159  add rsp, 30h
;;>    15d  mov rsp, rbp
;;>    160  pop rbp
;;>    161  jmp r10
;;>    164  ud2
;;>    166  ud2
;;> inline-guarded in function 1: done
