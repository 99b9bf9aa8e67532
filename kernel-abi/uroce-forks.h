/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An engine in a program (uroce-engine.h) learns from the preload library when the program is
 * about to read an event file: so a child of fork may begin that goes on in place of its parent.
 */
#ifndef UROCE_FORKS_H
#define UROCE_FORKS_H

#include <linux/types.h>

#define UROCE_FORKS_VERSION 1

struct uroce_forks {
	__u32 version; /* UROCE_FORKS_VERSION */
	/* From now on before(number) is called ahead of each read of an event file, on the thread
	 * that reads, which may change what the number is. Once. */
	void (*tell)(void (*before)(int number));
};

/* NULL: the process has no such library, or an older one. */
extern const struct uroce_forks uroce_forks __attribute__((weak));

#endif
