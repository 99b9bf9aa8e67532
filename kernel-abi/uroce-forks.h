/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An engine in a program (uroce-engine.h) learns from the preload library when the program is
 * about to read an event file: so a child of fork may begin that goes on in place of its parent.
 * And when it is about to end, or to run another program: what it posted last leaves before.
 */
#ifndef UROCE_FORKS_H
#define UROCE_FORKS_H

#include <linux/types.h>

#define UROCE_FORKS_VERSION 2

struct uroce_forks {
	__u32 version; /* UROCE_FORKS_VERSION */
	/* From now on before(number) is called ahead of each read of an event file, on the thread
	 * that reads, which may change what the number is. Once. */
	void (*tell)(void (*before)(int number));
	/* From now on last() is called when the process is about to end, or to run another
	 * program, by itself, on the thread that does so, also in a handler of a signal. Once. */
	void (*tell_end)(void (*last)(void));
};

/* NULL: the process has no such library, or an older one. */
extern const struct uroce_forks uroce_forks __attribute__((weak));

#endif
