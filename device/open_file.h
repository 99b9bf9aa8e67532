/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An open virtual file, and what its kind does: uverbs (ufile.c), rdma_cm
 * (ucma.c) or umad (umad.c). It lives as long as a session has it open. Control lock held,
 * unless the comment says otherwise.
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
	struct ur_list node; /* of the daemon */
	u64 cookie;	     /* unguessable: who knows it may join */
	uid_t uid;
	u32 kind;
	u64 rdev;
	/* of the visible descriptor: a client that has it may join too */
	struct ur_file_id id;
	u32 refs;	      /* connections */
	pthread_mutex_t lock; /* of commands; taken before the control lock */
	struct ur_session *current; /* whose command runs, or ran last */
	const struct ur_file_ops *ops;
	void *file;
};

/* The operations of a kind of file. All are called with the control lock held;
 * ioctl and write are called without it and take it themselves. */
struct ur_file_ops {
	/* Opens the file in *file. shown has UROCE_TUN_MAX_FDS entries of -1;
	 * filled with the descriptors that the client gets, the visible one
	 * first, which stay the file's. Returns 0 or -errno. */
	int (*open)(struct ur_session *s, const char *name, void **file,
		    int *shown, u64 *rdev);
	/*
	 * The client has a file of an earlier uroced, which was killed, and shows its visible
	 * descriptor, fd, which is the session's, with its id; answers: so many it has
	 * got on it. Fills as open(), where the file is known and the session's. Returns
	 * 0, -ENOENT or another -errno. NULL: such files end.
	 */
	int (*resume)(struct ur_session *s, const struct ur_file_id *id, int fd,
		      u32 answers, void **file, int *shown, u64 *rdev);
	/* Returns the device that the file is of, or NULL. */
	const struct ur_device *(*device)(const void *file);
	s64 (*ioctl)(void *file, u64 request, u64 arg);
	s64 (*write)(void *file, u64 addr, u64 len);
	/* From now on commands come from s. Called before the next command of
	 * another session, and when the one before has gone. NULL: the file
	 * cannot be joined. */
	void (*adopt)(void *file, struct ur_session *s);
	void (*close_fd)(void *file, u64 cookie);
	/* A process that may have posted work is about to end. *run is 0 at
	 * first. Returns whether there is more to do, for which it is called
	 * again. May be NULL. */
	bool (*settle)(void *file, u64 *run);
	/* The last one has left; nobody can join any more. May release the lock
	 * and take it again (ur_loop_step_aside()). */
	void (*close)(void *file);
};

/* Opens the file that msg names for the session, and fills *reply; shown as for
 * its open(). Returns 0, -ENXIO (no such file) or another -errno. */
int ur_open_file_new(struct ur_session *s, const struct uroce_tun_msg *msg,
		     struct uroce_tun_msg *reply, int *shown);
/* Makes the session join an open file, which msg names by its cookie or by its
 * visible descriptor: either is enough; or go on with one of an earlier uroced: then shown is
 * filled as by ur_open_file_new(). Returns 0, -ENOENT (no such file) or another
 * -errno. */
int ur_open_file_join(struct ur_session *s, const struct uroce_tun_msg *msg,
		      struct uroce_tun_msg *reply, int *shown);
/* Carries out IOCTL or WRITE. Returns what the system call returns. Lock not
 * held. */
s64 ur_open_file_command(struct ur_session *s, const struct uroce_tun_msg *msg);
/* Tells the file which descriptors the client has closed. */
void ur_open_file_closed_fds(struct ur_session *s);
/* The session does not have the file open any more. The last one closes it. */
void ur_open_file_leave(struct ur_session *s);

#endif
