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
;;>     1a  jb near 3Bh
;;>     20  mov edx, edi
;;>     22  mov edx, [rcx+rdx+8]
;;>     26  add edi, 4
;;>     2c  add eax, edx
;;>     2e  cmp edi, esi
;;>     30  jb near 12h
;;>     36  mov rsp, rbp
;;>     39  pop rbp
;;>     3a  ret
;;>     3b  mov rcx, r15
;;>     3e  mov rcx, [rcx+8]
;;>     42  mov rcx, [rcx+28h]
;;>     46  mov rdx, 2100000000h
;;>     50  mov [rcx], rdx
;;>     53  mov qword [rcx+8], 7
;;>     5b  mov edx, edi
;;>     5d  mov [rcx+10h], rdx
;;>     61  mov edx, esi
;;>     63  mov [rcx+18h], rdx
;;>     67  mov eax, eax
;;>     69  mov [rcx+20h], rax
;;>     6d  mov esi, [rcx]
;;>     6f  mov edx, [rcx+4]
;;>     72  mov ecx, [rcx+8]
;;>     75  mov rdi, r15
;;>     78  mov rax, [rdi+38h]
;;>     7c  mov rax, [rax+60h]
;;>     80  call rax
;;>     82  mov rcx, r15
;;>     85  mov rcx, [rcx+8]
;;>     89  mov rdi, [rcx+28h]
;;>     8d  mov r10, rax
;;>     90  mov rsp, rbp
;;>     93  pop rbp
;;>     94  jmp r10
