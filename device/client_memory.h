/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Access to the memory of a session's client. It goes through descriptors that come with
 * OPEN or came with an earlier OPEN of the process. Without descriptors the client's own
 * thread copies for us, by upcalls in the middle of a command. All functions are called on
 * the session's thread, without the lock.
 */
#ifndef UR_DEVICE_CLIENT_MEMORY_H
#define UR_DEVICE_CLIENT_MEMORY_H

#include "device/session.h"

/* Sets up access to the client's memory. fds: the descriptors of the OPEN message msg;
 * those that are taken over are -1 afterwards. features: UROCE_TUN_F_* of both sides.
 * Returns 0, -EINVAL (the descriptors are not proved to be the client's) or -ENOMEM. */
int ur_client_memory_take(struct ur_session *s, const struct uroce_tun_msg *msg,
			  u64 features, int *fds);

/* Copy len bytes from or to the client, by upcalls where there is no descriptor. Return 0,
 * -EFAULT, or, after hanging up, -ESRCH or -EPIPE (the client has ended or breaks the
 * protocol). */
int ur_client_memory_read(struct ur_session *s, u64 addr, void *dst,
			  size_t len);
int ur_client_memory_write(struct ur_session *s, u64 addr, const void *src,
			   size_t len);

#endif
