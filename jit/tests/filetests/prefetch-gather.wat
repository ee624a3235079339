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
;;>      4  xor eax, eax
;;>      6  mov rcx, [r15-60h]
;;>      a  mov r8d, esi
;;>      d  mov r8d, [r15+r8]
;;>     11  lea r9d, [rsi+100h]
;;>     18  mov r9d, [rcx+r9]
;;>     1c  lea r9d, [rdx+r9*4]
;;>     20  prefetcht0 [rcx+r9]
;;>     25  lea r8d, [rdx+r8*4]
;;>     29  mov r8d, [r15+r8]
;;>     2d  sub edi, 1
;;>     30  add esi, 4
;;>     33  add eax, r8d
;;>     36  test edi, edi
;;>     38  jne short 3Fh
;;>     3a  mov rsp, rbp
;;>     3d  pop rbp
;;>     3e  ret
;;>     3f  cmp r15, [r15-88h]
;;>     47  jb near 4Fh
;;>     4d  jmp short 0Ah
;;>     4f  mov rcx, [r15-40h]
;;>     53  mov rcx, [rcx+28h]
;;>     57  mov r8, 2200000000h
;;>     61  mov [rcx], r8
;;>     64  mov qword [rcx+8], 7
;;>     6c  mov eax, eax
;;>     6e  mov [rcx+28h], rax
;;>     72  mov eax, edx
;;>     74  mov [rcx+20h], rax
;;>     78  mov eax, esi
;;>     7a  mov [rcx+18h], rax
;;>     7e  mov eax, edi
;;>     80  mov [rcx+10h], rax
;;>     84  mov esi, [rcx]
;;>     86  mov edx, [rcx+4]
;;>     89  mov ecx, [rcx+8]
;;>     8c  mov rdi, r15
;;>     8f  mov rax, [r15-10h]
;;>     93  mov rax, [rax+70h]
;;>     97  call rax
;;>     99  mov rcx, [r15-40h]
;;>     9d  mov rdi, [rcx+28h]
;;>     a1  mov r10, rax
;;>     a4  mov rsp, rbp
;;>     a7  pop rbp
;;>     a8  jmp r10
;;> prefetch in function 0: done
