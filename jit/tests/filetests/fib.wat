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
;;>      4  sub rsp, 10h
;;>      8  mov [rsp], rbx
;;>      c  mov [rsp+8], r12
;;>     11  mov rbx, rdi
;;>     14  mov rax, r15
;;>     17  mov eax, [rax+1Ch]
;;>     1a  test eax, eax
;;>     1c  jne near 74h
;;>     22  mov rcx, rbx
;;>     25  cmp ecx, 2
;;>     28  jl near 5Ch
;;>     2e  mov rax, r15
;;>     31  mov rax, [rax+40h]
;;>     35  mov rdi, rcx
;;>     38  sub edi, 1
;;>     3b  mov rbx, rcx
;;>     3e  call rax
;;>     40  mov r12, rax
;;>     43  mov rcx, r15
;;>     46  mov rcx, [rcx+40h]
;;>     4a  mov rdi, rbx
;;>     4d  sub edi, 2
;;>     50  call rcx
;;>     52  mov rcx, r12
;;>     55  add eax, ecx
;;>     57  jmp 62h
;;>     5c  mov rdi, rcx
;;>     5f  mov rax, rdi
;;>     62  mov rbx, [rsp]
;;>     66  mov r12, [rsp+8]
;;>     6b  add rsp, 10h
;;>     6f  mov rsp, rbp
;;>     72  pop rbp
;;>     73  ret
;;>     74  mov rdi, r15
;;>     77  mov rax, [rdi+30h]
;;>     7b  mov rax, [rax+60h]
;;>     7f  xor esi, esi
;;>     81  mov edx, 0FFFFFFFFh
;;>     86  mov ecx, 7
;;>     8b  call rax
;;>     8d  mov rcx, rbx
;;>     90  jmp 25h
