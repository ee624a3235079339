;; The sign bit is turned or cleared by a mask in memory: none is made in a general register.
;;! tier = optimizing
;;! show = assembly
;;! contains = xorps
;;! contains = andpd
;;! lacks = vmovd
;;! lacks = vmovq
(module
  (func (param $x f32) (param $y f64) (result f32 f64)
    (f32.neg (local.get $x))
    (f64.abs (local.get $y))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  vmovups xmm6, [rip+2Ch]
;;>      c  vxorps xmm0, xmm0, xmm6
;;>     10  vmovupd xmm6, [rip+30h]
;;>     18  vandpd xmm1, xmm1, xmm6
;;>     1c  mov rsp, rbp
;;>     1f  pop rbp
;;>     20  ret
;;>     21  int3
;;>     22  int3
;;>     23  int3
;;>     24  int3
;;>     25  int3
;;>     26  int3
;;>     27  int3
;;>     28  int3
;;>     29  add [rax], al
;;>     2b  add [rax], al
;;>     2d  add [rax], al
;;>     2f  add [rax], al
;;>     31  add [rax], al
;;>     33  add [rax], al
;;>     35  add [rax], al
;;>     37  add [rax], al
;;>     39  add [rax], al
;;>     3b  add byte [rax], 0
;;>     3e  add [rax], al
;;>     40  add [rax], al
;;>     42  add [rax], al
;;>     44  add [rax], al
;;>     46  add [rax], al
;;>     48  (bad)
;;>     4a  (bad)
;;>     4c  (bad)
;;>     4e  (bad)
;;>     50  (bad)
;;>     52  (bad)
;;>     54  (bad)
;;>     56  (bad)
