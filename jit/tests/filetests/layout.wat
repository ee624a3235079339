;; The arm that is hardly taken is out of line: the loop's instructions are one piece, which ends with the jump back.
;;! tier = optimizing
;;! show = assembly
;;! decision = {"layout": {"offset": "If#0", "likely": false}}
;;! contains = layout in function 0: done
(module
  (memory 1)
  (func (param $n i32) (param $p i32) (result i32) (local $k i32)
    (loop $next
      (if (i32.load (local.get $p))
        (then (local.set $k (i32.mul (i32.add (local.get $k) (i32.const 77)) (i32.const 31)))
              (i32.store (local.get $p) (local.get $k))))
      (local.set $p (i32.add (local.get $p) (i32.const 4)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $k)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  xor eax, eax
;;>      6  mov rcx, [r15+48h]
;;>      a  mov edx, esi
;;>      c  mov r8d, [rcx+rdx]
;;>     10  test r8d, r8d
;;>     13  jne short 61h
;;>     15  cmp edi, 1
;;>     18  je short 4Ch
;;>     1a  mov r8d, [rcx+rdx+4]
;;>     1f  test r8d, r8d
;;>     22  jne short 6Ch
;;>     24  cmp edi, 2
;;>     27  je short 4Ch
;;>     29  mov r8d, [rcx+rdx+8]
;;>     2e  test r8d, r8d
;;>     31  jne short 78h
;;>     33  cmp edi, 3
;;>     36  je short 4Ch
;;>     38  mov r10d, [rcx+rdx+0Ch]
;;>     3d  test r10d, r10d
;;>     40  jne short 86h
;;>     42  sub edi, 4
;;>     45  add esi, 10h
;;>     48  test edi, edi
;;>     4a  jne short 51h
;;>     4c  mov rsp, rbp
;;>     4f  pop rbp
;;>     50  ret
;;>     51  cmp r15, [r15+88h]
;;>     59  jb near 92h
;;>     5f  jmp short 0Ah
;;>     61  add eax, 4Dh
;;>     64  imul eax, 1Fh
;;>     67  mov [rcx+rdx], eax
;;>     6a  jmp short 15h
;;>     6c  add eax, 4Dh
;;>     6f  imul eax, 1Fh
;;>     72  mov [rcx+rdx+4], eax
;;>     76  jmp short 24h
;;>     78  lea r8d, [rax+4Dh]
;;>     7c  imul eax, r8d, 1Fh
;;>     80  mov [rcx+rdx+8], eax
;;>     84  jmp short 33h
;;>     86  add eax, 4Dh
;;>     89  imul eax, 1Fh
;;>     8c  mov [rcx+rdx+0Ch], eax
;;>     90  jmp short 42h
;;>     92  mov rcx, [r15+8]
;;>     96  mov rcx, [rcx+28h]
;;>     9a  mov rdx, 2100000000h
;;>     a4  mov [rcx], rdx
;;>     a7  mov qword [rcx+8], 7
;;>     af  mov eax, eax
;;>     b1  mov [rcx+20h], rax
;;>     b5  mov eax, esi
;;>     b7  mov [rcx+18h], rax
;;>     bb  mov eax, edi
;;>     bd  mov [rcx+10h], rax
;;>     c1  mov esi, [rcx]
;;>     c3  mov edx, [rcx+4]
;;>     c6  mov ecx, [rcx+8]
;;>     c9  mov rdi, r15
;;>     cc  mov rax, [r15+38h]
;;>     d0  mov rax, [rax+70h]
;;>     d4  call rax
;;>     d6  mov rcx, [r15+8]
;;>     da  mov rdi, [rcx+28h]
;;>     de  mov r10, rax
;;>     e1  mov rsp, rbp
;;>     e4  pop rbp
;;>     e5  jmp r10
;;> layout in function 0: done
;;> layout in function 0: done
;;> layout in function 0: done
;;> layout in function 0: done
