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
;;>     59  mov rcx, r15
;;>     5c  mov rcx, [rcx+8]
;;>     60  mov rcx, [rcx+28h]
;;>     64  mov edi, edi
;;>     66  mov [rcx+10h], rdi
;;>     6a  mov esi, esi
;;>     6c  mov [rcx+18h], rsi
;;>     70  mov edx, edx
;;>     72  mov [rcx+20h], rdx
;;>     76  mov eax, eax
;;>     78  mov [rcx+28h], rax
;;>     7c  mov rax, 2200000000h
;;>     86  mov [rcx], rax
;;>     89  mov qword [rcx+8], 7
;;>     91  mov esi, [rcx]
;;>     93  mov edx, [rcx+4]
;;>     96  mov ecx, [rcx+8]
;;>     99  mov rdi, r15
;;>     9c  mov rax, [rdi+30h]
;;>     a0  mov rax, [rax+60h]
;;>     a4  call rax
;;>     a6  mov rcx, r15
;;>     a9  mov rcx, [rcx+8]
;;>     ad  mov rdi, [rcx+28h]
;;>     b1  mov r10, rax
;;>     b4  mov rsp, rbp
;;>     b7  pop rbp
;;>     b8  jmp r10
;;> prefetch in function 0: done
