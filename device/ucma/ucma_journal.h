/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Records of rdma_cm files and ids, by which the next uroced goes on with them where this one
 * is killed. They are in memory that the keeper keeps (engine/ground/keep.h) and that no
 * client has. All under the control lock.
 *
 * A record is written beside the one that holds and becomes valid by one store: a process
 * killed meanwhile leaves the one before.
 */
#ifndef UR_DEVICE_UCMA_UCMA_JOURNAL_H
#define UR_DEVICE_UCMA_UCMA_JOURNAL_H

#include "device/ucma/ucma.h"

/* Files in it at most: those with connections, and those whose programs have not come back
 * yet. */
#define UCMA_FILES_MAX (2 * UR_MAX_SESSIONS)

/* An id. The names are those of struct ucma_id. */
struct ucma_record {
	u32 file; /* the number of its file, kept_events.h */
	u32 state;
	u64 uid;
	u32 events_reported;
	u32 pending; /* events by their numbers, not taken */
	s32 status;  /* of the last of them */
	u32 sgid_index;
	u32 flow_label;
	u32 seq;
	u32 qp_num;
	u32 qkey;
	u32 remote_qpn, remote_psn;
	u32 ece_vendor, ece_mod;
	u32 backlog;
	u16 ps, port;
	u32 ifindex; /* of the device's netdev; 0: no device */
	u64 resolve_until;
	u8 sgid[16], dgid[16];
	struct ur_sockaddr_ib src, dst; /* the longest address */
	u8 qp_type, tos, timeout, hop_limit, path_mtu;
	u8 responder_resources, initiator_depth;
	u8 retry_count, rnr_retry_count, ack_timeout;
	bool reuse_addr, af_only, af_only_set, tos_set, timeout_set;
	bool lost, has_path, srq, connected_once, untold;
	bool had_source, had_device;
	bool has_cm;
	struct ur_cm_saved cm;
};

/* A membership of a group. The names are those of struct ucma_mcast. */
struct ucma_join_record {
	u32 id; /* its number */
	u16 reported;
	bool pending, full;
	u64 uid;
	struct sockaddr_in6 group; /* the longest address */
};

/* The last answer on a file: of the next uroced too the client gets it, who did not get it
 * from this one. */
struct ucma_answer {
	u32 count; /* of all answers on that file */
	u32 len;   /* of bytes, which go to addr */
	u64 addr;
	s64 ret;
	u8 question[24]; /* how the command began */
	u8 bytes[sizeof(struct rdma_ucm_event_resp)];
};

/* A file. */
struct ucma_file_record {
	struct ur_file_id shown;
	u32 live; /* which answer holds */
	struct ucma_answer answer[2];
};

/* Takes the one that an earlier uroced has left, or makes one. Without memory for one, which
 * is logged, no id outlives this process. */
void ucma_journal_open(struct ur_ucma *ucma);
void ucma_journal_close(struct ur_ucma *ucma);

/* The id, or the membership, changes: what it is when ucma_journal_flush() is called is written. */
void ucma_journal_touch(struct ucma_id *id);
void ucma_journal_touch_join(struct ucma_mcast *mc);
void ucma_journal_flush(struct ur_ucma *ucma);
/* It ends. */
void ucma_journal_forget(struct ucma_id *id);
void ucma_journal_forget_join(struct ucma_mcast *mc);

/* Begins and ends a file, which has its number. Where there is no room, which is logged once,
 * it ends with this process. */
void ucma_journal_add_file(struct ucma_file *file);
void ucma_journal_del_file(struct ucma_file *file);
/* A command of that file has its answer. question: its first 24 bytes. bytes may be NULL. */
void ucma_journal_answer(struct ucma_file *file, s64 ret, u64 addr,
			 const void *bytes, u32 len);
/* Returns the last answer. The file has a record. */
const struct ucma_answer *ucma_journal_last(const struct ucma_file *file);

/* ---- an earlier uroced has left them ---- */

/* Makes that the record of the file, which has its number, and fills in file->shown. Returns
 * whether there is one. */
bool ucma_journal_find_file(struct ucma_file *file);
/* Returns the record of the id with that number, or NULL. */
const struct ucma_record *ucma_journal_id(const struct ur_ucma *ucma,
					  u32 number);
/* Ends the record. */
void ucma_journal_drop(struct ur_ucma *ucma, u32 number);
/* The same of memberships. */
const struct ucma_join_record *ucma_journal_join(const struct ur_ucma *ucma,
						 u32 number);
void ucma_journal_drop_join(struct ur_ucma *ucma, u32 number);
/* Ends those of files that nobody has found. */
void ucma_journal_settle(struct ur_ucma *ucma);

#endif
