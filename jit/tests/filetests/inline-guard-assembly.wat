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
;;>     24  mov rax, r15
;;>     27  mov eax, [rax+1Ch]
;;>     2a  test eax, eax
;;>     2c  jne near 0B9h
;;>     32  xor edi, edi
;;>     34  mov r12, [r14+40h]
;;>     38  mov rdx, [r14+38h]
;;>     3c  mov r13d, [rdx]
;;>     3f  mov rbx, rdi
;;>     42  mov rsi, r15
;;>     45  mov esi, [rsi+0A4h]
;;>     4b  test esi, esi
;;>     4d  jne near 146h
;;>     53  mov esi, [r14+50h]
;;>     57  cmp esi, 8
;;>     5a  jae near 0DBh
;;>     60  mov r8, rsi
;;>     63  shl r8d, 4
;;>     67  mov r8, [r12+r8+8]
;;>     6c  lea r9, [r14+60h]
;;>     70  cmp r8, r9
;;>     73  jne near 0DBh
;;>     79  lea eax, [rdi+1]
;;>     7c  add ebx, 1
;;>     82  mov rcx, [rsp+8]
;;>     87  cmp ebx, ecx
;;>     89  jae near 9Ch
;;>     8f  mov rdi, rax
;;>     92  mov [rsp+8], rcx
;;>     97  jmp 42h
;;>     9c  mov rbx, [rsp+10h]
;;>     a1  mov r12, [rsp+18h]
;;>     a6  mov r13, [rsp+20h]
;;>     ab  mov r14, [rsp+28h]
;;>     b0  add rsp, 30h
;;>     b4  mov rsp, rbp
;;>     b7  pop rbp
;;>     b8  ret
;;>     b9  mov rdi, r15
;;>     bc  mov rcx, [rdi+30h]
;;>     c0  mov r8, [rcx+60h]
;;>     c4  mov esi, 1
;;>     c9  mov edx, 0FFFFFFFFh
;;>     ce  mov ecx, 7
;;>     d3  call r8
;;>     d6  jmp 32h
;;>     db  cmp esi, 8
;;>     de  jae near 1F2h
;;>     e4  mov rax, rsi
;;>     e7  shl eax, 4
;;>     ea  add rax, r12
;;>     ed  cmp esi, 8
;;>     f0  cmovae rax, r12
;;>     f4  mov rcx, [rax]
;;>     f7  cmp rcx, r13
;;>     fa  jne near 137h
;;>    100  mov rax, [rax+8]
;;>    104  mov rcx, [rax+8]
;;>    108  cmp rcx, r14
;;>    10b  jne near 11Bh
;;>    111  mov rax, [rax]
;;>    114  call rax
;;>    116  jmp 7Ch
;;>    11b  mov [rcx+10h], r14
;;>    11f  mov [rsp], r14
;;>    123  mov rax, [rax]
;;>    126  mov r15, rcx
;;>    129  call rax
;;>    12b  mov rcx, [rsp]
;;>    12f  mov r15, rcx
;;>    132  jmp 7Ch
;;>    137  mov rax, [rax+8]
;;>    13b  test rax, rax
;;>    13e  je near 1F4h
;;>    144  ud2
;;>    146  mov rcx, [rsp+8]
;;>    14b  mov rax, r15
;;>    14e  mov edx, [rax+0A4h]
;;>    154  test dx, dx
;;>    157  jne near 17Eh
;;>    15d  xor edx, 4D0000h
;;>    163  test edx, edx
;;>    165  je near 17Eh
;;>    16b  mov word [rax+0A6h], 0
;;>    174  mov [rsp+8], rcx
;;>    179  jmp 42h
;;>    17e  mov rax, r15
;;>    181  mov rax, [rax+8]
;;>    185  mov rax, [rax+28h]
;;>    189  mov rdx, 4C00000001h
;;>    193  mov [rax], rdx
;;>    196  mov qword [rax+8], 7
;;>    19e  mov ecx, ecx
;;>    1a0  mov [rax+10h], rcx
;;>    1a4  mov ecx, edi
;;>    1a6  mov [rax+18h], rcx
;;>    1aa  mov ecx, ebx
;;>    1ac  mov [rax+20h], rcx
;;>    1b0  mov esi, [rax]
;;>    1b2  mov edx, [rax+4]
;;>    1b5  mov ecx, [rax+8]
;;>    1b8  mov rdi, r15
;;>    1bb  mov rax, [rdi+30h]
;;>    1bf  mov rax, [rax+60h]
;;>    1c3  call rax
;;>    1c5  mov rcx, r15
;;>    1c8  mov rcx, [rcx+8]
;;>    1cc  mov rdi, [rcx+28h]
;;>    1d0  mov r10, rax
;;>    1d3  mov rbx, [rsp+10h]
;;>    1d8  mov r12, [rsp+18h]
;;>    1dd  mov r13, [rsp+20h]
;;>    1e2  mov r14, [rsp+28h]
;;>    1e7  add rsp, 30h
;;>    1eb  mov rsp, rbp
;;>    1ee  pop rbp
;;>    1ef  jmp r10
;;>    1f2  ud2
;;>    1f4  ud2
;;> inline-guarded in function 1: done
