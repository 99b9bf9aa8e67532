/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * /dev/infiniband/umadN: the kernel's user_mad and its MAD layer (ib_mad) in
 * one. Programs register agents for management classes, send MADs from QP1 of
 * the device and read those that come for them. All under the control lock.
 *
 * Reading order: umad.c (files and commands), umad_agent.c (which agent gets a
 * request), umad_send.c (sends that wait for an answer), umad_rx.c (MADs that
 * came), umad_perf.c (the device's own agent: performance counters),
 * umad_node.c (the node and its files in sysfs).
 *
 * MADs to be read lie in the file's socket, a datagram for each, so read(),
 * poll() and O_NONBLOCK are the system's. A MAD that comes while the socket is
 * full is dropped, as where QP1 has no receive posted; the report of a send
 * that nobody answered waits for room.
 */
#ifndef UR_DEVICE_UMAD_UMAD_H
#define UR_DEVICE_UMAD_UMAD_H

#include <rdma/ib_user_mad.h>
#include "device/device.h"
#include "device/mad.h"
#include "device/session.h"

/* IB_UMAD_MAX_AGENTS of the kernel. */
#define UMAD_FILE_AGENTS_MAX 32
/* Sends of one file that wait for an answer, or for room to report that none
 * came. The kernel has no bound; opensm has 4 on the wire by default. */
#define UMAD_FILE_SENDS_MAX 128
/* Bytes for MADs that nobody has read yet. The kernel doubles the number; each
 * MAD takes some 1.3 KiB of that. */
#define UMAD_QUEUE_BYTES (128u << 10)

struct umad_file;

struct umad_agent {
	struct ur_list node; /* ur_umad.agents */
	struct umad_file *file;
	u32 id; /* in the file */
	/* The high half of its requests' transaction ids. */
	u32 hi_tid;
	bool listens; /* to requests: the rest says which */
	u8 mgmt_class, class_version;
	u8 oui[3];
	u64 methods[2]; /* a bit for each */
	/* Messages in segments: 0 none, 1 IBA's RMPP. Unless the program itself
	 * cuts and joins them, they are refused. */
	u8 rmpp_version;
	bool rmpp_by_user;
};

/* A MAD that was sent, until it is answered or given up. */
struct umad_send {
	struct ur_list node; /* umad_file.sends */
	struct umad_agent *agent;
	struct ib_user_mad_hdr hdr; /* as the program gave it */
	struct ur_epath path;
	u8 mad[UR_MAD_BYTES];
	u32 retries_left;
	u64 deadline_ns;
	bool given_up; /* its report to the program waits for room */
};

struct umad_file {
	struct ur_device_file on_device;
	struct ur_device *dev;
	struct ur_session *session; /* whose command runs */
	uid_t user;		    /* who opened it: the quota's */
	int sock, visible;
	bool with_pkey; /* MADs have struct ib_user_mad_hdr, not _old */
	bool used;	/* too late to change that */
	struct umad_agent *agents[UMAD_FILE_AGENTS_MAX];
	struct ur_list sends;
	u32 n_sends;
	struct ur_loop_timer timer; /* of the earliest of sends */
	u32 dropped;		    /* came while the socket was full */
};

struct ur_umad {
	struct ur_list agents; /* of all files, oldest first */
	u32 last_hi_tid;
};

static inline struct ur_umad *umad_of(const struct umad_file *file)
{
	return file->dev->daemon->umad;
}

/* Returns the bytes in front of each MAD that the file reads or writes. */
static inline u32 umad_hdr_bytes(const struct umad_file *file)
{
	return file->with_pkey ? sizeof(struct ib_user_mad_hdr)
			       : sizeof(struct ib_user_mad_hdr_old);
}

/* umad_agent.c */
/* A program's registration, from either form of the command. */
struct umad_registration {
	u32 qpn;
	u8 mgmt_class, class_version, rmpp_version;
	u8 oui[3];
	u64 methods[2];
	bool rmpp_by_user;
};
/* Returns whether the class is one of vendors' that have an OUI. */
bool umad_class_has_oui(u8 mgmt_class);
/* Returns whether messages of the class may come in segments. */
bool umad_class_has_rmpp(u8 mgmt_class);
/* Returns whether the MAD is a segment of a message (RMPP). */
bool umad_is_segment(const u8 *mad);
/* Returns whether the agent counts on the kernel for messages in segments. */
static inline bool umad_agent_is_unable(const struct umad_agent *agent)
{
	return agent->rmpp_version && !agent->rmpp_by_user;
}
/* Adds an agent to the file, in *agent. Returns 0 or -errno as the kernel
 * does. */
int umad_agent_add(struct umad_file *file, const struct umad_registration *r,
		   struct umad_agent **agent);
/* Removes it, with what it has sent. */
void umad_agent_remove(struct umad_agent *agent);
/* Returns the agent of the device that listens for the request, or NULL. */
struct umad_agent *umad_agent_for(const struct ur_device *dev,
				  const struct ur_mad_header *h, const u8 *mad);
/* Returns the agent of the device whose requests have that high half in their
 * transaction id, or NULL. */
struct umad_agent *umad_agent_by_tid(const struct ur_device *dev, u32 hi_tid);

/* umad_send.c */
/* Sends a MAD of an agent, UR_MAD_BYTES, as hdr says; the high half of a
 * request's transaction id is put in. Returns 0 or -errno. */
int umad_send(struct umad_agent *agent, const struct ib_user_mad_hdr *hdr,
	      u8 *mad);
/* Returns the send of the agent that the MAD answers, or NULL. to: the GID that
 * the answer was sent to. */
struct umad_send *umad_send_find(struct umad_agent *agent,
				 const struct ur_mad_header *h, const u8 *to);
/* Forgets it. */
void umad_send_free(struct umad_send *send);
/* The file's timer: repeats, gives up, reports. */
void umad_send_expire(void *file);
/* Returns the offset of the data in a MAD of that class, the least length of
 * such a MAD. */
u32 umad_data_offset(u8 mgmt_class);

/* umad_rx.c */
/* Gets the MADs of all classes but the connection manager's. */
void umad_rx(struct ur_device *dev, const struct ur_rx_meta *meta, u32 src_qpn,
	     const u8 *mad);
/* Puts bytes of a MAD, behind hdr, where the program reads. Returns 0, or
 * -errno where there is no room or nobody reads. */
int umad_queue(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
	       const u8 *mad, u32 bytes);

/* umad_perf.c */
/* Makes *answer the answer to a Get or Set of class PERF. */
void umad_perf_answer(struct ur_device *dev, const struct ur_mad_header *h,
		      const u8 *mad, u8 *answer);

/* umad_node.c: for struct ur_umad_ops. */
u32 umad_first(const struct ur_daemon *daemon);
int umad_node_init(const struct ur_daemon *daemon);
int umad_node_add(struct ur_device *dev);
void umad_node_del(struct ur_device *dev);
/* Returns the number (makedev) that the node shows. */
u64 umad_rdev(u32 umad);

#if UROCE_WITH_UMAD
/* umad.c: opens the umad files of the daemon. Returns 0 or -errno. */
int ur_umad_init(struct ur_daemon *daemon);
/* Ends that. No umad file may be open. */
void ur_umad_fini(struct ur_daemon *daemon);
#else
/* Without umad there are no such files, as where the kernel has no ib_umad. */
static inline int ur_umad_init(struct ur_daemon *daemon)
{
	return 0;
}
static inline void ur_umad_fini(struct ur_daemon *daemon)
{
}
#endif

#endif
