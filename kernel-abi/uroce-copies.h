/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Copy functions that the preload library offers to an engine in a program
 * (uroce-engine.h). They copy to and from the program's memory, and fail where that memory
 * does not exist. The processor copies; a handler of SIGSEGV and SIGBUS, in front of the
 * program's own, turns a fault of their instructions into an error. They are in this
 * library because it is in every such program, is never unloaded, and sees the program set
 * its handlers and masks.
 */
#ifndef UROCE_COPIES_H
#define UROCE_COPIES_H

#include <linux/types.h>
#include <stddef.h>

#define UROCE_COPIES_VERSION 1

/* How long the result of may() for a thread is cached. */
#define UROCE_COPIES_BELIEVED_NS 1000000u

/* Any thread, unless another is named. */
struct uroce_copies {
	__u32 version; /* UROCE_COPIES_VERSION */
	/* Installs the handlers at the first call. Returns 0, or -EOPNOTSUPP (not available
	 * for this processor or program). */
	int (*start)(void);
	/* Returns 1 if a fault of the calling thread would reach the handlers: the kernel
	 * has them installed, and neither signal is blocked. Otherwise 0, and copy() and
	 * swap() must not be called. now: CLOCK_MONOTONIC in nanoseconds. Valid until the
	 * thread runs code of the program again. */
	int (*may)(__u64 now);
	/* Unblocks both signals in the calling thread, the engine's, which blocks all. If
	 * the program is sent one of the signals and this thread receives it, the handler
	 * forwards it and blocks it. */
	void (*own_thread)(void);
	/* Copies len bytes; the ranges do not overlap. A reader that sees the last byte
	 * sees all. Fewer than 4096 bytes are written in ascending order. Aligned pieces of
	 * 2, 4 and 8 bytes are written at once. Returns 0, or -EFAULT; then some bytes may
	 * have been copied. */
	int (*copy)(void *to, const void *from, size_t len);
	/* Does the same for bytes that another processor reads next. */
	int (*copy_away)(void *to, const void *from, size_t len);
	/* Replaces 8 aligned bytes by value if they equal *old. Returns 0, 1 (not equal;
	 * *old gets the bytes) or -EFAULT. */
	int (*swap)(__u64 *at, __u64 *old, __u64 value);
};

/* NULL: the process has no such library, or an older one. */
extern const struct uroce_copies uroce_copies __attribute__((weak));

#define UROCE_PROTECTIONS_VERSION 1

/* The preload library watches mprotect() for an engine. Any thread. */
struct uroce_protections {
	__u32 version; /* UROCE_PROTECTIONS_VERSION */
	/* Starts watching. */
	void (*start)(void);
	/* Drops what is known about the range, which the program can write. */
	void (*forget)(const void *at, size_t len);
	/* Returns 1 if the program's last call for that page removed an access right, else
	 * 0. The page may have been unmapped since. */
	int (*took)(const void *at);
};

extern const struct uroce_protections uroce_protections __attribute__((weak));

#endif
