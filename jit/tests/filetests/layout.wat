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
;;>      9  mov rcx, [rcx+40h]
;;>      d  mov rdx, r15
;;>     10  mov edx, [rdx+70h]
;;>     13  test edx, edx
;;>     15  jne near 51h
;;>     1b  mov edx, esi
;;>     1d  mov r8d, [rcx+rdx]
;;>     21  test r8d, r8d
;;>     24  jne near 40h
;;>     2a  sub edi, 1
;;>     2d  add esi, 4
;;>     33  test edi, edi
;;>     35  jne near 0Dh
;;>     3b  mov rsp, rbp
;;>     3e  pop rbp
;;>     3f  ret
;;>     40  add eax, 4Dh
;;>     46  imul eax, 1Fh
;;>     49  mov [rcx+rdx], eax
;;>     4c  jmp 2Ah
;;>     51  mov rdx, r15
;;>     54  mov r8d, [rdx+70h]
;;>     58  test r8w, r8w
;;>     5c  jne near 7Dh
;;>     62  xor r8d, 220000h
;;>     69  test r8d, r8d
;;>     6c  je near 7Dh
;;>     72  mov word [rdx+72h], 0
;;>     78  jmp 0Dh
;;>     7d  mov rcx, r15
;;>     80  mov rcx, [rcx+8]
;;>     84  mov rcx, [rcx+28h]
;;>     88  mov rdx, 2100000000h
;;>     92  mov [rcx], rdx
;;>     95  mov qword [rcx+8], 7
;;>     9d  mov edx, edi
;;>     9f  mov [rcx+10h], rdx
;;>     a3  mov edx, esi
;;>     a5  mov [rcx+18h], rdx
;;>     a9  mov eax, eax
;;>     ab  mov [rcx+20h], rax
;;>     af  mov esi, [rcx]
;;>     b1  mov edx, [rcx+4]
;;>     b4  mov ecx, [rcx+8]
;;>     b7  mov rdi, r15
;;>     ba  mov r8, [rdi+30h]
;;>     be  mov r8, [r8+60h]
;;>     c2  call r8
;;>     c5  mov rcx, r15
;;>     c8  mov rcx, [rcx+8]
;;>     cc  mov rdi, [rcx+28h]
;;>     d0  mov r10, rax
;;>     d3  mov rsp, rbp
;;>     d6  pop rbp
;;>     d7  jmp r10
;;> layout in function 0: done
