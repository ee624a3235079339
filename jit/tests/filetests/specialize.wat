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
;;>     34  mov r10, rax
;;>     37  mov rdx, r15
;;>     3a  mov edx, [rdx+70h]
;;>     3d  test edx, edx
;;>     3f  jne near 64h
;;>     45  lea edx, [rdi+rax*4]
;;>     48  mov edx, [rcx+rdx]
;;>     4b  add eax, 1
;;>     51  add r10d, edx
;;>     54  cmp eax, esi
;;>     56  jb near 37h
;;>     5c  mov rax, r10
;;>     5f  mov rsp, rbp
;;>     62  pop rbp
;;>     63  ret
;;>     64  mov rdx, r15
;;>     67  mov r8d, [rdx+70h]
;;>     6b  test r8w, r8w
;;>     6f  jne near 90h
;;>     75  xor r8d, 220000h
;;>     7c  test r8d, r8d
;;>     7f  je near 90h
;;>     85  mov word [rdx+72h], 0
;;>     8b  jmp 37h
;;>     90  mov r8, r15
;;>     93  mov r8, [r8+8]
;;>     97  mov r8, [r8+28h]
;;>     9b  mov r9, 2100000000h
;;>     a5  mov [r8], r9
;;>     a8  mov qword [r8+8], 7
;;>     b0  mov edi, edi
;;>     b2  mov [r8+10h], rdi
;;>     b6  mov esi, esi
;;>     b8  mov [r8+18h], rsi
;;>     bc  mov edi, eax
;;>     be  mov [r8+20h], rdi
;;>     c2  mov rax, r10
;;>     c5  mov r9d, eax
;;>     c8  mov [r8+28h], r9
;;>     cc  mov esi, [r8]
;;>     cf  mov edx, [r8+4]
;;>     d3  mov ecx, [r8+8]
;;>     d7  mov rdi, r15
;;>     da  mov r9, [rdi+30h]
;;>     de  mov r9, [r9+60h]
;;>     e2  call r9
;;>     e5  mov r9, r15
;;>     e8  mov r9, [r9+8]
;;>     ec  mov rdi, [r9+28h]
;;>     f0  mov r10, rax
;;>     f3  mov rsp, rbp
;;>     f6  pop rbp
;;>     f7  jmp r10
;;> specialize in function 0: done
;;> unroll in function 0: done
