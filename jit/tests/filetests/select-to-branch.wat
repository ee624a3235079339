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
;;>      c  jne near 39h
;;>     12  test esi, 3FFh
;;>     18  je near 0ABh
;;>     1e  lea eax, [rsi+1]
;;>     21  sub edi, 1
;;>     24  test edi, edi
;;>     26  je near 34h
;;>     2c  mov rsi, rax
;;>     2f  jmp 4
;;>     34  mov rsp, rbp
;;>     37  pop rbp
;;>     38  ret
;;>     39  mov rax, r15
;;>     3c  mov eax, [rax+60h]
;;>     3f  test eax, 0FFFFFFFEh
;;>     44  je near 55h
;;>     4a  xor eax, 1Ah
;;>     4d  test eax, eax
;;>     4f  jne near 12h
;;>     55  mov rax, r15
;;>     58  mov rax, [rax+8]
;;>     5c  mov rax, [rax+28h]
;;>     60  mov rcx, 1A00000000h
;;>     6a  mov [rax], rcx
;;>     6d  mov qword [rax+8], 7
;;>     75  mov ecx, edi
;;>     77  mov [rax+10h], rcx
;;>     7b  mov ecx, esi
;;>     7d  mov [rax+18h], rcx
;;>     81  mov esi, [rax]
;;>     83  mov edx, [rax+4]
;;>     86  mov ecx, [rax+8]
;;>     89  mov rdi, r15
;;>     8c  mov rax, [rdi+30h]
;;>     90  mov rax, [rax+60h]
;;>     94  call rax
;;>     96  mov rcx, r15
;;>     99  mov rcx, [rcx+8]
;;>     9d  mov rdi, [rcx+28h]
;;>     a1  mov r10, rax
;;>     a4  mov rsp, rbp
;;>     a7  pop rbp
;;>     a8  jmp r10
;;>     ab  imul esi, esi
;;>     ae  imul eax, esi, 0F4243h
;;>     b4  imul eax, edi
;;>     b7  jmp 21h
;;> select-to-branch in function 0: done
