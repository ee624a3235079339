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
;;>     34  mov r10, rax
;;>     37  nop dword [rax+rax]
;;>     3c  cmp r15, [r15+80h]
;;>     44  jb near 69h
;;>     4a  lea edx, [rdi+rax*4]
;;>     4d  mov edx, [rcx+rdx]
;;>     50  add eax, 1
;;>     56  add r10d, edx
;;>     59  cmp eax, esi
;;>     5b  jb near 37h
;;>     61  mov rax, r10
;;>     64  mov rsp, rbp
;;>     67  pop rbp
;;>     68  ret
;;>     69  mov rdx, r15
;;>     6c  mov r8d, [rdx+84h]
;;>     73  test r8w, r8w
;;>     77  jne near 9Bh
;;>     7d  xor r8d, 220000h
;;>     84  test r8d, r8d
;;>     87  je near 9Bh
;;>     8d  mov word [rdx+86h], 0
;;>     96  jmp 37h
;;>     9b  mov r8, r15
;;>     9e  mov r8, [r8+8]
;;>     a2  mov r8, [r8+28h]
;;>     a6  mov r9, 2100000000h
;;>     b0  mov [r8], r9
;;>     b3  mov qword [r8+8], 7
;;>     bb  mov edi, edi
;;>     bd  mov [r8+10h], rdi
;;>     c1  mov esi, esi
;;>     c3  mov [r8+18h], rsi
;;>     c7  mov edi, eax
;;>     c9  mov [r8+20h], rdi
;;>     cd  mov rax, r10
;;>     d0  mov r9d, eax
;;>     d3  mov [r8+28h], r9
;;>     d7  mov esi, [r8]
;;>     da  mov edx, [r8+4]
;;>     de  mov ecx, [r8+8]
;;>     e2  mov rdi, r15
;;>     e5  mov r9, [rdi+38h]
;;>     e9  mov r9, [r9+60h]
;;>     ed  call r9
;;>     f0  mov r9, r15
;;>     f3  mov r9, [r9+8]
;;>     f7  mov rdi, [r9+28h]
;;>     fb  mov r10, rax
;;>     fe  mov rsp, rbp
;;>    101  pop rbp
;;>    102  jmp r10
;;> specialize in function 0: done
;;> unroll in function 0: done
