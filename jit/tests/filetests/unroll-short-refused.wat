;; A loop of more operators stays as it is.
;;! tier = optimizing
;;! show = assembly
(module
  (memory 1)
  (func (param $at i32) (param $end i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum (i32.xor (i32.rotl (i32.add (local.get $sum) (i32.load (local.get $at))) (i32.const 5)) (i32.load offset=4 (local.get $at))))
      (local.set $sum (i32.sub (i32.shl (local.get $sum) (i32.const 3)) (i32.mul (local.get $sum) (i32.load offset=8 (local.get $at)))))
      (br_if $again (i32.ne (local.tee $at (i32.add (local.get $at) (i32.const 12))) (local.get $end))))
    (local.get $sum)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  xor eax, eax
;;>      6  mov rcx, [r15+48h]
;;>      a  mov edx, edi
;;>      c  mov r9d, [rcx+rdx]
;;>     10  mov r8d, [rcx+rdx+4]
;;>     15  mov edx, [rcx+rdx+8]
;;>     19  add edi, 0Ch
;;>     1c  add eax, r9d
;;>     1f  rorx r9d, eax, 1Bh
;;>     25  xor r9d, r8d
;;>     28  mov rax, r9
;;>     2b  shl eax, 3
;;>     2e  imul r9d, edx
;;>     32  sub eax, r9d
;;>     35  cmp edi, esi
;;>     37  jne short 3Eh
;;>     39  mov rsp, rbp
;;>     3c  pop rbp
;;>     3d  ret
;;>     3e  cmp r15, [r15+88h]
;;>     46  jb near 4Eh
;;>     4c  jmp short 0Ah
;;>     4e  mov rcx, [r15+8]
;;>     52  mov rcx, [rcx+28h]
;;>     56  mov rdx, 2100000000h
;;>     60  mov [rcx], rdx
;;>     63  mov qword [rcx+8], 7
;;>     6b  mov eax, eax
;;>     6d  mov [rcx+20h], rax
;;>     71  mov eax, esi
;;>     73  mov [rcx+18h], rax
;;>     77  mov eax, edi
;;>     79  mov [rcx+10h], rax
;;>     7d  mov esi, [rcx]
;;>     7f  mov edx, [rcx+4]
;;>     82  mov ecx, [rcx+8]
;;>     85  mov rdi, r15
;;>     88  mov rax, [r15+38h]
;;>     8c  mov rax, [rax+70h]
;;>     90  call rax
;;>     92  mov rcx, [r15+8]
;;>     96  mov rdi, [rcx+28h]
;;>     9a  mov r10, rax
;;>     9d  mov rsp, rbp
;;>     a0  pop rbp
;;>     a1  jmp r10
