/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * /dev/infiniband/umadN: the kernel's user_mad and MAD layer (ib_mad) in one. Programs
 * register agents for management classes, send MADs from QP1 of the device and read the
 * MADs received for them. Control lock held.
 *
 * Reading order: umad.c (files and commands), umad_agent.c (which agent gets a request),
 * umad_send.c (sends that wait for a response), umad_rx.c (received MADs), umad_perf.c (the
 * device's own agent: performance counters), umad_node.c (the node and its files in sysfs).
 *
 * Unread MADs lie in the file's socket, one per datagram, so read(), poll() and O_NONBLOCK
 * are the system's. A MAD that arrives while the socket is full is dropped, as if QP1 had
 * no receive posted; the report of a send without a response waits for room.
 */
#ifndef UR_DEVICE_UMAD_UMAD_H
#define UR_DEVICE_UMAD_UMAD_H

#include <rdma/ib_user_mad.h>
#include "device/device.h"
#include "device/mad.h"
#include "device/session.h"

/* IB_UMAD_MAX_AGENTS of the kernel. */
#define UMAD_FILE_AGENTS_MAX 32
/* Sends of one file that wait for a response, or for room to report its absence. The kernel
 * has no limit; opensm has 4 on the wire by default. */
#define UMAD_FILE_SENDS_MAX 128
/* Socket buffer for unread MADs, in bytes. The kernel doubles the number; a MAD takes about
 * 1.3 KiB of it. */
#define UMAD_QUEUE_BYTES (128u << 10)

struct umad_file;

struct umad_agent {
	struct ur_list node; /* ur_umad.agents */
	struct umad_file *file;
	u32 id; /* index in umad_file.agents */
	/* High half of the transaction ids of its requests. */
	u32 hi_tid;
	bool listens; /* receives requests, as selected by the fields below */
	u8 mgmt_class, class_version;
	u8 oui[3];
	u64 methods[2]; /* a bit for each */
	/* RMPP version: 0 none, 1 IBA's. Segmented messages are refused unless the program
	 * segments and reassembles them itself (rmpp_by_user). */
	u8 rmpp_version;
	bool rmpp_by_user;
};

/* A sent MAD, until its response or timeout. */
struct umad_send {
	struct ur_list node; /* umad_file.sends */
	struct umad_agent *agent;
	struct ib_user_mad_hdr hdr; /* from the program */
	struct ur_epath path;
	u8 mad[UR_MAD_BYTES];
	u32 retries_left;
	u64 deadline_ns;
	bool given_up; /* timed out; the report waits for room */
};

struct umad_file {
	struct ur_device_file on_device;
	struct ur_device *dev;
	struct ur_session *session; /* its command runs */
	uid_t user;		    /* opened it, and is charged */
	int sock, visible;
	bool with_pkey; /* MADs have struct ib_user_mad_hdr, not _old */
	bool used;	/* with_pkey cannot change any more */
	struct umad_agent *agents[UMAD_FILE_AGENTS_MAX];
	struct ur_list sends;
	u32 n_sends;
	struct ur_loop_timer timer; /* earliest deadline of sends */
	u32 dropped;		    /* MADs lost to a full socket */
};

struct ur_umad {
	struct ur_list agents; /* of all files, oldest first */
	u32 last_hi_tid;
};

static inline struct ur_umad *umad_of(const struct umad_file *file)
{
	return file->dev->daemon->umad;
}

/* Returns the size of the header in front of each MAD that is read or written. */
static inline u32 umad_hdr_bytes(const struct umad_file *file)
{
	return file->with_pkey ? sizeof(struct ib_user_mad_hdr)
			       : sizeof(struct ib_user_mad_hdr_old);
}

/* umad_agent.c */
/* A registration, from either form of the command. */
struct umad_registration {
	u32 qpn;
	u8 mgmt_class, class_version, rmpp_version;
	u8 oui[3];
	u64 methods[2];
	bool rmpp_by_user;
};
/* Returns whether this is a vendor class with an OUI. */
bool umad_class_has_oui(u8 mgmt_class);
/* Returns whether messages of the class may be segmented (RMPP). */
bool umad_class_has_rmpp(u8 mgmt_class);
/* Returns whether the MAD is a segment (RMPP). */
bool umad_is_segment(const u8 *mad);
/* Returns whether the agent relies on the kernel for RMPP. */
static inline bool umad_agent_is_unable(const struct umad_agent *agent)
{
	return agent->rmpp_version && !agent->rmpp_by_user;
}
/* Adds an agent to the file, in *agent. Returns 0 or -errno as the kernel
 * does. */
int umad_agent_add(struct umad_file *file, const struct umad_registration *r,
		   struct umad_agent **agent);
/* Removes the agent with its pending sends. */
void umad_agent_remove(struct umad_agent *agent);
/* Returns the device's agent that receives this request, or NULL. */
struct umad_agent *umad_agent_for(const struct ur_device *dev,
				  const struct ur_mad_header *h, const u8 *mad);
/* Returns the device's agent with that high half of transaction ids, or NULL. */
struct umad_agent *umad_agent_by_tid(const struct ur_device *dev, u32 hi_tid);

/* umad_send.c */
/* Sends a MAD (UR_MAD_BYTES) of an agent according to hdr, after putting the agent's hi_tid
 * into a request. Returns 0 or -errno. */
int umad_send(struct umad_agent *agent, const struct ib_user_mad_hdr *hdr,
	      u8 *mad);
/* Returns the agent's send to which the MAD is the response, or NULL. to: destination GID
 * of the response. */
struct umad_send *umad_send_find(struct umad_agent *agent,
				 const struct ur_mad_header *h, const u8 *to);
/* Frees the send. */
void umad_send_free(struct umad_send *send);
/* Handler of the file's timer: sends again, or times out and reports. */
void umad_send_expire(void *file);
/* Returns the offset of the data in a MAD of that class, which is its minimum length. */
u32 umad_data_offset(u8 mgmt_class);

/* umad_rx.c */
/* Receives the MADs of all classes but the connection manager's. */
void umad_rx(struct ur_device *dev, const struct ur_rx_meta *meta, u32 src_qpn,
	     const u8 *mad);
/* Queues hdr and bytes of the MAD for the program. Returns 0, or -errno if there is no room
 * or no reader. */
int umad_queue(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
	       const u8 *mad, u32 bytes);

/* umad_perf.c */
/* Makes *answer, the response to a Get or Set of class PERF. */
void umad_perf_answer(struct ur_device *dev, const struct ur_mad_header *h,
		      const u8 *mad, u8 *answer);

/* umad_node.c: for struct ur_umad_ops. */
u32 umad_first(const struct ur_daemon *daemon);
void umad_node_init(const struct ur_daemon *daemon);
void umad_node_add(struct ur_device *dev);
void umad_node_del(struct ur_device *dev);
/* Returns the device number (makedev) of the node. */
u64 umad_rdev(u32 umad);

#if UROCE_WITH_UMAD
/* umad.c: enables umad files in the daemon. Returns 0 or -errno. */
int ur_umad_init(struct ur_daemon *daemon);
/* Disables umad files. None may be open. */
void ur_umad_fini(struct ur_daemon *daemon);
#else
/* A build without umad has no such files, like a kernel without ib_umad. */
static inline int ur_umad_init(struct ur_daemon *daemon)
{
	return 0;
}
static inline void ur_umad_fini(struct ur_daemon *daemon)
{
}
#endif

#endif
