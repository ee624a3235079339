/* Every function of the page, and every misuse with its errno. Prints "ok" and the number of checks. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libcpc.h"

static int checks;

#define CHECK(condition) \
	do { \
		checks++; \
		if (!(condition)) { \
			printf("line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
			exit(1); \
		} \
	} while (0)

/* The call returns `result` and sets errno. */
#define REFUSED(call, result, number) CHECK((errno = 0, (call) == (result)) && errno == (number))

static cpc_t *cpc, *other;
static cpc_set_t *set;
static cpc_buf_t *buf;
static char handled[64];
static int handler_calls, handled_errno;

static void handler(const char *function, int subcode, const char *message)
{
	snprintf(handled, sizeof handled, "%s", function);
	handled_errno = subcode;
	handler_calls += message != NULL;
}

static void *sample_elsewhere(void *unused)
{
	(void)unused;
	REFUSED(cpc_set_sample(cpc, set, buf), -1, EINVAL);
	return NULL;
}

static void item(void *arg, const char *name, int index)
{
	int *latency = arg;
	if (strcmp(name, "lat") == 0)
		*latency = index;
}

static hrtime_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void feed(void)
{
	cpc = backedge_cpc_open_feed(CPC_VER_SMPL, 1);
	other = backedge_cpc_open_feed(CPC_VER_SMPL, 0);
	CHECK(cpc && other);
	CHECK(cpc_caps(cpc) == (CPC_CAP_OVERFLOW_INTERRUPT | CPC_CAP_OVERFLOW_SMPL));
	CHECK(cpc_caps(other) == CPC_CAP_OVERFLOW_SMPL);
	CHECK(backedge_cpc_feed_define(cpc, "loads", 26, 1) == 0);
	CHECK(backedge_cpc_feed_define(cpc, "plain", 64, 0) == 0);
	CHECK(backedge_cpc_feed_define(other, "loads", 26, 1) == 0);
	CHECK(cpc_seterrhndlr(cpc, handler) == 0);

	set = cpc_set_create(cpc);
	cpc_attr_t three = { CPC_SMPL_NRECS, 3 };
	CHECK(cpc_set_add_request(cpc, set, "loads", 10, CPC_COUNT_USER, 0, NULL) == 0);
	CHECK(cpc_set_add_request(cpc, set, "loads", 0, CPC_COUNT_USER | CPC_HW_SMPL, 1, &three) == 1);
	REFUSED(cpc_set_add_request(cpc, set, "nothing", 0, CPC_COUNT_USER, 0, NULL), -1, EINVAL);
	CHECK(strcmp(handled, "cpc_set_add_request") == 0);
	REFUSED(cpc_set_add_request(cpc, set, "plain", 0, CPC_HW_SMPL, 0, NULL), -1, ENOTSUP);
	REFUSED(cpc_set_add_request(other, set, "loads", 0, 0, 0, NULL), -1, EINVAL);

	buf = cpc_buf_create(cpc, set);
	CHECK(buf);
	REFUSED(cpc_buf_create(other, set), NULL, EINVAL);
	REFUSED(cpc_set_sample(cpc, set, buf), -1, EINVAL); /* not bound */
	CHECK(cpc_bind_curlwp(cpc, set, 0) == 0);
	REFUSED(cpc_bind_curlwp(cpc, set, 0), -1, EINVAL);

	/* More than one wrap of 26 bits between two samples. */
	hrtime_t before = now();
	CHECK(backedge_cpc_feed_count(cpc, "loads", 3ull << 26) == 0);
	CHECK(backedge_cpc_feed_clocks(cpc, 500) == 0);
	for (int i = 0; i < 5; i++)
		CHECK(backedge_cpc_feed_sample(cpc, "loads", 0xf, 0x400 + i, 0x9000, 100 + i, 3) == 0);
	REFUSED(backedge_cpc_feed_count(cpc, "nothing", 1), -1, EINVAL);
	CHECK(cpc_set_sample(cpc, set, buf) == 0);
	uint64_t value = 0;
	CHECK(cpc_buf_get(cpc, buf, 0, &value) == 0 && value == 10 + (3ull << 26));
	CHECK(cpc_buf_tick(cpc, buf) == 500);
	CHECK(cpc_buf_hrtime(cpc, buf) >= before && cpc_buf_hrtime(cpc, buf) <= now());

	uint_t records = 0;
	CHECK(cpc_buf_smpl_rec_count(cpc, buf, 1, &records) == 0 && records == 3);
	CHECK(cpc_get_smpl_max_rec_count(cpc, set, 1, &records) == 0 && records == 3);
	CHECK(cpc_buf_smpl_get_item(cpc, buf, 1, 2, SMPL_REC_ITEM_PC, &value) == 0 && value == 0x402);
	CHECK(cpc_buf_smpl_get_item(cpc, buf, 1, 2, SMPL_REC_ITEM_DLINA, &value) == 0 && value == 0x9000);
	CHECK(cpc_buf_smpl_get_item(cpc, buf, 1, 2, SMPL_REC_ITEM_LAT, &value) == 0 && value == 102);
	CHECK(cpc_buf_smpl_get_item(cpc, buf, 1, 2, SMPL_REC_ITEM_DSRC, &value) == 0 && value == 3);
	int latency = -1, latency_of_request = -1;
	CHECK(cpc_walk_smpl_recitems(cpc, &latency, item) == 0);
	CHECK(cpc_walk_smpl_recitems_req(cpc, set, 1, &latency_of_request, item) == 0);
	CHECK(latency >= 0 && latency == latency_of_request);
	uint64_t *record = cpc_buf_smpl_get_record(cpc, buf, 1, 1);
	CHECK(record && record[latency] == 101);
	CHECK(cpc_buf_smpl_get_record(cpc, buf, 1, 1) == record && record[latency] == 101);

	/* A counting request is no sampling one, and the other way round. */
	REFUSED(cpc_buf_get(cpc, buf, 1, &value), -1, EINVAL);
	REFUSED(cpc_buf_set(cpc, buf, 1, 5), -1, EINVAL);
	REFUSED(cpc_buf_get(cpc, buf, 2, &value), -1, EINVAL);
	REFUSED(cpc_buf_get(cpc, buf, -1, &value), -1, EINVAL);
	REFUSED(cpc_buf_smpl_rec_count(cpc, buf, 0, &records), -1, EINVAL);
	REFUSED(cpc_buf_smpl_get_item(cpc, buf, 0, 0, SMPL_REC_ITEM_PC, &value), -1, EINVAL);
	REFUSED(cpc_buf_smpl_get_record(cpc, buf, 0, 0), NULL, EINVAL);
	REFUSED(cpc_get_smpl_max_rec_count(cpc, set, 0, &records), -1, EINVAL);
	REFUSED(cpc_walk_smpl_recitems_req(cpc, set, 0, &latency, item), -1, EINVAL);
	/* Out of range. */
	REFUSED(cpc_buf_smpl_get_item(cpc, buf, 1, 3, SMPL_REC_ITEM_PC, &value), -1, EINVAL);
	REFUSED(cpc_buf_smpl_get_item(cpc, buf, 1, -1, SMPL_REC_ITEM_PC, &value), -1, EINVAL);
	REFUSED(cpc_buf_smpl_get_item(cpc, buf, 1, 0, 99, &value), -1, EINVAL);
	REFUSED(cpc_buf_smpl_get_item(cpc, buf, 1, 0, -5, &value), -1, EINVAL);
	REFUSED(cpc_buf_smpl_get_record(cpc, buf, 1, 3), NULL, EINVAL);
	/* Another handle. */
	REFUSED(cpc_set_sample(other, set, buf), -1, EINVAL);
	REFUSED(cpc_buf_get(other, buf, 0, &value), -1, EINVAL);
	REFUSED(cpc_buf_smpl_get_record(other, buf, 1, 0), NULL, EINVAL);
	/* Another set. */
	cpc_set_t *second = cpc_set_create(cpc);
	CHECK(cpc_set_add_request(cpc, second, "loads", 0, CPC_COUNT_USER, 0, NULL) == 0);
	cpc_buf_t *of_second = cpc_buf_create(cpc, second);
	REFUSED(cpc_set_sample(cpc, set, of_second), -1, EINVAL);
	/* Another thread. */
	pthread_t thread;
	CHECK(pthread_create(&thread, NULL, sample_elsewhere, NULL) == 0 && pthread_join(thread, NULL) == 0);
	/* NULL. */
	REFUSED(cpc_set_sample(cpc, set, NULL), -1, EINVAL);
	REFUSED(cpc_buf_get(cpc, buf, 0, NULL), -1, EINVAL);

	/* Arithmetic: counters only. */
	cpc_buf_t *ds = cpc_buf_create(cpc, set), *later = cpc_buf_create(cpc, set);
	CHECK(backedge_cpc_feed_count(cpc, "loads", 25) == 0);
	CHECK(backedge_cpc_feed_sample(cpc, "loads", 0x1, 0x500, 0, 0, 0) == 0);
	CHECK(cpc_set_sample(cpc, set, later) == 0);
	CHECK(cpc_buf_smpl_get_item(cpc, later, 1, 0, SMPL_REC_ITEM_PC, &value) == 0 && value == 0x500);
	REFUSED(cpc_buf_smpl_get_item(cpc, later, 1, 0, SMPL_REC_ITEM_LAT, &value), -1, EINVAL); /* this record has none */
	cpc_buf_sub(cpc, ds, later, buf);
	CHECK(cpc_buf_get(cpc, ds, 0, &value) == 0 && value == 25);
	CHECK(cpc_buf_smpl_rec_count(cpc, ds, 1, &records) == 0 && records == 0);
	cpc_buf_add(cpc, ds, ds, ds);
	CHECK(cpc_buf_get(cpc, ds, 0, &value) == 0 && value == 50);
	cpc_buf_copy(cpc, ds, later);
	CHECK(cpc_buf_smpl_rec_count(cpc, ds, 1, &records) == 0 && records == 1);
	uint64_t *copied = cpc_buf_smpl_get_record(cpc, ds, 1, 0);
	cpc_buf_zero(cpc, ds);
	CHECK(copied[0] == 0x500); /* good until the next sample */
	CHECK(cpc_buf_get(cpc, ds, 0, &value) == 0 && value == 0);
	CHECK(cpc_buf_tick(cpc, ds) == 0 && cpc_buf_hrtime(cpc, ds) == 0);

	/* Values that were set do not reach the counters. */
	CHECK(cpc_buf_set(cpc, buf, 0, 77) == 0);
	CHECK(cpc_buf_get(cpc, buf, 0, &value) == 0 && value == 77);
	CHECK(cpc_set_sample(cpc, set, buf) == 0);
	CHECK(cpc_buf_get(cpc, buf, 0, &value) == 0 && value == 35 + (3ull << 26));

	/* Foreign buffers: nothing changes, the handler is called. */
	handler_calls = 0;
	cpc_buf_sub(cpc, buf, later, of_second);
	CHECK(handler_calls == 1 && strcmp(handled, "cpc_buf_sub") == 0 && handled_errno == EINVAL);
	cpc_buf_add(cpc, of_second, later, later);
	CHECK(handler_calls == 2 && strcmp(handled, "cpc_buf_add") == 0);
	cpc_buf_copy(cpc, buf, of_second);
	CHECK(handler_calls == 3 && strcmp(handled, "cpc_buf_copy") == 0);
	cpc_set_t *foreign_set = cpc_set_create(other);
	CHECK(cpc_set_add_request(other, foreign_set, "loads", 0, CPC_COUNT_USER, 0, NULL) == 0);
	cpc_buf_t *foreign = cpc_buf_create(other, foreign_set);
	CHECK(cpc_buf_set(other, foreign, 0, 9) == 0);
	cpc_buf_zero(cpc, foreign);
	CHECK(handler_calls == 4 && strcmp(handled, "cpc_buf_zero") == 0);
	CHECK(cpc_buf_get(other, foreign, 0, &value) == 0 && value == 9);
	CHECK(cpc_buf_get(cpc, buf, 0, &value) == 0 && value == 35 + (3ull << 26));
	REFUSED(cpc_buf_destroy(cpc, foreign), -1, EINVAL);

	/* No memory for the records. */
	cpc_set_t *huge = cpc_set_create(cpc);
	cpc_attr_t too_many = { CPC_SMPL_NRECS, UINT64_MAX / 64 };
	CHECK(cpc_set_add_request(cpc, huge, "loads", 0, CPC_HW_SMPL, 1, &too_many) == 0);
	REFUSED(cpc_buf_create(cpc, huge), NULL, ENOMEM);

	CHECK(cpc_unbind(cpc, set) == 0);
	REFUSED(cpc_unbind(cpc, set), -1, EINVAL);
	REFUSED(cpc_set_sample(cpc, set, buf), -1, EINVAL);
	CHECK(cpc_buf_destroy(cpc, buf) == 0 && cpc_buf_destroy(cpc, ds) == 0 && cpc_buf_destroy(cpc, later) == 0);
	CHECK(cpc_buf_destroy(cpc, of_second) == 0 && cpc_buf_destroy(other, foreign) == 0);
	CHECK(cpc_set_destroy(cpc, set) == 0 && cpc_set_destroy(cpc, second) == 0 && cpc_set_destroy(cpc, huge) == 0);
}

