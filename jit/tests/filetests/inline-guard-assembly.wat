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
;;>     2a  jne near 0BFh
;;>     30  xor edi, edi
;;>     32  mov rbx, [r13+48h]
;;>     36  mov r12, [r13+40h]
;;>     3a  mov esi, 1
;;>     3f  mov [rsp+8], rsi
;;>     44  mov rcx, r15
;;>     47  mov ecx, [rcx+0A4h]
;;>     4d  test ecx, ecx
;;>     4f  jne near 155h
;;>     55  mov esi, [r13+50h]
;;>     59  mov r8, [rbx+8]
;;>     5d  mov esi, esi
;;>     5f  cmp rsi, r8
;;>     62  jae near 0E0h
;;>     68  mov r8, rsi
;;>     6b  shl r8, 4
;;>     6f  mov r8, [r12+r8+8]
;;>     74  lea r9, [r13+60h]
;;>     78  cmp r8, r9
;;>     7b  jne near 0E0h
;;>     81  imul r9d, edi, 3
;;>     85  lea eax, [r9+1]
;;>     89  mov rcx, r14
;;>     8c  sub ecx, 1
;;>     8f  test ecx, ecx
;;>     91  je near 0A2h
;;>     97  mov rdi, rax
;;>     9a  mov r14, rcx
;;>     9d  jmp 44h
;;>     a2  mov rbx, [rsp+10h]
;;>     a7  mov r12, [rsp+18h]
;;>     ac  mov r13, [rsp+20h]
;;>     b1  mov r14, [rsp+28h]
;;>     b6  add rsp, 30h
;;>     ba  mov rsp, rbp
;;>     bd  pop rbp
;;>     be  ret
;;>     bf  mov rdi, r15
;;>     c2  mov rax, [rdi+30h]
;;>     c6  mov rax, [rax+60h]
;;>     ca  mov esi, 1
;;>     cf  mov edx, 0FFFFFFFFh
;;>     d4  mov ecx, 7
;;>     d9  call rax
;;>     db  jmp 30h
;;>     e0  mov r10, [rbx+8]
;;>     e4  cmp rsi, r10
;;>     e7  jae near 1CCh
;;>     ed  mov rax, rsi
;;>     f0  shl rax, 4
;;>     f4  lea r11, [r12+rax]
;;>     f8  cmp rsi, r10
;;>     fb  cmovae r11, r12
;;>     ff  mov rax, [r11]
;;>    102  cmp rax, 1
;;>    106  jne near 146h
;;>    10c  mov rax, [r11+8]
;;>    110  mov rcx, [rax+8]
;;>    114  cmp rcx, r13
;;>    117  jne near 127h
;;>    11d  mov rax, [rax]
;;>    120  call rax
;;>    122  jmp 13Eh
;;>    127  mov [rcx+10h], r13
;;>    12b  mov [rsp], r13
;;>    12f  mov rax, [rax]
;;>    132  mov r15, rcx
;;>    135  call rax
;;>    137  mov rcx, [rsp]
;;>    13b  mov r15, rcx
;;>    13e  mov rcx, r14
;;>    141  jmp 8Ch
;;>    146  mov rax, [r11+8]
;;>    14a  test rax, rax
;;>    14d  je near 1CEh
;;>    153  ud2
;;>    155  mov rcx, r14
;;>    158  mov rax, r15
;;>    15b  mov rax, [rax+8]
;;>    15f  mov rax, [rax+28h]
;;>    163  mov ecx, ecx
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
