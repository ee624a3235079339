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
;;>     11  nop dword [rax+rax]
;;>     16  cmp r15, [r15+80h]
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
;;>     4e  jne near 11h
;;>     54  mov rsp, rbp
;;>     57  pop rbp
;;>     58  ret
;;>     59  mov r8, r15
;;>     5c  mov r9d, [r8+84h]
;;>     63  test r9w, r9w
;;>     67  jne near 8Ch
;;>     6d  xor r9d, 200000h
;;>     74  test r9d, r9d
;;>     77  je near 8Ch
;;>     7d  mov word [r8+86h], 0
;;>     87  jmp 11h
;;>     8c  mov rax, r15
;;>     8f  mov rax, [rax+8]
;;>     93  mov rax, [rax+28h]
;;>     97  mov rcx, 1F00000000h
;;>     a1  mov [rax], rcx
;;>     a4  mov qword [rax+8], 7
;;>     ac  mov ecx, edi
;;>     ae  mov [rax+10h], rcx
;;>     b2  mov ecx, esi
;;>     b4  mov [rax+18h], rcx
;;>     b8  mov ecx, edx
;;>     ba  mov [rax+20h], rcx
;;>     be  mov esi, [rax]
;;>     c0  mov edx, [rax+4]
;;>     c3  mov ecx, [rax+8]
;;>     c6  mov rdi, r15
;;>     c9  mov rax, [rdi+38h]
;;>     cd  mov rax, [rax+60h]
;;>     d1  call rax
;;>     d3  mov rcx, r15
;;>     d6  mov rcx, [rcx+8]
;;>     da  mov rdi, [rcx+28h]
;;>     de  mov r10, rax
;;>     e1  mov rsp, rbp
;;>     e4  pop rbp
;;>     e5  jmp r10
;;> prefetch in function 0: done
