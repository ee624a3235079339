;;! tier = optimizing
;;! show = assembly
;;! function = 1
;;! plan = 0 -> 0
;;! exits = true
;;! contains = side-exit in function 1: done

;; Nothing but the element segment writes the table, so the index alone says which callee it is: no load, no bounds check.
(module
  (type $unary (func (param i32) (result i32)))
  (memory 1)
  (table 8 8 funcref)
  (elem (i32.const 3) $step)
  (func $step (type $unary) (i32.add (local.get 0) (i32.const 1)))
  (func (export "run") (param $n i32) (result i32)
    (local $x i32) (local $i i32)
    (loop $again
      (local.set $x (call_indirect (type $unary) (local.get $x) (i32.load8_u (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $x)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov rax, r15
;;>      7  xor esi, esi
;;>      9  mov rax, [rax+48h]
;;>      d  mov r8, rsi
;;>     10  nop dword [rax+rax]
;;>     15  cmp r15, [r15+0C0h]
;;>     1d  jb near 259h
;;>     23  mov edx, r8d
;;>     26  movzx rcx, byte [rax+rdx]
;;>     2b  cmp ecx, 3
;;>     2e  jne near 1F4h
;;>     34  lea ecx, [r8+1]
;;>     38  cmp ecx, edi
;;>     3a  jae near 0AAh
;;>     40  movzx rdx, byte [rax+rcx]
;;>     45  cmp edx, 3
;;>     48  jne near 18Eh
;;>     4e  lea ecx, [r8+2]
;;>     52  cmp ecx, edi
;;>     54  jae near 0B2h
;;>     5a  lea edx, [r8+2]
;;>     5e  movzx rcx, byte [rax+rdx]
;;>     63  cmp ecx, 3
;;>     66  jne near 128h
;;>     6c  lea ecx, [r8+3]
;;>     70  cmp ecx, edi
;;>     72  jae near 0BAh
;;>     78  movzx rdx, byte [rax+rcx]
;;>     7d  cmp edx, 3
;;>     80  jne near 0C2h
;;>     86  add r8d, 4
;;>     8d  lea r9d, [rsi+4]
;;>     91  cmp r8d, edi
;;>     94  jae near 0A2h
;;>     9a  mov rsi, r9
;;>     9d  jmp 15h
;;>     a2  lea eax, [rsi+4]
;;>     a5  mov rsp, rbp
;;>     a8  pop rbp
;;>     a9  ret
;;>     aa  lea eax, [rsi+1]
;;>     ad  jmp 0A5h
;;>     b2  lea eax, [rsi+2]
;;>     b5  jmp 0A5h
;;>     ba  lea eax, [rsi+3]
;;>     bd  jmp 0A5h
;;>     c2  mov r10, r15
;;>     c5  mov r10, [r10+8]
;;>     c9  mov r10, [r10+28h]
;;>     cd  mov r11, 4B00000001h
;;>     d7  mov [r10], r11
;;>     da  mov qword [r10+8], 7
;;>     e2  mov eax, edi
;;>     e4  mov [r10+10h], rax
;;>     e8  mov [r10+20h], rcx
;;>     ec  lea eax, [rsi+3]
;;>     ef  mov [r10+28h], rax
;;>     f3  mov edx, edx
;;>     f5  mov [r10+30h], rdx
;;>     f9  mov rdi, r15
;;>     fc  mov rax, [rdi+38h]
;;>    100  mov rax, [rax+0A0h]
;;>    107  mov rsi, 400000007h
;;>    111  call rax
;;>    113  mov rcx, r15
;;>    116  mov rcx, [rcx+8]
;;>    11a  mov rdi, [rcx+28h]
;;>    11e  mov r10, rax
;;>    121  mov rsp, rbp
;;>    124  pop rbp
;;>    125  jmp r10
;;>    128  mov rax, r15
;;>    12b  mov rax, [rax+8]
;;>    12f  mov rax, [rax+28h]
;;>    133  mov r8, 4B00000001h
;;>    13d  mov [rax], r8
;;>    140  mov qword [rax+8], 7
;;>    148  mov edi, edi
;;>    14a  mov [rax+10h], rdi
;;>    14e  mov [rax+20h], rdx
;;>    152  lea edx, [rsi+2]
;;>    155  mov [rax+28h], rdx
;;>    159  mov edx, ecx
;;>    15b  mov [rax+30h], rdx
;;>    15f  mov rdi, r15
;;>    162  mov rax, [rdi+38h]
;;>    166  mov rax, [rax+0A0h]
;;>    16d  mov rsi, 300000007h
;;>    177  call rax
;;>    179  mov rcx, r15
;;>    17c  mov rcx, [rcx+8]
;;>    180  mov rdi, [rcx+28h]
;;>    184  mov r10, rax
;;>    187  mov rsp, rbp
;;>    18a  pop rbp
;;>    18b  jmp r10
;;>    18e  mov rax, r15
;;>    191  mov rax, [rax+8]
;;>    195  mov rax, [rax+28h]
;;>    199  mov r8, 4B00000001h
;;>    1a3  mov [rax], r8
;;>    1a6  mov qword [rax+8], 7
;;>    1ae  mov edi, edi
;;>    1b0  mov [rax+10h], rdi
;;>    1b4  mov [rax+20h], rcx
;;>    1b8  lea ecx, [rsi+1]
;;>    1bb  mov [rax+28h], rcx
;;>    1bf  mov edx, edx
;;>    1c1  mov [rax+30h], rdx
;;>    1c5  mov rdi, r15
;;>    1c8  mov rax, [rdi+38h]
;;>    1cc  mov rax, [rax+0A0h]
;;>    1d3  mov rsi, 200000007h
;;>    1dd  call rax
;;>    1df  mov rcx, r15
;;>    1e2  mov rcx, [rcx+8]
;;>    1e6  mov rdi, [rcx+28h]
;;>    1ea  mov r10, rax
;;>    1ed  mov rsp, rbp
;;>    1f0  pop rbp
;;>    1f1  jmp r10
;;>    1f4  mov rax, r15
;;>    1f7  mov rax, [rax+8]
;;>    1fb  mov rax, [rax+28h]
;;>    1ff  mov r8, 4B00000001h
;;>    209  mov [rax], r8
;;>    20c  mov qword [rax+8], 7
;;>    214  mov edi, edi
;;>    216  mov [rax+10h], rdi
;;>    21a  mov [rax+20h], rdx
;;>    21e  mov edx, esi
;;>    220  mov [rax+28h], rdx
;;>    224  mov edx, ecx
;;>    226  mov [rax+30h], rdx
;;>    22a  mov rdi, r15
;;>    22d  mov rax, [rdi+38h]
;;>    231  mov rax, [rax+0A0h]
;;>    238  mov rsi, 100000007h
;;>    242  call rax
;;>    244  mov rcx, r15
;;>    247  mov rcx, [rcx+8]
;;>    24b  mov rdi, [rcx+28h]
;;>    24f  mov r10, rax
;;>    252  mov rsp, rbp
;;>    255  pop rbp
;;>    256  jmp r10
;;>    259  mov rax, r15
;;>    25c  mov rax, [rax+8]
;;>    260  mov rax, [rax+28h]
;;>    264  mov rcx, 4200000001h
;;>    26e  mov [rax], rcx
;;>    271  mov qword [rax+8], 7
;;>    279  mov ecx, edi
;;>    27b  mov [rax+10h], rcx
;;>    27f  mov ecx, esi
;;>    281  mov [rax+18h], rcx
;;>    285  mov ecx, r8d
;;>    288  mov [rax+20h], rcx
;;>    28c  mov esi, [rax]
;;>    28e  mov edx, [rax+4]
;;>    291  mov ecx, [rax+8]
;;>    294  mov rdi, r15
;;>    297  mov rax, [rdi+38h]
;;>    29b  mov rax, [rax+60h]
;;>    29f  call rax
;;>    2a1  mov rcx, r15
;;>    2a4  mov rcx, [rcx+8]
;;>    2a8  mov rdi, [rcx+28h]
;;>    2ac  mov r10, rax
;;>    2af  mov rsp, rbp
;;>    2b2  pop rbp
;;>    2b3  jmp r10
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
