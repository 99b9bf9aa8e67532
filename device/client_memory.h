/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of a session's client: the descriptors of it that come with OPEN, or
 * that the process has shown before; and where there are none, the questions that
 * its own thread answers in the middle of a command. All functions are called on
 * the session's thread, without the lock.
 */
#ifndef UR_DEVICE_CLIENT_MEMORY_H
#define UR_DEVICE_CLIENT_MEMORY_H

#include "device/session.h"

/* Gives the session its memory. fds: what came with the OPEN msg; those that are
 * taken over are -1 afterwards. features: UROCE_TUN_F_* of both sides. Returns 0,
 * -EINVAL (it is not shown to be the client's) or -ENOMEM. */
int ur_client_memory_take(struct ur_session *s, const struct uroce_tun_msg *msg,
			  u64 features, int *fds);

/* Copy len bytes from or to the client, by its word where there is no
 * descriptor. Return 0, -EFAULT, or -ESRCH or -EPIPE where it has ended or makes
 * no sense; the connection is hung up then. */
int ur_client_memory_read(struct ur_session *s, u64 addr, void *dst,
			  size_t len);
int ur_client_memory_write(struct ur_session *s, u64 addr, const void *src,
			   size_t len);

#endif
