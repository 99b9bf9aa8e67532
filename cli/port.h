/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the process that has a UDP port of this machine. */
#ifndef UR_CLI_PORT_H
#define UR_CLI_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define UR_ROCE_PORT 4791 /* RoCEv2's, IANA */

/* Returns whether no socket can be bound to the port of that address. */
bool ur_port_taken(const struct sockaddr *addr, socklen_t size);

/**
 * ur_port_owner() - describe the owner of the port in @buf
 *
 * "uroced (process 4711)" if we may examine the process; else its user, and which uroced of
 * that user it may be. Return: false if the port is free.
 */
bool ur_port_owner(char *buf, size_t size);

#endif
