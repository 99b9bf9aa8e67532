/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The behaviour of a thread that polls and finds nothing. Device and
 * application may share a processor, so it lets the device run, and where there
 * are no more processors than pollers it leaves one of them to the device.
 * Beside a thread that does not yield itself it takes turns.
 */
#ifndef UR_PROVIDERS_UROCE_POLLER_H
#define UR_PROVIDERS_UROCE_POLLER_H

#include "uroce.h"

/*
 * After a long message the next one takes its time as well. If there are no
 * more processors than engines, a thread that polls for it takes a whole
 * processor from the engines that move it. Yielding does not help, since an
 * engine may wait for the other processor. So the thread sleeps a little: a
 * fraction of the time of such a message, and not longer than the wait may be
 * worth. A thread that is the engine itself does not.
 */
#define UR_POLLER_LONG_BYTES (256u << 10)
#define UR_POLLER_NAPS	     64

struct ur_poller {
	u32 empty;  /* polls in a row */
	u32 naps;   /* that it may take still */
	u32 beside; /* yields on the device's processor since it last left it */
	u32 patience; /* it leaves after so many; 0: never asked */
	u32 yields;
	u32 timed;  /* so many of the next yields are timed */
	bool alone; /* the last timed one found nobody */
	u32 looked; /* while alone, polls since it yielded */
	/* Its turn beside one that does not yield, on the monotonic clock; 0:
	 * none. Empty polls since waits_since. */
	u64 turn_until, waits_since;
};
extern __thread struct ur_poller ur_poller
	__attribute__((tls_model("initial-exec")));

/* The calling thread has found a completion of so many bytes. */
static inline void ur_poller_found(const struct uroce_context *ctx, u32 bytes)
{
	ur_poller.empty = 0;
	ur_poller.naps = ctx->few_cpus && (!ctx->guest || ctx->guest_apart) &&
					 bytes >= UR_POLLER_LONG_BYTES
				 ? UR_POLLER_NAPS
				 : 0;
}
/* It has found none. Returns 0, or EIO where waiting is in vain. */
int ur_poller_empty(const struct uroce_context *ctx);
/* Returns whether the context's device has gone. */
bool ur_poller_is_gone(const struct uroce_context *ctx);

#endif
