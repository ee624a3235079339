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
;;>     2a  jne near 0B5h
;;>     30  xor edi, edi
;;>     32  mov r12, [r13+40h]
;;>     36  mov esi, 1
;;>     3b  mov [rsp+8], rsi
;;>     40  mov rbx, rdi
;;>     43  mov rax, r15
;;>     46  mov eax, [rax+0A4h]
;;>     4c  test eax, eax
;;>     4e  jne near 143h
;;>     54  mov ecx, [r13+50h]
;;>     58  cmp ecx, 8
;;>     5b  jae near 0D6h
;;>     61  mov rdx, rcx
;;>     64  shl edx, 4
;;>     67  mov rdx, [r12+rdx+8]
;;>     6c  lea rsi, [r13+60h]
;;>     70  cmp rdx, rsi
;;>     73  jne near 0D6h
;;>     79  lea eax, [rdi+1]
;;>     7c  add ebx, 1
;;>     82  mov rcx, r14
;;>     85  cmp ebx, ecx
;;>     87  jae near 98h
;;>     8d  mov rdi, rax
;;>     90  mov r14, rcx
;;>     93  jmp 43h
;;>     98  mov rbx, [rsp+10h]
;;>     9d  mov r12, [rsp+18h]
;;>     a2  mov r13, [rsp+20h]
;;>     a7  mov r14, [rsp+28h]
;;>     ac  add rsp, 30h
;;>     b0  mov rsp, rbp
;;>     b3  pop rbp
;;>     b4  ret
;;>     b5  mov rdi, r15
;;>     b8  mov rax, [rdi+30h]
;;>     bc  mov rax, [rax+60h]
;;>     c0  mov esi, 1
;;>     c5  mov edx, 0FFFFFFFFh
;;>     ca  mov ecx, 7
;;>     cf  call rax
;;>     d1  jmp 30h
;;>     d6  cmp ecx, 8
;;>     d9  jae near 1C0h
;;>     df  mov r8, rcx
;;>     e2  shl r8d, 4
;;>     e6  add r8, r12
;;>     e9  cmp ecx, 8
;;>     ec  cmovae r8, r12
;;>     f0  mov r9, [r8]
;;>     f3  cmp r9, 1
;;>     f7  jne near 134h
;;>     fd  mov r11, [r8+8]
;;>    101  mov rax, [r11+8]
;;>    105  cmp rax, r13
;;>    108  jne near 118h
;;>    10e  mov rax, [r11]
;;>    111  call rax
;;>    113  jmp 7Ch
;;>    118  mov [rax+10h], r13
;;>    11c  mov [rsp], r13
;;>    120  mov rcx, [r11]
;;>    123  mov r15, rax
;;>    126  call rcx
;;>    128  mov rcx, [rsp]
;;>    12c  mov r15, rcx
;;>    12f  jmp 7Ch
;;>    134  mov rax, [r8+8]
;;>    138  test rax, rax
;;>    13b  je near 1C2h
;;>    141  ud2
;;>    143  mov rcx, r14
;;>    146  mov rax, r15
;;>    149  mov rax, [rax+8]
;;>    14d  mov rax, [rax+28h]
;;>    151  mov ecx, ecx
;;>    153  mov [rax+10h], rcx
;;>    157  mov ecx, edi
;;>    159  mov [rax+18h], rcx
;;>    15d  mov ecx, ebx
;;>    15f  mov [rax+20h], rcx
;;>    163  mov dword [rax], 1
;;>    169  mov edx, 4Ch
;;>    16e  mov dword [rax+4], 4Ch
;;>    175  mov ecx, 7
;;>    17a  mov dword [rax+8], 7
;;>    181  mov rdi, r15
;;>    184  mov rax, [rdi+30h]
;;>    188  mov rax, [rax+60h]
;;>    18c  mov rsi, [rsp+8]
;;>    191  call rax
;;>    193  mov rcx, r15
;;>    196  mov rcx, [rcx+8]
;;>    19a  mov rdi, [rcx+28h]
;;>    19e  mov r10, rax
;;>    1a1  mov rbx, [rsp+10h]
;;>    1a6  mov r12, [rsp+18h]
;;>    1ab  mov r13, [rsp+20h]
;;>    1b0  mov r14, [rsp+28h]
;;>    1b5  add rsp, 30h
;;>    1b9  mov rsp, rbp
;;>    1bc  pop rbp
;;>    1bd  jmp r10
;;>    1c0  ud2
;;>    1c2  ud2
;;> inline-guarded in function 1: done
