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
;;>     1c  mov [rsp], rdi
;;>     20  mov r13, r15
;;>     23  mov rax, r15
;;>     26  mov eax, [rax+1Ch]
;;>     29  test eax, eax
;;>     2b  jne near 0ECh
;;>     31  xor edi, edi
;;>     33  mov rbx, [r13+48h]
;;>     37  mov r12, [r13+40h]
;;>     3b  mov esi, 1
;;>     40  mov [rsp+8], rsi
;;>     45  mov rdx, r15
;;>     48  mov edx, [rdx+1Ch]
;;>     4b  test edx, edx
;;>     4d  jne near 163h
;;>     53  mov rsi, r15
;;>     56  mov esi, [rsi+50h]
;;>     59  mov r8, [rbx+8]
;;>     5d  mov esi, esi
;;>     5f  cmp rsi, r8
;;>     62  jae near 10Dh
;;>     68  mov r9, rsi
;;>     6b  shl r9, 4
;;>     6f  add r9, r12
;;>     72  cmp rsi, r8
;;>     75  cmovae r9, r12
;;>     79  mov r8, [r9+8]
;;>     7d  lea r9, [r13+60h]
;;>     81  cmp r8, r9
;;>     84  jne near 10Dh
;;>     8a  imul r11d, edi, 3
;;>     8e  lea eax, [r11+1]
;;>     92  mov rsi, [rsp]
;;>     96  jmp 0B8h
;;>     9b  mov rax, [rax+8]
;;>     9f  mov rdx, r15
;;>     a2  mov rcx, [rax+8]
;;>     a6  cmp rcx, rdx
;;>     a9  jne near 13Dh
;;>     af  mov rax, [rax]
;;>     b2  call rax
;;>     b4  mov rsi, [rsp]
;;>     b8  sub esi, 1
;;>     bb  test esi, esi
;;>     bd  je near 0CFh
;;>     c3  mov rdi, rax
;;>     c6  mov [rsp], rsi
;;>     ca  jmp 45h
;;>     cf  mov rbx, [rsp+10h]
;;>     d4  mov r12, [rsp+18h]
;;>     d9  mov r13, [rsp+20h]
;;>     de  mov r14, [rsp+28h]
;;>     e3  add rsp, 30h
;;>     e7  mov rsp, rbp
;;>     ea  pop rbp
;;>     eb  ret
;;>     ec  mov rdi, r15
;;>     ef  mov rax, [rdi+30h]
;;>     f3  mov rax, [rax+60h]
;;>     f7  mov esi, 1
;;>     fc  mov edx, 0FFFFFFFFh
;;>    101  mov ecx, 7
;;>    106  call rax
;;>    108  jmp 31h
;;>    10d  mov rcx, [rbx+8]
;;>    111  cmp rsi, rcx
;;>    114  jae near 1D3h
;;>    11a  mov rax, rsi
;;>    11d  shl rax, 4
;;>    121  add rax, r12
;;>    124  cmp rsi, rcx
;;>    127  cmovae rax, r12
;;>    12b  mov rcx, [rax]
;;>    12e  cmp rcx, 1
;;>    132  jne near 154h
;;>    138  jmp 9Bh
;;>    13d  mov r14, r15
;;>    140  mov [rcx+10h], r14
;;>    144  mov rax, [rax]
;;>    147  mov r15, rcx
;;>    14a  call rax
;;>    14c  mov r15, r14
;;>    14f  jmp 0B4h
;;>    154  mov rax, [rax+8]
;;>    158  test rax, rax
;;>    15b  je near 1D5h
;;>    161  ud2
;;>    163  mov rsi, [rsp]
;;>    167  mov rax, r15
;;>    16a  mov rax, [rax+8]
;;>    16e  mov rbx, [rax+28h]
;;>    172  mov dword [rbx], 1
;;>    178  mov edx, 57h
;;>    17d  mov dword [rbx+4], 57h
;;>    184  mov ecx, 7
;;>    189  mov dword [rbx+8], 7
;;>    190  mov esi, esi
;;>    192  mov [rbx+10h], rsi
;;>    196  mov esi, edi
;;>    198  mov [rbx+18h], rsi
;;>    19c  mov rdi, r15
;;>    19f  mov rsi, [rdi+30h]
;;>    1a3  mov rax, [rsi+60h]
;;>    1a7  mov rsi, [rsp+8]
;;>    1ac  call rax
;;>    1ae  mov rdi, rbx
;;>    1b1  mov r10, rax
;;>    1b4  mov rbx, [rsp+10h]
;;>    1b9  mov r12, [rsp+18h]
;;>    1be  mov r13, [rsp+20h]
;;>    1c3  mov r14, [rsp+28h]
;;>    1c8  add rsp, 30h
;;>    1cc  mov rsp, rbp
;;>    1cf  pop rbp
;;>    1d0  jmp r10
;;>    1d3  ud2
;;>    1d5  ud2
;;> inline-guarded in function 1: done
