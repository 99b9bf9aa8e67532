/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * NETLINK_RDMA, as the kernel answers it: what `rdma` of iproute2, libibverbs
 * and librdmacm ask. A socket is a connection; its thread reads a request,
 * writes the answer under the control lock and sends it without.
 *
 * Reading order: attr.c (requests), msg.c (answers), nldev.c (a socket), dev.c
 * (devices and ports, read), change.c (and changed), res.c with res_fill.c
 * (objects), stat.c (counters), notify.c (events).
 */
#ifndef UR_DEVICE_NLDEV_NLDEV_H
#define UR_DEVICE_NLDEV_NLDEV_H

#include "device/nldev/attr.h"
#include "device/nldev/msg.h"
#include "device/session.h"

/* A socket. */
struct ur_nldev {
	struct ur_session *session;
	struct ur_daemon *daemon;
	/* UROCE_TUN_BIND; groups under the lock. */
	u32 port;
	u64 groups;
	bool ext_ack, cap_ack;
};

/* A request, and where the dump that answers it is. */
struct ur_nl_request {
	struct ur_nldev *nl;
	const struct nlmsghdr *nlh;
	struct ur_nl_attrs attrs;
	u32 op;		 /* enum rdma_nldev_command */
	const char *why; /* of a refusal, for NETLINK_EXT_ACK; may be NULL */
	/* The position of a dump: the number of devices written; the uverbs
	 * file and the slot in it that are next. */
	u32 at;
	u64 file;
	u32 slot, port; /* port: of the request, 0: none */
	bool more;	/* again, though nothing was written this time */
};

/*
 * Writes the answer to a request, with the lock held. Returns 0 or -errno. A
 * handler that dumps is called again and again, each time with an empty
 * message, until it leaves that empty and "more" false; objects that do not fit
 * are for the next call. A handler that answers is called again while it has
 * written nothing and "more" is true.
 */
typedef int ur_nl_handler(struct ur_nl_request *r, struct ur_nl_msg *m);

ur_nl_handler ur_nl_get, ur_nl_get_dump, ur_nl_port_get, ur_nl_port_dump;
ur_nl_handler ur_nl_sys_get, ur_nl_chardev_get;
/* change.c */
ur_nl_handler ur_nl_set, ur_nl_newlink, ur_nl_dellink, ur_nl_sys_set;
/* res.c */
ur_nl_handler ur_nl_summary, ur_nl_summary_dump, ur_nl_res_get, ur_nl_res_dump;
/* stat.c */
ur_nl_handler ur_nl_stat_get, ur_nl_stat_dump, ur_nl_stat_set, ur_nl_stat_del,
	ur_nl_stat_status;

/* Begins a message of this type that answers the request; flags: NLM_F_MULTI or
 * 0. */
void ur_nl_answer(struct ur_nl_request *r, struct ur_nl_msg *m, u32 op,
		  u16 flags);
/* Returns the device that the request names, or NULL. */
struct ur_device *ur_nl_device(const struct ur_nl_request *r);
/* Writes the answer about the device that the request names; put writes its
 * attributes. Returns 0, or -EINVAL without one. */
int ur_nl_answer_device(struct ur_nl_request *r, struct ur_nl_msg *m, u32 op,
			void (*put)(struct ur_nl_msg *m,
				    const struct ur_device *dev));
/* Does the same for each device from r->at on, as far as the message has room;
 * r->at is then the next. */
void ur_nl_dump_devices(struct ur_nl_request *r, struct ur_nl_msg *m, u32 op,
			void (*put)(struct ur_nl_msg *m,
				    const struct ur_device *dev));
/* Puts the index and the name of the device. */
void ur_nl_put_handle(struct ur_nl_msg *m, const struct ur_device *dev);

/* Makes the devices' lives known to sessions that listen, from the first device
 * on. A session that does not read misses events, as with the kernel. Lock
 * held. */
void ur_nldev_watch(struct ur_daemon *daemon);

/* Serves the connection until its end, on its thread. Returns why it ended.
 * Lock not held. */
int ur_nldev_serve(struct ur_session *s);

#endif
