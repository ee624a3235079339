;; A short loop gets four rounds, each with its own way out; its header, with the poll, stands before the first.
;;! tier = optimizing
;;! show = assembly
(module
  (memory 1)
  (func (param $at i32) (param $end i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum) (i32.load (local.get $at))))
      (br_if $again (i32.ne (local.tee $at (i32.add (local.get $at) (i32.const 4))) (local.get $end))))
    (local.get $sum)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  xor eax, eax
;;>      6  mov edx, edi
;;>      8  mov ecx, [r15+rdx]
;;>      c  lea r8d, [rdi+4]
;;>     10  cmp r8d, esi
;;>     13  je short 6Dh
;;>     15  mov r8d, [r15+rdx+4]
;;>     1a  lea r9d, [rdi+8]
;;>     1e  cmp r9d, esi
;;>     21  je short 66h
;;>     23  mov r9d, [r15+rdx+8]
;;>     28  lea r10d, [rdi+0Ch]
;;>     2c  cmp r10d, esi
;;>     2f  je short 5Ch
;;>     31  mov edx, [r15+rdx+0Ch]
;;>     36  add edi, 10h
;;>     39  add eax, ecx
;;>     3b  add eax, r8d
;;>     3e  add eax, r9d
;;>     41  add eax, edx
;;>     43  cmp edi, esi
;;>     45  jne short 4Ch
;;>     47  mov rsp, rbp
;;>     4a  pop rbp
;;>     4b  ret
;;>     4c  cmp r15, [r15-88h]
;;>     54  jb near 71h
;;>     5a  jmp short 6
;;>     5c  add eax, ecx
;;>     5e  add eax, r8d
;;>     61  add eax, r9d
;;>     64  jmp short 47h
;;>     66  add eax, ecx
;;>     68  add eax, r8d
;;>     6b  jmp short 47h
;;>     6d  add eax, ecx
;;>     6f  jmp short 47h
;;>     71  mov rcx, [r15-40h]
;;>     75  mov rcx, [rcx+28h]
;;>     79  mov rdx, 2100000000h
;;>     83  mov [rcx], rdx
;;>     86  mov qword [rcx+8], 7
;;>     8e  mov edx, eax
;;>     90  mov [rcx+20h], rdx
;;>     94  mov esi, esi
;;>     96  mov [rcx+18h], rsi
;;>     9a  mov esi, edi
;;>     9c  mov [rcx+10h], rsi
;;>     a0  mov esi, [rcx]
;;>     a2  mov edx, [rcx+4]
;;>     a5  mov ecx, [rcx+8]
;;>     a8  mov rdi, r15
;;>     ab  mov r8, [r15-10h]
;;>     af  mov r8, [r8+70h]
;;>     b3  call r8
;;>     b6  mov rsi, [r15-40h]
;;>     ba  mov rdi, [rsi+28h]
;;>     be  mov r10, rax
;;>     c1  mov rsp, rbp
;;>     c4  pop rbp
;;>     c5  jmp r10
