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
;;>      9  mov rcx, [rcx+40h]
;;>      d  mov rdx, r15
;;>     10  mov edx, [rdx+70h]
;;>     13  test edx, edx
;;>     15  jne near 36h
;;>     1b  mov edx, edi
;;>     1d  mov edx, [rcx+rdx+8]
;;>     21  add edi, 4
;;>     27  add eax, edx
;;>     29  cmp edi, esi
;;>     2b  jb near 0Dh
;;>     31  mov rsp, rbp
;;>     34  pop rbp
;;>     35  ret
;;>     36  mov rcx, r15
;;>     39  mov rcx, [rcx+8]
;;>     3d  mov rcx, [rcx+28h]
;;>     41  mov rdx, 2100000000h
;;>     4b  mov [rcx], rdx
;;>     4e  mov qword [rcx+8], 7
;;>     56  mov edx, edi
;;>     58  mov [rcx+10h], rdx
;;>     5c  mov edx, esi
;;>     5e  mov [rcx+18h], rdx
;;>     62  mov eax, eax
;;>     64  mov [rcx+20h], rax
;;>     68  mov esi, [rcx]
;;>     6a  mov edx, [rcx+4]
;;>     6d  mov ecx, [rcx+8]
;;>     70  mov rdi, r15
;;>     73  mov rax, [rdi+30h]
;;>     77  mov rax, [rax+60h]
;;>     7b  call rax
;;>     7d  mov rcx, r15
;;>     80  mov rcx, [rcx+8]
;;>     84  mov rdi, [rcx+28h]
;;>     88  mov r10, rax
;;>     8b  mov rsp, rbp
;;>     8e  pop rbp
;;>     8f  jmp r10
