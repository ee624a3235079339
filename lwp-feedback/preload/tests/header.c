/* lwp.h without -mlwp: the sample's two loops, where the records come from, and a ring that is too small. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lwp.h"

#define SLOTS 4096u
#define SI_KERNEL_CODE 0x80

struct lwpcb {
	uint32_t flags, size, base[2], head, reserved0;
	uint64_t missed;
	uint32_t threshold, filters;
	uint64_t base_ip, limit_ip, reserved1;
	uint32_t tail, reserved2;
	uint64_t reserved3[7];
	struct { int32_t interval, counter; } events[6];
};

struct record {
	uint8_t event, core;
	uint16_t flags;
	uint32_t data1;
	uint64_t ip, data2, reserved;
};

static struct lwpcb block __attribute__((aligned(64)));
static struct record ring[SLOTS] __attribute__((aligned(4096)));

/* Each in a section of its own, whose ends the linker names. */
__attribute__((noinline, section("narrow_loop"))) static void narrow(void)
{
	for (unsigned i = 0; i < 31; i++) {
		if (i % 7 == 0)
			__lwpins32(0xdeadbeef, i, 0x01234567);
		__lwpval32(0x0badf00d, i, 0xcad00cad);
	}
}

__attribute__((noinline, section("wide_loop"))) static void wide(void)
{
	for (unsigned i = 0; i < 31; i++) {
		if (i % 7 == 0)
			__lwpins64(0xdeadbeefdeadbeefULL, i, 0x01234567);
		__lwpval64(0x0badf00d0badf00dULL, i, 0xcad00cad);
	}
}

extern const char __start_narrow_loop[], __stop_narrow_loop[], __start_wide_loop[], __stop_wide_loop[];

static volatile sig_atomic_t caught;

static void on_segv(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	caught = info->si_code;
}

int main(void)
{
	unsigned first = SLOTS - 3, values = 0, programmed = 0, count = 0, inside = 0;
	uint64_t base = (uint64_t)(uintptr_t)ring;

	memcpy(block.base, &base, sizeof base);
	block.flags = 1 << 1;
	block.size = SLOTS * 32;
	block.head = block.tail = first * 32;
	block.events[0].interval = 9;
	__llwpcb(&block);
	narrow();
	wide();
	if (__slwpcb() != &block)
		return 2;
	for (unsigned at = first; at != block.head / 32; at = (at + 1) % SLOTS, count++) {
		uint64_t ip = ring[at].ip;
		const char *low = count < 9 ? __start_narrow_loop : __start_wide_loop;
		const char *high = count < 9 ? __stop_narrow_loop : __stop_wide_loop;
		values += ring[at].event == 1;
		programmed += ring[at].event == 255;
		inside += ip >= (uint64_t)(uintptr_t)low && ip < (uint64_t)(uintptr_t)high;
	}
	printf("%u records, %u LWPVAL, %u LWPINS, head %u\n", count, values, programmed, block.head);
	if (inside == count)
		puts("addresses in their callers");
	else
		printf("%u addresses of %u in their callers\n", inside, count);

	struct sigaction action;
	memset(&action, 0, sizeof action);
	action.sa_sigaction = on_segv;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &action, 0);
	block.size = 1023;
	__llwpcb(&block);
	printf("%s, %s\n", caught == SI_KERNEL_CODE ? "#GP" : "nothing raised", __slwpcb() == 0 ? "off" : "on");
	__lwpval32(1, 2, 3);
	return __lwpins32(1, 2, 3);
}
