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
;;>      7  mov rcx, r15
;;>      a  mov ecx, [rcx+70h]
;;>      d  test ecx, ecx
;;>      f  jne near 55h
;;>     15  mov rcx, [rax+40h]
;;>     19  mov r8, rdx
;;>     1c  shl r8d, 2
;;>     20  mov r9, rsi
;;>     23  sub r9d, r8d
;;>     26  prefetcht0 [rcx+r9]
;;>     2b  mov r8, 3FF0000000000000h
;;>     35  vmovq xmm0, r8
;;>     3a  mov r8d, esi
;;>     3d  vmovsd [rcx+r8], xmm0
;;>     43  sub edi, 1
;;>     46  sub esi, edx
;;>     48  test edi, edi
;;>     4a  jne near 7
;;>     50  mov rsp, rbp
;;>     53  pop rbp
;;>     54  ret
;;>     55  mov rcx, r15
;;>     58  mov ecx, [rcx+70h]
;;>     5b  test ecx, 0FFFFFFFEh
;;>     61  je near 72h
;;>     67  xor ecx, 1Fh
;;>     6a  test ecx, ecx
;;>     6c  jne near 15h
;;>     72  mov rax, r15
;;>     75  mov rax, [rax+8]
;;>     79  mov rax, [rax+28h]
;;>     7d  mov rcx, 1F00000000h
;;>     87  mov [rax], rcx
;;>     8a  mov qword [rax+8], 7
;;>     92  mov ecx, edi
;;>     94  mov [rax+10h], rcx
;;>     98  mov ecx, esi
;;>     9a  mov [rax+18h], rcx
;;>     9e  mov ecx, edx
;;>     a0  mov [rax+20h], rcx
;;>     a4  mov esi, [rax]
;;>     a6  mov edx, [rax+4]
;;>     a9  mov ecx, [rax+8]
;;>     ac  mov rdi, r15
;;>     af  mov rax, [rdi+30h]
;;>     b3  mov rax, [rax+60h]
;;>     b7  call rax
;;>     b9  mov rcx, r15
;;>     bc  mov rcx, [rcx+8]
;;>     c0  mov rdi, [rcx+28h]
;;>     c4  mov r10, rax
;;>     c7  mov rsp, rbp
;;>     ca  pop rbp
;;>     cb  jmp r10
;;> prefetch in function 0: done
