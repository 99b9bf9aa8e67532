/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies that a fault handler can end (kernel-abi/uroce-copies.h). The functions use no stack and
 * lie together: a handler that resumes a faulting instruction of theirs at ur_copy_fault makes the
 * function return -EFAULT. */
#ifndef UR_PRELOAD_COPY_H
#define UR_PRELOAD_COPY_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define UR_COPY_HERE 1
#elif defined(__aarch64__) && defined(__AARCH64EL__) && !defined(__ILP32__)
#define UR_COPY_HERE 1
#else
#define UR_COPY_HERE 0
#endif

#if UR_COPY_HERE
/* Begin and end of the functions' code. */
extern const char ur_copy_begin[] __attribute__((visibility("hidden")));
extern const char ur_copy_end[] __attribute__((visibility("hidden")));
extern const char ur_copy_fault[] __attribute__((visibility("hidden")));

/* Implement copy, copy_away and swap of struct uroce_copies. */
__attribute__((visibility("hidden"))) int ur_copy(void *to, const void *from,
						  size_t len);
#ifdef __x86_64__
__attribute__((visibility("hidden"))) int
ur_copy_away(void *to, const void *from, size_t len);
/* Does the same as ur_copy(), for at least 128 bytes; stores all but the last 64 in no order. AMD
 * processors are slow, some at a tenth of their speed, where the target is up to 64 bytes ahead of
 * the source, counted within a page. */
__attribute__((visibility("hidden"))) int
ur_copy_string(void *to, const void *from, size_t len);
#endif
__attribute__((visibility("hidden"))) int
ur_copy_swap(unsigned long long *at, unsigned long long *old,
	     unsigned long long value);
#endif

#endif