static void cpu(void)
{
	cpu_set_t all, one;
	CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
	int first = 0;
	while (!CPU_ISSET(first, &all))
		first++;
	cpc_set_t *of_cpu = cpc_set_create(cpc);
	uint64_t value;
	CHECK(cpc_set_add_request(cpc, of_cpu, "loads", 0, CPC_COUNT_USER, 0, NULL) == 0);
	cpc_buf_t *into = cpc_buf_create(cpc, of_cpu);
	REFUSED(cpc_bind_cpu(cpc, -1, of_cpu, 0), -1, EINVAL);
	REFUSED(cpc_bind_cpu(cpc, 100000, of_cpu, 0), -1, EINVAL);
	CHECK(cpc_bind_cpu(cpc, first, of_cpu, 0) == 0);
	CHECK(cpc_set_sample(cpc, of_cpu, into) == 0);
	CHECK(cpc_buf_get(cpc, into, 0, &value) == 0 && value == 0);
	if (CPU_COUNT(&all) > 1) {
		CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
		REFUSED(cpc_set_sample(cpc, of_cpu, into), -1, EAGAIN);
		CPU_ZERO(&one);
		CPU_SET(first, &one);
		CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
		CHECK(cpc_set_sample(cpc, of_cpu, into) == 0);
	}
	CHECK(cpc_unbind(cpc, of_cpu) == 0);
	CHECK(sched_getaffinity(0, sizeof one, &one) == 0 && CPU_EQUAL(&one, &all));
	CHECK(cpc_buf_destroy(cpc, into) == 0 && cpc_set_destroy(cpc, of_cpu) == 0);
}

