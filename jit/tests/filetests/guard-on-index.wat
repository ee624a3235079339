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
;;>      4  xor eax, eax
;;>      6  mov rcx, [r15+48h]
;;>      a  mov r8, rax
;;>      d  mov edx, r8d
;;>     10  movzx r9, byte [rcx+rdx]
;;>     15  cmp r9d, 3
;;>     19  jne near 1CCh
;;>     1f  lea esi, [r8+1]
;;>     23  cmp esi, edi
;;>     25  jae near 1C4h
;;>     2b  movzx r9, byte [rcx+rdx+1]
;;>     31  cmp r9d, 3
;;>     35  jne near 163h
;;>     3b  lea esi, [r8+2]
;;>     3f  cmp esi, edi
;;>     41  jae near 15Bh
;;>     47  movzx r9, byte [rcx+rdx+2]
;;>     4d  cmp r9d, 3
;;>     51  jne near 0FAh
;;>     57  lea esi, [r8+3]
;;>     5b  cmp esi, edi
;;>     5d  jae near 0F5h
;;>     63  movzx rdx, byte [rcx+rdx+3]
;;>     69  cmp edx, 3
;;>     6c  jne short 92h
;;>     6e  add r8d, 4
;;>     72  add eax, 4
;;>     75  cmp r8d, edi
;;>     78  jb short 7Fh
;;>     7a  mov rsp, rbp
;;>     7d  pop rbp
;;>     7e  ret
;;>     7f  cmp r15, [r15+0C0h]
;;>     87  jb near 22Fh
;;>     8d  jmp 0Dh
;;>     92  mov r8, [r15+8]
;;>     96  mov r8, [r8+28h]
;;>     9a  mov r9, 4B00000001h
;;>     a4  mov [r8], r9
;;>     a7  mov qword [r8+8], 7
;;>     af  mov edx, edx
;;>     b1  mov [r8+30h], rdx
;;>     b5  lea r9d, [rax+3]
;;>     b9  mov [r8+28h], r9
;;>     bd  mov [r8+20h], rsi
;;>     c1  mov r9d, edi
;;>     c4  mov [r8+10h], r9
;;>     c8  mov rdi, r15
;;>     cb  mov r10, [r15+38h]
;;>     cf  mov r10, [r10+0B0h]
;;>     d6  mov rsi, 400000007h
;;>     e0  call r10
;;>     e3  mov r10, [r15+8]
;;>     e7  mov rdi, [r10+28h]
;;>     eb  mov r10, rax
;;>     ee  mov rsp, rbp
;;>     f1  pop rbp
;;>     f2  jmp r10
;;>     f5  add eax, 3
;;>     f8  jmp short 7Ah
;;>     fa  mov r11, [r15+8]
;;>     fe  mov r11, [r11+28h]
;;>    102  mov rcx, 4B00000001h
;;>    10c  mov [r11], rcx
;;>    10f  mov qword [r11+8], 7
;;>    117  mov edx, r9d
;;>    11a  mov [r11+30h], rdx
;;>    11e  add eax, 2
;;>    121  mov [r11+28h], rax
;;>    125  mov [r11+20h], rsi
;;>    129  mov eax, edi
;;>    12b  mov [r11+10h], rax
;;>    12f  mov rdi, r15
;;>    132  mov rax, [r15+38h]
;;>    136  mov rax, [rax+0B0h]
;;>    13d  mov rsi, 300000007h
;;>    147  call rax
;;>    149  mov rcx, [r15+8]
;;>    14d  mov rdi, [rcx+28h]
;;>    151  mov r10, rax
;;>    154  mov rsp, rbp
;;>    157  pop rbp
;;>    158  jmp r10
;;>    15b  add eax, 2
;;>    15e  jmp 7Ah
;;>    163  mov rcx, [r15+8]
;;>    167  mov rcx, [rcx+28h]
;;>    16b  mov rdx, 4B00000001h
;;>    175  mov [rcx], rdx
;;>    178  mov qword [rcx+8], 7
;;>    180  mov edx, r9d
;;>    183  mov [rcx+30h], rdx
;;>    187  add eax, 1
;;>    18a  mov [rcx+28h], rax
;;>    18e  mov [rcx+20h], rsi
;;>    192  mov eax, edi
;;>    194  mov [rcx+10h], rax
;;>    198  mov rdi, r15
;;>    19b  mov rax, [r15+38h]
;;>    19f  mov rax, [rax+0B0h]
;;>    1a6  mov rsi, 200000007h
;;>    1b0  call rax
;;>    1b2  mov rcx, [r15+8]
;;>    1b6  mov rdi, [rcx+28h]
;;>    1ba  mov r10, rax
;;>    1bd  mov rsp, rbp
;;>    1c0  pop rbp
;;>    1c1  jmp r10
;;>    1c4  add eax, 1
;;>    1c7  jmp 7Ah
;;>    1cc  mov rcx, [r15+8]
;;>    1d0  mov rsi, [rcx+28h]
;;>    1d4  mov rcx, 4B00000001h
;;>    1de  mov [rsi], rcx
;;>    1e1  mov qword [rsi+8], 7
;;>    1e9  mov ecx, r9d
;;>    1ec  mov [rsi+30h], rcx
;;>    1f0  mov eax, eax
;;>    1f2  mov [rsi+28h], rax
;;>    1f6  mov [rsi+20h], rdx
;;>    1fa  mov eax, edi
;;>    1fc  mov [rsi+10h], rax
;;>    200  mov rdi, r15
;;>    203  mov rax, [r15+38h]
;;>    207  mov rax, [rax+0B0h]
;;>    20e  mov rsi, 100000007h
;;>    218  mov rdx, rcx
;;>    21b  call rax
;;>    21d  mov rcx, [r15+8]
;;>    221  mov rdi, [rcx+28h]
;;>    225  mov r10, rax
;;>    228  mov rsp, rbp
;;>    22b  pop rbp
;;>    22c  jmp r10
;;>    22f  mov rcx, [r15+8]
;;>    233  mov rcx, [rcx+28h]
;;>    237  mov rdx, 4200000001h
;;>    241  mov [rcx], rdx
;;>    244  mov qword [rcx+8], 7
;;>    24c  mov edx, r8d
;;>    24f  mov [rcx+20h], rdx
;;>    253  mov eax, eax
;;>    255  mov [rcx+18h], rax
;;>    259  mov eax, edi
;;>    25b  mov [rcx+10h], rax
;;>    25f  mov esi, [rcx]
;;>    261  mov edx, [rcx+4]
;;>    264  mov ecx, [rcx+8]
;;>    267  mov rdi, r15
;;>    26a  mov rax, [r15+38h]
;;>    26e  mov rax, [rax+70h]
;;>    272  call rax
;;>    274  mov rcx, [r15+8]
;;>    278  mov rdi, [rcx+28h]
;;>    27c  mov r10, rax
;;>    27f  mov rsp, rbp
;;>    282  pop rbp
;;>    283  jmp r10
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
