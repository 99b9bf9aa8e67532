/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Notifications of the preload library to an engine in a program (uroce-engine.h), and to the
 * provider, whose contexts may have engines in engine processes. One comes before the program
 * reads an event file: a child of fork may take over its parent's engine there. The other comes
 * before the program ends or executes another one: the last posted work is sent first.
 */
#ifndef UROCE_FORKS_H
#define UROCE_FORKS_H

#include <linux/types.h>

#define UROCE_FORKS_VERSION 3

/* Number of functions that tell_end() keeps. */
#define UROCE_FORKS_ENDS 8

struct uroce_forks {
	__u32 version; /* UROCE_FORKS_VERSION */
	/* Registers before(number), called before each read of an event file, on the
	 * reading thread. It may change the file behind the number. Called once. */
	void (*tell)(void (*before)(int number));
	/* Registers last(), called when the process is about to exit or to execute another
	 * program, on the thread that does so, possibly in a signal handler. Each library calls
	 * it once; functions past UROCE_FORKS_ENDS are not called. Any thread. */
	void (*tell_end)(void (*last)(void));
};

/* NULL: the process has no preload library, or an older one. */
extern const struct uroce_forks uroce_forks __attribute__((weak));

#endif
