/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Descriptors that prove a capability. The kernel creates them only for a
 * process that has the capability over their network namespace. A process that
 * is shown one sees this from the descriptor alone, and need not know who shows
 * it. Plain system calls, any thread.
 */
#ifndef UR_UTIL_OS_PROOF_H
#define UR_UTIL_OS_PROOF_H

#include <stdbool.h>

/**
 * ur_proof_net_admin() - a NETLINK_USERSOCK socket that is a member of a group,
 * for which netlink(7) requires CAP_NET_ADMIN
 *
 * Fails where the calling thread lacks the capability in its own user namespace.
 *
 * Return: the descriptor, the caller's, close-on-exec; or -EPERM or another
 * -errno.
 */
int ur_proof_net_admin(void);

/**
 * ur_proof_of() - a proof for the device of a run directory that the caller may
 * administer it
 * @dir: the run directory
 *
 * As ur_proof_net_admin(); without that, and as root, the directory's lock file,
 * open for writing. Other users need none: the device knows their user number.
 *
 * Return: as ur_proof_net_admin().
 */
int ur_proof_of(const char *dir);

/**
 * ur_proof_net_raw() - a packet socket that receives nothing, for which packet(7)
 * requires CAP_NET_RAW
 *
 * Return: as ur_proof_net_admin().
 */
int ur_proof_net_raw(void);

/**
 * ur_proof_net_raw_ip() - a raw IPv4 socket of a protocol for experiments
 * (RFC 3692), for which raw(7) requires CAP_NET_RAW
 *
 * Cheaper than a packet socket, whose closing takes the kernel some milliseconds.
 * No program passes a socket of this protocol on to its children, as it may one
 * of ICMP.
 *
 * Return: as ur_proof_net_admin().
 */
int ur_proof_net_raw_ip(void);

/**
 * ur_proof_net_bind() - a UDP socket bound to the lowest free port, for which
 * ip(7) requires CAP_NET_BIND_SERVICE
 *
 * Return: as ur_proof_net_admin().
 */
int ur_proof_net_bind(void);

/**
 * ur_proves_net_admin(), ur_proves_net_raw() - whether a descriptor is such a
 * proof, of any network namespace; the latter accepts both kinds
 * @fd: untrusted. Makes no call that its file could block.
 */
bool ur_proves_net_admin(int fd);
bool ur_proves_net_raw(int fd);

/**
 * ur_proves_net_bind() - whether a descriptor is such a proof, with a port below
 * @limit, the network namespace's ip_unprivileged_port_start
 */
bool ur_proves_net_bind(int fd, unsigned int limit);

#endif
