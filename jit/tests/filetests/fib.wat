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
;;>     19  xchg ax, ax
;;>     1b  cmp r15, [r15+20h]
;;>     23  jb near 0E2h
;;>     29  mov rcx, r12
;;>     2c  cmp ecx, 2
;;>     2f  jl near 0C5h
;;>     35  mov rax, rcx
;;>     38  sub eax, 1
;;>     3b  cmp eax, 2
;;>     3e  jl near 73h
;;>     44  mov rax, r15
;;>     47  mov rax, [rax+50h]
;;>     4b  mov rdi, rcx
;;>     4e  sub edi, 2
;;>     51  mov r12, rcx
;;>     54  call rax
;;>     56  mov rbx, rax
;;>     59  mov rcx, r15
;;>     5c  mov rcx, [rcx+50h]
;;>     60  mov rdi, r12
;;>     63  sub edi, 3
;;>     66  call rcx
;;>     68  mov rcx, rbx
;;>     6b  lea ebx, [rcx+rax]
;;>     6e  jmp 82h
;;>     73  mov rdi, rcx
;;>     76  mov r12, rcx
;;>     79  mov rdi, r12
;;>     7c  mov rbx, rdi
;;>     7f  sub ebx, 1
;;>     82  mov rdi, r12
;;>     85  mov rcx, rdi
;;>     88  sub ecx, 2
;;>     8b  cmp ecx, 2
;;>     8e  jl near 0BDh
;;>     94  mov rax, r15
;;>     97  mov rax, [rax+50h]
;;>     9b  mov rdi, r12
;;>     9e  sub edi, 3
;;>     a1  call rax
;;>     a3  mov r13, rax
;;>     a6  mov rcx, r15
;;>     a9  mov rcx, [rcx+50h]
;;>     ad  mov rdi, r12
;;>     b0  sub edi, 4
;;>     b3  mov r12, rdi
;;>     b6  call rcx
;;>     b8  mov rcx, r13
;;>     bb  add ecx, eax
;;>     bd  lea eax, [rbx+rcx]
;;>     c0  jmp 0CBh
;;>     c5  mov r12, rcx
;;>     c8  mov rax, r12
;;>     cb  mov rbx, [rsp]
;;>     cf  mov r12, [rsp+8]
;;>     d4  mov r13, [rsp+10h]
;;>     d9  add rsp, 20h
;;>     dd  mov rsp, rbp
;;>     e0  pop rbp
;;>     e1  ret
;;>     e2  mov rdi, r15
;;>     e5  mov rax, [rdi+38h]
;;>     e9  mov rax, [rax+60h]
;;>     ed  xor esi, esi
;;>     ef  mov edx, 0FFFFFFFFh
;;>     f4  mov ecx, 7
;;>     f9  call rax
;;>     fb  mov rcx, r12
;;>     fe  jmp 2Ch
;;> inline-recursive in function 0: done
;;> inline-recursive in function 0: done
