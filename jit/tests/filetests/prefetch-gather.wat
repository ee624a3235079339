;;! tier = optimizing
;;! show = assembly
;;! decision = {"prefetch": {"offset": "I32Load#1", "kind": "indirect", "distance": 64}}
;;! contains = prefetcht0
;;! contains = prefetch in function 0: done
;; The address 64 rounds ahead is read through the index array.
(module
  (memory 1)
  (func (param $n i32) (param $indices i32) (param $array i32) (result i32) (local $sum i32)
    (loop $next
      (local.set $sum (i32.add (local.get $sum)
        (i32.load (i32.add (local.get $array) (i32.shl (i32.load (local.get $indices)) (i32.const 2))))))
      (local.set $indices (i32.add (local.get $indices) (i32.const 4)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov rcx, r15
;;>      7  xor eax, eax
;;>      9  mov rcx, [rcx+40h]
;;>      d  mov r8, r15
;;>     10  mov r8d, [r8+70h]
;;>     14  test r8d, r8d
;;>     17  jne near 59h
;;>     1d  lea r8d, [rsi+100h]
;;>     24  mov r8d, [rcx+r8]
;;>     28  lea r8d, [rdx+r8*4]
;;>     2c  prefetcht0 [rcx+r8]
;;>     31  mov r8d, esi
;;>     34  mov r8d, [rcx+r8]
;;>     38  lea r8d, [rdx+r8*4]
;;>     3c  mov r8d, [rcx+r8]
;;>     40  sub edi, 1
;;>     43  add esi, 4
;;>     49  add eax, r8d
;;>     4c  test edi, edi
;;>     4e  jne near 0Dh
;;>     54  mov rsp, rbp
;;>     57  pop rbp
;;>     58  ret
;;>     59  mov r8, r15
;;>     5c  mov r9d, [r8+70h]
;;>     60  test r9w, r9w
;;>     64  jne near 86h
;;>     6a  xor r9d, 230000h
;;>     71  test r9d, r9d
;;>     74  je near 86h
;;>     7a  mov word [r8+72h], 0
;;>     81  jmp 0Dh
;;>     86  mov rcx, r15
;;>     89  mov rcx, [rcx+8]
;;>     8d  mov rcx, [rcx+28h]
;;>     91  mov r8, 2200000000h
;;>     9b  mov [rcx], r8
;;>     9e  mov qword [rcx+8], 7
;;>     a6  mov edi, edi
;;>     a8  mov [rcx+10h], rdi
;;>     ac  mov esi, esi
;;>     ae  mov [rcx+18h], rsi
;;>     b2  mov edx, edx
;;>     b4  mov [rcx+20h], rdx
;;>     b8  mov edx, eax
;;>     ba  mov [rcx+28h], rdx
;;>     be  mov esi, [rcx]
;;>     c0  mov edx, [rcx+4]
;;>     c3  mov ecx, [rcx+8]
;;>     c6  mov rdi, r15
;;>     c9  mov r8, [rdi+30h]
;;>     cd  mov r8, [r8+60h]
;;>     d1  call r8
;;>     d4  mov rsi, r15
;;>     d7  mov rsi, [rsi+8]
;;>     db  mov rdi, [rsi+28h]
;;>     df  mov r10, rax
;;>     e2  mov rsp, rbp
;;>     e5  pop rbp
;;>     e6  jmp r10
;;> prefetch in function 0: done
