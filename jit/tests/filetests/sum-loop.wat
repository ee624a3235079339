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
;;>     41  mov edx, edi
;;>     43  mov [rcx+10h], rdx
;;>     47  mov edx, esi
;;>     49  mov [rcx+18h], rdx
;;>     4d  mov eax, eax
;;>     4f  mov [rcx+20h], rax
;;>     53  xor esi, esi
;;>     55  mov dword [rcx], 0
;;>     5b  mov edx, 21h
;;>     60  mov dword [rcx+4], 21h
;;>     67  mov eax, 7
;;>     6c  mov dword [rcx+8], 7
;;>     73  mov rdi, r15
;;>     76  mov rcx, [rdi+30h]
;;>     7a  mov r8, [rcx+60h]
;;>     7e  mov rcx, rax
;;>     81  call r8
;;>     84  mov rcx, r15
;;>     87  mov rcx, [rcx+8]
;;>     8b  mov rdi, [rcx+28h]
;;>     8f  mov r10, rax
;;>     92  mov rsp, rbp
;;>     95  pop rbp
;;>     96  jmp r10
