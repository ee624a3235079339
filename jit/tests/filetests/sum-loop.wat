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
;;>     1a  jb near 0A0h
;;>     20  mov edx, edi
;;>     22  mov edx, [rcx+rdx+8]
;;>     26  lea r8d, [rdi+4]
;;>     2a  cmp r8d, esi
;;>     2d  jae near 82h
;;>     33  mov r8d, [rcx+r8+8]
;;>     38  lea r9d, [rdi+8]
;;>     3c  cmp r9d, esi
;;>     3f  jae near 89h
;;>     45  lea r9d, [rdi+8]
;;>     49  mov r9d, [rcx+r9+8]
;;>     4e  lea r10d, [rdi+0Ch]
;;>     52  cmp r10d, esi
;;>     55  jae near 93h
;;>     5b  lea r10d, [rdi+0Ch]
;;>     5f  mov r10d, [rcx+r10+8]
;;>     64  add edi, 10h
;;>     6a  add eax, edx
;;>     6c  add eax, r8d
;;>     6f  add eax, r9d
;;>     72  add eax, r10d
;;>     75  cmp edi, esi
;;>     77  jb near 12h
;;>     7d  mov rsp, rbp
;;>     80  pop rbp
;;>     81  ret
;;>     82  add eax, edx
;;>     84  jmp 7Dh
;;>     89  add eax, edx
;;>     8b  add eax, r8d
;;>     8e  jmp 7Dh
;;>     93  add eax, edx
;;>     95  add eax, r8d
;;>     98  add eax, r9d
;;>     9b  jmp 7Dh
;;>     a0  mov r8, r15
;;>     a3  mov r8, [r8+8]
;;>     a7  mov r8, [r8+28h]
;;>     ab  mov r9, 2100000000h
;;>     b5  mov [r8], r9
;;>     b8  mov qword [r8+8], 7
;;>     c0  mov edi, edi
;;>     c2  mov [r8+10h], rdi
;;>     c6  mov edi, esi
;;>     c8  mov [r8+18h], rdi
;;>     cc  mov r9d, eax
;;>     cf  mov [r8+20h], r9
;;>     d3  mov esi, [r8]
;;>     d6  mov edx, [r8+4]
;;>     da  mov ecx, [r8+8]
;;>     de  mov rdi, r15
;;>     e1  mov r9, [rdi+38h]
;;>     e5  mov r9, [r9+60h]
;;>     e9  call r9
;;>     ec  mov r9, r15
;;>     ef  mov r9, [r9+8]
;;>     f3  mov rdi, [r9+28h]
;;>     f7  mov r10, rax
;;>     fa  mov rsp, rbp
;;>     fd  pop rbp
;;>     fe  jmp r10
