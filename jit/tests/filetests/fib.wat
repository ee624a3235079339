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
;;>     19  cmp edi, 2
;;>     1c  jl short 93h
;;>     1e  mov rdi, r12
;;>     21  mov rax, rdi
;;>     24  sub eax, 1
;;>     27  cmp eax, 2
;;>     2a  jl short 52h
;;>     2c  mov rax, [r15+50h]
;;>     30  mov rdi, r12
;;>     33  sub edi, 2
;;>     36  call rax
;;>     38  mov rbx, rax
;;>     3b  mov rcx, [r15+50h]
;;>     3f  mov rdx, r12
;;>     42  mov rdi, rdx
;;>     45  sub edi, 3
;;>     48  call rcx
;;>     4a  mov rcx, rbx
;;>     4d  lea ebx, [rcx+rax]
;;>     50  jmp short 5Bh
;;>     52  mov rdi, r12
;;>     55  mov rbx, rdi
;;>     58  sub ebx, 1
;;>     5b  mov rdi, r12
;;>     5e  mov rcx, rdi
;;>     61  sub ecx, 2
;;>     64  cmp ecx, 2
;;>     67  jl short 8Eh
;;>     69  mov rax, [r15+50h]
;;>     6d  mov rdi, r12
;;>     70  sub edi, 3
;;>     73  call rax
;;>     75  mov r13, rax
;;>     78  mov rcx, [r15+50h]
;;>     7c  mov rdi, r12
;;>     7f  sub edi, 4
;;>     82  mov r12, rdi
;;>     85  call rcx
;;>     87  mov r10, r13
;;>     8a  lea ecx, [r10+rax]
;;>     8e  lea eax, [rbx+rcx]
;;>     91  jmp short 96h
;;>     93  mov rax, r12
;;>     96  mov rbx, [rsp]
;;>     9a  mov r12, [rsp+8]
;;>     9f  mov r13, [rsp+10h]
;;>     a4  add rsp, 20h
;;>     a8  mov rsp, rbp
;;>     ab  pop rbp
;;>     ac  ret
;;> inline-recursive in function 0: done
;;> inline-recursive in function 0: done
