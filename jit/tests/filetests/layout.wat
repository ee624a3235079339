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
;;>     1a  jb near 56h
;;>     20  mov edx, esi
;;>     22  mov r8d, [rcx+rdx]
;;>     26  test r8d, r8d
;;>     29  jne near 45h
;;>     2f  sub edi, 1
;;>     32  add esi, 4
;;>     38  test edi, edi
;;>     3a  jne near 12h
;;>     40  mov rsp, rbp
;;>     43  pop rbp
;;>     44  ret
;;>     45  add eax, 4Dh
;;>     4b  imul eax, 1Fh
;;>     4e  mov [rcx+rdx], eax
;;>     51  jmp 2Fh
;;>     56  mov rcx, r15
;;>     59  mov rcx, [rcx+8]
;;>     5d  mov rcx, [rcx+28h]
;;>     61  mov rdx, 2100000000h
;;>     6b  mov [rcx], rdx
;;>     6e  mov qword [rcx+8], 7
;;>     76  mov edx, edi
;;>     78  mov [rcx+10h], rdx
;;>     7c  mov edx, esi
;;>     7e  mov [rcx+18h], rdx
;;>     82  mov eax, eax
;;>     84  mov [rcx+20h], rax
;;>     88  mov esi, [rcx]
;;>     8a  mov edx, [rcx+4]
;;>     8d  mov ecx, [rcx+8]
;;>     90  mov rdi, r15
;;>     93  mov rax, [rdi+38h]
;;>     97  mov rax, [rax+60h]
;;>     9b  call rax
;;>     9d  mov rcx, r15
;;>     a0  mov rcx, [rcx+8]
;;>     a4  mov rdi, [rcx+28h]
;;>     a8  mov r10, rax
;;>     ab  mov rsp, rbp
;;>     ae  pop rbp
;;>     af  jmp r10
;;> layout in function 0: done
