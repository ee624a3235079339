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
;;>     1d  jb near 264h
;;>     23  mov edx, r8d
;;>     26  movzx rsi, byte [rcx+rdx]
;;>     2b  cmp esi, 3
;;>     2e  jne near 1FFh
;;>     34  lea esi, [r8+1]
;;>     38  cmp esi, edi
;;>     3a  jae near 1F4h
;;>     40  movzx r9, byte [rcx+rdx+1]
;;>     46  cmp r9d, 3
;;>     4a  jne near 18Ah
;;>     50  lea esi, [r8+2]
;;>     54  cmp esi, edi
;;>     56  jae near 17Fh
;;>     5c  movzx r9, byte [rcx+rdx+2]
;;>     62  cmp r9d, 3
;;>     66  jne near 115h
;;>     6c  lea esi, [r8+3]
;;>     70  cmp esi, edi
;;>     72  jae near 10Ah
;;>     78  movzx rdx, byte [rcx+rdx+3]
;;>     7e  cmp edx, 3
;;>     81  jne near 0A2h
;;>     87  add r8d, 4
;;>     8e  add eax, 4
;;>     94  cmp r8d, edi
;;>     97  jb near 15h
;;>     9d  mov rsp, rbp
;;>     a0  pop rbp
;;>     a1  ret
;;>     a2  mov r8, r15
;;>     a5  mov r8, [r8+8]
;;>     a9  mov r8, [r8+28h]
;;>     ad  mov r9, 4B00000001h
;;>     b7  mov [r8], r9
;;>     ba  mov qword [r8+8], 7
;;>     c2  mov edi, edi
;;>     c4  mov [r8+10h], rdi
;;>     c8  mov [r8+20h], rsi
;;>     cc  lea r9d, [rax+3]
;;>     d0  mov [r8+28h], r9
;;>     d4  mov edx, edx
;;>     d6  mov [r8+30h], rdx
;;>     da  mov rdi, r15
;;>     dd  mov r10, [rdi+38h]
;;>     e1  mov r10, [r10+0B0h]
;;>     e8  mov rsi, 400000007h
;;>     f2  call r10
;;>     f5  mov r10, r15
;;>     f8  mov r10, [r10+8]
;;>     fc  mov rdi, [r10+28h]
;;>    100  mov r10, rax
;;>    103  mov rsp, rbp
;;>    106  pop rbp
;;>    107  jmp r10
;;>    10a  add eax, 3
;;>    110  jmp 9Dh
;;>    115  mov r11, r15
;;>    118  mov r11, [r11+8]
;;>    11c  mov r11, [r11+28h]
;;>    120  mov rcx, 4B00000001h
;;>    12a  mov [r11], rcx
;;>    12d  mov qword [r11+8], 7
;;>    135  mov ecx, edi
;;>    137  mov [r11+10h], rcx
;;>    13b  mov [r11+20h], rsi
;;>    13f  add eax, 2
;;>    145  mov [r11+28h], rax
;;>    149  mov edx, r9d
;;>    14c  mov [r11+30h], rdx
;;>    150  mov rdi, r15
;;>    153  mov rax, [rdi+38h]
;;>    157  mov rax, [rax+0B0h]
;;>    15e  mov rsi, 300000007h
;;>    168  call rax
;;>    16a  mov rcx, r15
;;>    16d  mov rcx, [rcx+8]
;;>    171  mov rdi, [rcx+28h]
;;>    175  mov r10, rax
;;>    178  mov rsp, rbp
;;>    17b  pop rbp
;;>    17c  jmp r10
;;>    17f  add eax, 2
;;>    185  jmp 9Dh
;;>    18a  mov rcx, r15
;;>    18d  mov rcx, [rcx+8]
;;>    191  mov rcx, [rcx+28h]
;;>    195  mov rdx, 4B00000001h
;;>    19f  mov [rcx], rdx
;;>    1a2  mov qword [rcx+8], 7
;;>    1aa  mov edx, edi
;;>    1ac  mov [rcx+10h], rdx
;;>    1b0  mov [rcx+20h], rsi
;;>    1b4  add eax, 1
;;>    1ba  mov [rcx+28h], rax
;;>    1be  mov edx, r9d
;;>    1c1  mov [rcx+30h], rdx
;;>    1c5  mov rdi, r15
;;>    1c8  mov rax, [rdi+38h]
;;>    1cc  mov rax, [rax+0B0h]
;;>    1d3  mov rsi, 200000007h
;;>    1dd  call rax
;;>    1df  mov rcx, r15
;;>    1e2  mov rcx, [rcx+8]
;;>    1e6  mov rdi, [rcx+28h]
;;>    1ea  mov r10, rax
;;>    1ed  mov rsp, rbp
;;>    1f0  pop rbp
;;>    1f1  jmp r10
;;>    1f4  add eax, 1
;;>    1fa  jmp 9Dh
;;>    1ff  mov rcx, r15
;;>    202  mov rcx, [rcx+8]
;;>    206  mov rcx, [rcx+28h]
;;>    20a  mov r8, 4B00000001h
;;>    214  mov [rcx], r8
;;>    217  mov qword [rcx+8], 7
;;>    21f  mov edi, edi
;;>    221  mov [rcx+10h], rdi
;;>    225  mov [rcx+20h], rdx
;;>    229  mov eax, eax
;;>    22b  mov [rcx+28h], rax
;;>    22f  mov edx, esi
;;>    231  mov [rcx+30h], rdx
;;>    235  mov rdi, r15
;;>    238  mov rax, [rdi+38h]
;;>    23c  mov rax, [rax+0B0h]
;;>    243  mov rsi, 100000007h
;;>    24d  call rax
;;>    24f  mov rcx, r15
;;>    252  mov rcx, [rcx+8]
;;>    256  mov rdi, [rcx+28h]
;;>    25a  mov r10, rax
;;>    25d  mov rsp, rbp
;;>    260  pop rbp
;;>    261  jmp r10
;;>    264  mov rcx, r15
;;>    267  mov rcx, [rcx+8]
;;>    26b  mov rcx, [rcx+28h]
;;>    26f  mov rdx, 4200000001h
;;>    279  mov [rcx], rdx
;;>    27c  mov qword [rcx+8], 7
;;>    284  mov edx, edi
;;>    286  mov [rcx+10h], rdx
;;>    28a  mov eax, eax
;;>    28c  mov [rcx+18h], rax
;;>    290  mov eax, r8d
;;>    293  mov [rcx+20h], rax
;;>    297  mov esi, [rcx]
;;>    299  mov edx, [rcx+4]
;;>    29c  mov ecx, [rcx+8]
;;>    29f  mov rdi, r15
;;>    2a2  mov rax, [rdi+38h]
;;>    2a6  mov rax, [rax+70h]
;;>    2aa  call rax
;;>    2ac  mov rcx, r15
;;>    2af  mov rcx, [rcx+8]
;;>    2b3  mov rdi, [rcx+28h]
;;>    2b7  mov r10, rax
;;>    2ba  mov rsp, rbp
;;>    2bd  pop rbp
;;>    2be  jmp r10
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
