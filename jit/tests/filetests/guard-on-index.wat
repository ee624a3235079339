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
;;>      6  mov rsi, rax
;;>      9  mov ecx, esi
;;>      b  movzx rdx, byte [r15+rcx]
;;>     10  cmp edx, 3
;;>     13  jne near 1C7h
;;>     19  lea edx, [rsi+1]
;;>     1c  cmp edx, edi
;;>     1e  jae near 1BFh
;;>     24  movzx r8, byte [r15+rcx+1]
;;>     2a  cmp r8d, 3
;;>     2e  jne near 15Bh
;;>     34  lea edx, [rsi+2]
;;>     37  cmp edx, edi
;;>     39  jae near 153h
;;>     3f  movzx r8, byte [r15+rcx+2]
;;>     45  cmp r8d, 3
;;>     49  jne near 0EFh
;;>     4f  lea edx, [rsi+3]
;;>     52  cmp edx, edi
;;>     54  jae near 0EAh
;;>     5a  movzx rcx, byte [r15+rcx+3]
;;>     60  cmp ecx, 3
;;>     63  jne short 84h
;;>     65  add esi, 4
;;>     68  add eax, 4
;;>     6b  cmp esi, edi
;;>     6d  jb short 74h
;;>     6f  mov rsp, rbp
;;>     72  pop rbp
;;>     73  ret
;;>     74  cmp r15, [r15-0B8h]
;;>     7c  jb near 226h
;;>     82  jmp short 9
;;>     84  mov rsi, [r15-40h]
;;>     88  mov r8, [rsi+28h]
;;>     8c  mov rsi, 4B00000001h
;;>     96  mov [r8], rsi
;;>     99  mov qword [r8+8], 7
;;>     a1  mov r10d, ecx
;;>     a4  mov [r8+30h], r10
;;>     a8  lea r9d, [rax+3]
;;>     ac  mov [r8+28h], r9
;;>     b0  mov [r8+20h], rdx
;;>     b4  mov edi, edi
;;>     b6  mov [r8+10h], rdi
;;>     ba  mov rdi, r15
;;>     bd  mov r8, [r15-10h]
;;>     c1  mov r8, [r8+0B0h]
;;>     c8  mov rsi, 400000007h
;;>     d2  mov rdx, r10
;;>     d5  call r8
;;>     d8  mov r8, [r15-40h]
;;>     dc  mov rdi, [r8+28h]
;;>     e0  mov r10, rax
;;>     e3  mov rsp, rbp
;;>     e6  pop rbp
;;>     e7  jmp r10
;;>     ea  add eax, 3
;;>     ed  jmp short 6Fh
;;>     ef  mov r9, [r15-40h]
;;>     f3  mov r9, [r9+28h]
;;>     f7  mov r10, 4B00000001h
;;>    101  mov [r9], r10
;;>    104  mov qword [r9+8], 7
;;>    10c  mov r11d, r8d
;;>    10f  mov [r9+30h], r11
;;>    113  add eax, 2
;;>    116  mov [r9+28h], rax
;;>    11a  mov [r9+20h], rdx
;;>    11e  mov eax, edi
;;>    120  mov [r9+10h], rax
;;>    124  mov rdi, r15
;;>    127  mov rax, [r15-10h]
;;>    12b  mov rax, [rax+0B0h]
;;>    132  mov rsi, 300000007h
;;>    13c  mov rdx, r11
;;>    13f  call rax
;;>    141  mov rcx, [r15-40h]
;;>    145  mov rdi, [rcx+28h]
;;>    149  mov r10, rax
;;>    14c  mov rsp, rbp
;;>    14f  pop rbp
;;>    150  jmp r10
;;>    153  add eax, 2
;;>    156  jmp 6Fh
;;>    15b  mov rcx, [r15-40h]
;;>    15f  mov rsi, [rcx+28h]
;;>    163  mov rcx, 4B00000001h
;;>    16d  mov [rsi], rcx
;;>    170  mov qword [rsi+8], 7
;;>    178  mov ecx, r8d
;;>    17b  mov [rsi+30h], rcx
;;>    17f  add eax, 1
;;>    182  mov [rsi+28h], rax
;;>    186  mov [rsi+20h], rdx
;;>    18a  mov eax, edi
;;>    18c  mov [rsi+10h], rax
;;>    190  mov rdi, r15
;;>    193  mov rax, [r15-10h]
;;>    197  mov rax, [rax+0B0h]
;;>    19e  mov rsi, 200000007h
;;>    1a8  mov rdx, rcx
;;>    1ab  call rax
;;>    1ad  mov rcx, [r15-40h]
;;>    1b1  mov rdi, [rcx+28h]
;;>    1b5  mov r10, rax
;;>    1b8  mov rsp, rbp
;;>    1bb  pop rbp
;;>    1bc  jmp r10
;;>    1bf  add eax, 1
;;>    1c2  jmp 6Fh
;;>    1c7  mov rsi, [r15-40h]
;;>    1cb  mov rsi, [rsi+28h]
;;>    1cf  mov r8, 4B00000001h
;;>    1d9  mov [rsi], r8
;;>    1dc  mov qword [rsi+8], 7
;;>    1e4  mov edx, edx
;;>    1e6  mov [rsi+30h], rdx
;;>    1ea  mov eax, eax
;;>    1ec  mov [rsi+28h], rax
;;>    1f0  mov [rsi+20h], rcx
;;>    1f4  mov eax, edi
;;>    1f6  mov [rsi+10h], rax
;;>    1fa  mov rdi, r15
;;>    1fd  mov rax, [r15-10h]
;;>    201  mov rax, [rax+0B0h]
;;>    208  mov rsi, 100000007h
;;>    212  call rax
;;>    214  mov rcx, [r15-40h]
;;>    218  mov rdi, [rcx+28h]
;;>    21c  mov r10, rax
;;>    21f  mov rsp, rbp
;;>    222  pop rbp
;;>    223  jmp r10
;;>    226  mov rcx, [r15-40h]
;;>    22a  mov rcx, [rcx+28h]
;;>    22e  mov rdx, 4200000001h
;;>    238  mov [rcx], rdx
;;>    23b  mov qword [rcx+8], 7
;;>    243  mov edx, esi
;;>    245  mov [rcx+20h], rdx
;;>    249  mov eax, eax
;;>    24b  mov [rcx+18h], rax
;;>    24f  mov eax, edi
;;>    251  mov [rcx+10h], rax
;;>    255  mov esi, [rcx]
;;>    257  mov edx, [rcx+4]
;;>    25a  mov ecx, [rcx+8]
;;>    25d  mov rdi, r15
;;>    260  mov rax, [r15-10h]
;;>    264  mov rax, [rax+70h]
;;>    268  call rax
;;>    26a  mov rcx, [r15-40h]
;;>    26e  mov rdi, [rcx+28h]
;;>    272  mov r10, rax
;;>    275  mov rsp, rbp
;;>    278  pop rbp
;;>    279  jmp r10
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
