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
;;>      d  nop dword [rax+rax]
;;>     12  cmp r15, [r15+80h]
;;>     1a  jb near 3Bh
;;>     20  mov edx, edi
;;>     22  mov edx, [rcx+rdx+8]
;;>     26  add edi, 4
;;>     2c  add eax, edx
;;>     2e  cmp edi, esi
;;>     30  jb near 0Dh
;;>     36  mov rsp, rbp
;;>     39  pop rbp
;;>     3a  ret
;;>     3b  mov rdx, r15
;;>     3e  mov r8d, [rdx+84h]
;;>     45  test r8w, r8w
;;>     49  jne near 6Dh
;;>     4f  xor r8d, 220000h
;;>     56  test r8d, r8d
;;>     59  je near 6Dh
;;>     5f  mov word [rdx+86h], 0
;;>     68  jmp 0Dh
;;>     6d  mov rcx, r15
;;>     70  mov rcx, [rcx+8]
;;>     74  mov rcx, [rcx+28h]
;;>     78  mov rdx, 2100000000h
;;>     82  mov [rcx], rdx
;;>     85  mov qword [rcx+8], 7
;;>     8d  mov edx, edi
;;>     8f  mov [rcx+10h], rdx
;;>     93  mov edx, esi
;;>     95  mov [rcx+18h], rdx
;;>     99  mov eax, eax
;;>     9b  mov [rcx+20h], rax
;;>     9f  mov esi, [rcx]
;;>     a1  mov edx, [rcx+4]
;;>     a4  mov ecx, [rcx+8]
;;>     a7  mov rdi, r15
;;>     aa  mov rax, [rdi+38h]
;;>     ae  mov rax, [rax+60h]
;;>     b2  call rax
;;>     b4  mov rcx, r15
;;>     b7  mov rcx, [rcx+8]
;;>     bb  mov rdi, [rcx+28h]
;;>     bf  mov r10, rax
;;>     c2  mov rsp, rbp
;;>     c5  pop rbp
;;>     c6  jmp r10
