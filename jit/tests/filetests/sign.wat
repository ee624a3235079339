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
;;>      4  vmovups xmm6, [rip+24h]
;;>      c  vxorps xmm0, xmm0, xmm6
;;>     10  vmovupd xmm6, [rip+28h]
;;>     18  vandpd xmm1, xmm1, xmm6
;;>     1c  mov rsp, rbp
;;>     1f  pop rbp
;;>     20  ret
;;>     21  add [rax], al
;;>     23  add [rax], al
;;>     25  add [rax], al
;;>     27  add [rax], al
;;>     29  add [rax], al
;;>     2b  add [rax], al
;;>     2d  add [rax], al
;;>     2f  add [rax], al
;;>     31  add [rax], al
;;>     33  add byte [rax], 0
;;>     36  add [rax], al
;;>     38  add [rax], al
;;>     3a  add [rax], al
;;>     3c  add [rax], al
;;>     3e  add [rax], al
;;>     40  (bad)
;;>     42  (bad)
;;>     44  (bad)
;;>     46  (bad)
;;>     48  (bad)
;;>     4a  (bad)
;;>     4c  (bad)
;;>     4e  (bad)
