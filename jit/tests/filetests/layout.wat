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
;;>      9  mov rdx, r15
;;>      c  mov edx, [rdx+70h]
;;>      f  test edx, edx
;;>     11  jne near 41h
;;>     17  mov rdx, [rcx+40h]
;;>     1b  mov r8d, esi
;;>     1e  mov r9d, [rdx+r8]
;;>     22  test r9d, r9d
;;>     25  jne near 0BAh
;;>     2b  sub edi, 1
;;>     2e  add esi, 4
;;>     34  test edi, edi
;;>     36  jne near 9
;;>     3c  mov rsp, rbp
;;>     3f  pop rbp
;;>     40  ret
;;>     41  mov rdx, r15
;;>     44  mov edx, [rdx+70h]
;;>     47  test edx, 0FFFFFFFEh
;;>     4d  je near 5Eh
;;>     53  xor edx, 21h
;;>     56  test edx, edx
;;>     58  jne near 17h
;;>     5e  mov rcx, r15
;;>     61  mov rcx, [rcx+8]
;;>     65  mov rcx, [rcx+28h]
;;>     69  mov rdx, 2100000000h
;;>     73  mov [rcx], rdx
;;>     76  mov qword [rcx+8], 7
;;>     7e  mov edx, edi
;;>     80  mov [rcx+10h], rdx
;;>     84  mov edx, esi
;;>     86  mov [rcx+18h], rdx
;;>     8a  mov eax, eax
;;>     8c  mov [rcx+20h], rax
;;>     90  mov esi, [rcx]
;;>     92  mov edx, [rcx+4]
;;>     95  mov ecx, [rcx+8]
;;>     98  mov rdi, r15
;;>     9b  mov rax, [rdi+30h]
;;>     9f  mov rax, [rax+60h]
;;>     a3  call rax
;;>     a5  mov rcx, r15
;;>     a8  mov rcx, [rcx+8]
;;>     ac  mov rdi, [rcx+28h]
;;>     b0  mov r10, rax
;;>     b3  mov rsp, rbp
;;>     b6  pop rbp
;;>     b7  jmp r10
;;>     ba  add eax, 4Dh
;;>     c0  imul eax, 1Fh
;;>     c3  mov [rdx+r8], eax
;;>     c7  jmp 2Bh
;;> layout in function 0: done
