/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The preload library notifies the provider when a command on a uverbs file finds that
 * uroced is gone. So commands that the verbs library gives without the provider are
 * resumed, too. It also keeps the sending ends of completion channels, which the verbs
 * library makes without the provider, for an engine in the program.
 */
#ifndef UROCE_RESUMES_H
#define UROCE_RESUMES_H

#include <linux/errno.h>
#include <linux/types.h>

#define UROCE_RESUMES_VERSION 3

/* How long a command waits for the next uroced. A busy machine took 2 s to start one. */
#define UROCE_RESUMES_WAIT_NS 10000000000ull

struct uroce_resumes {
	__u32 version; /* UROCE_RESUMES_VERSION */
	/*
	 * Registers resume(number, request, command). It is called for the descriptor with
	 * that number, on the thread that gives the command, without a lock. request: of
	 * ioctl(2), or 0 for write(2); command: its argument. It returns the descriptor on
	 * which the command is repeated, or -1. Called once.
	 */
	void (*tell)(int (*resume)(int number, unsigned long request,
				   const void *command));
	/* Called when the engine of the uverbs file with that number is in this process;
	 * engine identifies it. From then on the library keeps the sending ends of its
	 * channels. */
	void (*has_engine)(int number, const void *engine);
	/* Returns the sending end of the channel with that number, which becomes the
	 * caller's, or -ENOENT if it is not kept here. */
	int (*take_sender)(int number);
	/* Keeps a copy of the sending end tx for that engine again, if the channel with
	 * that number is still the one with the reading end rx. */
	void (*keep_sender)(int number, int rx, int tx, const void *engine);
	/* Hangs up the channels whose sending ends are kept for that engine, after its
	 * device has gone. Any thread. */
	void (*end_senders)(const void *engine);
};

/* NULL: the process has no preload library, or an older one. */
extern const struct uroce_resumes uroce_resumes __attribute__((weak));

/* Returns the table, or NULL if its version differs. */
static inline const struct uroce_resumes *uroce_get_resumes(void)
{
	return &uroce_resumes && uroce_resumes.version == UROCE_RESUMES_VERSION
		       ? &uroce_resumes
		       : 0;
}

/* take_sender() of the library, if there is one. */
static inline int uroce_take_sender(int number)
{
	const struct uroce_resumes *preload = uroce_get_resumes();

	return preload ? preload->take_sender(number) : -ENOENT;
}

#endif
