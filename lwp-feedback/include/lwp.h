/* The LWP intrinsics by their names of the __llwpcb page.
 *
 * With -mlwp they are the compiler's own: real instructions, for a processor that has LWP or a program run by `backedge lwp exec`.
 * Without it they call the software unit of liblwp_preload.so (link with it); flags may then be any expression. Faults are the instructions'
 * signals: __llwpcb of a ring below the minimum raises SIGSEGV (si_code SI_KERNEL) and leaves LWP off.
 */
#ifndef LWP_FEEDBACK_LWP_H
#define LWP_FEEDBACK_LWP_H

#ifdef __LWP__

#include <x86intrin.h>

#else

#ifdef __cplusplus
extern "C" {
#endif

void lwp_feedback_llwpcb(void *lwpcb);
void *lwp_feedback_slwpcb(void);
unsigned char lwp_feedback_lwpins(const void *ip, unsigned long long data2, unsigned int data1, unsigned int flags);
void lwp_feedback_lwpval(const void *ip, unsigned long long data2, unsigned int data1, unsigned int flags);

#ifdef __cplusplus
}
#endif

/* The address of the code that stands here: what the instruction's record would carry. Not a label's address, which an optimizer may move. */
#define LWP_FEEDBACK_HERE \
	__extension__({ \
		const void *lwp_feedback_here; \
		__asm__ __volatile__("lea 0f(%%rip), %0\n0:" : "=r"(lwp_feedback_here)); \
		lwp_feedback_here; \
	})

#define __llwpcb(lwpcb) lwp_feedback_llwpcb(lwpcb)
#define __slwpcb() lwp_feedback_slwpcb()
#define __lwpins32(data2, data1, flags) lwp_feedback_lwpins(LWP_FEEDBACK_HERE, (unsigned int)(data2), data1, flags)
#define __lwpins64(data2, data1, flags) lwp_feedback_lwpins(LWP_FEEDBACK_HERE, data2, data1, flags)
#define __lwpval32(data2, data1, flags) lwp_feedback_lwpval(LWP_FEEDBACK_HERE, (unsigned int)(data2), data1, flags)
#define __lwpval64(data2, data1, flags) lwp_feedback_lwpval(LWP_FEEDBACK_HERE, data2, data1, flags)

#endif

#endif
