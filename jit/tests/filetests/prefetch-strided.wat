;;! tier = optimizing
;;! show = assembly
;;! decision = {"prefetch": {"offset": "F64Store#0", "kind": "strided", "distance": 4}}
;;! contains = prefetcht0
;;! contains = prefetch in function 0: done
;; A store down a column: the step is a value that the loop leaves alone, and negative.
(module
  (memory 1)
  (func (param $n i32) (param $at i32) (param $stride i32)
    (loop $next
      (f64.store (local.get $at) (f64.const 1))
      (local.set $at (i32.sub (local.get $at) (local.get $stride)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov rax, r15
;;>      7  mov rax, [rax+48h]
;;>      b  mov rcx, rdx
;;>      e  shl ecx, 2
;;>     11  jmp short 16h
;;>     13  add [rax], r8b
;;>     16  cmp r15, [r15+88h]
;;>     1e  jb near 59h
;;>     24  mov r8, rsi
;;>     27  sub r8d, ecx
;;>     2a  prefetcht0 [rax+r8]
;;>     2f  mov r8, 3FF0000000000000h
;;>     39  vmovq xmm0, r8
;;>     3e  mov r8d, esi
;;>     41  vmovsd [rax+r8], xmm0
;;>     47  sub edi, 1
;;>     4a  sub esi, edx
;;>     4c  test edi, edi
;;>     4e  jne near 16h
;;>     54  mov rsp, rbp
;;>     57  pop rbp
;;>     58  ret
;;>     59  mov rax, r15
;;>     5c  mov rax, [rax+8]
;;>     60  mov rax, [rax+28h]
;;>     64  mov rcx, 1F00000000h
;;>     6e  mov [rax], rcx
;;>     71  mov qword [rax+8], 7
;;>     79  mov ecx, edx
;;>     7b  mov [rax+20h], rcx
;;>     7f  mov ecx, esi
;;>     81  mov [rax+18h], rcx
;;>     85  mov ecx, edi
;;>     87  mov [rax+10h], rcx
;;>     8b  mov esi, [rax]
;;>     8d  mov edx, [rax+4]
;;>     90  mov ecx, [rax+8]
;;>     93  mov rdi, r15
;;>     96  mov rax, [rdi+38h]
;;>     9a  mov rax, [rax+70h]
;;>     9e  call rax
;;>     a0  mov rcx, r15
;;>     a3  mov rcx, [rcx+8]
;;>     a7  mov rdi, [rcx+28h]
;;>     ab  mov r10, rax
;;>     ae  mov rsp, rbp
;;>     b1  pop rbp
;;>     b2  jmp r10
;;> prefetch in function 0: done
