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
;;>     4d  mov rax, [rax+8]
;;>     51  mov rax, [rax+28h]
;;>     55  mov ecx, edi
;;>     57  mov [rax+10h], rcx
;;>     5b  mov ecx, esi
;;>     5d  mov [rax+18h], rcx
;;>     61  mov rcx, 1A00000000h
;;>     6b  mov [rax], rcx
;;>     6e  mov qword [rax+8], 7
;;>     76  mov esi, [rax]
;;>     78  mov edx, [rax+4]
;;>     7b  mov ecx, [rax+8]
;;>     7e  mov rdi, r15
;;>     81  mov rax, [rdi+30h]
;;>     85  mov rax, [rax+60h]
;;>     89  call rax
;;>     8b  mov rcx, r15
;;>     8e  mov rcx, [rcx+8]
;;>     92  mov rdi, [rcx+28h]
;;>     96  mov r10, rax
;;>     99  mov rsp, rbp
;;>     9c  pop rbp
;;>     9d  jmp r10
;;> select-to-branch in function 0: done
