/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The preload library gives copies to an engine in a program (uroce-engine.h): to and from
 * the program's memory, ending with an error where the memory is not there.
 * They are made by the processor; a handler of SIGSEGV and SIGBUS, which stands before
 * the program's own, makes a fault of one of their instructions a result. The library has
 * them since it is in every such program and is never unloaded, and since it sees the
 * program set its handlers and masks.
 */
#ifndef UROCE_COPIES_H
#define UROCE_COPIES_H

#include <linux/types.h>
#include <stddef.h>

#define UROCE_COPIES_VERSION 1

/* For so long a thread is believed to be as it was when may() last looked. */
#define UROCE_COPIES_BELIEVED_NS 1000000u

/* Any thread, but where another is named. */
struct uroce_copies {
	__u32 version; /* UROCE_COPIES_VERSION */
	/* Installs the handlers, the first time. Returns 0, or -EOPNOTSUPP: there are
	 * none for this processor or this program. */
	int (*start)(void);
	/* Returns 1 where a fault of the calling thread would reach the handlers: they are
	 * the kernel's, and neither signal is blocked. Else 0, and copy() and swap() must
	 * not be called. now: CLOCK_MONOTONIC in nanoseconds. Good until the thread runs
	 * code of the program again. */
	int (*may)(__u64 now);
	/* The calling thread, which blocks all signals, is the engine's: unblocks the two.
	 * If the program is sent one of them and this thread gets it, it passes it on and
	 * blocks it. */
	void (*own_thread)(void);
	/* Copies; whoever sees the last byte sees all. Fewer than 4096 bytes are written from
	 * the first to the last. Aligned pieces of 2, 4 and 8 bytes are written at once. Returns
	 * 0 or -EFAULT, and then some bytes may have been copied. The two do not overlap. */
	int (*copy)(void *to, const void *from, size_t len);
	/* Does the same for bytes that another processor reads next. */
	int (*copy_away)(void *to, const void *from, size_t len);
	/* Compare and swap of 8 aligned bytes, where they are *old. Returns 0, 1 (they were
	 * not, and *old is what they were) or -EFAULT. */
	int (*swap)(__u64 *at, __u64 *old, __u64 value);
};

/* NULL: the process has no such library, or an older one. */
extern const struct uroce_copies uroce_copies __attribute__((weak));

#define UROCE_PROTECTIONS_VERSION 1

/* The library looks at mprotect() for an engine. Any thread. */
struct uroce_protections {
	__u32 version; /* UROCE_PROTECTIONS_VERSION */
	/* Begins to look. */
	void (*start)(void);
	/* The program may write there: forgets calls before. */
	void (*forget)(const void *at, size_t len);
	/* Returns 1 where the program's last call for that page took a right from it, else 0. It may
	 * have been unmapped since then. */
	int (*took)(const void *at);
};

extern const struct uroce_protections uroce_protections __attribute__((weak));

#endif
