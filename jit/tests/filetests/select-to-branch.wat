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
;;>      4  mov rax, r15
;;>      7  mov eax, [rax+60h]
;;>      a  test eax, eax
;;>      c  jne near 4Ah
;;>     12  test esi, 3FFh
;;>     18  je near 39h
;;>     1e  lea eax, [rsi+1]
;;>     21  sub edi, 1
;;>     24  test edi, edi
;;>     26  je near 34h
;;>     2c  mov rsi, rax
;;>     2f  jmp 4
;;>     34  mov rsp, rbp
;;>     37  pop rbp
;;>     38  ret
;;>     39  imul esi, esi
;;>     3c  imul eax, esi, 0F4243h
;;>     42  imul eax, edi
;;>     45  jmp 21h
;;>     4a  mov rax, r15
;;>     4d  mov ecx, [rax+60h]
;;>     50  test cx, cx
;;>     53  jne near 72h
;;>     59  xor ecx, 1B0000h
;;>     5f  test ecx, ecx
;;>     61  je near 72h
;;>     67  mov word [rax+62h], 0
;;>     6d  jmp 4
;;>     72  mov rax, r15
;;>     75  mov rax, [rax+8]
;;>     79  mov rax, [rax+28h]
;;>     7d  mov rcx, 1A00000000h
;;>     87  mov [rax], rcx
;;>     8a  mov qword [rax+8], 7
;;>     92  mov ecx, edi
;;>     94  mov [rax+10h], rcx
;;>     98  mov ecx, esi
;;>     9a  mov [rax+18h], rcx
;;>     9e  mov esi, [rax]
;;>     a0  mov edx, [rax+4]
;;>     a3  mov ecx, [rax+8]
;;>     a6  mov rdi, r15
;;>     a9  mov rax, [rdi+30h]
;;>     ad  mov rax, [rax+60h]
;;>     b1  call rax
;;>     b3  mov rcx, r15
;;>     b6  mov rcx, [rcx+8]
;;>     ba  mov rdi, [rcx+28h]
;;>     be  mov r10, rax
;;>     c1  mov rsp, rbp
;;>     c4  pop rbp
;;>     c5  jmp r10
;;> select-to-branch in function 0: done
