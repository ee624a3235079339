;;! tier = optimizing
;;! show = assembly
;;! function = 1
;;! plan = 0 -> 0
;;! contains = inline-guarded in function 1: done

;; As inline-guard.wat, down to the instructions.
(module
  (type $unary (func (param i32) (result i32)))
  (table (export "table") 8 funcref)
  (global $index (export "index") (mut i32) (i32.const 0))
  (elem (i32.const 0) func $step)
  (func $step (type $unary) (i32.add (i32.mul (local.get 0) (i32.const 3)) (i32.const 1)))
  (func (export "run") (param i32) (result i32)
    (local i32)
    loop
      local.get 1
      global.get $index
      call_indirect (type $unary)
      local.set 1
      local.get 0
      i32.const 1
      i32.sub
      local.tee 0
      br_if 0
    end
    local.get 1))

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
;;>     2a  jne near 0C3h
;;>     30  xor edi, edi
;;>     32  mov rbx, [r13+48h]
;;>     36  mov r12, [r13+40h]
;;>     3a  mov esi, 1
;;>     3f  mov [rsp+8], rsi
;;>     44  mov rsi, r15
;;>     47  mov esi, [rsi+1Ch]
;;>     4a  test esi, esi
;;>     4c  jne near 155h
;;>     52  mov rsi, r15
;;>     55  mov esi, [rsi+50h]
;;>     58  mov esi, esi
;;>     5a  mov r8, rsi
;;>     5d  shl r8, 4
;;>     61  lea rcx, [r12+r8]
;;>     65  lea r8, [r13-8]
;;>     69  cmp rsi, [rbx+8]
;;>     6d  mov r9, rcx
;;>     70  cmovae r9, r8
;;>     74  mov r8, [r9+8]
;;>     78  lea r9, [r13+60h]
;;>     7c  cmp r8, r9
;;>     7f  jne near 0E5h
;;>     85  imul r9d, edi, 3
;;>     89  lea eax, [r9+1]
;;>     8d  mov rdx, r14
;;>     90  sub edx, 1
;;>     93  test edx, edx
;;>     95  je near 0A6h
;;>     9b  mov rdi, rax
;;>     9e  mov r14, rdx
;;>     a1  jmp 44h
;;>     a6  mov rbx, [rsp+10h]
;;>     ab  mov r12, [rsp+18h]
;;>     b0  mov r13, [rsp+20h]
;;>     b5  mov r14, [rsp+28h]
;;>     ba  add rsp, 30h
;;>     be  mov rsp, rbp
;;>     c1  pop rbp
;;>     c2  ret
;;>     c3  mov rdi, r15
;;>     c6  mov rdx, [rdi+30h]
;;>     ca  mov r8, [rdx+60h]
;;>     ce  mov esi, 1
;;>     d3  mov edx, 0FFFFFFFFh
;;>     d8  mov ecx, 7
;;>     dd  call r8
;;>     e0  jmp 30h
;;>     e5  mov r10, [rbx+8]
;;>     e9  cmp rsi, r10
;;>     ec  jae near 1CCh
;;>     f2  cmp rsi, r10
;;>     f5  cmovae rcx, r12
;;>     f9  mov rax, [rcx]
;;>     fc  cmp rax, 1
;;>    100  jne near 146h
;;>    106  mov rax, [rcx+8]
;;>    10a  mov rdx, r15
;;>    10d  mov rcx, [rax+8]
;;>    111  cmp rcx, rdx
;;>    114  jne near 124h
;;>    11a  mov rax, [rax]
;;>    11d  call rax
;;>    11f  jmp 13Eh
;;>    124  mov rdx, r15
;;>    127  mov [rcx+10h], rdx
;;>    12b  mov [rsp], rdx
;;>    12f  mov rax, [rax]
;;>    132  mov r15, rcx
;;>    135  call rax
;;>    137  mov rcx, [rsp]
;;>    13b  mov r15, rcx
;;>    13e  mov rdx, r14
;;>    141  jmp 90h
;;>    146  mov rax, [rcx+8]
;;>    14a  test rax, rax
;;>    14d  je near 1CEh
;;>    153  ud2
;;>    155  mov rdx, r14
;;>    158  mov rax, r15
;;>    15b  mov rax, [rax+8]
;;>    15f  mov rax, [rax+28h]
;;>    163  mov ecx, edx
;;>    165  mov [rax+10h], rcx
;;>    169  mov ecx, edi
;;>    16b  mov [rax+18h], rcx
;;>    16f  mov dword [rax], 1
;;>    175  mov edx, 57h
;;>    17a  mov dword [rax+4], 57h
;;>    181  mov ecx, 7
;;>    186  mov dword [rax+8], 7
;;>    18d  mov rdi, r15
;;>    190  mov rax, [rdi+30h]
;;>    194  mov rax, [rax+60h]
;;>    198  mov rsi, [rsp+8]
;;>    19d  call rax
;;>    19f  mov rcx, r15
;;>    1a2  mov rcx, [rcx+8]
;;>    1a6  mov rdi, [rcx+28h]
;;>    1aa  mov r10, rax
;;>    1ad  mov rbx, [rsp+10h]
;;>    1b2  mov r12, [rsp+18h]
;;>    1b7  mov r13, [rsp+20h]
;;>    1bc  mov r14, [rsp+28h]
;;>    1c1  add rsp, 30h
;;>    1c5  mov rsp, rbp
;;>    1c8  pop rbp
;;>    1c9  jmp r10
;;>    1cc  ud2
;;>    1ce  ud2
;;> inline-guarded in function 1: done
