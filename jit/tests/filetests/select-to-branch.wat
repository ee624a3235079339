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
;;>      4  jmp short 6
;;>      6  cmp r15, [r15+78h]
;;>      e  jb near 4Ch
;;>     14  test esi, 3FFh
;;>     1a  je near 3Bh
;;>     20  lea eax, [rsi+1]
;;>     23  sub edi, 1
;;>     26  test edi, edi
;;>     28  je near 36h
;;>     2e  mov rsi, rax
;;>     31  jmp 6
;;>     36  mov rsp, rbp
;;>     39  pop rbp
;;>     3a  ret
;;>     3b  imul esi, esi
;;>     3e  imul eax, esi, 0F4243h
;;>     44  imul eax, edi
;;>     47  jmp 23h
;;>     4c  mov rax, r15
;;>     4f  mov rax, [rax+8]
;;>     53  mov rax, [rax+28h]
;;>     57  mov rcx, 1A00000000h
;;>     61  mov [rax], rcx
;;>     64  mov qword [rax+8], 7
;;>     6c  mov ecx, esi
;;>     6e  mov [rax+18h], rcx
;;>     72  mov ecx, edi
;;>     74  mov [rax+10h], rcx
;;>     78  mov esi, [rax]
;;>     7a  mov edx, [rax+4]
;;>     7d  mov ecx, [rax+8]
;;>     80  mov rdi, r15
;;>     83  mov rax, [rdi+38h]
;;>     87  mov rax, [rax+70h]
;;>     8b  call rax
;;>     8d  mov rcx, r15
;;>     90  mov rcx, [rcx+8]
;;>     94  mov rdi, [rcx+28h]
;;>     98  mov r10, rax
;;>     9b  mov rsp, rbp
;;>     9e  pop rbp
;;>     9f  jmp r10
;;> select-to-branch in function 0: done
