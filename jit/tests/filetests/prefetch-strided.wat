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
;;>     56  mov r8, r15
;;>     59  mov r9d, [r8+70h]
;;>     5d  test r9w, r9w
;;>     61  jne near 83h
;;>     67  xor r9d, 200000h
;;>     6e  test r9d, r9d
;;>     71  je near 83h
;;>     77  mov word [r8+72h], 0
;;>     7e  jmp 11h
;;>     83  mov rax, r15
;;>     86  mov rax, [rax+8]
;;>     8a  mov rax, [rax+28h]
;;>     8e  mov rcx, 1F00000000h
;;>     98  mov [rax], rcx
;;>     9b  mov qword [rax+8], 7
;;>     a3  mov ecx, edi
;;>     a5  mov [rax+10h], rcx
;;>     a9  mov ecx, esi
;;>     ab  mov [rax+18h], rcx
;;>     af  mov ecx, edx
;;>     b1  mov [rax+20h], rcx
;;>     b5  mov esi, [rax]
;;>     b7  mov edx, [rax+4]
;;>     ba  mov ecx, [rax+8]
;;>     bd  mov rdi, r15
;;>     c0  mov rax, [rdi+30h]
;;>     c4  mov rax, [rax+60h]
;;>     c8  call rax
;;>     ca  mov rcx, r15
;;>     cd  mov rcx, [rcx+8]
;;>     d1  mov rdi, [rcx+28h]
;;>     d5  mov r10, rax
;;>     d8  mov rsp, rbp
;;>     db  pop rbp
;;>     dc  jmp r10
;;> prefetch in function 0: done
