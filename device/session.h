/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A session: one tunnel connection, that is one open virtual file, served by a
 * thread of its own. The thread takes the control lock around the work of each
 * command, and releases it whenever it waits for the client or touches the
 * client's memory. So a client that stalls holds up nobody else.
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
/* An on-demand daemon ends this long after its last client, and this long
 * after the start without a first one. */
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
	struct ur_open_file *open;
	struct ur_nldev *nl; /* it is a netlink socket. Lock */
	bool administers;    /* it has shown the right to. Lock */
	/* On its file objects were made that end with this process. Lock */
	bool has_objects;
	/* The client's memory from window_addr on, as it came with the command
	 * that runs. */
	u64 window_addr;
	u32 window_len;
	u8 window[UROCE_TUN_WINDOW];
	/* The bytes that the command writes from outs_from up to outs_to go
	 * with the answer. */
	u64 outs_from, outs_to;
	u32 outs_len;
	u8 outs[UROCE_TUN_WINDOW] __attribute__((aligned(8)));
	/* Event files that the command that runs may name. */
	struct uroce_tun_known known[UROCE_TUN_MAX_KNOWN];
	/* Descriptors that the client has shown for the command that runs: it
	 * may have made them so that closing them waits. */
	int shown[8];
	u32 n_shown;
	u32 shown_fds; /* charged for them */
	u32 held_fds;  /* charged for copies that are on their way to it */
	/* CLOSE_FD messages that came in the middle of an upcall. */
	u64 closed[32];
	u32 n_closed;
	/* The answer to STATUS that the client has in its hands: its memory is
	 * taken back before the next message is looked at. */
	int answer; /* -1: none */
	u32 answer_kib, answer_fds;
	u64 commands; /* carried out: IOCTL, WRITE; atomic */
	bool giving;  /* back descriptors: no command runs. Lock */
};

/* Charges the session's user for an answer that has bytes already and may grow
 * by a page of objects. Returns 0 or -ENOMEM. Lock held. */
int ur_session_answer_room(struct ur_session *s, u64 bytes);
/* Takes the memory of that answer back from the client. Lock not held. */
void ur_session_drop_answer(struct ur_session *s);

/* Hangs up the connections that have a file of the device open. Each of them
 * leaves it soon, on its own thread. Lock held. */
void ur_session_hang_up(const struct ur_device *dev);

/* Does so to those that have that file open, of whatever kind. Lock held. */
void ur_session_hang_up_file(const struct ur_daemon *daemon, const void *file);

/* Copies len bytes to the client, at the latest when the command succeeds.
 * Returns 0 or -EFAULT. On the session's thread, without the lock. */
int ur_session_write(struct ur_session *s, u64 addr, const void *src,
		     size_t len);

/* Sends, with the answer to the command that runs, the answer that another
 * command would get: bytes of it at answer. Only with UROCE_TUN_F_CACHED_REPLY.
 * Returns false where there is no room. */
bool ur_session_cache_reply(struct ur_session *s,
			    const struct uroce_tun_cached_reply *cached,
			    const void *answer, u32 bytes);

/* Copies len bytes from the client whose command runs. Returns 0 or -EFAULT. On
 * the session's thread, without the lock. */
int ur_session_read(struct ur_session *s, u64 addr, void *dst, size_t len);

/*
 * Upcalls (upcall.c), on the session's own thread with the lock held. They
 * release the lock while they wait: what other sessions own may have changed
 * afterwards.
 */

/*
 * Returns a copy of the client's descriptor, or -EBADF, -EPIPE, or -ENFILE
 * where there is no room for it here. *id, if id is not NULL, says which file
 * it is of. The copy stays the session's, which closes it before the answer,
 * when nobody waits but the client. Under the lock, no system call may be made
 * on it that its file could hold up.
 */
int ur_session_fget(struct ur_session *s, int number, struct ur_file_id *id);
/* Returns the cookie of the event file of that kind that the client has at
 * number, as the command named it; 0: it did not. */
u64 ur_session_known(const struct ur_session *s, int number, u32 kind);
/* Asks the client for a descriptor that proves the right, enum uroce_tun_right.
 * Returns it, as ur_session_fget() does, or -errno: -EPERM where it has none, or
 * does not know the question. */
int ur_session_ask_proof(struct ur_session *s, u32 right);
/* Most descriptors that one call installs. */
#define UR_INSTALL_MAX 16
/* Gives the client a copy of fd, which stays the caller's. Returns its number
 * there, or -errno. */
int ur_session_install(struct ur_session *s, int fd);
/* Does so with n of them, at most UR_INSTALL_MAX, and puts their numbers there into numbers: -1 for one that is -1.
 * Returns 0 or -errno. Others may close fds in the meantime. */
int ur_session_install_all(struct ur_session *s, const int *fds, u32 n,
			   s32 *numbers);
/* Does the same with fd[0], an end of an event file. Beside it the client gets a copy of fd[1], the end
 * into which events are sent, if that is not -1 and the client knows of such. */
int ur_session_install_events(struct ur_session *s, u32 kind, u64 cookie,
			      const int fd[2]);
/* Makes copies of n descriptors, or -1 of -1, for a message that is sent without the lock: the numbers may be of other
 * files by then. They are charged to the session's user until ur_session_let_go_fds(), which is for its thread without
 * the lock. Returns 0 or -errno. */
int ur_session_hold_fds(struct ur_session *s, const int *fds, u32 n, int *held);
void ur_session_let_go_fds(struct ur_session *s, int *held, u32 n);
/* Remembers a CLOSE_FD for the end of the command. Returns false where there
 * are more than a client can have to say at once. */
bool ur_session_note_closed(struct ur_session *s, u64 cookie);
/* Closes, after a command, the descriptors that the client has shown for it.
 * Lock not held. */
void ur_session_give_back(struct ur_session *s);

#endif
