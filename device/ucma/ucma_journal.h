/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The journal of rdma_cm: a record of each file, id and group membership. If uroced is killed, the
 * next uroced restores them from it. The journal is a file in memory that the keeper holds
 * (engine/ground/keep.h); no client can read or write it.
 *
 * An update is written beside the valid record, and one store makes it valid. A kill in between leaves
 * the record before.
 *
 * Thread: any, under the control lock.
 */
#ifndef UR_DEVICE_UCMA_UCMA_JOURNAL_H
#define UR_DEVICE_UCMA_UCMA_JOURNAL_H

#include "device/ucma/ucma.h"

/* At most so many files: those with connections, and as many whose programs have not come back. */
#define UCMA_FILES_MAX (2 * UR_MAX_SESSIONS)

/* An id. Fields have the names of struct ucma_id. */
struct ucma_record {
	u32 file; /* number of its file (kept_events.h) */
	u32 state;
	u64 uid;
	u32 events_reported;
	u32 pending; /* unread events, a bit for each type */
	s32 status;  /* of the last unread event */
	u32 sgid_index;
	u32 flow_label;
	u32 seq;
	u32 qp_num;
	u32 qkey;
	u32 remote_qpn, remote_psn;
	u32 ece_vendor, ece_mod;
	u32 backlog;
	u16 ps, port;
	u32 ifindex; /* netdev of the device; 0: bound to no device */
	u64 resolve_until;
	u8 sgid[16], dgid[16];
	struct ur_sockaddr_ib src, dst; /* room for any family */
	u8 qp_type, tos, timeout, hop_limit, path_mtu;
	u8 responder_resources, initiator_depth;
	u8 retry_count, rnr_retry_count, ack_timeout;
	bool reuse_addr, af_only, af_only_set, tos_set, timeout_set;
	bool lost, has_path, srq, connected_once, unreported;
	bool had_source, had_device;
	bool has_cm;
	struct ur_cm_saved cm;
};

/* A group membership. Fields have the names of struct ucma_mcast. */
struct ucma_join_record {
	u32 id; /* number of the id */
	u16 reported;
	bool pending, full;
	u64 uid;
	struct sockaddr_in6 group; /* room for either family */
};

/* The last reply on a file, kept so that the next uroced can send it again. */
struct ucma_answer {
	u32 count; /* replies on that file so far */
	u32 len;   /* of bytes; they go to addr in the client */
	u64 addr;
	s64 ret;
	u8 question[24]; /* first bytes of the command */
	u8 bytes[sizeof(struct rdma_ucm_event_resp)];
};

/* A file. */
struct ucma_file_record {
	struct ur_file_id shown;
	u32 live; /* index of the valid answer */
	struct ucma_answer answer[2];
	/* An event that was sent ahead after so many answers. */
	u32 ahead_at;
	struct rdma_ucm_event_resp ahead;
};

/* Attaches the journal of an earlier uroced, or makes one. Without memory no id outlives this process; that is logged. */
void ucma_journal_open(struct ur_ucma *ucma);
void ucma_journal_close(struct ur_ucma *ucma);

/* Marks an id or a membership as changed; ucma_journal_flush() writes all marked ones. */
void ucma_journal_touch(struct ucma_id *id);
void ucma_journal_touch_join(struct ucma_mcast *mc);
void ucma_journal_flush(struct ur_ucma *ucma);
/* Removes the record: the id or the membership ends. */
void ucma_journal_forget(struct ucma_id *id);
void ucma_journal_forget_join(struct ucma_mcast *mc);

/* Adds and removes the record of a file that has its number. Without room, which is logged once, the file ends with this
 * process. */
void ucma_journal_add_file(struct ucma_file *file);
void ucma_journal_del_file(struct ucma_file *file);
/* Records the reply to a command of that file. bytes may be NULL. */
void ucma_journal_answer(struct ucma_file *file, s64 ret, u64 addr,
			 const void *bytes, u32 len);
/* Records that the event was sent ahead, after the answers so far. */
void ucma_journal_ahead(struct ucma_file *file,
			const struct rdma_ucm_event_resp *event);
/* Returns the last reply. The file has a record. */
const struct ucma_answer *ucma_journal_last(const struct ucma_file *file);

/* ---- recovery: records of an earlier uroced ---- */

/* Attaches the record with the file's number to the file, and fills in file->shown. Returns whether there is one. */
bool ucma_journal_find_file(struct ucma_file *file);
/* Returns the event that was sent ahead after the last reply, or NULL. The file has a record. */
const struct rdma_ucm_event_resp *
ucma_journal_ahead_of(const struct ucma_file *file);
/* Returns the record of the id with that number, or NULL. */
const struct ucma_record *ucma_journal_id(const struct ur_ucma *ucma,
					  u32 number);
/* Removes the record of that number. */
void ucma_journal_drop(struct ur_ucma *ucma, u32 number);
/* The same for memberships. */
const struct ucma_join_record *ucma_journal_join(const struct ur_ucma *ucma,
						 u32 number);
void ucma_journal_drop_join(struct ur_ucma *ucma, u32 number);
/* Recovery is complete: removes records of files that nobody has attached. */
void ucma_journal_recovery_done(struct ur_ucma *ucma);

#endif
