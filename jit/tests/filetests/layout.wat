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
;;>     1a  jb near 0E7h
;;>     20  mov edx, esi
;;>     22  mov r8d, [rcx+rdx]
;;>     26  test r8d, r8d
;;>     29  jne near 0A2h
;;>     2f  mov rdx, rdi
;;>     32  sub edx, 1
;;>     35  test edx, edx
;;>     37  je near 9Dh
;;>     3d  lea r8d, [rsi+4]
;;>     41  mov r9d, [rcx+r8]
;;>     45  test r9d, r9d
;;>     48  jne near 0B3h
;;>     4e  mov r8, rdi
;;>     51  sub r8d, 2
;;>     55  test r8d, r8d
;;>     58  je near 9Dh
;;>     5e  lea r11d, [rsi+8]
;;>     62  mov edx, [rcx+r11]
;;>     66  test edx, edx
;;>     68  jne near 0C4h
;;>     6e  mov rdx, rdi
;;>     71  sub edx, 3
;;>     74  test edx, edx
;;>     76  je near 9Dh
;;>     7c  lea edx, [rsi+0Ch]
;;>     7f  mov r8d, [rcx+rdx]
;;>     83  test r8d, r8d
;;>     86  jne near 0D6h
;;>     8c  sub edi, 4
;;>     8f  add esi, 10h
;;>     95  test edi, edi
;;>     97  jne near 12h
;;>     9d  mov rsp, rbp
;;>     a0  pop rbp
;;>     a1  ret
;;>     a2  add eax, 4Dh
;;>     a8  imul eax, 1Fh
;;>     ab  mov [rcx+rdx], eax
;;>     ae  jmp 2Fh
;;>     b3  lea r9d, [rax+4Dh]
;;>     b7  imul eax, r9d, 1Fh
;;>     bb  mov [rcx+r8], eax
;;>     bf  jmp 4Eh
;;>     c4  add eax, 4Dh
;;>     ca  imul eax, 1Fh
;;>     cd  mov [rcx+r11], eax
;;>     d1  jmp 6Eh
;;>     d6  add eax, 4Dh
;;>     dc  imul eax, 1Fh
;;>     df  mov [rcx+rdx], eax
;;>     e2  jmp 8Ch
;;>     e7  mov rcx, r15
;;>     ea  mov rcx, [rcx+8]
;;>     ee  mov rcx, [rcx+28h]
;;>     f2  mov rdx, 2100000000h
;;>     fc  mov [rcx], rdx
;;>     ff  mov qword [rcx+8], 7
;;>    107  mov edx, edi
;;>    109  mov [rcx+10h], rdx
;;>    10d  mov edx, esi
;;>    10f  mov [rcx+18h], rdx
;;>    113  mov eax, eax
;;>    115  mov [rcx+20h], rax
;;>    119  mov esi, [rcx]
;;>    11b  mov edx, [rcx+4]
;;>    11e  mov ecx, [rcx+8]
;;>    121  mov rdi, r15
;;>    124  mov rax, [rdi+38h]
;;>    128  mov rax, [rax+60h]
;;>    12c  call rax
;;>    12e  mov rcx, r15
;;>    131  mov rcx, [rcx+8]
;;>    135  mov rdi, [rcx+28h]
;;>    139  mov r10, rax
;;>    13c  mov rsp, rbp
;;>    13f  pop rbp
;;>    140  jmp r10
;;> layout in function 0: done
;;> layout in function 0: done
;;> layout in function 0: done
;;> layout in function 0: done
