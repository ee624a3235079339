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
;;>      8  mov rax, 3FC0000000000000h
;;>     12  vmovq xmm2, rax
;;>     17  mov rax, 400C000000000000h
;;>     21  vmovq xmm1, rax
;;>     26  jmp short 28h
;;>     28  cmp r15, [r15-90h]
;;>     30  jb near 183h
;;>     36  mov eax, 64h
;;>     3b  mov ecx, esi
;;>     3d  vmovsd xmm5, [r15+rcx]
;;>     43  cmp eax, 1
;;>     46  je near 116h
;;>     4c  vmovsd xmm3, [r15+rcx+18h]
;;>     53  cmp eax, 2
;;>     56  je near 0F9h
;;>     5c  vmovsd xmm4, [r15+rcx+30h]
;;>     63  cmp eax, 3
;;>     66  je short 0D0h
;;>     68  vmovsd xmm6, [r15+rcx+48h]
;;>     6f  sub eax, 4
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
;;>     a5  test eax, eax
;;>     a7  jne short 0BDh
;;>     a9  sub edi, 1
;;>     ac  vmulsd xmm0, xmm0, xmm2
;;>     b0  test edi, edi
;;>     b2  jne near 28h
;;>     b8  mov rsp, rbp
;;>     bb  pop rbp
;;>     bc  ret
;;>     bd  cmp r15, [r15-88h]
;;>     c5  jb near 127h
;;>     cb  jmp 3Bh
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
;;>    127  mov rcx, [r15-40h]
;;>    12b  mov rcx, [rcx+28h]
;;>    12f  mov rdx, 2A00000000h
;;>    139  mov [rcx], rdx
;;>    13c  mov qword [rcx+8], 7
;;>    144  vmovsd [rcx+28h], xmm0
;;>    149  mov eax, eax
;;>    14b  mov [rcx+20h], rax
;;>    14f  mov edx, esi
;;>    151  mov [rcx+18h], rdx
;;>    155  mov edx, edi
;;>    157  mov [rcx+10h], rdx
;;>    15b  mov esi, [rcx]
;;>    15d  mov edx, [rcx+4]
;;>    160  mov ecx, [rcx+8]
;;>    163  mov rdi, r15
;;>    166  mov r8, [r15-10h]
;;>    16a  mov r8, [r8+70h]
;;>    16e  call r8
;;>    171  mov rsi, [r15-40h]
;;>    175  mov rdi, [rsi+28h]
;;>    179  mov r10, rax
;;>    17c  mov rsp, rbp
;;>    17f  pop rbp
;;>    180  jmp r10
;;>    183  mov r8, [r15-40h]
;;>    187  mov r8, [r8+28h]
;;>    18b  mov r9, 2300000000h
;;>    195  mov [r8], r9
;;>    198  mov qword [r8+8], 7
;;>    1a0  vmovsd [r8+28h], xmm0
;;>    1a6  mov esi, esi
;;>    1a8  mov [r8+18h], rsi
;;>    1ac  mov edi, edi
;;>    1ae  mov [r8+10h], rdi
;;>    1b2  mov esi, [r8]
;;>    1b5  mov edx, [r8+4]
;;>    1b9  mov ecx, [r8+8]
;;>    1bd  mov rdi, r15
;;>    1c0  mov r8, [r15-10h]
;;>    1c4  mov r8, [r8+70h]
;;>    1c8  call r8
;;>    1cb  mov r8, [r15-40h]
;;>    1cf  mov rdi, [r8+28h]
;;>    1d3  mov r10, rax
;;>    1d6  mov rsp, rbp
;;>    1d9  pop rbp
;;>    1da  jmp r10
