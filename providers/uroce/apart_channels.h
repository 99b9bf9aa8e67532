/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The connection of a context to its engine process, and the context's
 * completion channels. The engine process holds the sending end of a channel
 * while a queue uses the channel; otherwise the preload library holds it.
 */
#ifndef UR_PROVIDERS_UROCE_APART_CHANNELS_H
#define UR_PROVIDERS_UROCE_APART_CHANNELS_H

#include <sys/types.h>

#include "uroce.h"
#include "kernel-abi/uroce-apart.h"

struct ur_apart {
	const struct uroce_engine_ops *ops;
	struct ur_list node; /* apart_exit.c */
	int sock, rings, wake;
	pid_t pid; /* of the process that opened the context */
	ino_t ino; /* inode of sock */
	u32 vain;  /* empty polls */
	/* struct uroce_ectx_info, own; behind it 1, which is 0 in a child of fork alone */
	volatile u32 *own;
	pthread_mutex_t lock; /* serializes messages; guards channels */
	u32 undrained;	      /* DRAIN messages without a reply so far */
	struct ur_list channels;
	pthread_mutex_t flows_lock;
	struct ur_list flows;	      /* that count: apart.c */
	u32 objects;		      /* number of objects; atomic */
	bool dead;		      /* the engine process has ended; atomic */
	bool (*more_room)(void *arg); /* ur_apart_set_room(); or NULL */
	void *room_arg;
};

struct ur_apart_channel;

/* Sends the call's message with its descriptors, and n_more numbers behind it; takes the reply and its
 * descriptors. Returns the reply's result, -ENOMEM in place of -EDQUOT (ur_apart_set_room()), or -EIO where the
 * engine process has ended. */
int ur_apart_ask(struct ur_apart *apart, struct uroce_call *call, u32 *more,
		 u32 n_more);
bool ur_apart_is_dead(const struct ur_apart *apart);
/* Checks for the end of the engine process, and for a program that closed all descriptors. A call that the
 * program's filter refuses reports neither. */
bool ur_apart_is_there(const struct ur_apart *apart);
/* Returns whether this process is a child of fork of the context's. Another thread may have held its
 * locks at the fork: the child takes none. Makes no system call. */
static inline bool ur_apart_is_parents(const struct ur_apart *apart)
{
	return !apart->own[1];
}
/* Lets the engine process send what was posted last, and waits for that until then, in
 * CLOCK_MONOTONIC, at most. A later reply is taken with that of the next message. Does nothing in a child
 * of fork. Any thread, also in a signal handler. */
void ur_apart_drain(struct ur_apart *apart, u64 until);

/* apart_exit.c: between these calls the context drains before the process ends, or executes another
 * program. The second one also drains. */
void ur_apart_exit_add(struct ur_apart *apart);
void ur_apart_exit_del(struct ur_apart *apart);

/* Returns in *channel the channel of the completion queue that the call makes, with one more user, or NULL
 * where the queue has none. Returns 0 or -errno; -ENOENT as the call. */
int ur_apart_channel_get(struct ur_apart *apart, const struct uroce_call *call,
			 struct ur_apart_channel **channel);
/* Sets *name, and fds to both ends if the engine process does not have them yet. Returns the number
 * of descriptors, 0 or 2. channel may be NULL, here and below. */
u32 ur_apart_channel_ends(const struct ur_apart_channel *channel, __u64 *name,
			  int fds[2]);
/* Ends an attempt to create a queue. err 0: the engine process now has the channel's ends. Else:
 * drops the user, and the ends stay here. */
void ur_apart_channel_given(struct ur_apart_channel *channel, int err);
/* Drops a user, whose queue was destroyed. tx: the sending end that the engine
 * process returned, or -1; the caller closes it. */
void ur_apart_channel_put(struct ur_apart_channel *channel, int tx);

#endif
