/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests to the kernel's netlink families, one or several in a datagram, as nftables
 * requires: begin a message, put its attributes, send all. No function prints; any thread,
 * each with a request of its own.
 */
#ifndef UR_CLI_FABRIC_NETLINK_H
#define UR_CLI_FABRIC_NETLINK_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

#define UR_NL_ROOM 8192

/* Initialized as {0}. A request that does not fit is not sent. */
struct ur_nl {
	char room[UR_NL_ROOM] __attribute__((aligned(NLMSG_ALIGNTO)));
	size_t len;
	struct nlmsghdr *last; /* the message that attributes go to */
	int overflow;	       /* not 0: the request did not fit */
	int acks;	       /* expected acknowledgements */
};

/**
 * ur_nlmsg_begin() - append a message
 * @type, @flags: of its header; NLM_F_REQUEST is added
 * @body: bytes of its fixed part
 * Return: the fixed part, zeroed, in @nl; always writable, even without room.
 */
void *ur_nlmsg_begin(struct ur_nl *nl, unsigned short type,
		     unsigned short flags, size_t body);

/* Adds an attribute to the last message; size 0: begins a nested one. */
void ur_nlmsg_put(struct ur_nl *nl, unsigned short type, const void *data,
		  size_t size);
/* Adds data that are no attribute: the fixed part of a nested one. */
void ur_nlmsg_extend(struct ur_nl *nl, const void *data, size_t size);
void ur_nlmsg_put_text(struct ur_nl *nl, unsigned short type, const char *text);
void ur_nlmsg_put_u32(struct ur_nl *nl, unsigned short type, uint32_t value);

/* Begins a nested attribute. Returns a mark for ur_nlmsg_end(), which ends it: it encloses
 * all attributes put in between. */
size_t ur_nlmsg_nest(struct ur_nl *nl, unsigned short type);
void ur_nlmsg_end(struct ur_nl *nl, size_t mark);

/**
 * ur_nlmsg_open() - open a socket of a family in this thread's network namespace
 * Return: the socket, close-on-exec, or -errno.
 */
int ur_nlmsg_open(int family);

/**
 * ur_nlmsg_ask() - send the request, wait for its acknowledgements, and reset it to {0}
 *
 * Return: 0, the first -errno of the kernel, -EMSGSIZE if the request did not fit, or -errno
 * of the socket.
 */
int ur_nlmsg_ask(int sock, struct ur_nl *nl);

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
