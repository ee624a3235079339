;; The control: a select stays one.
;;! tier = optimizing
;;! show = assembly
;;! contains = cmov
(module
  (func (param $n i32) (param $x i32) (result i32)
    (loop $next
      (local.set $x (select
        (i32.mul (i32.mul (i32.mul (local.get $x) (local.get $x)) (i32.const 1000003)) (local.get $n))
        (i32.add (local.get $x) (i32.const 1))
        (i32.eqz (i32.and (local.get $x) (i32.const 0x3ff)))))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $x)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  xchg ax, ax
;;>      6  cmp r15, [r15+78h]
;;>      e  jb near 4Dh
;;>     14  mov rcx, rdi
;;>     17  sub ecx, 1
;;>     1a  mov rax, rsi
;;>     1d  imul eax, esi
;;>     20  imul edx, eax, 0F4243h
;;>     26  imul edx, edi
;;>     29  lea eax, [rsi+1]
;;>     2c  test esi, 3FFh
;;>     32  cmove eax, edx
;;>     35  test ecx, ecx
;;>     37  je near 48h
;;>     3d  mov rsi, rax
;;>     40  mov rdi, rcx
;;>     43  jmp 6
;;>     48  mov rsp, rbp
;;>     4b  pop rbp
;;>     4c  ret
;;>     4d  mov rax, r15
;;>     50  mov rax, [rax+8]
;;>     54  mov rax, [rax+28h]
;;>     58  mov rcx, 1A00000000h
;;>     62  mov [rax], rcx
;;>     65  mov qword [rax+8], 7
;;>     6d  mov ecx, edi
;;>     6f  mov [rax+10h], rcx
;;>     73  mov ecx, esi
;;>     75  mov [rax+18h], rcx
;;>     79  mov esi, [rax]
;;>     7b  mov edx, [rax+4]
;;>     7e  mov ecx, [rax+8]
;;>     81  mov rdi, r15
;;>     84  mov rax, [rdi+38h]
;;>     88  mov rax, [rax+60h]
;;>     8c  call rax
;;>     8e  mov rcx, r15
;;>     91  mov rcx, [rcx+8]
;;>     95  mov rdi, [rcx+28h]
;;>     99  mov r10, rax
;;>     9c  mov rsp, rbp
;;>     9f  pop rbp
;;>     a0  jmp r10
