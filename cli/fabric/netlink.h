/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests to the kernel's netlink families, one or several in a datagram, as nftables
 * requires: begin a message, put its attributes (util/os/netlink_message.h), send all. No function
 * prints; any thread, each with a request of its own.
 */
#ifndef UR_CLI_FABRIC_NETLINK_H
#define UR_CLI_FABRIC_NETLINK_H

#include <linux/rtnetlink.h>
#include <stddef.h>
#include "util/os/netlink_message.h"

/* Ends the message before, and begins another with that fixed part. flags: NLM_F_REQUEST is added. */
void ur_nlmsg_begin(struct ur_nl_msg *m, u16 type, u16 flags, const void *body,
		    size_t size);
/* Begins a nested attribute, which ur_nl_nest_end() ends. */
u32 ur_nlmsg_nest(struct ur_nl_msg *m, u16 type);

/**
 * ur_nlmsg_open() - open a socket of a family in this thread's network namespace
 * Return: the socket, close-on-exec, or -errno.
 */
int ur_nlmsg_open(int family);

/**
 * ur_nlmsg_ask() - send the request and wait for its acknowledgements
 *
 * Return: 0, the first -errno of the kernel, -EMSGSIZE if the request did not fit, or -errno
 * of the socket.
 */
int ur_nlmsg_ask(int sock, struct ur_nl_msg *m);

/* Changes a link by its fixed part and, unless attr is 0, that attribute. Returns as
 * ur_nlmsg_ask(). */
int ur_nlmsg_set_link(int sock, const struct ifinfomsg *link, u16 attr,
		      u32 value);

/**
 * ur_nlmsg_up() - set an interface up (RTM_NEWLINK), or down
 * Return: 0 or -errno; -ENODEV: @ifindex is 0.
 */
int ur_nlmsg_up(int sock, unsigned int ifindex, int up);

/**
 * ur_nlmsg_address() - give an interface an address
 * @family: AF_INET or AF_INET6
 * @address: in network byte order, 4 or 16 bytes
 * Return: 0 or -errno.
 */
int ur_nlmsg_address(int sock, unsigned int ifindex, int family,
		     const void *address, int prefix_len);

#endif
