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
;;>      4  sub rsp, 10h
;;>      8  mov [rsp], rbx
;;>      c  mov rax, r15
;;>      f  mov r8, rax
;;>     12  xor eax, eax
;;>     14  mov rdx, r8
;;>     17  mov rcx, [rdx+40h]
;;>     1b  mov rdx, r15
;;>     1e  mov edx, [rdx+1Ch]
;;>     21  test edx, edx
;;>     23  jne near 57h
;;>     29  mov edx, edi
;;>     2b  mov edx, [rcx+rdx+8]
;;>     2f  add edi, 4
;;>     35  add eax, edx
;;>     37  cmp edi, esi
;;>     39  mov r9, rsi
;;>     3c  jae near 4Ah
;;>     42  mov rsi, r9
;;>     45  jmp 1Bh
;;>     4a  mov rbx, [rsp]
;;>     4e  add rsp, 10h
;;>     52  mov rsp, rbp
;;>     55  pop rbp
;;>     56  ret
;;>     57  mov r9, rsi
;;>     5a  mov rcx, r15
;;>     5d  mov rcx, [rcx+8]
;;>     61  mov rbx, [rcx+28h]
;;>     65  xor esi, esi
;;>     67  mov dword [rbx], 0
;;>     6d  mov edx, 21h
;;>     72  mov dword [rbx+4], 21h
;;>     79  mov ecx, 7
;;>     7e  mov dword [rbx+8], 7
;;>     85  mov edi, edi
;;>     87  mov [rbx+10h], rdi
;;>     8b  mov rdi, r9
;;>     8e  mov edi, edi
;;>     90  mov [rbx+18h], rdi
;;>     94  mov eax, eax
;;>     96  mov [rbx+20h], rax
;;>     9a  mov rdi, r8
;;>     9d  mov rax, [rdi+30h]
;;>     a1  mov rax, [rax+60h]
;;>     a5  call rax
;;>     a7  mov rdi, rbx
;;>     aa  mov r10, rax
;;>     ad  mov rbx, [rsp]
;;>     b1  add rsp, 10h
;;>     b5  mov rsp, rbp
;;>     b8  pop rbp
;;>     b9  jmp r10
