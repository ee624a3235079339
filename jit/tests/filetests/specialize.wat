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
;;>      4  cmp esi, 3
;;>      7  jne short 32h
;;>      9  mov ecx, edi
;;>      b  mov eax, [r15+rcx]
;;>      f  mov edx, [r15+rcx+4]
;;>     14  mov ecx, [r15+rcx+8]
;;>     19  add eax, edx
;;>     1b  add eax, ecx
;;>     1d  mov rsp, rbp
;;>     20  pop rbp
;;>     21  ret
;;>     22  cmp r15, [r15-88h]
;;>     2a  jb near 0ACh
;;>     30  jmp short 37h
;;>     32  xor ecx, ecx
;;>     34  mov r11, rcx
;;>     37  lea eax, [rdi+rcx*4]
;;>     3a  mov edx, [r15+rax]
;;>     3e  lea r8d, [rcx+1]
;;>     42  cmp r8d, esi
;;>     45  jae short 0A2h
;;>     47  mov r8d, [r15+rax+4]
;;>     4c  lea r9d, [rcx+2]
;;>     50  cmp r9d, esi
;;>     53  jae short 95h
;;>     55  mov r9d, [r15+rax+8]
;;>     5a  lea r10d, [rcx+3]
;;>     5e  cmp r10d, esi
;;>     61  jae short 85h
;;>     63  mov r10d, [r15+rax+0Ch]
;;>     68  add ecx, 4
;;>     6b  mov rax, r11
;;>     6e  lea r11d, [rax+rdx]
;;>     72  add r8d, r11d
;;>     75  add r8d, r9d
;;>     78  lea eax, [r8+r10]
;;>     7c  cmp ecx, esi
;;>     7e  jae short 0A7h
;;>     80  mov r11, rax
;;>     83  jmp short 22h
;;>     85  mov rax, r11
;;>     88  lea r10d, [rax+rdx]
;;>     8c  add r10d, r8d
;;>     8f  lea eax, [r10+r9]
;;>     93  jmp short 0A7h
;;>     95  mov rax, r11
;;>     98  lea r10d, [rax+rdx]
;;>     9c  lea eax, [r10+r8]
;;>     a0  jmp short 0A7h
;;>     a2  mov rax, r11
;;>     a5  add eax, edx
;;>     a7  mov rsp, rbp
;;>     aa  pop rbp
;;>     ab  ret
;;>     ac  mov rax, r11
;;>     af  mov rdx, [r15-40h]
;;>     b3  mov rdx, [rdx+28h]
;;>     b7  mov r8, 2100000000h
;;>     c1  mov [rdx], r8
;;>     c4  mov qword [rdx+8], 7
;;>     cc  mov eax, eax
;;>     ce  mov [rdx+28h], rax
;;>     d2  mov eax, ecx
;;>     d4  mov [rdx+20h], rax
;;>     d8  mov eax, esi
;;>     da  mov [rdx+18h], rax
;;>     de  mov eax, edi
;;>     e0  mov [rdx+10h], rax
;;>     e4  mov esi, [rdx]
;;>     e6  mov eax, [rdx+4]
;;>     e9  mov ecx, [rdx+8]
;;>     ec  mov rdi, r15
;;>     ef  mov rdx, [r15-10h]
;;>     f3  mov r8, [rdx+70h]
;;>     f7  mov rdx, rax
;;>     fa  call r8
;;>     fd  mov rcx, [r15-40h]
;;>    101  mov rdi, [rcx+28h]
;;>    105  mov r10, rax
;;>    108  mov rsp, rbp
;;>    10b  pop rbp
;;>    10c  jmp r10
;;> specialize in function 0: done
;;> unroll in function 0: done
