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
;;>      4  mov rcx, r15
;;>      7  xor eax, eax
;;>      9  mov rcx, [rcx+48h]
;;>      d  mov r8, rax
;;>     10  nop dword [rax+rax]
;;>     15  cmp r15, [r15+0C0h]
;;>     1d  jb near 25Dh
;;>     23  mov esi, r8d
;;>     26  movzx rdx, byte [rcx+rsi]
;;>     2b  cmp edx, 3
;;>     2e  jne near 1F8h
;;>     34  lea edx, [r8+1]
;;>     38  cmp edx, edi
;;>     3a  jae near 1EDh
;;>     40  movzx rsi, byte [rcx+rdx]
;;>     45  cmp esi, 3
;;>     48  jne near 184h
;;>     4e  lea edx, [r8+2]
;;>     52  cmp edx, edi
;;>     54  jae near 179h
;;>     5a  movzx rsi, byte [rcx+rdx]
;;>     5f  cmp esi, 3
;;>     62  jne near 110h
;;>     68  lea edx, [r8+3]
;;>     6c  cmp edx, edi
;;>     6e  jae near 105h
;;>     74  movzx rsi, byte [rcx+rdx]
;;>     79  cmp esi, 3
;;>     7c  jne near 9Dh
;;>     82  add r8d, 4
;;>     89  add eax, 4
;;>     8f  cmp r8d, edi
;;>     92  jb near 15h
;;>     98  mov rsp, rbp
;;>     9b  pop rbp
;;>     9c  ret
;;>     9d  mov r8, r15
;;>     a0  mov r8, [r8+8]
;;>     a4  mov r8, [r8+28h]
;;>     a8  mov r9, 4B00000001h
;;>     b2  mov [r8], r9
;;>     b5  mov qword [r8+8], 7
;;>     bd  mov edi, edi
;;>     bf  mov [r8+10h], rdi
;;>     c3  mov [r8+20h], rdx
;;>     c7  lea r9d, [rax+3]
;;>     cb  mov [r8+28h], r9
;;>     cf  mov edx, esi
;;>     d1  mov [r8+30h], rdx
;;>     d5  mov rdi, r15
;;>     d8  mov r10, [rdi+38h]
;;>     dc  mov r10, [r10+0B0h]
;;>     e3  mov rsi, 400000007h
;;>     ed  call r10
;;>     f0  mov r10, r15
;;>     f3  mov r10, [r10+8]
;;>     f7  mov rdi, [r10+28h]
;;>     fb  mov r10, rax
;;>     fe  mov rsp, rbp
;;>    101  pop rbp
;;>    102  jmp r10
;;>    105  add eax, 3
;;>    10b  jmp 98h
;;>    110  mov r11, r15
;;>    113  mov r11, [r11+8]
;;>    117  mov r11, [r11+28h]
;;>    11b  mov rcx, 4B00000001h
;;>    125  mov [r11], rcx
;;>    128  mov qword [r11+8], 7
;;>    130  mov ecx, edi
;;>    132  mov [r11+10h], rcx
;;>    136  mov [r11+20h], rdx
;;>    13a  add eax, 2
;;>    140  mov [r11+28h], rax
;;>    144  mov edx, esi
;;>    146  mov [r11+30h], rdx
;;>    14a  mov rdi, r15
;;>    14d  mov rax, [rdi+38h]
;;>    151  mov rax, [rax+0B0h]
;;>    158  mov rsi, 300000007h
;;>    162  call rax
;;>    164  mov rcx, r15
;;>    167  mov rcx, [rcx+8]
;;>    16b  mov rdi, [rcx+28h]
;;>    16f  mov r10, rax
;;>    172  mov rsp, rbp
;;>    175  pop rbp
;;>    176  jmp r10
;;>    179  add eax, 2
;;>    17f  jmp 98h
;;>    184  mov rcx, r15
;;>    187  mov rcx, [rcx+8]
;;>    18b  mov rcx, [rcx+28h]
;;>    18f  mov r8, 4B00000001h
;;>    199  mov [rcx], r8
;;>    19c  mov qword [rcx+8], 7
;;>    1a4  mov edi, edi
;;>    1a6  mov [rcx+10h], rdi
;;>    1aa  mov [rcx+20h], rdx
;;>    1ae  add eax, 1
;;>    1b4  mov [rcx+28h], rax
;;>    1b8  mov edx, esi
;;>    1ba  mov [rcx+30h], rdx
;;>    1be  mov rdi, r15
;;>    1c1  mov rax, [rdi+38h]
;;>    1c5  mov rax, [rax+0B0h]
;;>    1cc  mov rsi, 200000007h
;;>    1d6  call rax
;;>    1d8  mov rcx, r15
;;>    1db  mov rcx, [rcx+8]
;;>    1df  mov rdi, [rcx+28h]
;;>    1e3  mov r10, rax
;;>    1e6  mov rsp, rbp
;;>    1e9  pop rbp
;;>    1ea  jmp r10
;;>    1ed  add eax, 1
;;>    1f3  jmp 98h
;;>    1f8  mov rcx, r15
;;>    1fb  mov rcx, [rcx+8]
;;>    1ff  mov rcx, [rcx+28h]
;;>    203  mov r8, 4B00000001h
;;>    20d  mov [rcx], r8
;;>    210  mov qword [rcx+8], 7
;;>    218  mov edi, edi
;;>    21a  mov [rcx+10h], rdi
;;>    21e  mov [rcx+20h], rsi
;;>    222  mov eax, eax
;;>    224  mov [rcx+28h], rax
;;>    228  mov edx, edx
;;>    22a  mov [rcx+30h], rdx
;;>    22e  mov rdi, r15
;;>    231  mov rax, [rdi+38h]
;;>    235  mov rax, [rax+0B0h]
;;>    23c  mov rsi, 100000007h
;;>    246  call rax
;;>    248  mov rcx, r15
;;>    24b  mov rcx, [rcx+8]
;;>    24f  mov rdi, [rcx+28h]
;;>    253  mov r10, rax
;;>    256  mov rsp, rbp
;;>    259  pop rbp
;;>    25a  jmp r10
;;>    25d  mov rcx, r15
;;>    260  mov rcx, [rcx+8]
;;>    264  mov rcx, [rcx+28h]
;;>    268  mov rdx, 4200000001h
;;>    272  mov [rcx], rdx
;;>    275  mov qword [rcx+8], 7
;;>    27d  mov edx, edi
;;>    27f  mov [rcx+10h], rdx
;;>    283  mov eax, eax
;;>    285  mov [rcx+18h], rax
;;>    289  mov eax, r8d
;;>    28c  mov [rcx+20h], rax
;;>    290  mov esi, [rcx]
;;>    292  mov edx, [rcx+4]
;;>    295  mov ecx, [rcx+8]
;;>    298  mov rdi, r15
;;>    29b  mov rax, [rdi+38h]
;;>    29f  mov rax, [rax+70h]
;;>    2a3  call rax
;;>    2a5  mov rcx, r15
;;>    2a8  mov rcx, [rcx+8]
;;>    2ac  mov rdi, [rcx+28h]
;;>    2b0  mov r10, rax
;;>    2b3  mov rsp, rbp
;;>    2b6  pop rbp
;;>    2b7  jmp r10
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
