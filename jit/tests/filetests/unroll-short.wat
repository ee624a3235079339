;; A short loop gets four rounds, each with its own way out; its header, with the poll, stands before the first.
;;! tier = optimizing
;;! show = assembly
(module
  (memory 1)
  (func (param $at i32) (param $end i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum) (i32.load (local.get $at))))
      (br_if $again (i32.ne (local.tee $at (i32.add (local.get $at) (i32.const 4))) (local.get $end))))
    (local.get $sum)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov rcx, r15
;;>      7  xor eax, eax
;;>      9  mov rcx, [rcx+48h]
;;>      d  jmp short 12h
;;>      f  add [rax], r8b
;;>     12  cmp r15, [r15+88h]
;;>     1a  jb near 99h
;;>     20  mov r8d, edi
;;>     23  mov edx, [rcx+r8]
;;>     27  lea r9d, [rdi+4]
;;>     2b  cmp r9d, esi
;;>     2e  je near 92h
;;>     34  mov r9d, [rcx+r8+4]
;;>     39  lea r10d, [rdi+8]
;;>     3d  cmp r10d, esi
;;>     40  je near 88h
;;>     46  mov r10d, [rcx+r8+8]
;;>     4b  lea r11d, [rdi+0Ch]
;;>     4f  cmp r11d, esi
;;>     52  je near 7Bh
;;>     58  mov r8d, [rcx+r8+0Ch]
;;>     5d  add edi, 10h
;;>     63  add eax, edx
;;>     65  add eax, r9d
;;>     68  add eax, r10d
;;>     6b  add eax, r8d
;;>     6e  cmp edi, esi
;;>     70  jne near 12h
;;>     76  mov rsp, rbp
;;>     79  pop rbp
;;>     7a  ret
;;>     7b  add eax, edx
;;>     7d  add eax, r9d
;;>     80  add eax, r10d
;;>     83  jmp 76h
;;>     88  add eax, edx
;;>     8a  add eax, r9d
;;>     8d  jmp 76h
;;>     92  add eax, edx
;;>     94  jmp 76h
;;>     99  mov rdx, r15
;;>     9c  mov rdx, [rdx+8]
;;>     a0  mov rdx, [rdx+28h]
;;>     a4  mov r8, 2100000000h
;;>     ae  mov [rdx], r8
;;>     b1  mov qword [rdx+8], 7
;;>     b9  mov r8d, eax
;;>     bc  mov [rdx+20h], r8
;;>     c0  mov esi, esi
;;>     c2  mov [rdx+18h], rsi
;;>     c6  mov esi, edi
;;>     c8  mov [rdx+10h], rsi
;;>     cc  mov esi, [rdx]
;;>     ce  mov r8d, [rdx+4]
;;>     d2  mov ecx, [rdx+8]
;;>     d5  mov rdi, r15
;;>     d8  mov r9, [rdi+38h]
;;>     dc  mov r9, [r9+70h]
;;>     e0  mov rdx, r8
;;>     e3  call r9
;;>     e6  mov rdi, r15
;;>     e9  mov rdi, [rdi+8]
;;>     ed  mov rdi, [rdi+28h]
;;>     f1  mov r10, rax
;;>     f4  mov rsp, rbp
;;>     f7  pop rbp
;;>     f8  jmp r10
