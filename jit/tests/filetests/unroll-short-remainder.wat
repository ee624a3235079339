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
;;>      c  jmp short 0Eh
;;>      e  cmp r15, [r15+78h]
;;>     16  jb near 3Bh
;;>     1c  sub edi, 1
;;>     1f  lea ecx, [r8+4]
;;>     23  xor eax, r8d
;;>     26  test edi, edi
;;>     28  je near 36h
;;>     2e  mov r8, rcx
;;>     31  jmp 0Eh
;;>     36  mov rsp, rbp
;;>     39  pop rbp
;;>     3a  ret
;;>     3b  mov rcx, r15
;;>     3e  mov rcx, [rcx+8]
;;>     42  mov rcx, [rcx+28h]
;;>     46  mov rdx, 2400000000h
;;>     50  mov [rcx], rdx
;;>     53  mov qword [rcx+8], 7
;;>     5b  mov eax, eax
;;>     5d  mov [rcx+28h], rax
;;>     61  mov eax, r8d
;;>     64  mov [rcx+20h], rax
;;>     68  mov eax, edi
;;>     6a  mov [rcx+18h], rax
;;>     6e  mov esi, [rcx]
;;>     70  mov edx, [rcx+4]
;;>     73  mov ecx, [rcx+8]
;;>     76  mov rdi, r15
;;>     79  mov rax, [rdi+38h]
;;>     7d  mov rax, [rax+70h]
;;>     81  call rax
;;>     83  mov rcx, r15
;;>     86  mov rcx, [rcx+8]
;;>     8a  mov rdi, [rcx+28h]
;;>     8e  mov r10, rax
;;>     91  mov rsp, rbp
;;>     94  pop rbp
;;>     95  jmp r10
