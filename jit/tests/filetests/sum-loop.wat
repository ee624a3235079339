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
;;>      4  xor eax, eax
;;>      6  mov rcx, [r15+48h]
;;>      a  mov r8d, edi
;;>      d  mov edx, [rcx+r8+8]
;;>     12  lea r9d, [rdi+4]
;;>     16  cmp r9d, esi
;;>     19  jae short 74h
;;>     1b  mov r9d, [rcx+r8+0Ch]
;;>     20  lea r10d, [rdi+8]
;;>     24  cmp r10d, esi
;;>     27  jae short 6Dh
;;>     29  mov r10d, [rcx+r8+10h]
;;>     2e  lea r11d, [rdi+0Ch]
;;>     32  cmp r11d, esi
;;>     35  jae short 63h
;;>     37  mov r8d, [rcx+r8+14h]
;;>     3c  add edi, 10h
;;>     3f  add eax, edx
;;>     41  add eax, r9d
;;>     44  add eax, r10d
;;>     47  add eax, r8d
;;>     4a  cmp edi, esi
;;>     4c  jb short 53h
;;>     4e  mov rsp, rbp
;;>     51  pop rbp
;;>     52  ret
;;>     53  cmp r15, [r15+88h]
;;>     5b  jb near 78h
;;>     61  jmp short 0Ah
;;>     63  add eax, edx
;;>     65  add eax, r9d
;;>     68  add eax, r10d
;;>     6b  jmp short 4Eh
;;>     6d  add eax, edx
;;>     6f  add eax, r9d
;;>     72  jmp short 4Eh
;;>     74  add eax, edx
;;>     76  jmp short 4Eh
;;>     78  mov rdx, [r15+8]
;;>     7c  mov rdx, [rdx+28h]
;;>     80  mov r8, 2100000000h
;;>     8a  mov [rdx], r8
;;>     8d  mov qword [rdx+8], 7
;;>     95  mov r8d, eax
;;>     98  mov [rdx+20h], r8
;;>     9c  mov esi, esi
;;>     9e  mov [rdx+18h], rsi
;;>     a2  mov esi, edi
;;>     a4  mov [rdx+10h], rsi
;;>     a8  mov esi, [rdx]
;;>     aa  mov r8d, [rdx+4]
;;>     ae  mov ecx, [rdx+8]
;;>     b1  mov rdi, r15
;;>     b4  mov r9, [r15+38h]
;;>     b8  mov r9, [r9+70h]
;;>     bc  mov rdx, r8
;;>     bf  call r9
;;>     c2  mov rdi, [r15+8]
;;>     c6  mov rdi, [rdi+28h]
;;>     ca  mov r10, rax
;;>     cd  mov rsp, rbp
;;>     d0  pop rbp
;;>     d1  jmp r10
