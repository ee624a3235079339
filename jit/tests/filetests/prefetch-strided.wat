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
;;>      4  mov rax, [r15-60h]
;;>      8  mov rcx, rdx
;;>      b  shl ecx, 2
;;>      e  mov r8, 3FF0000000000000h
;;>     18  vmovq xmm0, r8
;;>     1d  mov r8, rsi
;;>     20  sub r8d, ecx
;;>     23  prefetcht0 [rax+r8]
;;>     28  mov r8d, esi
;;>     2b  vmovsd [r15+r8], xmm0
;;>     31  sub edi, 1
;;>     34  sub esi, edx
;;>     36  test edi, edi
;;>     38  jne short 3Fh
;;>     3a  mov rsp, rbp
;;>     3d  pop rbp
;;>     3e  ret
;;>     3f  cmp r15, [r15-88h]
;;>     47  jb near 4Fh
;;>     4d  jmp short 1Dh
;;>     4f  mov rax, [r15-40h]
;;>     53  mov rax, [rax+28h]
;;>     57  mov rcx, 1F00000000h
;;>     61  mov [rax], rcx
;;>     64  mov qword [rax+8], 7
;;>     6c  mov ecx, edx
;;>     6e  mov [rax+20h], rcx
;;>     72  mov ecx, esi
;;>     74  mov [rax+18h], rcx
;;>     78  mov ecx, edi
;;>     7a  mov [rax+10h], rcx
;;>     7e  mov esi, [rax]
;;>     80  mov edx, [rax+4]
;;>     83  mov ecx, [rax+8]
;;>     86  mov rdi, r15
;;>     89  mov rax, [r15-10h]
;;>     8d  mov rax, [rax+70h]
;;>     91  call rax
;;>     93  mov rcx, [r15-40h]
;;>     97  mov rdi, [rcx+28h]
;;>     9b  mov r10, rax
;;>     9e  mov rsp, rbp
;;>     a1  pop rbp
;;>     a2  jmp r10
;;> prefetch in function 0: done
