/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * NETLINK_RDMA, with the kernel's answers to `rdma` of iproute2, libibverbs and librdmacm.
 * A socket is a connection; its thread reads a request, builds the answer under the control
 * lock and sends it without the lock.
 *
 * Reading order: attr.c (requests), util/os/netlink_message.h (answers), nldev.c (a socket), dev.c
 * (reads devices and ports), change.c (changes them), res.c with res_fill.c (objects), stat.c
 * (counters), notify.c (events).
 */
#ifndef UR_DEVICE_NLDEV_NLDEV_H
#define UR_DEVICE_NLDEV_NLDEV_H

#include "device/nldev/attr.h"
#include "device/session.h"
#include "util/os/netlink_message.h"

/* A socket. */
struct ur_nldev {
	struct ur_session *session;
	struct ur_daemon *daemon;
	/* UROCE_TUN_BIND; groups under the lock. */
	u32 port;
	u64 groups;
	bool ext_ack, cap_ack;
};

/* A request, with the position of its dump. */
struct ur_nl_request {
	struct ur_nldev *nl;
	const struct nlmsghdr *nlh;
	struct ur_nl_attrs attrs;
	u32 op;		 /* enum rdma_nldev_command */
	const char *why; /* of a refusal, for NETLINK_EXT_ACK; may be NULL */
	/* The position of a dump: devices written so far; the next uverbs file and the next
	 * slot in it. */
	u32 at;
	u64 file;
	u32 slot, port; /* port: of the request, 0: none */
	bool more;	/* call the handler again, even if it wrote nothing */
};

/*
 * Writes the answer to a request, with the lock held. Returns 0 or -errno. A dump handler
 * is called repeatedly, each time with an empty message, until it writes nothing and leaves
 * "more" false; objects that do not fit are left for the next call. Any other handler is
 * called again while it has written nothing and "more" is true.
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
/* Writes the answer about the device that the request names; put writes its attributes.
 * Returns 0, or -EINVAL if there is no such device. */
int ur_nl_answer_device(struct ur_nl_request *r, struct ur_nl_msg *m, u32 op,
			void (*put)(struct ur_nl_msg *m,
				    const struct ur_device *dev));
/* Does the same for each device from r->at on, as many as fit, and sets r->at to the next. */
void ur_nl_dump_devices(struct ur_nl_request *r, struct ur_nl_msg *m, u32 op,
			void (*put)(struct ur_nl_msg *m,
				    const struct ur_device *dev));
/* Puts the index and the name of the device. */
void ur_nl_put_handle(struct ur_nl_msg *m, const struct ur_device *dev);

/* Registers a watcher that reports changes of devices to listening sessions. Called before
 * the first device is made. A session that does not read misses events, as with the kernel.
 * Lock held. */
void ur_nldev_watch(struct ur_daemon *daemon);

/* Serves the connection until its end, on its thread. Returns the reason, -errno. Lock not
 * held. */
int ur_nldev_serve(struct ur_session *s);

#endif
