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
;;>     1c  mov r14, rdi
;;>     1f  mov r13, r15
;;>     22  mov rax, r15
;;>     25  mov eax, [rax+1Ch]
;;>     28  test eax, eax
;;>     2a  jne near 0ACh
;;>     30  xor edi, edi
;;>     32  mov r12, [r13+40h]
;;>     36  mov rbx, rdi
;;>     39  mov rcx, r15
;;>     3c  mov ecx, [rcx+0A4h]
;;>     42  test ecx, ecx
;;>     44  jne near 13Ah
;;>     4a  mov esi, [r13+50h]
;;>     4e  cmp esi, 8
;;>     51  jae near 0CDh
;;>     57  mov r8, rsi
;;>     5a  shl r8d, 4
;;>     5e  mov r8, [r12+r8+8]
;;>     63  lea r9, [r13+60h]
;;>     67  cmp r8, r9
;;>     6a  jne near 0CDh
;;>     70  lea eax, [rdi+1]
;;>     73  add ebx, 1
;;>     79  mov rcx, r14
;;>     7c  cmp ebx, ecx
;;>     7e  jae near 8Fh
;;>     84  mov rdi, rax
;;>     87  mov r14, rcx
;;>     8a  jmp 39h
;;>     8f  mov rbx, [rsp+10h]
;;>     94  mov r12, [rsp+18h]
;;>     99  mov r13, [rsp+20h]
;;>     9e  mov r14, [rsp+28h]
;;>     a3  add rsp, 30h
;;>     a7  mov rsp, rbp
;;>     aa  pop rbp
;;>     ab  ret
;;>     ac  mov rdi, r15
;;>     af  mov rax, [rdi+30h]
;;>     b3  mov rax, [rax+60h]
;;>     b7  mov esi, 1
;;>     bc  mov edx, 0FFFFFFFFh
;;>     c1  mov ecx, 7
;;>     c6  call rax
;;>     c8  jmp 30h
;;>     cd  cmp esi, 8
;;>     d0  jae near 1E2h
;;>     d6  mov rax, rsi
;;>     d9  shl eax, 4
;;>     dc  lea r11, [r12+rax]
;;>     e0  cmp esi, 8
;;>     e3  cmovae r11, r12
;;>     e7  mov rax, [r11]
;;>     ea  cmp rax, 1
;;>     ee  jne near 12Bh
;;>     f4  mov rax, [r11+8]
;;>     f8  mov rcx, [rax+8]
;;>     fc  cmp rcx, r13
;;>     ff  jne near 10Fh
;;>    105  mov rax, [rax]
;;>    108  call rax
;;>    10a  jmp 73h
;;>    10f  mov [rcx+10h], r13
;;>    113  mov [rsp], r13
;;>    117  mov rax, [rax]
;;>    11a  mov r15, rcx
;;>    11d  call rax
;;>    11f  mov rcx, [rsp]
;;>    123  mov r15, rcx
;;>    126  jmp 73h
;;>    12b  mov rax, [r11+8]
;;>    12f  test rax, rax
;;>    132  je near 1E4h
;;>    138  ud2
;;>    13a  mov rcx, r14
;;>    13d  mov rax, r15
;;>    140  mov edx, [rax+0A4h]
;;>    146  test dx, dx
;;>    149  jne near 16Eh
;;>    14f  xor edx, 4D0000h
;;>    155  test edx, edx
;;>    157  je near 16Eh
;;>    15d  mov word [rax+0A6h], 0
;;>    166  mov r14, rcx
;;>    169  jmp 39h
;;>    16e  mov rax, r15
;;>    171  mov rax, [rax+8]
;;>    175  mov rax, [rax+28h]
;;>    179  mov rdx, 4C00000001h
;;>    183  mov [rax], rdx
;;>    186  mov qword [rax+8], 7
;;>    18e  mov ecx, ecx
;;>    190  mov [rax+10h], rcx
;;>    194  mov ecx, edi
;;>    196  mov [rax+18h], rcx
;;>    19a  mov ecx, ebx
;;>    19c  mov [rax+20h], rcx
;;>    1a0  mov esi, [rax]
;;>    1a2  mov edx, [rax+4]
;;>    1a5  mov ecx, [rax+8]
;;>    1a8  mov rdi, r15
;;>    1ab  mov rax, [rdi+30h]
;;>    1af  mov rax, [rax+60h]
;;>    1b3  call rax
;;>    1b5  mov rcx, r15
;;>    1b8  mov rcx, [rcx+8]
;;>    1bc  mov rdi, [rcx+28h]
;;>    1c0  mov r10, rax
;;>    1c3  mov rbx, [rsp+10h]
;;>    1c8  mov r12, [rsp+18h]
;;>    1cd  mov r13, [rsp+20h]
;;>    1d2  mov r14, [rsp+28h]
;;>    1d7  add rsp, 30h
;;>    1db  mov rsp, rbp
;;>    1de  pop rbp
;;>    1df  jmp r10
;;>    1e2  ud2
;;>    1e4  ud2
;;> inline-guarded in function 1: done
