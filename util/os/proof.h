/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Descriptors that prove a capability. The kernel makes them only for a process
 * that has it over their network namespace, and a process that is shown one
 * sees from the descriptor alone what it is: nothing has to be known of the
 * process that shows it. Plain system calls, any thread.
 */
#ifndef UR_UTIL_OS_PROOF_H
#define UR_UTIL_OS_PROOF_H

#include <stdbool.h>

/**
 * ur_proof_net_admin() - a netlink socket of NETLINK_USERSOCK that is a member of
 * a group, for which netlink(7) asks for CAP_NET_ADMIN
 *
 * Nothing is made where the calling thread has not the capability in its own
 * user namespace.
 *
 * Return: the descriptor, the caller's, close-on-exec; or -EPERM or another
 * -errno.
 */
int ur_proof_net_admin(void);

/**
 * ur_proof_of() - what shows the device of a run directory that the caller may
 * administer it
 * @dir: the run directory
 *
 * As ur_proof_net_admin(); without that, and as root, the directory's lock file,
 * open for writing. Other users need none: the device knows them by their number.
 *
 * Return: as ur_proof_net_admin().
 */
int ur_proof_of(const char *dir);

/**
 * ur_proof_net_raw() - a packet socket that receives nothing, for which packet(7)
 * asks for CAP_NET_RAW
 *
 * Return: as ur_proof_net_admin().
 */
int ur_proof_net_raw(void);

/**
 * ur_proof_net_raw_ip() - a raw IPv4 socket of a protocol for experiments
 * (RFC 3692), for which raw(7) asks for CAP_NET_RAW
 *
 * Unlike a packet socket, for whose end the kernel waits some milliseconds, it
 * costs nothing. No program leaves one of this protocol to those that it starts,
 * as it may one of ICMP.
 *
 * Return: as ur_proof_net_admin().
 */
int ur_proof_net_raw_ip(void);

/**
 * ur_proof_net_bind() - a UDP socket, bound to some port, the lowest that is free,
 * for which ip(7) asks for CAP_NET_BIND_SERVICE
 *
 * Return: as ur_proof_net_admin().
 */
int ur_proof_net_bind(void);

/**
 * ur_proves_net_admin(), ur_proves_net_raw() - whether a descriptor is one of
 * those, the latter of either kind, of any network namespace
 * @fd: from a stranger. No call is made that its file could hold up.
 */
bool ur_proves_net_admin(int fd);
bool ur_proves_net_raw(int fd);

/**
 * ur_proves_net_bind() - the same, of a port below @limit: what the network
 * namespace's ip_unprivileged_port_start says
 */
bool ur_proves_net_bind(int fd, unsigned int limit);

#endif
