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
;;>      d  nop dword [rax+rax]
;;>     12  cmp r15, [r15+88h]
;;>     1a  jb near 9Ch
;;>     20  mov edx, edi
;;>     22  mov edx, [rcx+rdx]
;;>     25  lea r8d, [rdi+4]
;;>     29  cmp r8d, esi
;;>     2c  je near 7Eh
;;>     32  mov r8d, [rcx+r8]
;;>     36  lea r9d, [rdi+8]
;;>     3a  cmp r9d, esi
;;>     3d  je near 85h
;;>     43  lea r9d, [rdi+8]
;;>     47  mov r9d, [rcx+r9]
;;>     4b  lea r10d, [rdi+0Ch]
;;>     4f  cmp r10d, esi
;;>     52  je near 8Fh
;;>     58  lea r10d, [rdi+0Ch]
;;>     5c  mov r10d, [rcx+r10]
;;>     60  add edi, 10h
;;>     66  add eax, edx
;;>     68  add eax, r8d
;;>     6b  add eax, r9d
;;>     6e  add eax, r10d
;;>     71  cmp edi, esi
;;>     73  jne near 12h
;;>     79  mov rsp, rbp
;;>     7c  pop rbp
;;>     7d  ret
;;>     7e  add eax, edx
;;>     80  jmp 79h
;;>     85  add eax, edx
;;>     87  add eax, r8d
;;>     8a  jmp 79h
;;>     8f  add eax, edx
;;>     91  add eax, r8d
;;>     94  add eax, r9d
;;>     97  jmp 79h
;;>     9c  mov r8, r15
;;>     9f  mov r8, [r8+8]
;;>     a3  mov r8, [r8+28h]
;;>     a7  mov r9, 2100000000h
;;>     b1  mov [r8], r9
;;>     b4  mov qword [r8+8], 7
;;>     bc  mov edi, edi
;;>     be  mov [r8+10h], rdi
;;>     c2  mov edi, esi
;;>     c4  mov [r8+18h], rdi
;;>     c8  mov r9d, eax
;;>     cb  mov [r8+20h], r9
;;>     cf  mov esi, [r8]
;;>     d2  mov edx, [r8+4]
;;>     d6  mov ecx, [r8+8]
;;>     da  mov rdi, r15
;;>     dd  mov r9, [rdi+38h]
;;>     e1  mov r9, [r9+60h]
;;>     e5  call r9
;;>     e8  mov r9, r15
;;>     eb  mov r9, [r9+8]
;;>     ef  mov rdi, [r9+28h]
;;>     f3  mov r10, rax
;;>     f6  mov rsp, rbp
;;>     f9  pop rbp
;;>     fa  jmp r10
