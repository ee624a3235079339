;;! tier = optimizing
;;! show = assembly
;;! contains = sbb
;;! contains = adc
;; What counts where a condition holds, and is read beside what it was: the sum and the choice become one instruction that adds the carry. So is what counts where a value is not zero.
(module
  (memory 1)
  (func (param $p i32) (param $k i32) (param $low i32) (result i32) (local $was i32)
    (loop $next
      (local.set $was (local.get $k))
      (local.set $k (select (i32.add (local.get $k) (i32.const 1)) (local.get $k) (i32.load8_u (local.get $p))))
      (i32.store offset=0x1000 (local.get $k) (local.get $was))
      (local.set $was (local.get $k))
      (local.set $k (select (i32.add (local.get $k) (i32.const 1)) (local.get $k) (i32.lt_u (local.get $p) (local.get $low))))
      (i32.store offset=0x2000 (local.get $k) (local.get $was))
      (br_if $next (local.tee $p (i32.sub (local.get $p) (i32.const 1)))))
    (local.get $k)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  jmp short 6
;;>      6  cmp r15, [r15-88h]
;;>      e  jb near 0FFh
;;>     14  mov eax, edi
;;>     16  movzx rcx, byte [r15+rax]
;;>     1b  cmp ecx, 1
;;>     1e  mov rcx, rsi
;;>     21  sbb ecx, 0FFFFFFFFh
;;>     24  mov eax, ecx
;;>     26  mov [r15+rax+1000h], esi
;;>     2e  cmp edi, edx
;;>     30  mov rax, rcx
;;>     33  adc eax, 0
;;>     36  mov esi, eax
;;>     38  mov [r15+rsi+2000h], ecx
;;>     40  cmp edi, 1
;;>     43  je near 0FAh
;;>     49  mov rsi, rdi
;;>     4c  sub esi, 1
;;>     4f  movzx r8, byte [r15+rsi]
;;>     54  cmp r8d, 1
;;>     58  mov r8, rax
;;>     5b  sbb r8d, 0FFFFFFFFh
;;>     5f  mov r9d, r8d
;;>     62  mov [r15+r9+1000h], eax
;;>     6a  cmp esi, edx
;;>     6c  mov rax, r8
;;>     6f  adc eax, 0
;;>     72  mov r9d, eax
;;>     75  mov [r15+r9+2000h], r8d
;;>     7d  cmp edi, 2
;;>     80  je short 0FAh
;;>     82  mov r11, rdi
;;>     85  sub r11d, 2
;;>     89  movzx rcx, byte [r15+r11]
;;>     8e  cmp ecx, 1
;;>     91  mov rcx, rax
;;>     94  sbb ecx, 0FFFFFFFFh
;;>     97  mov esi, ecx
;;>     99  mov [r15+rsi+1000h], eax
;;>     a1  cmp r11d, edx
;;>     a4  mov rax, rcx
;;>     a7  adc eax, 0
;;>     aa  mov esi, eax
;;>     ac  mov [r15+rsi+2000h], ecx
;;>     b4  cmp edi, 3
;;>     b7  je short 0FAh
;;>     b9  mov rcx, rdi
;;>     bc  sub ecx, 3
;;>     bf  movzx r8, byte [r15+rcx]
;;>     c4  cmp r8d, 1
;;>     c8  mov r8, rax
;;>     cb  sbb r8d, 0FFFFFFFFh
;;>     cf  mov esi, r8d
;;>     d2  mov [r15+rsi+1000h], eax
;;>     da  cmp ecx, edx
;;>     dc  mov rsi, r8
;;>     df  adc esi, 0
;;>     e2  mov eax, esi
;;>     e4  mov [r15+rax+2000h], r8d
;;>     ec  sub edi, 4
;;>     ef  test edi, edi
;;>     f1  jne near 6
;;>     f7  mov rax, rsi
;;>     fa  mov rsp, rbp
;;>     fd  pop rbp
;;>     fe  ret
;;>     ff  mov rax, [r15-40h]
;;>    103  mov rax, [rax+28h]
;;>    107  mov rcx, 2200000000h
;;>    111  mov [rax], rcx
;;>    114  mov qword [rax+8], 7
;;>    11c  mov ecx, edx
;;>    11e  mov [rax+20h], rcx
;;>    122  mov ecx, esi
;;>    124  mov [rax+18h], rcx
;;>    128  mov ecx, edi
;;>    12a  mov [rax+10h], rcx
;;>    12e  mov esi, [rax]
;;>    130  mov edx, [rax+4]
;;>    133  mov ecx, [rax+8]
;;>    136  mov rdi, r15
;;>    139  mov rax, [r15-10h]
;;>    13d  mov rax, [rax+70h]
;;>    141  call rax
;;>    143  mov rcx, [r15-40h]
;;>    147  mov rdi, [rcx+28h]
;;>    14b  mov r10, rax
;;>    14e  mov rsp, rbp
;;>    151  pop rbp
;;>    152  jmp r10
