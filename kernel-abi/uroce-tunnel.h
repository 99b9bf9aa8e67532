/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tunnel: how the preload library hands the system calls on a virtual
 * RDMA file to the device process, which answers them as the kernel would.
 *
 * One AF_UNIX SOCK_SEQPACKET connection to RUNDIR/uroced.sock is one open file
 * description (a kernel "struct file"): the hidden twin of the descriptor that
 * the application holds. It ends when its last copy is closed, by the
 * application, by fork and exec, or by death, and the device then releases
 * all that the file had. Commands on one connection are strictly one at a
 * time.
 *
 * The device reads and writes the caller's memory itself, as the kernel's
 * copy_from_user() does, through the /proc/self/mem descriptor that comes with
 * UROCE_TUN_OPEN. So the front-end knows nothing of what the commands mean.
 * Where a command names a file descriptor, the device asks for it with an
 * upcall before it answers:
 *
 *   front-end                               device
 *   OPEN {kind, name} + mem fd        ->
 *                                     <-    DONE {ret} + visible fd(s)
 *   CALL {IOCTL cmd, arg}             ->
 *                                     <-    FGET {fd number}        (any times)
 *   FD {ret} + that fd                ->
 *                                     <-    INSTALL {kind} + fd     (any times)
 *   FD {ret = its new number}         ->
 *                                     <-    DONE {ret}
 *
 * Every message is one struct uroce_tun_msg, with at most
 * UROCE_TUN_MAX_FDS descriptors attached (SCM_RIGHTS). Behind that of a CALL
 * there may be up to UROCE_TUN_WINDOW bytes: what the caller's memory holds
 * from arg on. The device then need not read it; what a command points to on
 * the caller's stack is often there too. What a command writes within the
 * addresses that the CALL names may come behind its DONE, up to the same size,
 * as struct uroce_tun_out each. So may answers to questions that are likely to
 * be asked next: struct uroce_tun_cached_reply.
 */
#ifndef UROCE_TUNNEL_H
#define UROCE_TUNNEL_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The front-end's version is in OPEN; the device serves every one up to its
 * own. What is new since version 4 has a feature bit: the front-end says those
 * that it understands, DONE those of them that the device has, and nothing of
 * another is sent. So either side may be the newer. A new version is for what
 * cannot be said so. */
#define UROCE_TUN_VERSION 4
#define UROCE_TUN_SOCKET  "uroced.sock" /* in the run directory */
/* There as well: a file that says that names which the tree does not have shall
 * not be the kernel's either. */
#define UROCE_TUN_ONLY	   "only"
#define UROCE_TUN_MAX_FDS  2
#define UROCE_TUN_NAME_MAX 64
#define UROCE_TUN_WINDOW   2048
/* Size of the visible descriptor of a uverbs file: how one that came from
 * elsewhere is recognised before the device is asked. */
#define UROCE_TUN_UVERBS_BYTES (1ull << 40)

/* Features. Version 3 had this one and no bits, the versions before it none. */
#define UROCE_TUN_F_CACHED_REPLY (1ull << 0) /* struct uroce_tun_cached_reply */
#define UROCE_TUN_F_ALL		 UROCE_TUN_F_CACHED_REPLY

enum uroce_tun_op {
	/* ---- front-end to device; the member of struct uroce_tun_msg ---- */

	/* open, kind, name = "uverbs0" | "rdma_cm"; fds: [0] /proc/self/mem
	 * opened read-write, [1] /proc/self/maps, or none: then protections of
	 * the memory are not looked at. With a cookie: join the file whose DONE said it (a
	 * forked child, same user, on a connection of its own). Without cookie
	 * and name: join the file whose visible descriptor has that number here
	 * (it came by SCM_RIGHTS or over exec; FGET asks for it). */
	UROCE_TUN_OPEN = 1,
	UROCE_TUN_IOCTL = 2, /* call */
	UROCE_TUN_WRITE = 3, /* call */
	/* closed: an installed event descriptor was closed for the last time in
	 * this process; no answer. */
	UROCE_TUN_CLOSE_FD = 4,
	/* The application is about to read counters under sys/: bring the files
	 * up to date, then DONE. May come on a connection without OPEN. */
	UROCE_TUN_SYNC = 5,
	/* Answer to FGET (fd attached when ret == 0) and to INSTALL (ret =
	 * descriptor number or -errno). */
	UROCE_TUN_FD = 6,
	/* Command line: name = subject; DONE has text and a memfd that holds it
	 * as JSON. Needs no OPEN. */
	UROCE_TUN_STATUS = 7,
	/* Command line, of the daemon's own user or root only: link; DONE has
	 * name = the device. Needs no OPEN. */
	UROCE_TUN_LINK = 8,
	/* This process or its file is about to end: DONE when what it has posted
	 * on the file is fetched from its memory. Front-ends go on without the
	 * answer of a device that does not know it. */
	UROCE_TUN_SETTLE = 9,
	/* Command line: an on-demand device stays until the process that
	 * connected has ended, with or without this connection. Needs no OPEN. */
	UROCE_TUN_HOLD = 10,

	/* ---- device to front-end ---- */

