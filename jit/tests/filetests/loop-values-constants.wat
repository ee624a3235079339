;; Constants of a loop without calls are made once, before the outermost: no load of one is left in it.
;;! tier = optimizing
;;! show = assembly
;;! lacks = rip
(module
  (memory 1)
  (func (param $rows i32) (param $at i32) (result f64) (local $i i32) (local $sum f64)
    (loop $row
      (local.set $i (i32.const 100))
      (loop $cell
        (local.set $sum (f64.add (local.get $sum) (f64.mul (f64.load (local.get $at)) (f64.const 0.125))))
        (local.set $sum (f64.sub (f64.const 3.5) (local.get $sum)))
        (local.set $at (i32.add (local.get $at) (i32.const 24)))
        (br_if $cell (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
      (local.set $sum (f64.mul (local.get $sum) (f64.const 0.125)))
      (br_if $row (local.tee $rows (i32.sub (local.get $rows) (i32.const 1)))))
    (local.get $sum)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  vxorpd xmm0, xmm0, xmm0
;;>      8  mov rax, [r15+48h]
;;>      c  mov rcx, 3FC0000000000000h
;;>     16  vmovq xmm2, rcx
;;>     1b  mov rcx, 400C000000000000h
;;>     25  vmovq xmm1, rcx
;;>     2a  jmp short 2Ch
;;>     2c  cmp r15, [r15+88h]
;;>     34  jb near 183h
;;>     3a  mov ecx, 64h
;;>     3f  mov edx, esi
;;>     41  vmovsd xmm5, [rax+rdx]
;;>     46  cmp ecx, 1
;;>     49  je near 116h
;;>     4f  vmovsd xmm3, [rax+rdx+18h]
;;>     55  cmp ecx, 2
;;>     58  je near 0F9h
;;>     5e  vmovsd xmm4, [rax+rdx+30h]
;;>     64  cmp ecx, 3
;;>     67  je short 0D0h
;;>     69  vmovsd xmm6, [rax+rdx+48h]
;;>     6f  sub ecx, 4
;;>     72  add esi, 60h
;;>     75  vmulsd xmm5, xmm5, xmm2
;;>     79  vaddsd xmm0, xmm0, xmm5
;;>     7d  vsubsd xmm0, xmm1, xmm0
;;>     81  vmulsd xmm3, xmm3, xmm2
;;>     85  vaddsd xmm0, xmm0, xmm3
;;>     89  vsubsd xmm0, xmm1, xmm0
;;>     8d  vmulsd xmm3, xmm4, xmm2
;;>     91  vaddsd xmm0, xmm0, xmm3
;;>     95  vsubsd xmm0, xmm1, xmm0
;;>     99  vmulsd xmm3, xmm6, xmm2
;;>     9d  vaddsd xmm0, xmm0, xmm3
;;>     a1  vsubsd xmm0, xmm1, xmm0
;;>     a5  test ecx, ecx
;;>     a7  jne short 0BDh
;;>     a9  sub edi, 1
;;>     ac  vmulsd xmm0, xmm0, xmm2
;;>     b0  test edi, edi
;;>     b2  jne near 2Ch
;;>     b8  mov rsp, rbp
;;>     bb  pop rbp
;;>     bc  ret
;;>     bd  cmp r15, [r15+90h]
;;>     c5  jb near 127h
;;>     cb  jmp 3Fh
;;>     d0  vmulsd xmm5, xmm5, xmm2
;;>     d4  vaddsd xmm0, xmm0, xmm5
;;>     d8  vsubsd xmm0, xmm1, xmm0
;;>     dc  vmulsd xmm3, xmm3, xmm2
;;>     e0  vaddsd xmm0, xmm0, xmm3
;;>     e4  vsubsd xmm0, xmm1, xmm0
;;>     e8  vmulsd xmm3, xmm4, xmm2
;;>     ec  vaddsd xmm0, xmm0, xmm3
;;>     f0  vsubsd xmm0, xmm1, xmm0
;;>     f4  add esi, 48h
;;>     f7  jmp short 0A9h
;;>     f9  vmulsd xmm4, xmm5, xmm2
;;>     fd  vaddsd xmm0, xmm0, xmm4
;;>    101  vsubsd xmm0, xmm1, xmm0
;;>    105  vmulsd xmm3, xmm3, xmm2
;;>    109  vaddsd xmm0, xmm0, xmm3
;;>    10d  vsubsd xmm0, xmm1, xmm0
;;>    111  add esi, 30h
;;>    114  jmp short 0A9h
;;>    116  vmulsd xmm3, xmm5, xmm2
;;>    11a  vaddsd xmm0, xmm0, xmm3
;;>    11e  vsubsd xmm0, xmm1, xmm0
;;>    122  add esi, 18h
;;>    125  jmp short 0A9h
;;>    127  mov rax, [r15+8]
;;>    12b  mov rax, [rax+28h]
;;>    12f  mov rdx, 2A00000000h
;;>    139  mov [rax], rdx
;;>    13c  mov qword [rax+8], 7
;;>    144  vmovsd [rax+28h], xmm0
;;>    149  mov edx, ecx
;;>    14b  mov [rax+20h], rdx
;;>    14f  mov esi, esi
;;>    151  mov [rax+18h], rsi
;;>    155  mov esi, edi
;;>    157  mov [rax+10h], rsi
;;>    15b  mov esi, [rax]
;;>    15d  mov edx, [rax+4]
;;>    160  mov ecx, [rax+8]
;;>    163  mov rdi, r15
;;>    166  mov r8, [r15+38h]
;;>    16a  mov r8, [r8+70h]
;;>    16e  call r8
;;>    171  mov rsi, [r15+8]
;;>    175  mov rdi, [rsi+28h]
;;>    179  mov r10, rax
;;>    17c  mov rsp, rbp
;;>    17f  pop rbp
;;>    180  jmp r10
;;>    183  mov r8, [r15+8]
;;>    187  mov r8, [r8+28h]
;;>    18b  mov r9, 2300000000h
;;>    195  mov [r8], r9
;;>    198  mov qword [r8+8], 7
;;>    1a0  vmovsd [r8+28h], xmm0
;;>    1a6  mov r9d, esi
;;>    1a9  mov [r8+18h], r9
;;>    1ad  mov r9d, edi
;;>    1b0  mov [r8+10h], r9
;;>    1b4  mov esi, [r8]
;;>    1b7  mov edx, [r8+4]
;;>    1bb  mov ecx, [r8+8]
;;>    1bf  mov rdi, r15
;;>    1c2  mov r10, [r15+38h]
;;>    1c6  mov r10, [r10+70h]
;;>    1ca  call r10
;;>    1cd  mov r10, [r15+8]
;;>    1d1  mov rdi, [r10+28h]
;;>    1d5  mov r10, rax
;;>    1d8  mov rsp, rbp
;;>    1db  pop rbp
;;>    1dc  jmp r10
