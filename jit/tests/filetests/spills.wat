;;! tier = optimizing
;;! show = assembly
;;! contains = jne near 160h
;; The addresses of the inner loop are on the stack while the products are made. The allocator stores one of them again on the inner loop's back edge, which had a block
;; for that; now the branch leads to the header, and the block is gone.
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
;;>     1c  mov [rsp+20h], rdx
;;>     21  xor eax, eax
;;>     23  mov [rsp], esi
;;>     26  mov [rsp+18h], rsi
;;>     2b  mov [rsp+8], edi
;;>     2f  mov [rsp+10h], rdi
;;>     34  jmp short 36h
;;>     36  cmp r15, [r15-90h]
;;>     3e  jb near 2C2h
;;>     44  mov ecx, eax
;;>     46  mov esi, [r15+rcx]
;;>     4a  mov [rsp+48h], rsi
;;>     4f  mov ebx, [r15+rcx+4]
;;>     54  mov [rsp+40h], rbx
;;>     59  mov r11d, [r15+rcx+8]
;;>     5e  mov [rsp+38h], r11
;;>     63  mov r10d, [r15+rcx+0Ch]
;;>     68  mov [rsp+30h], r10
;;>     6d  mov r9d, [r15+rcx+10h]
;;>     72  mov [rsp+28h], r9
;;>     77  mov ebx, [r15+rcx+14h]
;;>     7c  mov r11d, [r15+rcx+18h]
;;>     81  mov r10d, [r15+rcx+1Ch]
;;>     86  mov r9d, [r15+rcx+20h]
;;>     8b  mov r8d, [r15+rcx+24h]
;;>     90  mov edx, [r15+rcx+28h]
;;>     95  mov r14d, [r15+rcx+2Ch]
;;>     9a  mov r13d, [r15+rcx+30h]
;;>     9f  mov r12d, [r15+rcx+34h]
;;>     a4  mov rdi, rsi
;;>     a7  imul edi, ebx
;;>     aa  mov [r15+rcx], edi
;;>     ae  mov rsi, [rsp+40h]
;;>     b3  mov rdi, rsi
;;>     b6  imul edi, r11d
;;>     ba  mov [r15+rcx+4], edi
;;>     bf  mov rsi, [rsp+38h]
;;>     c4  mov rdi, rsi
;;>     c7  imul edi, r10d
;;>     cb  mov [r15+rcx+8], edi
;;>     d0  mov rsi, [rsp+30h]
;;>     d5  mov rdi, rsi
;;>     d8  imul edi, r9d
;;>     dc  mov [r15+rcx+0Ch], edi
;;>     e1  mov rsi, [rsp+28h]
;;>     e6  mov rdi, rsi
;;>     e9  imul edi, r8d
;;>     ed  mov [r15+rcx+10h], edi
;;>     f2  imul ebx, edx
;;>     f5  mov [r15+rcx+14h], ebx
;;>     fa  imul r11d, r14d
;;>     fe  mov [r15+rcx+18h], r11d
;;>    103  imul r10d, r13d
;;>    107  mov [r15+rcx+1Ch], r10d
;;>    10c  imul r9d, r12d
;;>    110  mov [r15+rcx+20h], r9d
;;>    115  mov r9, [rsp+48h]
;;>    11a  imul r8d, r9d
;;>    11e  mov [r15+rcx+24h], r8d
;;>    123  mov r8, [rsp+40h]
;;>    128  imul edx, r8d
;;>    12c  mov [r15+rcx+28h], edx
;;>    131  mov rdx, [rsp+38h]
;;>    136  imul r14d, edx
;;>    13a  mov [r15+rcx+2Ch], r14d
;;>    13f  mov rdx, [rsp+30h]
;;>    144  imul r13d, edx
;;>    148  mov [r15+rcx+30h], r13d
;;>    14d  mov rdx, rsi
;;>    150  imul r12d, edx
;;>    154  mov [r15+rcx+34h], r12d
;;>    159  mov rcx, [rsp+20h]
;;>    15e  jmp short 160h
;;>    160  cmp r15, [r15-88h]
;;>    168  jb near 236h
;;>    16e  mov rdi, [rsp+10h]
;;>    173  lea edx, [rdi+rcx]
;;>    176  mov edx, [r15+rdx]
;;>    17a  add eax, edx
;;>    17c  mov rsi, [rsp+18h]
;;>    181  lea edx, [rsi+rcx]
;;>    184  mov [r15+rdx], eax
;;>    188  cmp ecx, 4
;;>    18b  je near 22Fh
;;>    191  mov rdx, rcx
;;>    194  sub edx, 4
;;>    197  lea r8d, [rdi+rdx]
;;>    19b  mov r8d, [r15+r8]
;;>    19f  add eax, r8d
;;>    1a2  add edx, esi
;;>    1a4  mov [r15+rdx], eax
;;>    1a8  cmp ecx, 8
;;>    1ab  je short 228h
;;>    1ad  mov r8, rcx
;;>    1b0  sub r8d, 8
;;>    1b4  lea r9d, [rdi+r8]
;;>    1b8  mov r9d, [r15+r9]
;;>    1bc  add eax, r9d
;;>    1bf  add r8d, esi
;;>    1c2  mov [r15+r8], eax
;;>    1c6  cmp ecx, 0Ch
;;>    1c9  je short 221h
;;>    1cb  mov r8, rcx
;;>    1ce  sub r8d, 0Ch
;;>    1d2  lea r9d, [rdi+r8]
;;>    1d6  mov r9d, [r15+r9]
;;>    1da  add eax, r9d
;;>    1dd  add r8d, esi
;;>    1e0  mov [r15+r8], eax
;;>    1e4  sub ecx, 10h
;;>    1e7  test ecx, ecx
;;>    1e9  jne near 160h
;;>    1ef  mov rdx, [rsp+20h]
;;>    1f4  shr edx, 1
;;>    1f6  test edx, edx
;;>    1f8  je short 204h
;;>    1fa  mov [rsp+20h], rdx
;;>    1ff  jmp 36h
;;>    204  mov rbx, [rsp+50h]
;;>    209  mov r12, [rsp+58h]
;;>    20e  mov r13, [rsp+60h]
;;>    213  mov r14, [rsp+68h]
;;>    218  add rsp, 70h
;;>    21c  mov rsp, rbp
;;>    21f  pop rbp
;;>    220  ret
;;>    221  mov rdx, [rsp+20h]
;;>    226  jmp short 1F4h
;;>    228  mov rdx, [rsp+20h]
;;>    22d  jmp short 1F4h
;;>    22f  mov rdx, [rsp+20h]
;;>    234  jmp short 1F4h
;;>    236  mov rdx, [rsp+20h]
;;>    23b  mov rsi, [r15-40h]
;;>    23f  mov rsi, [rsi+28h]
;;>    243  mov rdi, 11F00000000h
;;>    24d  mov [rsi], rdi
;;>    250  mov qword [rsi+8], 7
;;>    258  mov eax, eax
;;>    25a  mov [rsi+0A0h], rax
;;>    261  mov eax, ecx
;;>    263  mov [rsi+98h], rax
;;>    26a  mov eax, edx
;;>    26c  mov [rsi+20h], rax
;;>    270  mov eax, [rsp]
;;>    273  mov [rsi+18h], rax
;;>    277  mov eax, [rsp+8]
;;>    27b  mov [rsi+10h], rax
;;>    27f  mov eax, [rsi]
;;>    281  mov edx, [rsi+4]
;;>    284  mov ecx, [rsi+8]
;;>    287  mov rdi, r15
;;>    28a  mov rsi, [r15-10h]
;;>    28e  mov r8, [rsi+70h]
;;>    292  mov rsi, rax
;;>    295  call r8
;;>    298  mov rcx, [r15-40h]
;;>    29c  mov rdi, [rcx+28h]
;;>    2a0  mov r10, rax
;;>    2a3  mov rbx, [rsp+50h]
;;>    2a8  mov r12, [rsp+58h]
;;>    2ad  mov r13, [rsp+60h]
;;>    2b2  mov r14, [rsp+68h]
;;>    2b7  add rsp, 70h
;;>    2bb  mov rsp, rbp
;;>    2be  pop rbp
;;>    2bf  jmp r10
;;>    2c2  mov rcx, [r15-40h]
;;>    2c6  mov rcx, [rcx+28h]
;;>    2ca  mov rsi, 2B00000000h
;;>    2d4  mov [rcx], rsi
;;>    2d7  mov qword [rcx+8], 7
;;>    2df  mov eax, eax
;;>    2e1  mov [rcx+0A0h], rax
;;>    2e8  mov eax, edx
;;>    2ea  mov [rcx+20h], rax
;;>    2ee  mov eax, [rsp]
;;>    2f1  mov [rcx+18h], rax
;;>    2f5  mov eax, [rsp+8]
;;>    2f9  mov [rcx+10h], rax
;;>    2fd  mov esi, [rcx]
;;>    2ff  mov edx, [rcx+4]
;;>    302  mov ecx, [rcx+8]
;;>    305  mov rdi, r15
;;>    308  mov rax, [r15-10h]
;;>    30c  mov rax, [rax+70h]
;;>    310  call rax
;;>    312  mov rcx, [r15-40h]
;;>    316  mov rdi, [rcx+28h]
;;>    31a  mov r10, rax
;;>    31d  mov rbx, [rsp+50h]
;;>    322  mov r12, [rsp+58h]
;;>    327  mov r13, [rsp+60h]
;;>    32c  mov r14, [rsp+68h]
;;>    331  add rsp, 70h
;;>    335  mov rsp, rbp
;;>    338  pop rbp
;;>    339  jmp r10
