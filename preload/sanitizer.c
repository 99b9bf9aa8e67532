// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programs built with AddressSanitizer. Its runtime, such a program's first
 * library, refuses to start if another library is loaded before it, as ours is.
 * It wants to come first for its allocator and its wrappers. We wrap none of
 * the same functions, and our calls go to its wrappers, which are next.
 */
#include "preload/real.h"

const char *__asan_default_options(void);

/* The runtime reads these options before it checks the order. A program with a
 * function of its own uses that one, and needs the runtime in LD_PRELOAD
 * (doc/check.md). */
UR_EXPORT const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
