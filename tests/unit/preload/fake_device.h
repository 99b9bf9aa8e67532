/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A device process that speaks the tunnel and knows nothing of RDMA: its
 * ioctls are the handful below, made to exercise one thing of the preload
 * library each.
 */
#ifndef UR_TEST_FAKE_DEVICE_H
#define UR_TEST_FAKE_DEVICE_H

enum fake_ioctl {
	FAKE_ADD_ONE = 1,    /* *(u64 *)arg += 1, through /proc/self/mem */
	FAKE_FGET = 2,	     /* asks for descriptor number arg; 0 or -EBADF */
	FAKE_COMP = 3,	     /* installs a completion channel: its number */
	FAKE_ASYNC = 4,	     /* installs an async event file: its number */
	FAKE_EVENT = 5,	     /* sends arg as an event on the last of these */
	FAKE_CLOSED = 6,     /* cookie of the last CLOSE_FD, 0 before */
	FAKE_FAIL_LATE = 7,  /* installs, then fails with EPERM */
	FAKE_REFUSE = 8,     /* -EOPNOTSUPP */
	FAKE_FILES = 9,	     /* number of open files */
	FAKE_SYNCS = 10,     /* number of SYNC so far */
	FAKE_DIE = 11,	     /* the device process exits */
	FAKE_PEERS = 12,     /* queues one event on the newest rdma_cm file */
	FAKE_WITHDRAWN = 13, /* the same, then takes it back */
	FAKE_OUTS =
		14, /* number of ADD_ONE whose output went with the answer */
	FAKE_CHANGE = 15, /* replies sent ahead on the newest rdma_cm file holds
			   * no more */
	FAKE_WRITES = 16, /* number of WRITE so far */
	FAKE_KNOWN = 18,  /* which event files it names: kind, times 10 for
			    * each that goes before */
	FAKE_COMP_SENDER = 19, /* as FAKE_COMP, with the sending end */
	FAKE_AHEAD = 20,       /* sends the event 1000 in a datagram, as one
				* after arg more answers than there were */
	FAKE_TAKEN = 21,       /* what the last WRITE said of an event */
	FAKE_CREATED =
		22, /* id and uid that the last WRITE named: uid << 16 | id */
};

/* A write to an rdma_cm file: with its answer comes one sent ahead, of question
 * and eight bytes of answer that the write contains. */
#define FAKE_CACHE_REPLY 99
#define FAKE_SLOT	 7
/* Another one: with its answer comes the event 2000 ahead, and a datagram. */
#define FAKE_RESOLVE 98
/* Another one: with its answer comes the spare id FAKE_ID, for a CREATE_ID of port space
 * FAKE_PS and type 2. */
#define FAKE_SPARE	97
#define FAKE_ID		9
#define FAKE_PS		0x106
#define FAKE_EVENT_ROOM 400 /* of a GET_EVENT; the events have eight bytes */

#define FAKE_COOKIE 77
#define FAKE_MAJOR  231
#define FAKE_MINOR  192

/* Builds the tree under @dir, listens, and serves until killed. */
void fake_device_make_tree(const char *dir);
int fake_device_listen(const char *dir);
_Noreturn void fake_device_serve(int listener, const char *dir);

#endif
