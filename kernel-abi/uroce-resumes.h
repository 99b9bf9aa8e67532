/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The provider learns from the preload library when a command on an uverbs file has found
 * that uroced is gone: so also those go on with the next uroced that the verbs library gives
 * without the provider. And completion channels, which that library makes too, are kept for an engine in
 * the program, with the ends into which it sends.
 */
#ifndef UROCE_RESUMES_H
#define UROCE_RESUMES_H

#include <linux/types.h>

#define UROCE_RESUMES_VERSION 3

/* So long a command waits for the next uroced. A busy machine has been seen to take 2 s for the start of
 * one. */
#define UROCE_RESUMES_WAIT_NS 10000000000ull

struct uroce_resumes {
	__u32 version; /* UROCE_RESUMES_VERSION */
	/*
	 * From now on resume(number, request, command) is called, on the thread that gives the
	 * command, for the descriptor with that number, without a lock. request: of
	 * ioctl(2), or 0 for a write(2); command: its argument. It returns the number of the
	 * descriptor on which the command is given once more, or -1. Once.
	 */
	void (*tell)(int (*resume)(int number, unsigned long request,
				   const void *command));
	/* The engine of the uverbs file with that number is in this process, and has that name: from now on the
	 * sending ends of its channels are kept here. */
	void (*has_engine)(int number, const void *engine);
	/* Returns the sending end of the channel with that number, which is the caller's from now on, or
	 * -ENOENT where it is not here. */
	int (*take_sender)(int number);
	/* Has a copy of that end kept here again for that engine, if the channel with that number is still the
	 * one whose other end rx is. */
	void (*keep_sender)(int number, int rx, int tx, const void *engine);
	/* The device of that engine has gone: hangs up the channels whose sending ends are kept here for it. On
	 * any thread. */
	void (*end_senders)(const void *engine);
};

/* NULL: the process has no such library, or an older one. */
extern const struct uroce_resumes uroce_resumes __attribute__((weak));

/* Returns it, or NULL. */
static inline const struct uroce_resumes *uroce_get_resumes(void)
{
	return &uroce_resumes && uroce_resumes.version == UROCE_RESUMES_VERSION
		       ? &uroce_resumes
		       : 0;
}

#endif
