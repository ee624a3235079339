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
;;>      d  nop dword [rax+rax]
;;>     12  cmp r15, [r15+88h]
;;>     1a  jb near 0D4h
;;>     20  mov edx, esi
;;>     22  mov r8d, [rcx+rdx]
;;>     26  test r8d, r8d
;;>     29  jne near 91h
;;>     2f  cmp edi, 1
;;>     32  je near 8Ch
;;>     38  lea edx, [rsi+4]
;;>     3b  mov r8d, [rcx+rdx]
;;>     3f  test r8d, r8d
;;>     42  jne near 0A2h
;;>     48  cmp edi, 2
;;>     4b  je near 8Ch
;;>     51  lea r8d, [rsi+8]
;;>     55  mov r9d, [rcx+r8]
;;>     59  test r9d, r9d
;;>     5c  jne near 0B2h
;;>     62  cmp edi, 3
;;>     65  je near 8Ch
;;>     6b  lea edx, [rsi+0Ch]
;;>     6e  mov r8d, [rcx+rdx]
;;>     72  test r8d, r8d
;;>     75  jne near 0C3h
;;>     7b  sub edi, 4
;;>     7e  add esi, 10h
;;>     84  test edi, edi
;;>     86  jne near 12h
;;>     8c  mov rsp, rbp
;;>     8f  pop rbp
;;>     90  ret
;;>     91  add eax, 4Dh
;;>     97  imul eax, 1Fh
;;>     9a  mov [rcx+rdx], eax
;;>     9d  jmp 2Fh
;;>     a2  lea r8d, [rax+4Dh]
;;>     a6  imul eax, r8d, 1Fh
;;>     aa  mov [rcx+rdx], eax
;;>     ad  jmp 48h
;;>     b2  lea r9d, [rax+4Dh]
;;>     b6  imul eax, r9d, 1Fh
;;>     ba  mov [rcx+r8], eax
;;>     be  jmp 62h
;;>     c3  add eax, 4Dh
;;>     c9  imul eax, 1Fh
;;>     cc  mov [rcx+rdx], eax
;;>     cf  jmp 7Bh
;;>     d4  mov rcx, r15
;;>     d7  mov rcx, [rcx+8]
;;>     db  mov rcx, [rcx+28h]
;;>     df  mov rdx, 2100000000h
;;>     e9  mov [rcx], rdx
;;>     ec  mov qword [rcx+8], 7
;;>     f4  mov edx, edi
;;>     f6  mov [rcx+10h], rdx
;;>     fa  mov edx, esi
;;>     fc  mov [rcx+18h], rdx
;;>    100  mov eax, eax
;;>    102  mov [rcx+20h], rax
;;>    106  mov esi, [rcx]
;;>    108  mov edx, [rcx+4]
;;>    10b  mov ecx, [rcx+8]
;;>    10e  mov rdi, r15
;;>    111  mov rax, [rdi+38h]
;;>    115  mov rax, [rax+70h]
;;>    119  call rax
;;>    11b  mov rcx, r15
;;>    11e  mov rcx, [rcx+8]
;;>    122  mov rdi, [rcx+28h]
;;>    126  mov r10, rax
;;>    129  mov rsp, rbp
;;>    12c  pop rbp
;;>    12d  jmp r10
;;> layout in function 0: done
;;> layout in function 0: done
;;> layout in function 0: done
;;> layout in function 0: done
