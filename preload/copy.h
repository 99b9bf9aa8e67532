/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies that a handler of faults can end (kernel-abi/uroce-copies.h). None of these
 * functions uses the stack, and all of them lie together: where one of their instructions
 * faults, whoever goes on at ur_copy_fault instead returns -EFAULT from the function. */
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
/* The first instruction of all, and where they end. */
extern const char ur_copy_begin[] __attribute__((visibility("hidden")));
extern const char ur_copy_end[] __attribute__((visibility("hidden")));
extern const char ur_copy_fault[] __attribute__((visibility("hidden")));

/* They are copy, copy_away and swap of struct uroce_copies, which says what they do. */
__attribute__((visibility("hidden"))) int ur_copy(void *to, const void *from,
						  size_t len);
#ifdef __x86_64__
__attribute__((visibility("hidden"))) int
ur_copy_away(void *to, const void *from, size_t len);
/* Does the same as ur_copy() with 128 bytes or more, of which all but the last 64 are stored in no
 * order. Processors of AMD are slow there, some at a tenth of their speed, where the target is
 * up to 64 bytes ahead of the source, counted from the beginning of their pages. */
__attribute__((visibility("hidden"))) int
ur_copy_string(void *to, const void *from, size_t len);
#endif
__attribute__((visibility("hidden"))) int
ur_copy_swap(unsigned long long *at, unsigned long long *old,
	     unsigned long long value);
#endif

#endif
