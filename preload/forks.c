// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads of event files and the end of the process, for an engine in the program and the provider. */
#include <stdatomic.h>
#include <stddef.h>

#include "kernel-abi/uroce-forks.h"
#include "preload/fdmap.h"
#include "preload/forks.h"
#include "preload/real.h"

static void (*_Atomic listener)(int fd);	       /* or NULL */
static void (*_Atomic enders[UROCE_FORKS_ENDS])(void); /* NULL: free */

static void tell_reads(void (*before)(int number))
{
	atomic_store(&listener, before);
}

void ur_forks_before_read(int fd)
{
	void (*before)(int fd) =
		atomic_load_explicit(&listener, memory_order_acquire);

	if (before)
		before(fd);
}

static void tell_ends(void (*last)(void))
{
	for (int i = 0; i < UROCE_FORKS_ENDS; i++) {
		void (*none)(void) = NULL;

		if (atomic_compare_exchange_strong(&enders[i], &none, last))
			return;
	}
}

void ur_forks_last(void)
{
	if (ur_fdmap_borrowed())
		return;
	for (int i = 0; i < UROCE_FORKS_ENDS; i++) {
		void (*last)(void) =
			atomic_load_explicit(&enders[i], memory_order_acquire);

		if (last)
			last();
	}
}

UR_EXPORT const struct uroce_forks uroce_forks = {
	.version = UROCE_FORKS_VERSION,
	.tell = tell_reads,
	.tell_end = tell_ends,
};
