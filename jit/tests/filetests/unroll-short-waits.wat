;; A short loop that steps nothing by a constant stays as it is: each round waits for the one before (here the bits of a mask; the control is `unroll-short.wat`).
;;! tier = optimizing
;;! show = assembly
(module
  (func (param $mask i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum) (i32.ctz (local.get $mask))))
      (br_if $again (local.tee $mask (i32.and (local.get $mask) (i32.sub (local.get $mask) (i32.const 1))))))
    (local.get $sum)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  xor eax, eax
;;>      6  mov rdx, rdi
;;>      9  sub edx, 1
;;>      c  blsr ecx, edi
;;>     11  tzcnt esi, edi
;;>     15  add eax, esi
;;>     17  test edx, edi
;;>     19  je short 30h
;;>     1b  mov rdi, rcx
;;>     1e  jmp short 20h
;;>     20  cmp r15, [r15-78h]
;;>     28  jb near 35h
;;>     2e  jmp short 6
;;>     30  mov rsp, rbp
;;>     33  pop rbp
;;>     34  ret
;;>     35  mov rcx, [r15-40h]
;;>     39  mov rcx, [rcx+28h]
;;>     3d  mov rdx, 1B00000000h
;;>     47  mov [rcx], rdx
;;>     4a  mov qword [rcx+8], 7
;;>     52  mov eax, eax
;;>     54  mov [rcx+18h], rax
;;>     58  mov eax, edi
;;>     5a  mov [rcx+10h], rax
;;>     5e  mov esi, [rcx]
;;>     60  mov edx, [rcx+4]
;;>     63  mov ecx, [rcx+8]
;;>     66  mov rdi, r15
;;>     69  mov rax, [r15-10h]
;;>     6d  mov rax, [rax+70h]
;;>     71  call rax
;;>     73  mov rcx, [r15-40h]
;;>     77  mov rdi, [rcx+28h]
;;>     7b  mov r10, rax
;;>     7e  mov rsp, rbp
;;>     81  pop rbp
;;>     82  jmp r10
