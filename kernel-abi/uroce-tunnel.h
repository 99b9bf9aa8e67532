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
 * be asked next: struct uroce_tun_foretold.
 */
#ifndef UROCE_TUNNEL_H
#define UROCE_TUNNEL_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UROCE_TUN_VERSION  3
#define UROCE_TUN_SOCKET   "uroced.sock" /* in the run directory */
#define UROCE_TUN_MAX_FDS  2
#define UROCE_TUN_NAME_MAX 64
#define UROCE_TUN_WINDOW   2048
/* Size of the visible descriptor of a uverbs file: how one that came from
 * elsewhere is recognised before the device is asked. */
#define UROCE_TUN_UVERBS_BYTES (1ull << 40)

enum uroce_tun_op {
	/* ---- front-end to device ---- */
	UROCE_TUN_OPEN =
		1, /* cmd = version, kind, name = "uverbs0" | "rdma_cm";
			     * fds: [0] /proc/self/mem opened read-write, [1]
			     * /proc/self/maps, or none: then protections of the
			     * memory are not looked at. With a
			     * cookie: join the file whose DONE said it (a forked
			     * child, same user, on a connection of its own).
			     * Without cookie and name: join the file whose
			     * visible descriptor has number arg here (it came
			     * by SCM_RIGHTS or over exec; FGET asks for it).
			     * DONE then carries no descriptor. rdev =
			     * where in the caller's memory this message is until
			     * it is answered: what is before its name, read
			     * there, proves that fds[0] is that memory. 0: it
			     * must be /proc/PID/mem as the device sees it. DONE
			     * for an
			     * rdma_cm file: fds[1] is the page of changes */
	UROCE_TUN_IOCTL = 2,	/* cmd = request, arg = user pointer; what it
				 * writes from cookie up to rdev (addresses) the
				 * front-end can store. The same for WRITE */
	UROCE_TUN_WRITE = 3,	/* arg = user buffer, len = bytes */
	UROCE_TUN_CLOSE_FD = 4, /* cookie: an installed event fd was closed for
				 * the last time in this process; no answer */
	UROCE_TUN_SYNC = 5, /* the application is about to read counters under
			     * sys/: bring the files up to date, then DONE. May
			     * come on a connection without OPEN */
	UROCE_TUN_FD = 6,   /* answer to FGET (fd attached when ret == 0) and to
			     * INSTALL (ret = descriptor number or -errno) */
	UROCE_TUN_STATUS = 7, /* cli: arg = 0; name = subject; answer DONE with
			       * len = bytes and a memfd holding JSON text.
			       * Needs no OPEN */
	UROCE_TUN_LINK = 8,   /* cli, the daemon's own user or root only: cmd =
			     * enum uroce_tun_link; answer DONE with name = the
			     * device. Needs no OPEN */
	UROCE_TUN_SETTLE = 9, /* this process or its file is about to end: DONE
			       * when what it has posted on the file is fetched
			       * from its memory. Front-ends go on without the
			       * answer of a device that does not know it */
	UROCE_TUN_HOLD = 10, /* cli: an on-demand device stays until the process
			      * that connected has ended, with or without this
			      * connection. Needs no OPEN */
	/* ---- device to front-end ---- */
	UROCE_TUN_DONE = 32, /* ret = result or -errno; for OPEN: rdev, and fds:
			      * [0] the visible descriptor */
	UROCE_TUN_FGET = 33, /* ret = descriptor number asked for */
	UROCE_TUN_INSTALL = 34, /* kind, cookie; fds: [0] to install */
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

struct uroce_tun_msg {
	__u32 op;   /* enum uroce_tun_op */
	__u32 kind; /* enum uroce_tun_kind */
	__s64 ret;
	__u64 cmd;
	__u64 arg;
	__u64 len;
	__u64 cookie; /* device's name for an installed fd; also set in DONE of
		       * OPEN for the file itself */
	__u64 rdev;   /* st_rdev the front-end reports for the descriptor */
	__u32 nfds;
	__u32 rsv;
	char name[UROCE_TUN_NAME_MAX]; /* NUL terminated */
};

/* Behind DONE: len bytes for addr follow, and nothing up to a multiple of 8. */
struct uroce_tun_out {
	__u64 addr; /* 0: what follows is a struct uroce_tun_foretold */
	__u64 len;
};

/*
 * What the device would answer now to a WRITE on this file: it writes the bytes
 * that follow where the WRITE's bytes 8 to 15 say, and returns its length. This
 * holds as long as word `slot` of the page of changes is `change`: the device
 * adds to it before it lets anything come to pass that makes the answer
 * another. To clients of version 3.
 */
struct uroce_tun_foretold {
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
