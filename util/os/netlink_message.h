/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Builds netlink messages: one datagram, of as many messages as fit. The functions that put
 * return nothing; on overflow they set "full", which the caller checks once at the end. */
#ifndef UR_UTIL_OS_NETLINK_MESSAGE_H
#define UR_UTIL_OS_NETLINK_MESSAGE_H

#include <linux/netlink.h>
#include "util/bytes.h"

/* bytes of a datagram: libmnl and iproute2's rdma read into one page */
#define UR_NL_BYTES 4096
/* bytes of a large datagram, to the kernel */
#define UR_NL_LARGE 8192

/* Initialize it with {0}, or with {.large = true} for UR_NL_LARGE bytes. */
struct ur_nl_msg {
	u32 len;
	u32 begin; /* offset of the message being built */
	bool full, large;
	u8 buf[UR_NL_LARGE] __attribute__((aligned(8)));
};

/* Begin and end a message; the end fills in its length. */
void ur_nl_begin(struct ur_nl_msg *m, u16 type, u16 flags, u32 seq, u32 port);
void ur_nl_end(struct ur_nl_msg *m);

void ur_nl_put(struct ur_nl_msg *m, u16 type, const void *data, u32 len);
void ur_nl_put_u8(struct ur_nl_msg *m, u16 type, u8 v);
void ur_nl_put_u32(struct ur_nl_msg *m, u16 type, u32 v);
void ur_nl_put_u64(struct ur_nl_msg *m, u16 type, u64 v);
void ur_nl_put_text(struct ur_nl_msg *m, u16 type, const char *text);
/* Puts bytes behind the header that are no attribute. */
void ur_nl_put_raw(struct ur_nl_msg *m, const void *data, u32 len);

/* Begin and end an attribute; the attributes put between the two are within
 * it. */
u32 ur_nl_nest(struct ur_nl_msg *m, u16 type);
void ur_nl_nest_end(struct ur_nl_msg *m, u32 nest);
/* Truncates to an earlier len and clears "full". */
void ur_nl_cut(struct ur_nl_msg *m, u32 len);

#endif
