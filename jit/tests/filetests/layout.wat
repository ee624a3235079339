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
;;>     12  cmp r15, [r15+80h]
;;>     1a  jb near 56h
;;>     20  mov edx, esi
;;>     22  mov r8d, [rcx+rdx]
;;>     26  test r8d, r8d
;;>     29  jne near 45h
;;>     2f  sub edi, 1
;;>     32  add esi, 4
;;>     38  test edi, edi
;;>     3a  jne near 0Dh
;;>     40  mov rsp, rbp
;;>     43  pop rbp
;;>     44  ret
;;>     45  add eax, 4Dh
;;>     4b  imul eax, 1Fh
;;>     4e  mov [rcx+rdx], eax
;;>     51  jmp 2Fh
;;>     56  mov rdx, r15
;;>     59  mov r8d, [rdx+84h]
;;>     60  test r8w, r8w
;;>     64  jne near 88h
;;>     6a  xor r8d, 220000h
;;>     71  test r8d, r8d
;;>     74  je near 88h
;;>     7a  mov word [rdx+86h], 0
;;>     83  jmp 0Dh
;;>     88  mov rcx, r15
;;>     8b  mov rcx, [rcx+8]
;;>     8f  mov rcx, [rcx+28h]
;;>     93  mov rdx, 2100000000h
;;>     9d  mov [rcx], rdx
;;>     a0  mov qword [rcx+8], 7
;;>     a8  mov edx, edi
;;>     aa  mov [rcx+10h], rdx
;;>     ae  mov edx, esi
;;>     b0  mov [rcx+18h], rdx
;;>     b4  mov eax, eax
;;>     b6  mov [rcx+20h], rax
;;>     ba  mov esi, [rcx]
;;>     bc  mov edx, [rcx+4]
;;>     bf  mov ecx, [rcx+8]
;;>     c2  mov rdi, r15
;;>     c5  mov r8, [rdi+38h]
;;>     c9  mov r8, [r8+60h]
;;>     cd  call r8
;;>     d0  mov rcx, r15
;;>     d3  mov rcx, [rcx+8]
;;>     d7  mov rdi, [rcx+28h]
;;>     db  mov r10, rax
;;>     de  mov rsp, rbp
;;>     e1  pop rbp
;;>     e2  jmp r10
;;> layout in function 0: done
