;;! tier = optimizing
;;! show = assembly
;;! contains = nop word [rax+rax]
;; The addresses of the inner loop are on the stack while the products are made. The allocator stores one of them again on the inner loop's back edge, which had a block
;; for that; now the branch leads to the header, and the block is nothing.
(module (memory 1)
 (func (export "f") (param $p i32) (param $q i32) (param $n i32) (result i32)
  (local $v0 i32) (local $v1 i32) (local $v2 i32) (local $v3 i32) (local $v4 i32) (local $v5 i32) (local $v6 i32) (local $v7 i32) (local $v8 i32) (local $v9 i32) (local $v10 i32) (local $v11 i32) (local $v12 i32) (local $v13 i32) (local $k i32) (local $s i32)
  (loop $outer
   (local.set $k (local.get $n))
   (local.set $v0 (i32.load offset=0 (local.get $s)))
   (local.set $v1 (i32.load offset=4 (local.get $s)))
   (local.set $v2 (i32.load offset=8 (local.get $s)))
   (local.set $v3 (i32.load offset=12 (local.get $s)))
   (local.set $v4 (i32.load offset=16 (local.get $s)))
   (local.set $v5 (i32.load offset=20 (local.get $s)))
   (local.set $v6 (i32.load offset=24 (local.get $s)))
   (local.set $v7 (i32.load offset=28 (local.get $s)))
   (local.set $v8 (i32.load offset=32 (local.get $s)))
   (local.set $v9 (i32.load offset=36 (local.get $s)))
   (local.set $v10 (i32.load offset=40 (local.get $s)))
   (local.set $v11 (i32.load offset=44 (local.get $s)))
   (local.set $v12 (i32.load offset=48 (local.get $s)))
   (local.set $v13 (i32.load offset=52 (local.get $s)))
   (i32.store offset=0 (local.get $s) (i32.mul (local.get $v0) (local.get $v5)))
   (i32.store offset=4 (local.get $s) (i32.mul (local.get $v1) (local.get $v6)))
   (i32.store offset=8 (local.get $s) (i32.mul (local.get $v2) (local.get $v7)))
   (i32.store offset=12 (local.get $s) (i32.mul (local.get $v3) (local.get $v8)))
   (i32.store offset=16 (local.get $s) (i32.mul (local.get $v4) (local.get $v9)))
   (i32.store offset=20 (local.get $s) (i32.mul (local.get $v5) (local.get $v10)))
   (i32.store offset=24 (local.get $s) (i32.mul (local.get $v6) (local.get $v11)))
   (i32.store offset=28 (local.get $s) (i32.mul (local.get $v7) (local.get $v12)))
   (i32.store offset=32 (local.get $s) (i32.mul (local.get $v8) (local.get $v13)))
   (i32.store offset=36 (local.get $s) (i32.mul (local.get $v9) (local.get $v0)))
   (i32.store offset=40 (local.get $s) (i32.mul (local.get $v10) (local.get $v1)))
   (i32.store offset=44 (local.get $s) (i32.mul (local.get $v11) (local.get $v2)))
   (i32.store offset=48 (local.get $s) (i32.mul (local.get $v12) (local.get $v3)))
   (i32.store offset=52 (local.get $s) (i32.mul (local.get $v13) (local.get $v4)))
   (loop $inner
     (local.set $s (i32.add (local.get $s) (i32.load (i32.add (local.get $p) (local.get $k)))))
     (i32.store (i32.add (local.get $q) (local.get $k)) (local.get $s))
     (br_if $inner (local.tee $k (i32.sub (local.get $k) (i32.const 4)))))
   (br_if $outer (local.tee $n (i32.shr_u (local.get $n) (i32.const 1)))))
  (local.get $s)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  sub rsp, 70h
;;>      8  mov [rsp+50h], rbx
;;>      d  mov [rsp+58h], r12
;;>     12  mov [rsp+60h], r13
;;>     17  mov [rsp+68h], r14
;;>     1c  mov [rsp], rdi
;;>     20  mov [rsp+8], rsi
;;>     25  mov [rsp+10h], rdx
;;>     2a  mov rcx, r15
;;>     2d  xor eax, eax
;;>     2f  mov rcx, [rcx+48h]
;;>     33  jmp short 38h
;;>     35  add [rax], r8b
;;>     38  cmp r15, [r15+88h]
;;>     40  jb near 311h
;;>     46  mov r8d, eax
;;>     49  mov edi, [rcx+r8]
;;>     4d  mov [rsp+40h], rdi
;;>     52  mov r12d, [rcx+r8+4]
;;>     57  mov [rsp+38h], r12
;;>     5c  mov ebx, [rcx+r8+8]
;;>     61  mov [rsp+30h], rbx
;;>     66  mov r11d, [rcx+r8+0Ch]
;;>     6b  mov [rsp+28h], r11
;;>     70  mov r10d, [rcx+r8+10h]
;;>     75  mov [rsp+20h], r10
;;>     7a  mov edi, [rcx+r8+14h]
;;>     7f  mov r12d, [rcx+r8+18h]
;;>     84  mov ebx, [rcx+r8+1Ch]
;;>     89  mov r11d, [rcx+r8+20h]
;;>     8e  mov r10d, [rcx+r8+24h]
;;>     93  mov r9d, [rcx+r8+28h]
;;>     98  mov edx, [rcx+r8+2Ch]
;;>     9d  mov r14d, [rcx+r8+30h]
;;>     a2  mov esi, [rcx+r8+34h]
;;>     a7  mov [rsp+18h], rsi
;;>     ac  mov rsi, [rsp+40h]
;;>     b1  mov r13, rsi
;;>     b4  imul r13d, edi
;;>     b8  mov [rcx+r8], r13d
;;>     bc  mov rsi, [rsp+38h]
;;>     c1  mov r13, rsi
;;>     c4  imul r13d, r12d
;;>     c8  mov [rcx+r8+4], r13d
;;>     cd  mov rsi, [rsp+30h]
;;>     d2  mov r13, rsi
;;>     d5  imul r13d, ebx
;;>     d9  mov [rcx+r8+8], r13d
;;>     de  mov rsi, [rsp+28h]
;;>     e3  mov r13, rsi
;;>     e6  imul r13d, r11d
;;>     ea  mov [rcx+r8+0Ch], r13d
;;>     ef  mov rsi, [rsp+20h]
;;>     f4  mov r13, rsi
;;>     f7  imul r13d, r10d
;;>     fb  mov [rcx+r8+10h], r13d
;;>    100  imul edi, r9d
;;>    104  mov [rcx+r8+14h], edi
;;>    109  imul r12d, edx
;;>    10d  mov [rcx+r8+18h], r12d
;;>    112  imul ebx, r14d
;;>    116  mov [rcx+r8+1Ch], ebx
;;>    11b  mov rsi, [rsp+18h]
;;>    120  imul r11d, esi
;;>    124  mov [rcx+r8+20h], r11d
;;>    129  mov rdi, [rsp+40h]
;;>    12e  imul r10d, edi
;;>    132  mov [rcx+r8+24h], r10d
;;>    137  mov rdi, [rsp+38h]
;;>    13c  imul r9d, edi
;;>    140  mov [rcx+r8+28h], r9d
;;>    145  mov rdi, [rsp+30h]
;;>    14a  imul edx, edi
;;>    14d  mov [rcx+r8+2Ch], edx
;;>    152  mov rdx, [rsp+28h]
;;>    157  imul r14d, edx
;;>    15b  mov [rcx+r8+30h], r14d
;;>    160  mov rdx, [rsp+20h]
;;>    165  imul esi, edx
;;>    168  mov [rcx+r8+34h], esi
;;>    16d  mov r8, [rsp+10h]
;;>    172  jmp short 177h
;;>    174  add [rax], r8b
;;>    177  cmp r15, [r15+90h]
;;>    17f  jb near 27Ch
;;>    185  mov rdi, [rsp]
;;>    189  lea edx, [rdi+r8]
;;>    18d  mov edx, [rcx+rdx]
;;>    190  add eax, edx
;;>    192  mov rsi, [rsp+8]
;;>    197  lea edx, [rsi+r8]
;;>    19b  mov [rcx+rdx], eax
;;>    19e  cmp r8d, 4
;;>    1a2  je near 272h
;;>    1a8  mov rdx, r8
;;>    1ab  sub edx, 4
;;>    1ae  lea r9d, [rdi+rdx]
;;>    1b2  mov r9d, [rcx+r9]
;;>    1b6  add eax, r9d
;;>    1b9  add edx, esi
;;>    1bb  mov [rcx+rdx], eax
;;>    1be  cmp r8d, 8
;;>    1c2  je near 268h
;;>    1c8  mov r9, r8
;;>    1cb  sub r9d, 8
;;>    1cf  lea r10d, [rdi+r9]
;;>    1d3  mov r10d, [rcx+r10]
;;>    1d7  add eax, r10d
;;>    1da  add r9d, esi
;;>    1dd  mov [rcx+r9], eax
;;>    1e1  cmp r8d, 0Ch
;;>    1e5  je near 25Eh
;;>    1eb  mov r9, r8
;;>    1ee  sub r9d, 0Ch
;;>    1f2  lea r10d, [rdi+r9]
;;>    1f6  mov r10d, [rcx+r10]
;;>    1fa  add eax, r10d
;;>    1fd  add r9d, esi
;;>    200  mov [rcx+r9], eax
;;>    204  sub r8d, 10h
;;>    208  test r8d, r8d
;;>    20b  jne near 177h
;;>    211  nop word [rax+rax]
;;>    21a  nop dword [rax+rax]
;;>    21f  mov rdx, [rsp+10h]
;;>    224  shr edx, 1
;;>    226  test edx, edx
;;>    228  je near 241h
;;>    22e  nop dword [rax]
;;>    232  nop dword [rax+rax]
;;>    237  mov [rsp+10h], rdx
;;>    23c  jmp 38h
;;>    241  mov rbx, [rsp+50h]
;;>    246  mov r12, [rsp+58h]
;;>    24b  mov r13, [rsp+60h]
;;>    250  mov r14, [rsp+68h]
;;>    255  add rsp, 70h
;;>    259  mov rsp, rbp
;;>    25c  pop rbp
;;>    25d  ret
;;>    25e  mov rdx, [rsp+10h]
;;>    263  jmp 224h
;;>    268  mov rdx, [rsp+10h]
;;>    26d  jmp 224h
;;>    272  mov rdx, [rsp+10h]
;;>    277  jmp 224h
;;>    27c  mov rdx, [rsp+10h]
;;>    281  mov rsi, [rsp+8]
;;>    286  mov rdi, [rsp]
;;>    28a  mov rcx, r15
;;>    28d  mov rcx, [rcx+8]
;;>    291  mov rcx, [rcx+28h]
;;>    295  mov r9, 11F00000000h
;;>    29f  mov [rcx], r9
;;>    2a2  mov qword [rcx+8], 7
;;>    2aa  mov eax, eax
;;>    2ac  mov [rcx+0A0h], rax
;;>    2b3  mov eax, r8d
;;>    2b6  mov [rcx+98h], rax
;;>    2bd  mov eax, edx
;;>    2bf  mov [rcx+20h], rax
;;>    2c3  mov eax, esi
;;>    2c5  mov [rcx+18h], rax
;;>    2c9  mov eax, edi
;;>    2cb  mov [rcx+10h], rax
;;>    2cf  mov esi, [rcx]
;;>    2d1  mov edx, [rcx+4]
;;>    2d4  mov ecx, [rcx+8]
;;>    2d7  mov rdi, r15
;;>    2da  mov rax, [rdi+38h]
;;>    2de  mov rax, [rax+70h]
;;>    2e2  call rax
;;>    2e4  mov rcx, r15
;;>    2e7  mov rcx, [rcx+8]
;;>    2eb  mov rdi, [rcx+28h]
;;>    2ef  mov r10, rax
;;>    2f2  mov rbx, [rsp+50h]
;;>    2f7  mov r12, [rsp+58h]
;;>    2fc  mov r13, [rsp+60h]
;;>    301  mov r14, [rsp+68h]
;;>    306  add rsp, 70h
;;>    30a  mov rsp, rbp
;;>    30d  pop rbp
;;>    30e  jmp r10
;;>    311  nop dword [rax+rax]
;;>    316  nop dword [rax+rax]
;;>    31b  nop dword [rax]
;;>    31f  mov rcx, r15
;;>    322  mov rcx, [rcx+8]
;;>    326  mov rcx, [rcx+28h]
;;>    32a  mov r8, 2B00000000h
;;>    334  mov [rcx], r8
;;>    337  mov qword [rcx+8], 7
;;>    33f  mov eax, eax
;;>    341  mov [rcx+0A0h], rax
;;>    348  mov eax, edx
;;>    34a  mov [rcx+20h], rax
;;>    34e  mov eax, esi
;;>    350  mov [rcx+18h], rax
;;>    354  mov eax, edi
;;>    356  mov [rcx+10h], rax
;;>    35a  mov esi, [rcx]
;;>    35c  mov edx, [rcx+4]
;;>    35f  mov ecx, [rcx+8]
;;>    362  mov rdi, r15
;;>    365  mov rax, [rdi+38h]
;;>    369  mov rax, [rax+70h]
;;>    36d  call rax
;;>    36f  mov rcx, r15
;;>    372  mov rcx, [rcx+8]
;;>    376  mov rdi, [rcx+28h]
;;>    37a  mov r10, rax
;;>    37d  mov rbx, [rsp+50h]
;;>    382  mov r12, [rsp+58h]
;;>    387  mov r13, [rsp+60h]
;;>    38c  mov r14, [rsp+68h]
;;>    391  add rsp, 70h
;;>    395  mov rsp, rbp
;;>    398  pop rbp
;;>    399  jmp r10
