// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programs built with AddressSanitizer. Its runtime, which such a program names
 * as its first library, does not start where one is loaded before it, as we
 * are. It asks for the first place for its allocator and its wrappers. We have
 * no wrapper of the same functions, and our calls go to its wrappers, since
 * they are next.
 */
#include "preload/real.h"

const char *__asan_default_options(void);

/* The runtime asks this before it looks. A program that has one of its own gets
 * that one, and needs the runtime in LD_PRELOAD (doc/check.md). */
UR_EXPORT const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
