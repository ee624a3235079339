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
;;>      6  jmp short 8
;;>      8  cmp r15, [r15+78h]
;;>     10  jb near 3Ch
;;>     16  mov rdx, rdi
;;>     19  sub edx, 1
;;>     1c  blsr ecx, edi
;;>     21  tzcnt esi, edi
;;>     25  add eax, esi
;;>     27  test edx, edi
;;>     29  je near 37h
;;>     2f  mov rdi, rcx
;;>     32  jmp 8
;;>     37  mov rsp, rbp
;;>     3a  pop rbp
;;>     3b  ret
;;>     3c  mov rcx, r15
;;>     3f  mov rcx, [rcx+8]
;;>     43  mov rcx, [rcx+28h]
;;>     47  mov rdx, 1B00000000h
;;>     51  mov [rcx], rdx
;;>     54  mov qword [rcx+8], 7
;;>     5c  mov eax, eax
;;>     5e  mov [rcx+18h], rax
;;>     62  mov eax, edi
;;>     64  mov [rcx+10h], rax
;;>     68  mov esi, [rcx]
;;>     6a  mov edx, [rcx+4]
;;>     6d  mov ecx, [rcx+8]
;;>     70  mov rdi, r15
;;>     73  mov rax, [rdi+38h]
;;>     77  mov rax, [rax+70h]
;;>     7b  call rax
;;>     7d  mov rcx, r15
;;>     80  mov rcx, [rcx+8]
;;>     84  mov rdi, [rcx+28h]
;;>     88  mov r10, rax
;;>     8b  mov rsp, rbp
;;>     8e  pop rbp
;;>     8f  jmp r10
