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
;;>      4  xchg ax, ax
;;>      6  cmp r15, [r15+70h]
;;>      e  jb near 4Ch
;;>     14  test esi, 3FFh
;;>     1a  je near 3Bh
;;>     20  lea eax, [rsi+1]
;;>     23  sub edi, 1
;;>     26  test edi, edi
;;>     28  je near 36h
;;>     2e  mov rsi, rax
;;>     31  jmp 4
;;>     36  mov rsp, rbp
;;>     39  pop rbp
;;>     3a  ret
;;>     3b  imul esi, esi
;;>     3e  imul eax, esi, 0F4243h
;;>     44  imul eax, edi
;;>     47  jmp 23h
;;>     4c  mov rax, r15
;;>     4f  mov ecx, [rax+74h]
;;>     52  test cx, cx
;;>     55  jne near 74h
;;>     5b  xor ecx, 1B0000h
;;>     61  test ecx, ecx
;;>     63  je near 74h
;;>     69  mov word [rax+76h], 0
;;>     6f  jmp 4
;;>     74  mov rax, r15
;;>     77  mov rax, [rax+8]
;;>     7b  mov rax, [rax+28h]
;;>     7f  mov rcx, 1A00000000h
;;>     89  mov [rax], rcx
;;>     8c  mov qword [rax+8], 7
;;>     94  mov ecx, edi
;;>     96  mov [rax+10h], rcx
;;>     9a  mov ecx, esi
;;>     9c  mov [rax+18h], rcx
;;>     a0  mov esi, [rax]
;;>     a2  mov edx, [rax+4]
;;>     a5  mov ecx, [rax+8]
;;>     a8  mov rdi, r15
;;>     ab  mov rax, [rdi+38h]
;;>     af  mov rax, [rax+60h]
;;>     b3  call rax
;;>     b5  mov rcx, r15
;;>     b8  mov rcx, [rcx+8]
;;>     bc  mov rdi, [rcx+28h]
;;>     c0  mov r10, rax
;;>     c3  mov rsp, rbp
;;>     c6  pop rbp
;;>     c7  jmp r10
;;> select-to-branch in function 0: done
