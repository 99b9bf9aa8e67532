/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A session: one tunnel connection, that is one open virtual file, served by a thread of
 * its own. The thread holds the control lock during the work of a command, but not while it
 * waits for the client or touches the client's memory. So a client that stalls delays
 * nobody else.
 */
#ifndef UR_DEVICE_SESSION_H
#define UR_DEVICE_SESSION_H

#include <sys/types.h>
#include "device/device.h"
#include "device/file_id.h"
#include "util/os/follow.h"
#include "engine/ground/user.h"
#include "kernel-abi/uroce-tunnel.h"

/* sessions of all users together */
#define UR_MAX_SESSIONS 4096
/* An on-demand daemon ends this long after its last client left, or after its start without
 * any client. */
#define UR_IDLE_NS	   2000000000ull
#define UR_FIRST_CLIENT_NS 15000000000ull

struct ur_open_file;
struct ur_nldev;

struct ur_session {
	struct ur_list node;
	struct ur_daemon *daemon;
	u64 id;
	int sock;
	struct ur_follow follow;
	u32 kind;     /* 0 before OPEN */
	u64 features; /* UROCE_TUN_F_* of both sides */
	pid_t pid;
	uid_t uid;
	char comm[17];
	struct ur_user_mem *mem;
	bool guarded; /* the client may not open its own memory (set-uid, not dumpable) */
	struct ur_open_file *open;
	struct ur_nldev *nl; /* set for a netlink socket. Lock */
	bool administers;    /* it has proved the right. Lock */
	/* Its file has had objects that end with this process. Lock */
	bool has_objects;
	/* The client's memory from window_addr on, a copy that came with the current
	 * command. */
	u64 window_addr;
	u32 window_len;
	u8 window[UROCE_TUN_WINDOW];
	/* Bytes that the command writes between outs_from and outs_to are sent with the
	 * reply. */
	u64 outs_from, outs_to;
	u32 outs_len;
	u8 outs[UROCE_TUN_WINDOW] __attribute__((aligned(8)));
	bool took_ahead;  /* the current command has UROCE_TUN_TAKEN */
	bool has_created; /* it has UROCE_TUN_CREATED, and this */
	struct uroce_tun_created created;
	/* Event files that the current command may name. */
	struct uroce_tun_known known[UROCE_TUN_MAX_KNOWN];
	/* Descriptors that the client sent for the current command. Closing one may block,
	 * if the client has made it so. */
	int shown[8];
	u32 n_shown;
	u32 shown_fds; /* charged for shown */
	u32 held_fds;  /* charged for copies on their way to the client */
	/* Cookies of CLOSE_FD messages that came during an upcall. */
	u64 closed[32];
	u32 n_closed;
	/* The reply to STATUS that the client has mapped. Its memory is reclaimed before
	 * the next message is handled. */
	int answer; /* -1: none */
	u32 answer_kib, answer_fds;
	u64 commands; /* IOCTLs and WRITEs so far; atomic */
	bool giving;  /* closes shown descriptors; no command runs. Lock */
};

/* Charges the session's user for a reply of bytes so far, which may grow by a page of
 * objects. Returns 0 or -ENOMEM. Lock held. */
int ur_session_answer_room(struct ur_session *s, u64 bytes);
/* Reclaims the memory of the reply to STATUS from the client. Lock not held. */
void ur_session_drop_answer(struct ur_session *s);

/* Hangs up the connections that have a file of the device open. Each leaves it soon, on its
 * own thread. Lock held. */
void ur_session_hang_up(const struct ur_device *dev);

/* Hangs up the connections that have this file open, of any kind. Lock held. */
void ur_session_hang_up_file(const struct ur_daemon *daemon, const void *file);

/* Copies len bytes to the client, now or with the reply of the successful command. Returns
 * 0 or -EFAULT. On the session's thread, without the lock. */
int ur_session_write(struct ur_session *s, u64 addr, const void *src,
		     size_t len);

/* Adds the cached reply of a command, bytes at answer, to the *len bytes at outs, which has room
 * for UROCE_TUN_WINDOW: outs of a session's current command, for example. Only with
 * UROCE_TUN_F_CACHED_REPLY. Returns false without room. */
bool ur_outs_cache_reply(u8 *outs, u32 *len,
			 const struct uroce_tun_cached_reply *cached,
			 const void *answer, u32 bytes);

/* Copies len bytes from the client that gave the current command. Returns 0 or -EFAULT. On
 * the session's thread, without the lock. */
int ur_session_read(struct ur_session *s, u64 addr, void *dst, size_t len);

/*
 * Upcalls (upcall.c), on the session's own thread with the lock held. They release the lock
 * while they wait, so objects of other sessions may have changed afterwards.
 */

/*
 * Returns a copy of the client's descriptor number, or -EBADF, -EPIPE, or -ENFILE without
 * room here. *id, if id is not NULL, gets the identity of its file. The copy stays the
 * session's, which closes it before the reply, when only the client waits. Under the lock,
 * no system call that the file could block may be made on it.
 */
int ur_session_fget(struct ur_session *s, int number, struct ur_file_id *id);
/* Returns the cookie of the client's event file of that kind with that descriptor number,
 * if the command named it; otherwise 0. */
u64 ur_session_known(const struct ur_session *s, int number, u32 kind);
/* Asks the client for a descriptor that proves right, enum uroce_tun_right. Returns the
 * descriptor, as ur_session_fget() does, or -errno: -EPERM if the client cannot prove it or
 * does not support the upcall. */
int ur_session_ask_proof(struct ur_session *s, u32 right);
/* Maximum number of descriptors that one call installs. */
#define UR_INSTALL_MAX 16
/* Installs a copy of fd, which stays the caller's, in the client. Returns its number there,
 * or -errno. */
int ur_session_install(struct ur_session *s, int fd);
/* Installs copies of n descriptors, at most UR_INSTALL_MAX. numbers gets their numbers in
 * the client, -1 where fds has -1. Returns 0 or -errno. Other threads may close fds in the
 * meantime. */
int ur_session_install_all(struct ur_session *s, const int *fds, u32 n,
			   s32 *numbers);
/* Installs fd[0], the client's end of an event file, as ur_session_install() does. Sends
 * fd[1], the end into which events are sent, along if it is not -1 and the client supports
 * that (UROCE_TUN_F_SENDERS). */
int ur_session_install_events(struct ur_session *s, u32 kind, u64 cookie,
			      const int fd[2]);
/* Copies n descriptors to held, -1 for -1, for a message that is sent without the lock: the
 * original numbers may be reused by then. The copies are charged to the session's user
 * until ur_session_let_go_fds(), called on the session's thread without the lock. Returns 0
 * or -errno. */
int ur_session_hold_fds(struct ur_session *s, const int *fds, u32 n, int *held);
void ur_session_let_go_fds(struct ur_session *s, int *held, u32 n);
/* Remembers a CLOSE_FD until the end of the command. Returns false if there are too many. */
bool ur_session_note_closed(struct ur_session *s, u64 cookie);
/* Closes, after a command, the descriptors that the client sent for it. Lock not held. */
void ur_session_give_back(struct ur_session *s);

#endif
