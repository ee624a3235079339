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
;;>     51  mov rcx, r15
;;>     54  mov rcx, [rcx+8]
;;>     58  mov rcx, [rcx+28h]
;;>     5c  mov edx, edi
;;>     5e  mov [rcx+10h], rdx
;;>     62  mov edx, esi
;;>     64  mov [rcx+18h], rdx
;;>     68  mov eax, eax
;;>     6a  mov [rcx+20h], rax
;;>     6e  mov rax, 2100000000h
;;>     78  mov [rcx], rax
;;>     7b  mov qword [rcx+8], 7
;;>     83  mov esi, [rcx]
;;>     85  mov edx, [rcx+4]
;;>     88  mov ecx, [rcx+8]
;;>     8b  mov rdi, r15
;;>     8e  mov rax, [rdi+30h]
;;>     92  mov rax, [rax+60h]
;;>     96  call rax
;;>     98  mov rcx, r15
;;>     9b  mov rcx, [rcx+8]
;;>     9f  mov rdi, [rcx+28h]
;;>     a3  mov r10, rax
;;>     a6  mov rsp, rbp
;;>     a9  pop rbp
;;>     aa  jmp r10
;;> layout in function 0: done
