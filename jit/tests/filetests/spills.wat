;;! tier = optimizing
;;! show = assembly
;;! contains = jne near 16Eh
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
;;>     1c  mov [rsp], rdi
;;>     20  mov [rsp+8], rsi
;;>     25  mov [rsp+10h], rdx
;;>     2a  xor eax, eax
;;>     2c  mov rcx, [r15+48h]
;;>     30  jmp short 32h
;;>     32  cmp r15, [r15+88h]
;;>     3a  jb near 2D6h
;;>     40  mov r8d, eax
;;>     43  mov edi, [rcx+r8]
;;>     47  mov [rsp+40h], rdi
;;>     4c  mov r12d, [rcx+r8+4]
;;>     51  mov [rsp+38h], r12
;;>     56  mov ebx, [rcx+r8+8]
;;>     5b  mov [rsp+30h], rbx
;;>     60  mov r11d, [rcx+r8+0Ch]
;;>     65  mov [rsp+28h], r11
;;>     6a  mov r10d, [rcx+r8+10h]
;;>     6f  mov [rsp+20h], r10
;;>     74  mov edi, [rcx+r8+14h]
;;>     79  mov r12d, [rcx+r8+18h]
;;>     7e  mov ebx, [rcx+r8+1Ch]
;;>     83  mov r11d, [rcx+r8+20h]
;;>     88  mov r10d, [rcx+r8+24h]
;;>     8d  mov r9d, [rcx+r8+28h]
;;>     92  mov edx, [rcx+r8+2Ch]
;;>     97  mov r14d, [rcx+r8+30h]
;;>     9c  mov esi, [rcx+r8+34h]
;;>     a1  mov [rsp+18h], rsi
;;>     a6  mov rsi, [rsp+40h]
;;>     ab  mov r13, rsi
;;>     ae  imul r13d, edi
;;>     b2  mov [rcx+r8], r13d
;;>     b6  mov rsi, [rsp+38h]
;;>     bb  mov r13, rsi
;;>     be  imul r13d, r12d
;;>     c2  mov [rcx+r8+4], r13d
;;>     c7  mov rsi, [rsp+30h]
;;>     cc  mov r13, rsi
;;>     cf  imul r13d, ebx
;;>     d3  mov [rcx+r8+8], r13d
;;>     d8  mov rsi, [rsp+28h]
;;>     dd  mov r13, rsi
;;>     e0  imul r13d, r11d
;;>     e4  mov [rcx+r8+0Ch], r13d
;;>     e9  mov rsi, [rsp+20h]
;;>     ee  mov r13, rsi
;;>     f1  imul r13d, r10d
;;>     f5  mov [rcx+r8+10h], r13d
;;>     fa  imul edi, r9d
;;>     fe  mov [rcx+r8+14h], edi
;;>    103  imul r12d, edx
;;>    107  mov [rcx+r8+18h], r12d
;;>    10c  imul ebx, r14d
;;>    110  mov [rcx+r8+1Ch], ebx
;;>    115  mov rsi, [rsp+18h]
;;>    11a  imul r11d, esi
;;>    11e  mov [rcx+r8+20h], r11d
;;>    123  mov rdi, [rsp+40h]
;;>    128  imul r10d, edi
;;>    12c  mov [rcx+r8+24h], r10d
;;>    131  mov rdi, [rsp+38h]
;;>    136  imul r9d, edi
;;>    13a  mov [rcx+r8+28h], r9d
;;>    13f  mov rdi, [rsp+30h]
;;>    144  imul edx, edi
;;>    147  mov [rcx+r8+2Ch], edx
;;>    14c  mov rdx, [rsp+28h]
;;>    151  imul r14d, edx
;;>    155  mov [rcx+r8+30h], r14d
;;>    15a  mov rdx, [rsp+20h]
;;>    15f  imul esi, edx
;;>    162  mov [rcx+r8+34h], esi
;;>    167  mov r8, [rsp+10h]
;;>    16c  jmp short 16Eh
;;>    16e  cmp r15, [r15+90h]
;;>    176  jb near 247h
;;>    17c  mov rdi, [rsp]
;;>    180  lea edx, [rdi+r8]
;;>    184  mov edx, [rcx+rdx]
;;>    187  add eax, edx
;;>    189  mov rsi, [rsp+8]
;;>    18e  lea edx, [rsi+r8]
;;>    192  mov [rcx+rdx], eax
;;>    195  cmp r8d, 4
;;>    199  je near 240h
;;>    19f  mov rdx, r8
;;>    1a2  sub edx, 4
;;>    1a5  lea r9d, [rdi+rdx]
;;>    1a9  mov r9d, [rcx+r9]
;;>    1ad  add eax, r9d
;;>    1b0  add edx, esi
;;>    1b2  mov [rcx+rdx], eax
;;>    1b5  cmp r8d, 8
;;>    1b9  je short 239h
;;>    1bb  mov r9, r8
;;>    1be  sub r9d, 8
;;>    1c2  lea r10d, [rdi+r9]
;;>    1c6  mov r10d, [rcx+r10]
;;>    1ca  add eax, r10d
;;>    1cd  add r9d, esi
;;>    1d0  mov [rcx+r9], eax
;;>    1d4  cmp r8d, 0Ch
;;>    1d8  je short 232h
;;>    1da  mov r9, r8
;;>    1dd  sub r9d, 0Ch
;;>    1e1  lea r10d, [rdi+r9]
;;>    1e5  mov r10d, [rcx+r10]
;;>    1e9  add eax, r10d
;;>    1ec  add r9d, esi
;;>    1ef  mov [rcx+r9], eax
;;>    1f3  sub r8d, 10h
;;>    1f7  test r8d, r8d
;;>    1fa  jne near 16Eh
;;>    200  mov rdx, [rsp+10h]
;;>    205  shr edx, 1
;;>    207  test edx, edx
;;>    209  je short 215h
;;>    20b  mov [rsp+10h], rdx
;;>    210  jmp 32h
;;>    215  mov rbx, [rsp+50h]
;;>    21a  mov r12, [rsp+58h]
;;>    21f  mov r13, [rsp+60h]
;;>    224  mov r14, [rsp+68h]
;;>    229  add rsp, 70h
;;>    22d  mov rsp, rbp
;;>    230  pop rbp
;;>    231  ret
;;>    232  mov rdx, [rsp+10h]
;;>    237  jmp short 205h
;;>    239  mov rdx, [rsp+10h]
;;>    23e  jmp short 205h
;;>    240  mov rdx, [rsp+10h]
;;>    245  jmp short 205h
;;>    247  mov rdx, [rsp+10h]
;;>    24c  mov rsi, [rsp+8]
;;>    251  mov rdi, [rsp]
;;>    255  mov rcx, [r15+8]
;;>    259  mov rcx, [rcx+28h]
;;>    25d  mov r9, 11F00000000h
;;>    267  mov [rcx], r9
;;>    26a  mov qword [rcx+8], 7
;;>    272  mov eax, eax
;;>    274  mov [rcx+0A0h], rax
;;>    27b  mov eax, r8d
;;>    27e  mov [rcx+98h], rax
;;>    285  mov eax, edx
;;>    287  mov [rcx+20h], rax
;;>    28b  mov eax, esi
;;>    28d  mov [rcx+18h], rax
;;>    291  mov eax, edi
;;>    293  mov [rcx+10h], rax
;;>    297  mov esi, [rcx]
;;>    299  mov edx, [rcx+4]
;;>    29c  mov ecx, [rcx+8]
;;>    29f  mov rdi, r15
;;>    2a2  mov rax, [r15+38h]
;;>    2a6  mov rax, [rax+70h]
;;>    2aa  call rax
;;>    2ac  mov rcx, [r15+8]
;;>    2b0  mov rdi, [rcx+28h]
;;>    2b4  mov r10, rax
;;>    2b7  mov rbx, [rsp+50h]
;;>    2bc  mov r12, [rsp+58h]
;;>    2c1  mov r13, [rsp+60h]
;;>    2c6  mov r14, [rsp+68h]
;;>    2cb  add rsp, 70h
;;>    2cf  mov rsp, rbp
;;>    2d2  pop rbp
;;>    2d3  jmp r10
;;>    2d6  mov rcx, [r15+8]
;;>    2da  mov rcx, [rcx+28h]
;;>    2de  mov r8, 2B00000000h
;;>    2e8  mov [rcx], r8
;;>    2eb  mov qword [rcx+8], 7
;;>    2f3  mov eax, eax
;;>    2f5  mov [rcx+0A0h], rax
;;>    2fc  mov eax, edx
;;>    2fe  mov [rcx+20h], rax
;;>    302  mov eax, esi
;;>    304  mov [rcx+18h], rax
;;>    308  mov eax, edi
;;>    30a  mov [rcx+10h], rax
;;>    30e  mov esi, [rcx]
;;>    310  mov edx, [rcx+4]
;;>    313  mov ecx, [rcx+8]
;;>    316  mov rdi, r15
;;>    319  mov rax, [r15+38h]
;;>    31d  mov rax, [rax+70h]
;;>    321  call rax
;;>    323  mov rcx, [r15+8]
;;>    327  mov rdi, [rcx+28h]
;;>    32b  mov r10, rax
;;>    32e  mov rbx, [rsp+50h]
;;>    333  mov r12, [rsp+58h]
;;>    338  mov r13, [rsp+60h]
;;>    33d  mov r14, [rsp+68h]
;;>    342  add rsp, 70h
;;>    346  mov rsp, rbp
;;>    349  pop rbp
;;>    34a  jmp r10
