/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A context with its engine in an engine process: the socket to that, and completion
 * channels. The engine process has the sending end of a channel as long as a queue uses
 * it; the preload library has it otherwise.
 */
#ifndef UR_PROVIDERS_UROCE_APART_CHANNELS_H
#define UR_PROVIDERS_UROCE_APART_CHANNELS_H

#include <sys/types.h>

#include "uroce.h"
#include "kernel-abi/uroce-apart.h"

struct ur_apart {
	int sock, rings, wake;
	pid_t pid;	      /* that has it */
	ino_t ino;	      /* of sock */
	u32 vain;	      /* polls */
	volatile u32 *own;    /* as of struct uroce_guest_info */
	pthread_mutex_t lock; /* one message at a time; channels */
	struct ur_list channels;
	u32 objects; /* atomic */
	bool dead;   /* atomic: the process has ended */
};

struct ur_apart_channel;

#define UR_APART_OUT_FDS 2

/* Sends the message with n descriptors, which stay the caller's, and puts the answer in its place. out: what came with
 * it, UR_APART_OUT_FDS of them and -1 for none, the caller's; or NULL. Returns what the answer says; -EIO where there
 * is no process any more. */
int ur_apart_ask(struct ur_apart *apart, struct uroce_apart_msg *msg,
		 const int *fds, u32 n, int *out);
bool ur_apart_is_dead(const struct ur_apart *apart);

/* The queue's channel, which counts one more, or NULL without one. -ENOENT: as create_cq() of the door. */
int ur_apart_channel_get(struct ur_apart *apart,
			 const struct uroce_guest_cq_init *init,
			 struct ur_apart_channel **channel);
/* Fills *name, and fds with the two ends where the process is to have them. Returns how many. */
u32 ur_apart_channel_ends(const struct ur_apart_channel *channel, __u64 *name,
			  int fds[2]);
/* The process has made the queue (err 0), or refused it: the channel's ends are its from now on, or stay here. channel may be
 * NULL, here and below. */
void ur_apart_channel_given(struct ur_apart_channel *channel, int err);
/* A queue has gone. tx: the sending end that came back with the answer, or -1. */
void ur_apart_channel_put(struct ur_apart_channel *channel, int tx);

#endif
