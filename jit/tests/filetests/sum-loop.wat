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
;;>     12  cmp r15, [r15+88h]
;;>     1a  jb near 98h
;;>     20  mov edx, edi
;;>     22  mov edx, [rcx+rdx+8]
;;>     26  lea r8d, [rdi+4]
;;>     2a  cmp r8d, esi
;;>     2d  jae near 91h
;;>     33  mov r8d, [rcx+r8+8]
;;>     38  lea r9d, [rdi+8]
;;>     3c  cmp r9d, esi
;;>     3f  jae near 87h
;;>     45  mov r9d, [rcx+r9+8]
;;>     4a  lea r10d, [rdi+0Ch]
;;>     4e  cmp r10d, esi
;;>     51  jae near 7Ah
;;>     57  mov r10d, [rcx+r10+8]
;;>     5c  add edi, 10h
;;>     62  add eax, edx
;;>     64  add eax, r8d
;;>     67  add eax, r9d
;;>     6a  add eax, r10d
;;>     6d  cmp edi, esi
;;>     6f  jb near 12h
;;>     75  mov rsp, rbp
;;>     78  pop rbp
;;>     79  ret
;;>     7a  add eax, edx
;;>     7c  add eax, r8d
;;>     7f  add eax, r9d
;;>     82  jmp 75h
;;>     87  add eax, edx
;;>     89  add eax, r8d
;;>     8c  jmp 75h
;;>     91  add eax, edx
;;>     93  jmp 75h
;;>     98  mov rdx, r15
;;>     9b  mov rdx, [rdx+8]
;;>     9f  mov rdx, [rdx+28h]
;;>     a3  mov r8, 2100000000h
;;>     ad  mov [rdx], r8
;;>     b0  mov qword [rdx+8], 7
;;>     b8  mov edi, edi
;;>     ba  mov [rdx+10h], rdi
;;>     be  mov esi, esi
;;>     c0  mov [rdx+18h], rsi
;;>     c4  mov esi, eax
;;>     c6  mov [rdx+20h], rsi
;;>     ca  mov esi, [rdx]
;;>     cc  mov r8d, [rdx+4]
;;>     d0  mov ecx, [rdx+8]
;;>     d3  mov rdi, r15
;;>     d6  mov r9, [rdi+38h]
;;>     da  mov r9, [r9+70h]
;;>     de  mov rdx, r8
;;>     e1  call r9
;;>     e4  mov rdi, r15
;;>     e7  mov rdi, [rdi+8]
;;>     eb  mov rdi, [rdi+28h]
;;>     ef  mov r10, rax
;;>     f2  mov rsp, rbp
;;>     f5  pop rbp
;;>     f6  jmp r10
