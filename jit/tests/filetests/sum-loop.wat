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
;;>      6  mov edx, edi
;;>      8  mov ecx, [r15+rdx+8]
;;>      d  lea r8d, [rdi+4]
;;>     11  cmp r8d, esi
;;>     14  jae short 6Eh
;;>     16  mov r8d, [r15+rdx+0Ch]
;;>     1b  lea r9d, [rdi+8]
;;>     1f  cmp r9d, esi
;;>     22  jae short 67h
;;>     24  mov r9d, [r15+rdx+10h]
;;>     29  lea r10d, [rdi+0Ch]
;;>     2d  cmp r10d, esi
;;>     30  jae short 5Dh
;;>     32  mov edx, [r15+rdx+14h]
;;>     37  add edi, 10h
;;>     3a  add eax, ecx
;;>     3c  add eax, r8d
;;>     3f  add eax, r9d
;;>     42  add eax, edx
;;>     44  cmp edi, esi
;;>     46  jb short 4Dh
;;>     48  mov rsp, rbp
;;>     4b  pop rbp
;;>     4c  ret
;;>     4d  cmp r15, [r15-88h]
;;>     55  jb near 72h
;;>     5b  jmp short 6
;;>     5d  add eax, ecx
;;>     5f  add eax, r8d
;;>     62  add eax, r9d
;;>     65  jmp short 48h
;;>     67  add eax, ecx
;;>     69  add eax, r8d
;;>     6c  jmp short 48h
;;>     6e  add eax, ecx
;;>     70  jmp short 48h
;;>     72  mov rcx, [r15-40h]
;;>     76  mov rcx, [rcx+28h]
;;>     7a  mov rdx, 2100000000h
;;>     84  mov [rcx], rdx
;;>     87  mov qword [rcx+8], 7
;;>     8f  mov edx, eax
;;>     91  mov [rcx+20h], rdx
;;>     95  mov esi, esi
;;>     97  mov [rcx+18h], rsi
;;>     9b  mov esi, edi
;;>     9d  mov [rcx+10h], rsi
;;>     a1  mov esi, [rcx]
;;>     a3  mov edx, [rcx+4]
;;>     a6  mov ecx, [rcx+8]
;;>     a9  mov rdi, r15
;;>     ac  mov r8, [r15-10h]
;;>     b0  mov r8, [r8+70h]
;;>     b4  call r8
;;>     b7  mov rsi, [r15-40h]
;;>     bb  mov rdi, [rsi+28h]
;;>     bf  mov r10, rax
;;>     c2  mov rsp, rbp
;;>     c5  pop rbp
;;>     c6  jmp r10
