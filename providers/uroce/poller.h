/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The behaviour of a polling thread that finds nothing. Device and application
 * may share a processor, so the thread yields to the device. Where there are no
 * more processors than pollers, it leaves one of them to the device. Beside a
 * thread that never yields, it takes turns with that thread.
 */
#ifndef UR_PROVIDERS_UROCE_POLLER_H
#define UR_PROVIDERS_UROCE_POLLER_H

#include "uroce.h"

/*
 * After a long message the next one takes time as well. If there are no more
 * processors than engines, a polling thread takes a whole processor from the
 * engines that move the message. Yielding does not help, since an engine may
 * wait for the other processor. So the thread sleeps for a fraction of the time
 * of such a message. A thread that runs the engine itself does not sleep.
 */
#define UR_POLLER_LONG_BYTES (256u << 10)
#define UR_POLLER_NAPS	     64

struct ur_poller {
	u32 empty; /* empty polls in a row */
	u32 naps;  /* sleeps that are left after a long message */
	/* yields on the device's processor since it last left that processor */
	u32 beside;
	u32 patience; /* leaves it after this many; 0: not yet set */
	u32 yields;
	u32 timed;  /* how many of the next yields are timed */
	bool alone; /* the last timed yield found no other thread */
	u32 looked; /* polls since the last yield, while alone */
	/* Beside a thread that never yields: end of this thread's turn. ns, monotonic; 0: no
	 * such thread */
	u64 turn_until;
	u64 waits_since; /* first of the present row of empty polls; ns, monotonic */
};
extern __thread struct ur_poller ur_poller
	__attribute__((tls_model("initial-exec")));

/* Notes that the calling thread found a completion of a message of so many
 * bytes. */
static inline void ur_poller_found(const struct uroce_context *ctx, u32 bytes)
{
	ur_poller.empty = 0;
	ur_poller.naps = ctx->few_cpus && (!ctx->engine || ctx->engine_apart) &&
					 bytes >= UR_POLLER_LONG_BYTES
				 ? UR_POLLER_NAPS
				 : 0;
}
/* Gives the processor to other threads, if several polls in a row have found nothing. The caller looks at
 * its queue afterwards: a completion may have come, and next the program may learn from rdma_cm that the
 * peer has gone, and destroy the queue pair. */
void ur_poller_wait(const struct uroce_context *ctx);
/* Counts an empty poll. Returns 0, or EIO where the device is gone. */
int ur_poller_empty(const struct uroce_context *ctx);
/* Returns whether the context's device has gone. */
bool ur_poller_is_gone(const struct uroce_context *ctx);

#endif
