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
;;>      4  sub rsp, 10h
;;>      8  mov [rsp], rbx
;;>      c  mov rax, r15
;;>      f  cmp esi, 3
;;>     12  jne short 42h
;;>     14  mov rax, [rax+48h]
;;>     18  mov edx, edi
;;>     1a  mov ecx, [rax+rdx]
;;>     1d  mov esi, [rax+rdx+4]
;;>     21  mov eax, [rax+rdx+8]
;;>     25  add ecx, esi
;;>     27  add eax, ecx
;;>     29  add rsp, 10h
;;>     2d  mov rsp, rbp
;;>     30  pop rbp
;;>     31  ret
;;>     32  cmp r15, [r15+88h]
;;>     3a  jb near 0C3h
;;>     40  jmp short 4Bh
;;>     42  xor edx, edx
;;>     44  mov rcx, [rax+48h]
;;>     48  mov rbx, rdx
;;>     4b  lea r9d, [rdi+rdx*4]
;;>     4f  mov r8d, [rcx+r9]
;;>     53  lea r10d, [rdx+1]
;;>     57  cmp r10d, esi
;;>     5a  jae short 0B0h
;;>     5c  mov r10d, [rcx+r9+4]
;;>     61  lea r11d, [rdx+2]
;;>     65  cmp r11d, esi
;;>     68  jae short 0A5h
;;>     6a  mov r11d, [rcx+r9+8]
;;>     6f  lea eax, [rdx+3]
;;>     72  cmp eax, esi
;;>     74  jae short 97h
;;>     76  mov r9d, [rcx+r9+0Ch]
;;>     7b  add edx, 4
;;>     7e  mov rax, rbx
;;>     81  add r8d, eax
;;>     84  add r8d, r10d
;;>     87  add r8d, r11d
;;>     8a  lea eax, [r8+r9]
;;>     8e  cmp edx, esi
;;>     90  jae short 0B6h
;;>     92  mov rbx, rax
;;>     95  jmp short 32h
;;>     97  mov rax, rbx
;;>     9a  add eax, r8d
;;>     9d  add eax, r10d
;;>     a0  add eax, r11d
;;>     a3  jmp short 0B6h
;;>     a5  mov rax, rbx
;;>     a8  add eax, r8d
;;>     ab  add eax, r10d
;;>     ae  jmp short 0B6h
;;>     b0  mov rax, rbx
;;>     b3  add eax, r8d
;;>     b6  mov rbx, [rsp]
;;>     ba  add rsp, 10h
;;>     be  mov rsp, rbp
;;>     c1  pop rbp
;;>     c2  ret
;;>     c3  mov rax, rbx
;;>     c6  mov rcx, [r15+8]
;;>     ca  mov rcx, [rcx+28h]
;;>     ce  mov r8, 2100000000h
;;>     d8  mov [rcx], r8
;;>     db  mov qword [rcx+8], 7
;;>     e3  mov eax, eax
;;>     e5  mov [rcx+28h], rax
;;>     e9  mov eax, edx
;;>     eb  mov [rcx+20h], rax
;;>     ef  mov eax, esi
;;>     f1  mov [rcx+18h], rax
;;>     f5  mov eax, edi
;;>     f7  mov [rcx+10h], rax
;;>     fb  mov esi, [rcx]
;;>     fd  mov edx, [rcx+4]
;;>    100  mov ecx, [rcx+8]
;;>    103  mov rdi, r15
;;>    106  mov rax, [r15+38h]
;;>    10a  mov rax, [rax+70h]
;;>    10e  call rax
;;>    110  mov rcx, [r15+8]
;;>    114  mov rdi, [rcx+28h]
;;>    118  mov r10, rax
;;>    11b  mov rbx, [rsp]
;;>    11f  add rsp, 10h
;;>    123  mov rsp, rbp
;;>    126  pop rbp
;;>    127  jmp r10
;;> specialize in function 0: done
;;> unroll in function 0: done
