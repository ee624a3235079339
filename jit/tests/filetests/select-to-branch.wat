;; The unlikely operand's three multiplications move out of line, behind the branch.
;;! tier = optimizing
;;! show = assembly
;;! decision = {"select-to-branch": {"offset": "Select#0", "likely": false}}
;;! contains = select-to-branch in function 0: done
;;! lacks = cmov
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
;;>      4  test esi, 3FFh
;;>      a  je short 30h
;;>      c  lea eax, [rsi+1]
;;>      f  sub edi, 1
;;>     12  test edi, edi
;;>     14  je short 2Bh
;;>     16  mov rsi, rax
;;>     19  jmp short 1Bh
;;>     1b  cmp r15, [r15-78h]
;;>     23  jb near 3Eh
;;>     29  jmp short 4
;;>     2b  mov rsp, rbp
;;>     2e  pop rbp
;;>     2f  ret
;;>     30  imul esi, esi
;;>     33  imul eax, esi, 0F4243h
;;>     39  imul eax, edi
;;>     3c  jmp short 0Fh
;;>     3e  mov rax, [r15-40h]
;;>     42  mov rax, [rax+28h]
;;>     46  mov rcx, 1A00000000h
;;>     50  mov [rax], rcx
;;>     53  mov qword [rax+8], 7
;;>     5b  mov ecx, esi
;;>     5d  mov [rax+18h], rcx
;;>     61  mov ecx, edi
;;>     63  mov [rax+10h], rcx
;;>     67  mov esi, [rax]
;;>     69  mov edx, [rax+4]
;;>     6c  mov ecx, [rax+8]
;;>     6f  mov rdi, r15
;;>     72  mov rax, [r15-10h]
;;>     76  mov rax, [rax+70h]
;;>     7a  call rax
;;>     7c  mov rcx, [r15-40h]
;;>     80  mov rdi, [rcx+28h]
;;>     84  mov r10, rax
;;>     87  mov rsp, rbp
;;>     8a  pop rbp
;;>     8b  jmp r10
;;> select-to-branch in function 0: done
