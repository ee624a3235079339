/* Counter and sample sets by the names of Solaris' libcpc (section 3CPC), over backedge's sources. Link with -lcpc.
 *
 * What this header has that the page does not show: cpc_open with CPC_VER_SMPL, the sampling flag and attribute of cpc_set_add_request, the
 * walkers' callbacks, cpc_get_smpl_max_rec_count's arguments, and the backedge_cpc_* functions. docs/src/interfaces.md says more.
 *
 * Functions return 0 or an index, or -1 (NULL) with errno: EINVAL, EAGAIN (the thread left the CPU its set is bound to), ENOMEM, ENOTSUP, or
 * what the system said. All are safe to call from several threads; one buffer is used by one thread at a time for its record pointers.
 */
#ifndef LWP_FEEDBACK_LIBCPC_H
#define LWP_FEEDBACK_LIBCPC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _cpc cpc_t;
typedef struct _cpc_set cpc_set_t;
typedef struct _cpc_buf cpc_buf_t;
typedef int64_t hrtime_t;
typedef unsigned int uint_t;
typedef int processorid_t;

typedef struct {
	const char *ca_name;
	uint64_t ca_val;
} cpc_attr_t;

/* Counters only; counters and samples. */
#define CPC_VER_CURRENT 2
#define CPC_VER_SMPL 3

/* Flags of a request. CPC_HW_SMPL makes it a sampling one; its attribute "smpl_nrecs" is the most records kept between two samples. */
#define CPC_COUNT_USER 0x2
#define CPC_COUNT_SYSTEM 0x4
#define CPC_HW_SMPL 0x8
#define CPC_SMPL_NRECS "smpl_nrecs"

/* What cpc_caps() returns. Without OVERFLOW_INTERRUPT sample at least once for each wrap of the narrowest counter. */
#define CPC_CAP_OVERFLOW_INTERRUPT 0x1
#define CPC_CAP_OVERFLOW_SMPL 0x4
#define CPC_CAP_TICK_ESTIMATED 0x100

/* Generic items of a record, for cpc_buf_smpl_get_item(). */
#define SMPL_REC_ITEM_PC (-1)
#define SMPL_REC_ITEM_DLINA (-2)
#define SMPL_REC_ITEM_LAT (-3)
#define SMPL_REC_ITEM_DSRC (-4)

/* The handle over perf_event_open: the kernel's software events, and the processor's where there is a PMU. It does not sample: CPC_VER_SMPL gives
 * ENOTSUP. */
cpc_t *cpc_open(int version);
int cpc_close(cpc_t *cpc);
uint_t cpc_caps(cpc_t *cpc);

/* Called by cpc_buf_sub/add/copy/zero for a buffer that is not theirs, and by cpc_set_add_request. The subcode is the errno. */
typedef void (cpc_errhndlr_t)(const char *function, int subcode, const char *message);
int cpc_seterrhndlr(cpc_t *cpc, cpc_errhndlr_t *handler);

cpc_set_t *cpc_set_create(cpc_t *cpc);
int cpc_set_destroy(cpc_t *cpc, cpc_set_t *set);
/* Returns the request's index. */
int cpc_set_add_request(cpc_t *cpc, cpc_set_t *set, const char *event, uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs);

/* `flags` must be 0. cpc_bind_cpu also binds the calling thread to the CPU until cpc_unbind. */
int cpc_bind_curlwp(cpc_t *cpc, cpc_set_t *set, uint_t flags);
int cpc_bind_cpu(cpc_t *cpc, processorid_t id, cpc_set_t *set, uint_t flags);
int cpc_unbind(cpc_t *cpc, cpc_set_t *set);

cpc_buf_t *cpc_buf_create(cpc_t *cpc, cpc_set_t *set);
int cpc_buf_destroy(cpc_t *cpc, cpc_buf_t *buf);
int cpc_set_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf);
int cpc_buf_get(cpc_t *cpc, cpc_buf_t *buf, int index, uint64_t *val);
int cpc_buf_set(cpc_t *cpc, cpc_buf_t *buf, int index, uint64_t val);
hrtime_t cpc_buf_hrtime(cpc_t *cpc, cpc_buf_t *buf);
uint64_t cpc_buf_tick(cpc_t *cpc, cpc_buf_t *buf);
void cpc_buf_sub(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *a, cpc_buf_t *b);
void cpc_buf_add(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *a, cpc_buf_t *b);
void cpc_buf_copy(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *src);
void cpc_buf_zero(cpc_t *cpc, cpc_buf_t *buf);
int cpc_buf_smpl_rec_count(cpc_t *cpc, cpc_buf_t *buf, int request_index, uint_t *rec_count);
int cpc_buf_smpl_get_item(cpc_t *cpc, cpc_buf_t *buf, int request_index, int record_index, int record_item_index, uint64_t *val);
/*
 * The pointer is good until the next cpc_set_sample() into the buffer, the second cpc_buf_copy() or cpc_buf_zero() of it, or its destruction. An item that the
 * record lacks is 0 in it.
 */
uint64_t *cpc_buf_smpl_get_record(cpc_t *cpc, cpc_buf_t *buf, int request_index, int record_index);
/* The most records that a sampling request keeps between two samples. */
int cpc_get_smpl_max_rec_count(cpc_t *cpc, cpc_set_t *set, int request_index, uint_t *max_rec_count);

/* Calls `action` for each item of a record, with its name and index; with _req after checking that the request samples. */
typedef void (cpc_recitem_action_t)(void *arg, const char *name, int record_item_index);
int cpc_walk_smpl_recitems(cpc_t *cpc, void *arg, cpc_recitem_action_t *action);
int cpc_walk_smpl_recitems_req(cpc_t *cpc, cpc_set_t *set, int request_index, void *arg, cpc_recitem_action_t *action);

/* A handle over counters that the program itself feeds: what a virtual machine embedding this uses. `version` as for cpc_open. */
cpc_t *backedge_cpc_open_feed(int version, int overflow_detected);
int backedge_cpc_feed_define(cpc_t *cpc, const char *event, uint_t width, int samples);
int backedge_cpc_feed_count(cpc_t *cpc, const char *event, uint64_t occurrences);
int backedge_cpc_feed_clocks(cpc_t *cpc, uint64_t clocks);
/* Items that are not there: pass their bit (1 << 0 pc, 1 dlina, 2 lat, 3 dsrc) clear in `present`. */
int backedge_cpc_feed_sample(cpc_t *cpc, const char *event, uint_t present, uint64_t pc, uint64_t dlina, uint64_t lat, uint64_t dsrc);

#ifdef __cplusplus
}
#endif

#endif
