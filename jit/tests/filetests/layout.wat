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
;;>      4  mov rcx, r15
;;>      7  xor eax, eax
;;>      9  mov rcx, [rcx+48h]
;;>      d  jmp short 12h
;;>      f  add [rax], r8b
;;>     12  cmp r15, [r15+88h]
;;>     1a  jb near 0D0h
;;>     20  mov edx, esi
;;>     22  mov r8d, [rcx+rdx]
;;>     26  test r8d, r8d
;;>     29  jne near 8Ah
;;>     2f  cmp edi, 1
;;>     32  je near 85h
;;>     38  mov r8d, [rcx+rdx+4]
;;>     3d  test r8d, r8d
;;>     40  jne near 9Bh
;;>     46  cmp edi, 2
;;>     49  je near 85h
;;>     4f  mov r8d, [rcx+rdx+8]
;;>     54  test r8d, r8d
;;>     57  jne near 0ADh
;;>     5d  cmp edi, 3
;;>     60  je near 85h
;;>     66  mov r10d, [rcx+rdx+0Ch]
;;>     6b  test r10d, r10d
;;>     6e  jne near 0BEh
;;>     74  sub edi, 4
;;>     77  add esi, 10h
;;>     7d  test edi, edi
;;>     7f  jne near 12h
;;>     85  mov rsp, rbp
;;>     88  pop rbp
;;>     89  ret
;;>     8a  add eax, 4Dh
;;>     90  imul eax, 1Fh
;;>     93  mov [rcx+rdx], eax
;;>     96  jmp 2Fh
;;>     9b  add eax, 4Dh
;;>     a1  imul eax, 1Fh
;;>     a4  mov [rcx+rdx+4], eax
;;>     a8  jmp 46h
;;>     ad  lea r8d, [rax+4Dh]
;;>     b1  imul eax, r8d, 1Fh
;;>     b5  mov [rcx+rdx+8], eax
;;>     b9  jmp 5Dh
;;>     be  add eax, 4Dh
;;>     c4  imul eax, 1Fh
;;>     c7  mov [rcx+rdx+0Ch], eax
;;>     cb  jmp 74h
;;>     d0  mov rcx, r15
;;>     d3  mov rcx, [rcx+8]
;;>     d7  mov rcx, [rcx+28h]
;;>     db  mov rdx, 2100000000h
;;>     e5  mov [rcx], rdx
;;>     e8  mov qword [rcx+8], 7
;;>     f0  mov eax, eax
;;>     f2  mov [rcx+20h], rax
;;>     f6  mov eax, esi
;;>     f8  mov [rcx+18h], rax
;;>     fc  mov eax, edi
;;>     fe  mov [rcx+10h], rax
;;>    102  mov esi, [rcx]
;;>    104  mov edx, [rcx+4]
;;>    107  mov ecx, [rcx+8]
;;>    10a  mov rdi, r15
;;>    10d  mov rax, [rdi+38h]
;;>    111  mov rax, [rax+70h]
;;>    115  call rax
;;>    117  mov rcx, r15
;;>    11a  mov rcx, [rcx+8]
;;>    11e  mov rdi, [rcx+28h]
;;>    122  mov r10, rax
;;>    125  mov rsp, rbp
;;>    128  pop rbp
;;>    129  jmp r10
;;> layout in function 0: done
;;> layout in function 0: done
;;> layout in function 0: done
;;> layout in function 0: done
