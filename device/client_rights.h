/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rights that the kernel has given a client. The client proves them on its
 * connection, with descriptors that only a process with the right can make
 * (util/os/proof.h): /proc would describe whatever program the process has come
 * to run since it connected.
 */
#ifndef UR_DEVICE_CLIENT_RIGHTS_H
#define UR_DEVICE_CLIENT_RIGHTS_H

#include <stdbool.h>

struct ur_session;

/*
 * Notes which network namespace is ours, since over another one nobody's rights
 * count; which file is the run directory's lock; and whether we have
 * CAP_NET_ADMIN ourselves. lock: that file, the caller's. Returns 0 or -errno:
 * then nobody proves anything. Once, from main(), before rights are given up.
 */
int ur_client_rights_init(int lock);

/* Returns whether the client has CAP_NET_RAW over our network namespace, which
 * the kernel requires for raw packet queue pairs and flow rules. Asks the
 * client: on the session's thread with the lock held, which is released
 * meanwhile (session.h, upcalls). */
bool ur_client_may_raw(struct ur_session *s);

/* Does the same for CAP_NET_BIND_SERVICE, which the kernel requires for a port
 * below limit, ip_unprivileged_port_start. */
bool ur_client_may_bind(struct ur_session *s, unsigned int limit);

/*
 * Looks at the descriptor that came with a SYNC, which stays the caller's. The
 * session is an administrator's from now on where it proves CAP_NET_ADMIN over
 * our network namespace; or, if we do not have that capability ourselves, where
 * it is our lock file, open for writing: a user who can write in the run
 * directory could put another device in our place. Returns 0, -EPERM (it proves
 * nothing) or -EXDEV (it is of another network namespace). On the session's
 * thread without the lock.
 */
int ur_client_administers(struct ur_session *s, int fd);

/* Says which network namespace the socket is of, which proves something or is the client's connection: that
 * is of the one in which it was made. Before Linux 5.14 only who has CAP_NET_ADMIN can know, and in an emulator
 * nobody. */
enum ur_client_net {
	UR_CLIENT_NET_UNKNOWN,
	UR_CLIENT_NET_OURS,
	UR_CLIENT_NET_OTHER,
};
enum ur_client_net ur_client_network(int fd);
/* Returns whether it is known to be of ours. */
bool ur_client_is_in_our_network(int fd);

#endif
