;; The loop for the rounds that an unrolled one leaves over, counted by what a mask leaves, stays as it is: it runs three times at most (the control is `unroll-short.wat`).
;;! tier = optimizing
;;! show = assembly
(module
  (func (param $n i32) (result i32) (local $left i32) (local $at i32) (local $sum i32)
    (local.set $at (local.tee $left (i32.and (local.get $n) (i32.const 3))))
    (loop $again
      (local.set $sum (i32.xor (local.get $sum) (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
    (local.get $sum)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  and edi, 3
;;>      7  xor eax, eax
;;>      9  mov r8, rdi
;;>      c  sub edi, 1
;;>      f  lea ecx, [r8+4]
;;>     13  xor eax, r8d
;;>     16  test edi, edi
;;>     18  je short 2Fh
;;>     1a  mov r8, rcx
;;>     1d  jmp short 1Fh
;;>     1f  cmp r15, [r15-78h]
;;>     27  jb near 34h
;;>     2d  jmp short 0Ch
;;>     2f  mov rsp, rbp
;;>     32  pop rbp
;;>     33  ret
;;>     34  mov rcx, [r15-40h]
;;>     38  mov rcx, [rcx+28h]
;;>     3c  mov rdx, 2400000000h
;;>     46  mov [rcx], rdx
;;>     49  mov qword [rcx+8], 7
;;>     51  mov eax, eax
;;>     53  mov [rcx+28h], rax
;;>     57  mov eax, r8d
;;>     5a  mov [rcx+20h], rax
;;>     5e  mov eax, edi
;;>     60  mov [rcx+18h], rax
;;>     64  mov esi, [rcx]
;;>     66  mov edx, [rcx+4]
;;>     69  mov ecx, [rcx+8]
;;>     6c  mov rdi, r15
;;>     6f  mov rax, [r15-10h]
;;>     73  mov rax, [rax+70h]
;;>     77  call rax
;;>     79  mov rcx, [r15-40h]
;;>     7d  mov rdi, [rcx+28h]
;;>     81  mov r10, rax
;;>     84  mov rsp, rbp
;;>     87  pop rbp
;;>     88  jmp r10
