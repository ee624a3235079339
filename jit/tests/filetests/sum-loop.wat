;;! tier = optimizing
;;! show = assembly

;; A sum over memory: the base leaves the loop, the access needs no check.
(module
  (memory 1)
  (func (param i32 i32) (result i32)
    (local i32)
    loop
      local.get 2
      local.get 0
      i32.load offset=8
      i32.add
      local.set 2
      local.get 0
      i32.const 4
      i32.add
      local.tee 0
      local.get 1
      i32.lt_u
      br_if 0
    end
    local.get 2))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov rcx, r15
;;>      7  xor eax, eax
;;>      9  mov rcx, [rcx+48h]
;;>      d  jmp short 12h
;;>      f  add [rax], r8b
;;>     12  cmp r15, [r15+88h]
;;>     1a  jb near 9Ah
;;>     20  mov r8d, edi
;;>     23  mov edx, [rcx+r8+8]
;;>     28  lea r9d, [rdi+4]
;;>     2c  cmp r9d, esi
;;>     2f  jae near 93h
;;>     35  mov r9d, [rcx+r8+0Ch]
;;>     3a  lea r10d, [rdi+8]
;;>     3e  cmp r10d, esi
;;>     41  jae near 89h
;;>     47  mov r10d, [rcx+r8+10h]
;;>     4c  lea r11d, [rdi+0Ch]
;;>     50  cmp r11d, esi
;;>     53  jae near 7Ch
;;>     59  mov r8d, [rcx+r8+14h]
;;>     5e  add edi, 10h
;;>     64  add eax, edx
;;>     66  add eax, r9d
;;>     69  add eax, r10d
;;>     6c  add eax, r8d
;;>     6f  cmp edi, esi
;;>     71  jb near 12h
;;>     77  mov rsp, rbp
;;>     7a  pop rbp
;;>     7b  ret
;;>     7c  add eax, edx
;;>     7e  add eax, r9d
;;>     81  add eax, r10d
;;>     84  jmp 77h
;;>     89  add eax, edx
;;>     8b  add eax, r9d
;;>     8e  jmp 77h
;;>     93  add eax, edx
;;>     95  jmp 77h
;;>     9a  mov rdx, r15
;;>     9d  mov rdx, [rdx+8]
;;>     a1  mov rdx, [rdx+28h]
;;>     a5  mov r8, 2100000000h
;;>     af  mov [rdx], r8
;;>     b2  mov qword [rdx+8], 7
;;>     ba  mov r8d, eax
;;>     bd  mov [rdx+20h], r8
;;>     c1  mov esi, esi
;;>     c3  mov [rdx+18h], rsi
;;>     c7  mov esi, edi
;;>     c9  mov [rdx+10h], rsi
;;>     cd  mov esi, [rdx]
;;>     cf  mov r8d, [rdx+4]
;;>     d3  mov ecx, [rdx+8]
;;>     d6  mov rdi, r15
;;>     d9  mov r9, [rdi+38h]
;;>     dd  mov r9, [r9+70h]
;;>     e1  mov rdx, r8
;;>     e4  call r9
;;>     e7  mov rdi, r15
;;>     ea  mov rdi, [rdi+8]
;;>     ee  mov rdi, [rdi+28h]
;;>     f2  mov r10, rax
;;>     f5  mov rsp, rbp
;;>     f8  pop rbp
;;>     f9  jmp r10
