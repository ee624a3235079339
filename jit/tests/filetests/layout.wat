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
;;>      6  mov ecx, esi
;;>      8  mov edx, [r15+rcx]
;;>      c  test edx, edx
;;>      e  jne short 5Ah
;;>     10  cmp edi, 1
;;>     13  je short 45h
;;>     15  mov edx, [r15+rcx+4]
;;>     1a  test edx, edx
;;>     1c  jne short 66h
;;>     1e  cmp edi, 2
;;>     21  je short 45h
;;>     23  mov edx, [r15+rcx+8]
;;>     28  test edx, edx
;;>     2a  jne short 73h
;;>     2c  cmp edi, 3
;;>     2f  je short 45h
;;>     31  mov r8d, [r15+rcx+0Ch]
;;>     36  test r8d, r8d
;;>     39  jne short 82h
;;>     3b  sub edi, 4
;;>     3e  add esi, 10h
;;>     41  test edi, edi
;;>     43  jne short 4Ah
;;>     45  mov rsp, rbp
;;>     48  pop rbp
;;>     49  ret
;;>     4a  cmp r15, [r15-88h]
;;>     52  jb near 91h
;;>     58  jmp short 6
;;>     5a  add eax, 4Dh
;;>     5d  imul eax, 1Fh
;;>     60  mov [r15+rcx], eax
;;>     64  jmp short 10h
;;>     66  add eax, 4Dh
;;>     69  imul eax, 1Fh
;;>     6c  mov [r15+rcx+4], eax
;;>     71  jmp short 1Eh
;;>     73  lea r8d, [rax+4Dh]
;;>     77  imul eax, r8d, 1Fh
;;>     7b  mov [r15+rcx+8], eax
;;>     80  jmp short 2Ch
;;>     82  lea r11d, [rax+4Dh]
;;>     86  imul eax, r11d, 1Fh
;;>     8a  mov [r15+rcx+0Ch], eax
;;>     8f  jmp short 3Bh
;;>     91  mov rcx, [r15-40h]
;;>     95  mov rcx, [rcx+28h]
;;>     99  mov rdx, 2100000000h
;;>     a3  mov [rcx], rdx
;;>     a6  mov qword [rcx+8], 7
;;>     ae  mov eax, eax
;;>     b0  mov [rcx+20h], rax
;;>     b4  mov eax, esi
;;>     b6  mov [rcx+18h], rax
;;>     ba  mov eax, edi
;;>     bc  mov [rcx+10h], rax
;;>     c0  mov esi, [rcx]
;;>     c2  mov edx, [rcx+4]
;;>     c5  mov ecx, [rcx+8]
;;>     c8  mov rdi, r15
;;>     cb  mov rax, [r15-10h]
;;>     cf  mov rax, [rax+70h]
;;>     d3  call rax
;;>     d5  mov rcx, [r15-40h]
;;>     d9  mov rdi, [rcx+28h]
;;>     dd  mov r10, rax
;;>     e0  mov rsp, rbp
;;>     e3  pop rbp
;;>     e4  jmp r10
;;> layout in function 0: done
;;> layout in function 0: done
;;> layout in function 0: done
;;> layout in function 0: done
