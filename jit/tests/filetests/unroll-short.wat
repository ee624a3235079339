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
;;>      6  mov rcx, [r15+48h]
;;>      a  mov r8d, edi
;;>      d  mov edx, [rcx+r8]
;;>     11  lea r9d, [rdi+4]
;;>     15  cmp r9d, esi
;;>     18  je short 73h
;;>     1a  mov r9d, [rcx+r8+4]
;;>     1f  lea r10d, [rdi+8]
;;>     23  cmp r10d, esi
;;>     26  je short 6Ch
;;>     28  mov r10d, [rcx+r8+8]
;;>     2d  lea r11d, [rdi+0Ch]
;;>     31  cmp r11d, esi
;;>     34  je short 62h
;;>     36  mov r8d, [rcx+r8+0Ch]
;;>     3b  add edi, 10h
;;>     3e  add eax, edx
;;>     40  add eax, r9d
;;>     43  add eax, r10d
;;>     46  add eax, r8d
;;>     49  cmp edi, esi
;;>     4b  jne short 52h
;;>     4d  mov rsp, rbp
;;>     50  pop rbp
;;>     51  ret
;;>     52  cmp r15, [r15+88h]
;;>     5a  jb near 77h
;;>     60  jmp short 0Ah
;;>     62  add eax, edx
;;>     64  add eax, r9d
;;>     67  add eax, r10d
;;>     6a  jmp short 4Dh
;;>     6c  add eax, edx
;;>     6e  add eax, r9d
;;>     71  jmp short 4Dh
;;>     73  add eax, edx
;;>     75  jmp short 4Dh
;;>     77  mov rdx, [r15+8]
;;>     7b  mov rdx, [rdx+28h]
;;>     7f  mov r8, 2100000000h
;;>     89  mov [rdx], r8
;;>     8c  mov qword [rdx+8], 7
;;>     94  mov r8d, eax
;;>     97  mov [rdx+20h], r8
;;>     9b  mov esi, esi
;;>     9d  mov [rdx+18h], rsi
;;>     a1  mov esi, edi
;;>     a3  mov [rdx+10h], rsi
;;>     a7  mov esi, [rdx]
;;>     a9  mov r8d, [rdx+4]
;;>     ad  mov ecx, [rdx+8]
;;>     b0  mov rdi, r15
;;>     b3  mov r9, [r15+38h]
;;>     b7  mov r9, [r9+70h]
;;>     bb  mov rdx, r8
;;>     be  call r9
;;>     c1  mov rdi, [r15+8]
;;>     c5  mov rdi, [rdi+28h]
;;>     c9  mov r10, rax
;;>     cc  mov rsp, rbp
;;>     cf  pop rbp
;;>     d0  jmp r10
