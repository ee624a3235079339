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
;;>     2a  jne near 0ABh
;;>     30  xor edi, edi
;;>     32  mov r12, [r13+40h]
;;>     36  mov rbx, rdi
;;>     39  mov rax, r15
;;>     3c  mov eax, [rax+0A4h]
;;>     42  test eax, eax
;;>     44  jne near 13Ah
;;>     4a  mov ecx, [r13+50h]
;;>     4e  cmp ecx, 8
;;>     51  jae near 0CCh
;;>     57  mov rsi, rcx
;;>     5a  shl esi, 4
;;>     5d  mov rsi, [r12+rsi+8]
;;>     62  lea r8, [r13+60h]
;;>     66  cmp rsi, r8
;;>     69  jne near 0CCh
;;>     6f  lea eax, [rdi+1]
;;>     72  add ebx, 1
;;>     78  mov rcx, r14
;;>     7b  cmp ebx, ecx
;;>     7d  jae near 8Eh
;;>     83  mov rdi, rax
;;>     86  mov r14, rcx
;;>     89  jmp 39h
;;>     8e  mov rbx, [rsp+10h]
;;>     93  mov r12, [rsp+18h]
;;>     98  mov r13, [rsp+20h]
;;>     9d  mov r14, [rsp+28h]
;;>     a2  add rsp, 30h
;;>     a6  mov rsp, rbp
;;>     a9  pop rbp
;;>     aa  ret
;;>     ab  mov rdi, r15
;;>     ae  mov rax, [rdi+30h]
;;>     b2  mov rax, [rax+60h]
;;>     b6  mov esi, 1
;;>     bb  mov edx, 0FFFFFFFFh
;;>     c0  mov ecx, 7
;;>     c5  call rax
;;>     c7  jmp 30h
;;>     cc  cmp ecx, 8
;;>     cf  jae near 1B1h
;;>     d5  mov r9, rcx
;;>     d8  shl r9d, 4
;;>     dc  lea r8, [r12+r9]
;;>     e0  cmp ecx, 8
;;>     e3  cmovae r8, r12
;;>     e7  mov r10, [r8]
;;>     ea  cmp r10, 1
;;>     ee  jne near 12Bh
;;>     f4  mov rax, [r8+8]
;;>     f8  mov rcx, [rax+8]
;;>     fc  cmp rcx, r13
;;>     ff  jne near 10Fh
;;>    105  mov rax, [rax]
;;>    108  call rax
;;>    10a  jmp 72h
;;>    10f  mov [rcx+10h], r13
;;>    113  mov [rsp], r13
;;>    117  mov rax, [rax]
;;>    11a  mov r15, rcx
;;>    11d  call rax
;;>    11f  mov rcx, [rsp]
;;>    123  mov r15, rcx
;;>    126  jmp 72h
;;>    12b  mov rax, [r8+8]
;;>    12f  test rax, rax
;;>    132  je near 1B3h
;;>    138  ud2
;;>    13a  mov rcx, r14
;;>    13d  mov rax, r15
;;>    140  mov rax, [rax+8]
;;>    144  mov rax, [rax+28h]
;;>    148  mov rdx, 4C00000001h
;;>    152  mov [rax], rdx
;;>    155  mov qword [rax+8], 7
;;>    15d  mov ecx, ecx
;;>    15f  mov [rax+10h], rcx
;;>    163  mov ecx, edi
;;>    165  mov [rax+18h], rcx
;;>    169  mov ecx, ebx
;;>    16b  mov [rax+20h], rcx
;;>    16f  mov esi, [rax]
;;>    171  mov edx, [rax+4]
;;>    174  mov ecx, [rax+8]
;;>    177  mov rdi, r15
;;>    17a  mov rax, [rdi+30h]
;;>    17e  mov rax, [rax+60h]
;;>    182  call rax
;;>    184  mov rcx, r15
;;>    187  mov rcx, [rcx+8]
;;>    18b  mov rdi, [rcx+28h]
;;>    18f  mov r10, rax
;;>    192  mov rbx, [rsp+10h]
;;>    197  mov r12, [rsp+18h]
;;>    19c  mov r13, [rsp+20h]
;;>    1a1  mov r14, [rsp+28h]
;;>    1a6  add rsp, 30h
;;>    1aa  mov rsp, rbp
;;>    1ad  pop rbp
;;>    1ae  jmp r10
;;>    1b1  ud2
;;>    1b3  ud2
;;> inline-guarded in function 1: done
