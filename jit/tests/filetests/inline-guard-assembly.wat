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
;;>     26  mov rbx, [r14+48h]
;;>     2a  mov rax, [r14+40h]
;;>     2e  mov r13d, [rax]
;;>     31  mov r12, rdi
;;>     34  jmp short 39h
;;>     36  add [rax], r8b
;;>     39  cmp r15, [r15+0C0h]
;;>     41  jb near 119h
;;>     47  mov ecx, [r14+60h]
;;>     4b  cmp ecx, 8
;;>     4e  jae near 0AEh
;;>     54  mov rax, rcx
;;>     57  shl eax, 4
;;>     5a  mov rax, [rbx+rax+8]
;;>     5f  lea rdx, [r14+70h]
;;>     63  cmp rax, rdx
;;>     66  jne near 0AEh
;;>     6c  lea eax, [rdi+1]
;;>     6f  add r12d, 1
;;>     76  mov rcx, [rsp+8]
;;>     7b  cmp r12d, ecx
;;>     7e  jae near 91h
;;>     84  mov rdi, rax
;;>     87  nop dword [rax+rax]
;;>     8c  jmp 39h
;;>     91  mov rbx, [rsp+10h]
;;>     96  mov r12, [rsp+18h]
;;>     9b  mov r13, [rsp+20h]
;;>     a0  mov r14, [rsp+28h]
;;>     a5  add rsp, 30h
;;>     a9  mov rsp, rbp
;;>     ac  pop rbp
;;>     ad  ret
;;>     ae  cmp ecx, 8
;;>     b1  jae near 193h
;;>     b7  mov rax, rcx
;;>     ba  shl eax, 4
;;>     bd  add rax, rbx
;;>     c0  cmp ecx, 8
;;>     c3  cmovae rax, rbx
;;>     c7  mov rcx, [rax]
;;>     ca  cmp rcx, r13
;;>     cd  jne near 10Ah
;;>     d3  mov rcx, [rax+8]
;;>     d7  mov rdx, [rcx+8]
;;>     db  cmp rdx, r14
;;>     de  jne near 0EEh
;;>     e4  mov rsi, [rcx]
;;>     e7  call rsi
;;>     e9  jmp 6Fh
;;>     ee  mov [rdx+10h], r14
;;>     f2  mov [rsp], r14
;;>     f6  mov rsi, [rcx]
;;>     f9  mov r15, rdx
;;>     fc  call rsi
;;>     fe  mov rdi, [rsp]
;;>    102  mov r15, rdi
;;>    105  jmp 6Fh
;;>    10a  mov rax, [rax+8]
;;>    10e  test rax, rax
;;>    111  je near 195h
;;>    117  ud2
;;>    119  mov rcx, [rsp+8]
;;>    11e  mov rax, r15
;;>    121  mov rax, [rax+8]
;;>    125  mov rax, [rax+28h]
;;>    129  mov rdx, 4C00000001h
;;>    133  mov [rax], rdx
;;>    136  mov qword [rax+8], 7
;;>    13e  mov edx, r12d
;;>    141  mov [rax+20h], rdx
;;>    145  mov edx, edi
;;>    147  mov [rax+18h], rdx
;;>    14b  mov ecx, ecx
;;>    14d  mov [rax+10h], rcx
;;>    151  mov esi, [rax]
;;>    153  mov edx, [rax+4]
;;>    156  mov ecx, [rax+8]
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
;;>    193  ud2
;;>    195  ud2
;;> inline-guarded in function 1: done
