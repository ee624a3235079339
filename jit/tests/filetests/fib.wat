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
;;>     16  cmp edi, 2
;;>     19  jl near 0E9h
;;>     1f  mov rax, rdi
;;>     22  sub eax, 1
;;>     25  cmp eax, 2
;;>     28  jl short 82h
;;>     2a  mov rax, rdi
;;>     2d  sub eax, 2
;;>     30  mov r12, rdi
;;>     33  mov rdi, rax
;;>     36  cmp edi, 2
;;>     39  jl short 49h
;;>     3b  mov rax, [r15-70h]
;;>     3f  call rax
;;>     41  mov rbx, rax
;;>     44  mov rcx, r12
;;>     47  jmp short 4Fh
;;>     49  mov rcx, r12
;;>     4c  mov rbx, rdi
;;>     4f  mov rax, rcx
;;>     52  sub eax, 3
;;>     55  cmp eax, 2
;;>     58  jl short 6Eh
;;>     5a  mov rax, [r15-70h]
;;>     5e  mov rdi, rcx
;;>     61  sub edi, 3
;;>     64  mov r12, rcx
;;>     67  call rax
;;>     69  mov rcx, rbx
;;>     6c  jmp short 7Dh
;;>     6e  mov rdi, rcx
;;>     71  mov r12, rcx
;;>     74  mov rax, rdi
;;>     77  sub eax, 3
;;>     7a  mov rcx, rbx
;;>     7d  lea ebx, [rcx+rax]
;;>     80  jmp short 8Bh
;;>     82  mov r12, rdi
;;>     85  mov rbx, rdi
;;>     88  sub ebx, 1
;;>     8b  mov rdi, r12
;;>     8e  mov rax, rdi
;;>     91  sub eax, 2
;;>     94  cmp eax, 2
;;>     97  jl short 0E5h
;;>     99  mov rdi, r12
;;>     9c  sub edi, 3
;;>     9f  cmp edi, 2
;;>     a2  jl short 0AFh
;;>     a4  mov rax, [r15-70h]
;;>     a8  call rax
;;>     aa  mov r13, rax
;;>     ad  jmp short 0B2h
;;>     af  mov r13, rdi
;;>     b2  mov rdi, r12
;;>     b5  mov rax, rdi
;;>     b8  sub eax, 4
;;>     bb  cmp eax, 2
;;>     be  jl short 0DAh
;;>     c0  mov rax, r15
;;>     c3  mov rcx, [r15-70h]
;;>     c7  mov rdi, r12
;;>     ca  sub edi, 4
;;>     cd  mov r12, rdi
;;>     d0  call rcx
;;>     d2  mov rdi, rax
;;>     d5  mov rax, r13
;;>     d8  jmp short 0E3h
;;>     da  mov rdi, r12
;;>     dd  sub edi, 4
;;>     e0  mov rax, r13
;;>     e3  add eax, edi
;;>     e5  add eax, ebx
;;>     e7  jmp short 0EFh
;;>     e9  mov r12, rdi
;;>     ec  mov rax, r12
;;>     ef  mov rbx, [rsp]
;;>     f3  mov r12, [rsp+8]
;;>     f8  mov r13, [rsp+10h]
;;>     fd  add rsp, 20h
;;>    101  mov rsp, rbp
;;>    104  pop rbp
;;>    105  ret
;;> inline-early-return in function 0: done
;;> inline-early-return in function 0: done
;;> inline-recursive in function 0: done
;;> inline-early-return in function 0: done
;;> inline-early-return in function 0: done
;;> inline-recursive in function 0: done
