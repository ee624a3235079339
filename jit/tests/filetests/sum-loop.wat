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
;;>      9  mov rdx, r15
;;>      c  mov edx, [rdx+70h]
;;>      f  test edx, edx
;;>     11  jne near 38h
;;>     17  mov rdx, [rcx+40h]
;;>     1b  mov r8d, edi
;;>     1e  mov edx, [rdx+r8+8]
;;>     23  add edi, 4
;;>     29  add eax, edx
;;>     2b  cmp edi, esi
;;>     2d  jb near 9
;;>     33  mov rsp, rbp
;;>     36  pop rbp
;;>     37  ret
;;>     38  mov rdx, r15
;;>     3b  mov edx, [rdx+70h]
;;>     3e  test edx, 0FFFFFFFEh
;;>     44  je near 55h
;;>     4a  xor edx, 21h
;;>     4d  test edx, edx
;;>     4f  jne near 17h
;;>     55  mov rcx, r15
;;>     58  mov rcx, [rcx+8]
;;>     5c  mov rcx, [rcx+28h]
;;>     60  mov rdx, 2100000000h
;;>     6a  mov [rcx], rdx
;;>     6d  mov qword [rcx+8], 7
;;>     75  mov edx, edi
;;>     77  mov [rcx+10h], rdx
;;>     7b  mov edx, esi
;;>     7d  mov [rcx+18h], rdx
;;>     81  mov eax, eax
;;>     83  mov [rcx+20h], rax
;;>     87  mov esi, [rcx]
;;>     89  mov edx, [rcx+4]
;;>     8c  mov ecx, [rcx+8]
;;>     8f  mov rdi, r15
;;>     92  mov rax, [rdi+30h]
;;>     96  mov rax, [rax+60h]
;;>     9a  call rax
;;>     9c  mov rcx, r15
;;>     9f  mov rcx, [rcx+8]
;;>     a3  mov rdi, [rcx+28h]
;;>     a7  mov r10, rax
;;>     aa  mov rsp, rbp
;;>     ad  pop rbp
;;>     ae  jmp r10
