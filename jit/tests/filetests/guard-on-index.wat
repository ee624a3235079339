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
;;>     10  jmp short 15h
;;>     12  add [rax], r8b
;;>     15  cmp r15, [r15+0C0h]
;;>     1d  jb near 26Ah
;;>     23  mov edx, r8d
;;>     26  movzx r9, byte [rcx+rdx]
;;>     2b  cmp r9d, 3
;;>     2f  jne near 201h
;;>     35  lea esi, [r8+1]
;;>     39  cmp esi, edi
;;>     3b  jae near 1F6h
;;>     41  movzx r9, byte [rcx+rdx+1]
;;>     47  cmp r9d, 3
;;>     4b  jne near 18Ch
;;>     51  lea esi, [r8+2]
;;>     55  cmp esi, edi
;;>     57  jae near 181h
;;>     5d  movzx r9, byte [rcx+rdx+2]
;;>     63  cmp r9d, 3
;;>     67  jne near 117h
;;>     6d  lea esi, [r8+3]
;;>     71  cmp esi, edi
;;>     73  jae near 10Ch
;;>     79  movzx rdx, byte [rcx+rdx+3]
;;>     7f  cmp edx, 3
;;>     82  jne near 0A3h
;;>     88  add r8d, 4
;;>     8f  add eax, 4
;;>     95  cmp r8d, edi
;;>     98  jb near 15h
;;>     9e  mov rsp, rbp
;;>     a1  pop rbp
;;>     a2  ret
;;>     a3  mov r8, r15
;;>     a6  mov r8, [r8+8]
;;>     aa  mov r8, [r8+28h]
;;>     ae  mov r9, 4B00000001h
;;>     b8  mov [r8], r9
;;>     bb  mov qword [r8+8], 7
;;>     c3  mov edx, edx
;;>     c5  mov [r8+30h], rdx
;;>     c9  lea r9d, [rax+3]
;;>     cd  mov [r8+28h], r9
;;>     d1  mov [r8+20h], rsi
;;>     d5  mov r9d, edi
;;>     d8  mov [r8+10h], r9
;;>     dc  mov rdi, r15
;;>     df  mov r10, [rdi+38h]
;;>     e3  mov r10, [r10+0B0h]
;;>     ea  mov rsi, 400000007h
;;>     f4  call r10
;;>     f7  mov r10, r15
;;>     fa  mov r10, [r10+8]
;;>     fe  mov rdi, [r10+28h]
;;>    102  mov r10, rax
;;>    105  mov rsp, rbp
;;>    108  pop rbp
;;>    109  jmp r10
;;>    10c  add eax, 3
;;>    112  jmp 9Eh
;;>    117  mov r11, r15
;;>    11a  mov r11, [r11+8]
;;>    11e  mov r11, [r11+28h]
;;>    122  mov rcx, 4B00000001h
;;>    12c  mov [r11], rcx
;;>    12f  mov qword [r11+8], 7
;;>    137  mov edx, r9d
;;>    13a  mov [r11+30h], rdx
;;>    13e  add eax, 2
;;>    144  mov [r11+28h], rax
;;>    148  mov [r11+20h], rsi
;;>    14c  mov eax, edi
;;>    14e  mov [r11+10h], rax
;;>    152  mov rdi, r15
;;>    155  mov rax, [rdi+38h]
;;>    159  mov rax, [rax+0B0h]
;;>    160  mov rsi, 300000007h
;;>    16a  call rax
;;>    16c  mov rcx, r15
;;>    16f  mov rcx, [rcx+8]
;;>    173  mov rdi, [rcx+28h]
;;>    177  mov r10, rax
;;>    17a  mov rsp, rbp
;;>    17d  pop rbp
;;>    17e  jmp r10
;;>    181  add eax, 2
;;>    187  jmp 9Eh
;;>    18c  mov rcx, r15
;;>    18f  mov rcx, [rcx+8]
;;>    193  mov rcx, [rcx+28h]
;;>    197  mov rdx, 4B00000001h
;;>    1a1  mov [rcx], rdx
;;>    1a4  mov qword [rcx+8], 7
;;>    1ac  mov edx, r9d
;;>    1af  mov [rcx+30h], rdx
;;>    1b3  add eax, 1
;;>    1b9  mov [rcx+28h], rax
;;>    1bd  mov [rcx+20h], rsi
;;>    1c1  mov eax, edi
;;>    1c3  mov [rcx+10h], rax
;;>    1c7  mov rdi, r15
;;>    1ca  mov rax, [rdi+38h]
;;>    1ce  mov rax, [rax+0B0h]
;;>    1d5  mov rsi, 200000007h
;;>    1df  call rax
;;>    1e1  mov rcx, r15
;;>    1e4  mov rcx, [rcx+8]
;;>    1e8  mov rdi, [rcx+28h]
;;>    1ec  mov r10, rax
;;>    1ef  mov rsp, rbp
;;>    1f2  pop rbp
;;>    1f3  jmp r10
;;>    1f6  add eax, 1
;;>    1fc  jmp 9Eh
;;>    201  mov rcx, r15
;;>    204  mov rcx, [rcx+8]
;;>    208  mov rsi, [rcx+28h]
;;>    20c  mov rcx, 4B00000001h
;;>    216  mov [rsi], rcx
;;>    219  mov qword [rsi+8], 7
;;>    221  mov ecx, r9d
;;>    224  mov [rsi+30h], rcx
;;>    228  mov eax, eax
;;>    22a  mov [rsi+28h], rax
;;>    22e  mov [rsi+20h], rdx
;;>    232  mov eax, edi
;;>    234  mov [rsi+10h], rax
;;>    238  mov rdi, r15
;;>    23b  mov rax, [rdi+38h]
;;>    23f  mov rax, [rax+0B0h]
;;>    246  mov rsi, 100000007h
;;>    250  mov rdx, rcx
;;>    253  call rax
;;>    255  mov rcx, r15
;;>    258  mov rcx, [rcx+8]
;;>    25c  mov rdi, [rcx+28h]
;;>    260  mov r10, rax
;;>    263  mov rsp, rbp
;;>    266  pop rbp
;;>    267  jmp r10
;;>    26a  mov rcx, r15
;;>    26d  mov rcx, [rcx+8]
;;>    271  mov rcx, [rcx+28h]
;;>    275  mov rdx, 4200000001h
;;>    27f  mov [rcx], rdx
;;>    282  mov qword [rcx+8], 7
;;>    28a  mov edx, r8d
;;>    28d  mov [rcx+20h], rdx
;;>    291  mov eax, eax
;;>    293  mov [rcx+18h], rax
;;>    297  mov eax, edi
;;>    299  mov [rcx+10h], rax
;;>    29d  mov esi, [rcx]
;;>    29f  mov edx, [rcx+4]
;;>    2a2  mov ecx, [rcx+8]
;;>    2a5  mov rdi, r15
;;>    2a8  mov rax, [rdi+38h]
;;>    2ac  mov rax, [rax+70h]
;;>    2b0  call rax
;;>    2b2  mov rcx, r15
;;>    2b5  mov rcx, [rcx+8]
;;>    2b9  mov rdi, [rcx+28h]
;;>    2bd  mov r10, rax
;;>    2c0  mov rsp, rbp
;;>    2c3  pop rbp
;;>    2c4  jmp r10
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
