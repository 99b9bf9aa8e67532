/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An open virtual file and the operations of its kind: uverbs (ufile.c), rdma_cm (ucma.c)
 * or umad (umad.c). It lives as long as a session has it open. Control lock held, unless
 * the comment says otherwise.
 */
#ifndef UR_DEVICE_OPEN_FILE_H
#define UR_DEVICE_OPEN_FILE_H

#include <pthread.h>
#include "device/session.h"

/*
 * An open file. Forked children of the process that opened it join it with
 * connections of their own; commands on it run one at a time.
 */
struct ur_open_file {
	struct ur_list node; /* in the daemon's files */
	u64 cookie;	     /* unguessable; a client that knows it may join */
	uid_t uid;
	u32 kind;
	u64 rdev;
	/* identifies the visible descriptor; a client that has it may join too */
	struct ur_file_id id;
	u32 refs; /* connections */
	/* serializes commands; taken before the control lock */
	pthread_mutex_t lock;
	struct ur_session *current; /* its command runs or ran last */
	const struct ur_file_ops *ops;
	void *file;
};

/* The operations of a kind of file. All are called with the control lock held;
 * ioctl and write are called without it and take it themselves. */
struct ur_file_ops {
	/* Opens the file, in *file. shown: UROCE_TUN_MAX_FDS entries of -1; gets the
	 * descriptors for the client, the visible one first. They stay the file's. Returns
	 * 0 or -errno. */
	int (*open)(struct ur_session *s, const char *name, void **file,
		    int *shown, u64 *rdev);
	/*
	 * Restores a file of an earlier, killed uroced. fd: the file's visible descriptor,
	 * which the client has sent; it stays the session's. id: its identity. answers:
	 * number of replies that the client has received on it. Sets file, shown and rdev
	 * as open() does. Returns 0, -ENOENT (the file is not known or not this user's) or
	 * another -errno. NULL: files of this kind end with uroced.
	 */
	int (*reattach)(struct ur_session *s, const struct ur_file_id *id,
			int fd, u32 answers, void **file, int *shown,
			u64 *rdev);
	/* Returns the device that the file is of, or NULL. */
	const struct ur_device *(*device)(const void *file);
	s64 (*ioctl)(void *file, u64 request, u64 arg);
	s64 (*write)(void *file, u64 addr, u64 len);
	/* Makes s the session that gives commands. Called before the first command of
	 * another session, and when the last one has left. NULL: the file cannot be joined. */
	void (*attach)(void *file, struct ur_session *s);
	void (*close_fd)(void *file, u64 cookie);
	/* Closes the file: the last session has left, and none can join any more. May
	 * release the lock and take it again (ur_loop_step_aside()). */
	void (*close)(void *file);
};

/* Opens the file that msg names for the session, and fills *reply; shown as for
 * its open(). Returns 0, -ENXIO (no such file) or another -errno. */
int ur_open_file_new(struct ur_session *s, const struct uroce_tun_msg *msg,
		     struct uroce_tun_msg *reply, int *shown);
/* Makes the session join the open file that msg names by its cookie or its visible
 * descriptor; either is enough. If the file belongs to an earlier uroced, restores it and
 * fills shown as ur_open_file_new() does. Returns 0, -ENOENT (no such file) or another
 * -errno. */
int ur_open_file_join(struct ur_session *s, const struct uroce_tun_msg *msg,
		      struct uroce_tun_msg *reply, int *shown);
/* Carries out IOCTL or WRITE. Returns the result of the system call. Lock not held. */
s64 ur_open_file_command(struct ur_session *s, const struct uroce_tun_msg *msg);
/* Passes the CLOSE_FD messages of the session (s->closed) to the file. */
void ur_open_file_closed_fds(struct ur_session *s);
/* Ends the session's use of the file. The last session closes it. */
void ur_open_file_leave(struct ur_session *s);

#endif