	/* ret = result or -errno. Of OPEN: opened, and fds: [0] the visible
	 * descriptor, none when a file is joined; [1] the page of changes, of an
	 * rdma_cm file with UROCE_TUN_F_CACHED_REPLY. */
	UROCE_TUN_DONE = 32,
	UROCE_TUN_FGET = 33,	/* ret = descriptor number asked for */
	UROCE_TUN_INSTALL = 34, /* install, kind; fds: [0] to install */
};

enum uroce_tun_link {
	UROCE_TUN_LINK_ADD = 1, /* name = "NETDEV" or "NETDEV DEVICE" */
	UROCE_TUN_LINK_DEL = 2, /* name = "DEVICE" */
};

enum uroce_tun_kind {
	UROCE_TUN_UVERBS = 1,  /* visible: memfd that maps rings natively */
	UROCE_TUN_RDMA_CM = 2, /* visible: SOCK_SEQPACKET end; one datagram of
				* one byte for each queued event (POLLIN). A
				* GET_EVENT write takes one datagram first,
				* blocking unless O_NONBLOCK, then is sent as
				* WRITE; if the device answers -EAGAIN (the
				* event was withdrawn), take the next. Where
				* the command fails and the event stays queued,
				* the device puts the datagram back */
	UROCE_TUN_COMP = 3,    /* completion channel: SOCK_SEQPACKET end; each
			     * datagram is one struct ib_uverbs_comp_event_desc:
			     * plain read() and poll() do the right thing */
	UROCE_TUN_ASYNC = 4,   /* the same with ib_uverbs_async_event_desc */
	UROCE_TUN_PLAIN = 5,   /* an ordinary descriptor (eventfd, dma-buf): not
			      * tracked */
};

/* OPEN */
struct uroce_tun_open {
	__u64 version;	/* UROCE_TUN_VERSION of the front-end, from 1 */
	__u64 fd;	/* without name and cookie: the descriptor's number */
	__u64 features; /* UROCE_TUN_F_* that it understands; version 4 */
	__u64 cookie;	/* of the file to join, or 0 */
	/* Where in the caller's memory this message is until it is answered:
	 * what is before its name, read there, proves that fds[0] is that
	 * memory. 0: it must be /proc/PID/mem as the device sees it. */
	__u64 self;
};

/* DONE of OPEN */
struct uroce_tun_opened {
	__u64 features; /* those of the front-end's that the device has */
	__u64 rsv[2];
	__u64 cookie; /* the file's name for those who join it */
	__u64 rdev; /* st_rdev that the front-end reports for the descriptor */
};

/* IOCTL, WRITE */
struct uroce_tun_call {
	__u64 request; /* IOCTL only */
	__u64 arg;     /* IOCTL: the user pointer; WRITE: the user's bytes */
	__u64 len;     /* WRITE only: how many */
	/* What the command writes at these addresses the front-end can store
	 * itself, from DONE's struct uroce_tun_out; both 0: nothing. */
	__u64 out_from;
	__u64 out_to;
};

/* CLOSE_FD */
struct uroce_tun_closed {
	__u64 rsv0[3];
	__u64 cookie; /* of the INSTALL */
	__u64 rsv1;
};

/* INSTALL */
struct uroce_tun_install {
	__u64 rsv0[3];
	__u64 cookie; /* the device's name for the descriptor */
	__u64 rsv1;
};

/* DONE of STATUS */
struct uroce_tun_text {
	__u64 rsv0[2];
	__u64 len; /* bytes in the memfd */
	__u64 rsv1[2];
};

/* LINK */
struct uroce_tun_change {
	__u64 what; /* enum uroce_tun_link */
	__u64 rsv[4];
};

struct uroce_tun_msg {
	__u32 op;   /* enum uroce_tun_op */
	__u32 kind; /* enum uroce_tun_kind */
	__s64 ret;
	union { /* by op; zero where it has none */
		struct uroce_tun_open open;
		struct uroce_tun_opened opened;
		struct uroce_tun_call call;
		struct uroce_tun_closed closed;
		struct uroce_tun_install install;
		struct uroce_tun_text text;
		struct uroce_tun_change link;
	};
	__u32 nfds;
	__u32 rsv;
	char name[UROCE_TUN_NAME_MAX]; /* NUL terminated */
};

/* Behind DONE: len bytes for addr follow, and nothing up to a multiple of 8. */
struct uroce_tun_out {
	__u64 addr; /* 0: what follows is a struct uroce_tun_cached_reply */
	__u64 len;
};

/*
 * What the device would answer now to a WRITE on this file: it writes the bytes
 * that follow where the WRITE's bytes 8 to 15 say, and returns its length. This
 * holds as long as word `slot` of the page of changes is `change`: the device
 * adds to it before it lets anything come to pass that makes the answer
 * another. With UROCE_TUN_F_CACHED_REPLY.
 */
struct uroce_tun_cached_reply {
	__u32 slot;
	__u32 change;
	__u8 question[24]; /* the WRITE, its bytes 8 to 15 zero */
};
#define UROCE_TUN_PAGE_BYTES 4096 /* of changes: __u32 each, read-only */
#define UROCE_TUN_PAGE_SLOTS (UROCE_TUN_PAGE_BYTES / 4)

#ifdef __cplusplus
}
#endif
#endif
