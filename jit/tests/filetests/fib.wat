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
;;>     1c  jl near 0B1h
;;>     22  mov rdi, r12
;;>     25  mov rax, rdi
;;>     28  sub eax, 1
;;>     2b  cmp eax, 2
;;>     2e  jl near 63h
;;>     34  mov rax, r15
;;>     37  mov rax, [rax+50h]
;;>     3b  mov rdi, r12
;;>     3e  sub edi, 2
;;>     41  call rax
;;>     43  mov rbx, rax
;;>     46  mov rcx, r15
;;>     49  mov rcx, [rcx+50h]
;;>     4d  mov rdx, r12
;;>     50  mov rdi, rdx
;;>     53  sub edi, 3
;;>     56  call rcx
;;>     58  mov rcx, rbx
;;>     5b  lea ebx, [rcx+rax]
;;>     5e  jmp 6Ch
;;>     63  mov rdi, r12
;;>     66  mov rbx, rdi
;;>     69  sub ebx, 1
;;>     6c  mov rdi, r12
;;>     6f  mov rcx, rdi
;;>     72  sub ecx, 2
;;>     75  cmp ecx, 2
;;>     78  jl near 0A9h
;;>     7e  mov rax, r15
;;>     81  mov rax, [rax+50h]
;;>     85  mov rdi, r12
;;>     88  sub edi, 3
;;>     8b  call rax
;;>     8d  mov r13, rax
;;>     90  mov rcx, r15
;;>     93  mov rcx, [rcx+50h]
;;>     97  mov rdi, r12
;;>     9a  sub edi, 4
;;>     9d  mov r12, rdi
;;>     a0  call rcx
;;>     a2  mov r10, r13
;;>     a5  lea ecx, [r10+rax]
;;>     a9  lea eax, [rbx+rcx]
;;>     ac  jmp 0B4h
;;>     b1  mov rax, r12
;;>     b4  mov rbx, [rsp]
;;>     b8  mov r12, [rsp+8]
;;>     bd  mov r13, [rsp+10h]
;;>     c2  add rsp, 20h
;;>     c6  mov rsp, rbp
;;>     c9  pop rbp
;;>     ca  ret
;;> inline-recursive in function 0: done
;;> inline-recursive in function 0: done
