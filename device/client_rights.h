/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The capabilities of a client. The client proves them on its connection, with descriptors
 * that only a process with the capability can make (util/os/proof.h). /proc is no proof: it
 * describes whatever program the process runs by now.
 */
#ifndef UR_DEVICE_CLIENT_RIGHTS_H
#define UR_DEVICE_CLIENT_RIGHTS_H

#include <stdbool.h>

struct ur_session;

/*
 * Records our network namespace (rights over another one do not count), the lock file of
 * the run directory, and whether we have CAP_NET_ADMIN. lock: descriptor of that file, the
 * caller's. Returns 0 or -errno: then no client can prove anything. Called once, from
 * main(), before rights are given up.
 */
int ur_client_rights_init(int lock);

/* Returns whether the client has CAP_NET_RAW over our network namespace, which
 * the kernel requires for raw packet queue pairs and flow rules. Asks the
 * client: on the session's thread with the lock held, which is released
 * meanwhile (session.h, upcalls). */
bool ur_client_may_raw(struct ur_session *s);

/* Does the same for CAP_NET_BIND_SERVICE, which the kernel requires for ports below limit
 * (ip_unprivileged_port_start). */
bool ur_client_may_bind(struct ur_session *s, unsigned int limit);

/*
 * Makes the session an administrator's if fd, which came with a SYNC and stays the
 * caller's, proves one of two rights. The first is CAP_NET_ADMIN over our network
 * namespace. The second counts only if we lack that capability: fd is our lock file, open
 * for writing; a user who can write in the run directory could replace the device anyway.
 * Returns 0, -EPERM (fd proves nothing) or -EXDEV (it belongs to another network
 * namespace). On the session's thread, without the lock.
 */
int ur_client_administers(struct ur_session *s, int fd);

/* Returns the network namespace in which the socket fd was made. Before Linux 5.14 this
 * takes CAP_NET_ADMIN; under an emulator it is always unknown. */
enum ur_client_net {
	UR_CLIENT_NET_UNKNOWN,
	UR_CLIENT_NET_OURS,
	UR_CLIENT_NET_OTHER,
};
enum ur_client_net ur_client_network(int fd);
/* Returns whether the socket is known to be made in our network namespace. */
bool ur_client_is_in_our_network(int fd);

#endif
