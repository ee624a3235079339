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
;;>     1a  jb near 94h
;;>     20  mov edx, edi
;;>     22  mov edx, [rcx+rdx]
;;>     25  lea r8d, [rdi+4]
;;>     29  cmp r8d, esi
;;>     2c  je near 8Dh
;;>     32  mov r8d, [rcx+r8]
;;>     36  lea r9d, [rdi+8]
;;>     3a  cmp r9d, esi
;;>     3d  je near 83h
;;>     43  mov r9d, [rcx+r9]
;;>     47  lea r10d, [rdi+0Ch]
;;>     4b  cmp r10d, esi
;;>     4e  je near 76h
;;>     54  mov r10d, [rcx+r10]
;;>     58  add edi, 10h
;;>     5e  add eax, edx
;;>     60  add eax, r8d
;;>     63  add eax, r9d
;;>     66  add eax, r10d
;;>     69  cmp edi, esi
;;>     6b  jne near 12h
;;>     71  mov rsp, rbp
;;>     74  pop rbp
;;>     75  ret
;;>     76  add eax, edx
;;>     78  add eax, r8d
;;>     7b  add eax, r9d
;;>     7e  jmp 71h
;;>     83  add eax, edx
;;>     85  add eax, r8d
;;>     88  jmp 71h
;;>     8d  add eax, edx
;;>     8f  jmp 71h
;;>     94  mov rdx, r15
;;>     97  mov rdx, [rdx+8]
;;>     9b  mov rdx, [rdx+28h]
;;>     9f  mov r8, 2100000000h
;;>     a9  mov [rdx], r8
;;>     ac  mov qword [rdx+8], 7
;;>     b4  mov edi, edi
;;>     b6  mov [rdx+10h], rdi
;;>     ba  mov esi, esi
;;>     bc  mov [rdx+18h], rsi
;;>     c0  mov esi, eax
;;>     c2  mov [rdx+20h], rsi
;;>     c6  mov esi, [rdx]
;;>     c8  mov r8d, [rdx+4]
;;>     cc  mov ecx, [rdx+8]
;;>     cf  mov rdi, r15
;;>     d2  mov r9, [rdi+38h]
;;>     d6  mov r9, [r9+70h]
;;>     da  mov rdx, r8
;;>     dd  call r9
;;>     e0  mov rdi, r15
;;>     e3  mov rdi, [rdi+8]
;;>     e7  mov rdi, [rdi+28h]
;;>     eb  mov r10, rax
;;>     ee  mov rsp, rbp
;;>     f1  pop rbp
;;>     f2  jmp r10
