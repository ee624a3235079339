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
;;>      6  mov ecx, edi
;;>      8  mov r8d, [r15+rcx]
;;>      c  mov edx, [r15+rcx+4]
;;>     11  mov ecx, [r15+rcx+8]
;;>     16  add edi, 0Ch
;;>     19  add eax, r8d
;;>     1c  rorx r8d, eax, 1Bh
;;>     22  xor r8d, edx
;;>     25  mov rax, r8
;;>     28  shl eax, 3
;;>     2b  imul r8d, ecx
;;>     2f  sub eax, r8d
;;>     32  cmp edi, esi
;;>     34  jne short 3Bh
;;>     36  mov rsp, rbp
;;>     39  pop rbp
;;>     3a  ret
;;>     3b  cmp r15, [r15-88h]
;;>     43  jb near 4Bh
;;>     49  jmp short 6
;;>     4b  mov rcx, [r15-40h]
;;>     4f  mov rcx, [rcx+28h]
;;>     53  mov rdx, 2100000000h
;;>     5d  mov [rcx], rdx
;;>     60  mov qword [rcx+8], 7
;;>     68  mov eax, eax
;;>     6a  mov [rcx+20h], rax
;;>     6e  mov eax, esi
;;>     70  mov [rcx+18h], rax
;;>     74  mov eax, edi
;;>     76  mov [rcx+10h], rax
;;>     7a  mov esi, [rcx]
;;>     7c  mov edx, [rcx+4]
;;>     7f  mov ecx, [rcx+8]
;;>     82  mov rdi, r15
;;>     85  mov rax, [r15-10h]
;;>     89  mov rax, [rax+70h]
;;>     8d  call rax
;;>     8f  mov rcx, [r15-40h]
;;>     93  mov rdi, [rcx+28h]
;;>     97  mov r10, rax
;;>     9a  mov rsp, rbp
;;>     9d  pop rbp
;;>     9e  jmp r10
