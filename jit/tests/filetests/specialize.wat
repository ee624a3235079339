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
;;>     10  mov rax, [rcx+48h]
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
;;>     30  mov rcx, [rcx+48h]
;;>     34  mov r9, rax
;;>     37  nop dword [rax+rax]
;;>     3c  cmp r15, [r15+88h]
;;>     44  jb near 6Fh
;;>     4a  lea edx, [rdi+rax*4]
;;>     4d  mov edx, [rcx+rdx]
;;>     50  add eax, 1
;;>     56  mov r8, r9
;;>     59  add r8d, edx
;;>     5c  mov r9, r8
;;>     5f  cmp eax, esi
;;>     61  jb near 3Ch
;;>     67  mov rax, r9
;;>     6a  mov rsp, rbp
;;>     6d  pop rbp
;;>     6e  ret
;;>     6f  mov rcx, r15
;;>     72  mov rcx, [rcx+8]
;;>     76  mov rcx, [rcx+28h]
;;>     7a  mov rdx, 2100000000h
;;>     84  mov [rcx], rdx
;;>     87  mov qword [rcx+8], 7
;;>     8f  mov edx, edi
;;>     91  mov [rcx+10h], rdx
;;>     95  mov edx, esi
;;>     97  mov [rcx+18h], rdx
;;>     9b  mov eax, eax
;;>     9d  mov [rcx+20h], rax
;;>     a1  mov rax, r9
;;>     a4  mov eax, eax
;;>     a6  mov [rcx+28h], rax
;;>     aa  mov esi, [rcx]
;;>     ac  mov edx, [rcx+4]
;;>     af  mov ecx, [rcx+8]
;;>     b2  mov rdi, r15
;;>     b5  mov rax, [rdi+38h]
;;>     b9  mov rax, [rax+60h]
;;>     bd  call rax
;;>     bf  mov rcx, r15
;;>     c2  mov rcx, [rcx+8]
;;>     c6  mov rdi, [rcx+28h]
;;>     ca  mov r10, rax
;;>     cd  mov rsp, rbp
;;>     d0  pop rbp
;;>     d1  jmp r10
;;> specialize in function 0: done
;;> unroll in function 0: done