static void counters_only(void)
{
	cpc_t *plain = backedge_cpc_open_feed(CPC_VER_CURRENT, 1);
	uint_t records;
	uint64_t value;
	int unused = 0;
	CHECK(plain && backedge_cpc_feed_define(plain, "loads", 40, 1) == 0);
	cpc_set_t *counting = cpc_set_create(plain);
	CHECK(cpc_set_add_request(plain, counting, "loads", 0, CPC_COUNT_USER, 0, NULL) == 0);
	REFUSED(cpc_set_add_request(plain, counting, "loads", 0, CPC_HW_SMPL, 0, NULL), -1, EINVAL);
	cpc_buf_t *into = cpc_buf_create(plain, counting);
	REFUSED(cpc_buf_smpl_rec_count(plain, into, 0, &records), -1, EINVAL);
	REFUSED(cpc_buf_smpl_get_item(plain, into, 0, 0, SMPL_REC_ITEM_PC, &value), -1, EINVAL);
	REFUSED(cpc_buf_smpl_get_record(plain, into, 0, 0), NULL, EINVAL);
	REFUSED(cpc_get_smpl_max_rec_count(plain, counting, 0, &records), -1, EINVAL);
	REFUSED(cpc_walk_smpl_recitems(plain, &unused, item), -1, EINVAL);
	CHECK(cpc_buf_destroy(plain, into) == 0 && cpc_set_destroy(plain, counting) == 0 && cpc_close(plain) == 0);
	REFUSED(backedge_cpc_open_feed(99, 1), NULL, EINVAL);
}

