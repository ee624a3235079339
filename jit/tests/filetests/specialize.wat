;; The bound is compared once, its loop is three rounds in a row; the general body stands behind, with its loop and poll.
;;! tier = optimizing
;;! show = assembly
;;! decision = {"specialize": {"offset": 0, "parameter": 1, "value": 3}}
;;! contains = specialize in function 0: done
;;! contains = unroll in function 0: done
(module
  (memory 1)
  (func (param $p i32) (param $n i32) (result i32) (local $i i32) (local $s i32)
    (loop $next
      (local.set $s (i32.add (local.get $s) (i32.load (i32.add (local.get $p) (i32.shl (local.get $i) (i32.const 2))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $s)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov rcx, r15
;;>      7  cmp esi, 3
;;>      a  jne near 2Eh
;;>     10  mov rax, [rcx+40h]
;;>     14  mov ecx, edi
;;>     16  mov ecx, [rax+rcx]
;;>     19  lea edx, [rdi+4]
;;>     1c  mov edx, [rax+rdx]
;;>     1f  lea esi, [rdi+8]
;;>     22  mov eax, [rax+rsi]
;;>     25  add ecx, edx
;;>     27  add eax, ecx
;;>     29  mov rsp, rbp
;;>     2c  pop rbp
;;>     2d  ret
;;>     2e  xor eax, eax
;;>     30  mov rcx, [rcx+40h]
;;>     34  mov r8, rax
;;>     37  mov rdx, r15
;;>     3a  mov edx, [rdx+70h]
;;>     3d  test edx, edx
;;>     3f  jne near 64h
;;>     45  lea edx, [rdi+rax*4]
;;>     48  mov edx, [rcx+rdx]
;;>     4b  add eax, 1
;;>     51  add r8d, edx
;;>     54  cmp eax, esi
;;>     56  jb near 37h
;;>     5c  mov rax, r8
;;>     5f  mov rsp, rbp
;;>     62  pop rbp
;;>     63  ret
;;>     64  mov rcx, r15
;;>     67  mov rcx, [rcx+8]
;;>     6b  mov rcx, [rcx+28h]
;;>     6f  mov edx, edi
;;>     71  mov [rcx+10h], rdx
;;>     75  mov edx, esi
;;>     77  mov [rcx+18h], rdx
;;>     7b  mov eax, eax
;;>     7d  mov [rcx+20h], rax
;;>     81  mov rax, r8
;;>     84  mov eax, eax
;;>     86  mov [rcx+28h], rax
;;>     8a  mov rax, 2100000000h
;;>     94  mov [rcx], rax
;;>     97  mov qword [rcx+8], 7
;;>     9f  mov esi, [rcx]
;;>     a1  mov edx, [rcx+4]
;;>     a4  mov ecx, [rcx+8]
;;>     a7  mov rdi, r15
;;>     aa  mov rax, [rdi+30h]
;;>     ae  mov rax, [rax+60h]
;;>     b2  call rax
;;>     b4  mov rcx, r15
;;>     b7  mov rcx, [rcx+8]
;;>     bb  mov rdi, [rcx+28h]
;;>     bf  mov r10, rax
;;>     c2  mov rsp, rbp
;;>     c5  pop rbp
;;>     c6  jmp r10
;;> specialize in function 0: done
;;> unroll in function 0: done
