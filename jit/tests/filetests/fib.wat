;;! tier = optimizing
;;! show = assembly

;; Calls through the function's own slot: no code address, no context argument, no stack check.
(module
  (func $fib (param i32) (result i32)
    (if (result i32) (i32.lt_s (local.get 0) (i32.const 2))
      (then (local.get 0))
      (else (i32.add
        (call $fib (i32.sub (local.get 0) (i32.const 1)))
        (call $fib (i32.sub (local.get 0) (i32.const 2))))))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  sub rsp, 20h
;;>      8  mov [rsp], rbx
;;>      c  mov [rsp+8], r12
;;>     11  mov [rsp+10h], r13
;;>     16  mov r12, rdi
;;>     19  mov rax, r15
;;>     1c  mov eax, [rax+1Ch]
;;>     1f  test eax, eax
;;>     21  jne near 0E0h
;;>     27  mov rcx, r12
;;>     2a  cmp ecx, 2
;;>     2d  jl near 0C3h
;;>     33  mov rax, rcx
;;>     36  sub eax, 1
;;>     39  cmp eax, 2
;;>     3c  jl near 71h
;;>     42  mov rax, r15
;;>     45  mov rax, [rax+40h]
;;>     49  mov rdi, rcx
;;>     4c  sub edi, 2
;;>     4f  mov r12, rcx
;;>     52  call rax
;;>     54  mov rbx, rax
;;>     57  mov rcx, r15
;;>     5a  mov rcx, [rcx+40h]
;;>     5e  mov rdi, r12
;;>     61  sub edi, 3
;;>     64  call rcx
;;>     66  mov rcx, rbx
;;>     69  lea ebx, [rcx+rax]
;;>     6c  jmp 80h
;;>     71  mov rdi, rcx
;;>     74  mov r12, rcx
;;>     77  mov rdi, r12
;;>     7a  mov rbx, rdi
;;>     7d  sub ebx, 1
;;>     80  mov rdi, r12
;;>     83  mov rcx, rdi
;;>     86  sub ecx, 2
;;>     89  cmp ecx, 2
;;>     8c  jl near 0BBh
;;>     92  mov rax, r15
;;>     95  mov rax, [rax+40h]
;;>     99  mov rdi, r12
;;>     9c  sub edi, 3
;;>     9f  call rax
;;>     a1  mov r13, rax
;;>     a4  mov rcx, r15
;;>     a7  mov rcx, [rcx+40h]
;;>     ab  mov rdi, r12
;;>     ae  sub edi, 4
;;>     b1  mov r12, rdi
;;>     b4  call rcx
;;>     b6  mov rcx, r13
;;>     b9  add ecx, eax
;;>     bb  lea eax, [rbx+rcx]
;;>     be  jmp 0C9h
;;>     c3  mov r12, rcx
;;>     c6  mov rax, r12
;;>     c9  mov rbx, [rsp]
;;>     cd  mov r12, [rsp+8]
;;>     d2  mov r13, [rsp+10h]
;;>     d7  add rsp, 20h
;;>     db  mov rsp, rbp
;;>     de  pop rbp
;;>     df  ret
;;>     e0  mov rdi, r15
;;>     e3  mov rax, [rdi+30h]
;;>     e7  mov rax, [rax+60h]
;;>     eb  xor esi, esi
;;>     ed  mov edx, 0FFFFFFFFh
;;>     f2  mov ecx, 7
;;>     f7  call rax
;;>     f9  mov rcx, r12
;;>     fc  jmp 2Ah
;;> inline-recursive in function 0: done
;;> inline-recursive in function 0: done