/* The kernel's own counters, where it lets this process have them. */
static void perf(void)
{
	cpc_t *kernel = cpc_open(CPC_VER_CURRENT);
	if (!kernel) {
		CHECK(errno == ENOTSUP || errno == EACCES || errno == EPERM);
		return;
	}
	REFUSED(cpc_open(CPC_VER_SMPL), NULL, ENOTSUP);
	cpc_set_t *clock = cpc_set_create(kernel);
	CHECK(cpc_set_add_request(kernel, clock, "task-clock", 0, CPC_COUNT_USER, 0, NULL) == 0);
	CHECK(cpc_bind_curlwp(kernel, clock, 0) == 0);
	cpc_buf_t *into = cpc_buf_create(kernel, clock);
	uint64_t value = 0;
	while (value == 0) {
		for (volatile int i = 0; i < 100000; i++)
			;
		CHECK(cpc_set_sample(kernel, clock, into) == 0 && cpc_buf_get(kernel, into, 0, &value) == 0);
	}
	CHECK(cpc_buf_tick(kernel, into) > 0);
	CHECK(cpc_buf_destroy(kernel, into) == 0 && cpc_set_destroy(kernel, clock) == 0 && cpc_close(kernel) == 0);
}

int main(void)
{
	feed();
	cpu();
	counters_only();
	perf();
	CHECK(cpc_close(cpc) == 0 && cpc_close(other) == 0);
	REFUSED(cpc_close(NULL), -1, EINVAL);
	printf("ok, %d checks\n", checks);
	return 0;
}
