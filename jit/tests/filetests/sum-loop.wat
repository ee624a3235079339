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
;;>     36  mov rdx, r15
;;>     39  mov r8d, [rdx+70h]
;;>     3d  test r8w, r8w
;;>     41  jne near 62h
;;>     47  xor r8d, 220000h
;;>     4e  test r8d, r8d
;;>     51  je near 62h
;;>     57  mov word [rdx+72h], 0
;;>     5d  jmp 0Dh
;;>     62  mov rcx, r15
;;>     65  mov rcx, [rcx+8]
;;>     69  mov rcx, [rcx+28h]
;;>     6d  mov rdx, 2100000000h
;;>     77  mov [rcx], rdx
;;>     7a  mov qword [rcx+8], 7
;;>     82  mov edx, edi
;;>     84  mov [rcx+10h], rdx
;;>     88  mov edx, esi
;;>     8a  mov [rcx+18h], rdx
;;>     8e  mov eax, eax
;;>     90  mov [rcx+20h], rax
;;>     94  mov esi, [rcx]
;;>     96  mov edx, [rcx+4]
;;>     99  mov ecx, [rcx+8]
;;>     9c  mov rdi, r15
;;>     9f  mov rax, [rdi+30h]
;;>     a3  mov rax, [rax+60h]
;;>     a7  call rax
;;>     a9  mov rcx, r15
;;>     ac  mov rcx, [rcx+8]
;;>     b0  mov rdi, [rcx+28h]
;;>     b4  mov r10, rax
;;>     b7  mov rsp, rbp
;;>     ba  pop rbp
;;>     bb  jmp r10
