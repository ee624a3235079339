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
;;>      4  mov rcx, r15
;;>      7  xor eax, eax
;;>      9  mov rcx, [rcx+48h]
;;>      d  jmp short 12h
;;>      f  add [rax], r8b
;;>     12  cmp r15, [r15+88h]
;;>     1a  jb near 5Bh
;;>     20  mov edx, edi
;;>     22  mov r9d, [rcx+rdx]
;;>     26  mov r8d, [rcx+rdx+4]
;;>     2b  mov edx, [rcx+rdx+8]
;;>     2f  add edi, 0Ch
;;>     35  add eax, r9d
;;>     38  rorx r9d, eax, 1Bh
;;>     3e  xor r9d, r8d
;;>     41  mov rax, r9
;;>     44  shl eax, 3
;;>     47  imul r9d, edx
;;>     4b  sub eax, r9d
;;>     4e  cmp edi, esi
;;>     50  jne near 12h
;;>     56  mov rsp, rbp
;;>     59  pop rbp
;;>     5a  ret
;;>     5b  mov rcx, r15
;;>     5e  mov rcx, [rcx+8]
;;>     62  mov rcx, [rcx+28h]
;;>     66  mov rdx, 2100000000h
;;>     70  mov [rcx], rdx
;;>     73  mov qword [rcx+8], 7
;;>     7b  mov eax, eax
;;>     7d  mov [rcx+20h], rax
;;>     81  mov eax, esi
;;>     83  mov [rcx+18h], rax
;;>     87  mov eax, edi
;;>     89  mov [rcx+10h], rax
;;>     8d  mov esi, [rcx]
;;>     8f  mov edx, [rcx+4]
;;>     92  mov ecx, [rcx+8]
;;>     95  mov rdi, r15
;;>     98  mov rax, [rdi+38h]
;;>     9c  mov rax, [rax+70h]
;;>     a0  call rax
;;>     a2  mov rcx, r15
;;>     a5  mov rcx, [rcx+8]
;;>     a9  mov rdi, [rcx+28h]
;;>     ad  mov r10, rax
;;>     b0  mov rsp, rbp
;;>     b3  pop rbp
;;>     b4  jmp r10
