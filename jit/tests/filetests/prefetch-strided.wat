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
;;>      7  mov rax, [rax+40h]
;;>      b  mov rcx, rdx
;;>      e  shl ecx, 2
;;>     11  mov r8, r15
;;>     14  mov r8d, [r8+70h]
;;>     18  test r8d, r8d
;;>     1b  jne near 56h
;;>     21  mov r8, rsi
;;>     24  sub r8d, ecx
;;>     27  prefetcht0 [rax+r8]
;;>     2c  mov r8, 3FF0000000000000h
;;>     36  vmovq xmm0, r8
;;>     3b  mov r8d, esi
;;>     3e  vmovsd [rax+r8], xmm0
;;>     44  sub edi, 1
;;>     47  sub esi, edx
;;>     49  test edi, edi
;;>     4b  jne near 11h
;;>     51  mov rsp, rbp
;;>     54  pop rbp
;;>     55  ret
;;>     56  mov rax, r15
;;>     59  mov rax, [rax+8]
;;>     5d  mov rax, [rax+28h]
;;>     61  mov ecx, edi
;;>     63  mov [rax+10h], rcx
;;>     67  mov ecx, esi
;;>     69  mov [rax+18h], rcx
;;>     6d  mov ecx, edx
;;>     6f  mov [rax+20h], rcx
;;>     73  mov rcx, 1F00000000h
;;>     7d  mov [rax], rcx
;;>     80  mov qword [rax+8], 7
;;>     88  mov esi, [rax]
;;>     8a  mov edx, [rax+4]
;;>     8d  mov ecx, [rax+8]
;;>     90  mov rdi, r15
;;>     93  mov rax, [rdi+30h]
;;>     97  mov rax, [rax+60h]
;;>     9b  call rax
;;>     9d  mov rcx, r15
;;>     a0  mov rcx, [rcx+8]
;;>     a4  mov rdi, [rcx+28h]
;;>     a8  mov r10, rax
;;>     ab  mov rsp, rbp
;;>     ae  pop rbp
;;>     af  jmp r10
;;> prefetch in function 0: done
