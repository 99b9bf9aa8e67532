/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tunnel: how the preload library hands the system calls on a virtual
 * RDMA file to the device process, which answers them as the kernel would.
 *
 * One AF_UNIX SOCK_SEQPACKET connection to RUNDIR/uroced.sock is one open file
 * description (a kernel "struct file"): the hidden twin of the descriptor that
 * the application holds. The connection ends when its last copy is closed: by
 * the application, by exec, or when the process dies. The device then releases
 * all that the file had. There is one command at a time on a connection.
 *
 * The device reads and writes the caller's memory itself, as the kernel's
 * copy_from_user() does, through the /proc/self/mem descriptor that comes with
 * UROCE_TUN_OPEN. So the front-end does not know what the commands mean. A
 * process that may not open that file (it is not dumpable) is asked for what a
 * command reads and writes, by upcalls like those below. Where a
 * command names a file descriptor, the device asks for it with an upcall before
 * it answers:
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
 * Every message is one struct uroce_tun_msg, with at most UROCE_TUN_MAX_FDS
 * descriptors attached (SCM_RIGHTS). Up to UROCE_TUN_WINDOW bytes may follow
 * the message of a CALL: the caller's memory from arg on. The device then need
 * not read that memory itself. Data on the caller's stack that a command points
 * to are often among these bytes too.
 *
 * Up to as many bytes may follow a DONE. They are what the command writes within
 * the addresses that the CALL names, each piece with a struct uroce_tun_out; and
 * replies to questions that are likely to come next, each with a struct
 * uroce_tun_cached_reply.
 *
 * A NETLINK_RDMA socket is a connection too, but has no twin: after an OPEN of
 * kind UROCE_TUN_NETLINK, without name and descriptors, the connection itself is
 * what the application holds. Each message on it is a netlink message then, in
 * both directions, or UROCE_TUN_BIND, whose op is less than the length that any
 * netlink message begins with.
 *
 * So is a file under sys/ that is open for writing, after an OPEN of kind
 * UROCE_TUN_SETTING with the file's path, relative to the run directory and with
 * its NUL, behind the message. Each message on it is one write, answered with a
 * DONE that has its result; or a UROCE_TUN_DRAIN of that kind, which is
 * answered with itself once the writes before it are done. A write by a process
 * that does not know the connection goes without its answer.
 */
#ifndef UROCE_TUNNEL_H
#define UROCE_TUNNEL_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * OPEN carries the version of the front-end. The device serves every version up
 * to its own. Every change since version 4 has a feature bit. OPEN names the
 * features that the front-end understands, DONE those of them that the device
 * has, and neither side sends anything of another feature. So either side may
 * be the newer one. A new version is only for a change that no feature bit can
 * express.
 */
#define UROCE_TUN_VERSION 4
#define UROCE_TUN_SOCKET  "uroced.sock" /* in the run directory */
/* A file in the run directory. If it exists, names that are not in the tree are not looked
 * up in the kernel's directories either. */
#define UROCE_TUN_ONLY "only"
/* The PCI domain of our devices in sysfs; no host has a domain with this number. */
#define UROCE_PCI_DOMAIN   "7572"
#define UROCE_TUN_MAX_FDS  2
#define UROCE_TUN_NAME_MAX 64
#define UROCE_TUN_WINDOW   2048
/* Size of the visible descriptor of a uverbs file. By it a front-end recognises an
 * inherited or received descriptor before it asks the device. */
#define UROCE_TUN_UVERBS_BYTES (1ull << 40)

/* Features. Version 3 had CACHED_REPLY without a bit; earlier versions had none. */
#define UROCE_TUN_F_CACHED_REPLY (1ull << 0) /* struct uroce_tun_cached_reply */
#define UROCE_TUN_F_CPU		 (1ull << 1) /* cpu of struct uroce_tun_msg */
#define UROCE_TUN_F_KNOWN	 (1ull << 2) /* struct uroce_tun_known */
#define UROCE_TUN_F_MEMORY	 (1ull << 3) /* OPEN without fds[0] */
#define UROCE_TUN_F_PROVE	 (1ull << 4) /* UROCE_TUN_PROVE */
#define UROCE_TUN_F_SENDERS	 (1ull << 5) /* INSTALL with fds[1] */
#define UROCE_TUN_F_RAW_IP	 (1ull << 6) /* UROCE_TUN_NET_RAW_IP */
#define UROCE_TUN_F_AHEAD	 (1ull << 7) /* UROCE_TUN_AHEAD */
#define UROCE_TUN_F_SPARE	 (1ull << 8) /* UROCE_TUN_SPARE */
#define UROCE_TUN_F_ALL                                                   \
	(UROCE_TUN_F_CACHED_REPLY | UROCE_TUN_F_CPU | UROCE_TUN_F_KNOWN | \
	 UROCE_TUN_F_MEMORY | UROCE_TUN_F_PROVE | UROCE_TUN_F_SENDERS |   \
	 UROCE_TUN_F_RAW_IP | UROCE_TUN_F_AHEAD | UROCE_TUN_F_SPARE)

enum uroce_tun_op {
	/* ---- front-end to device; each comment begins with the member of
	 * struct uroce_tun_msg that the message uses ---- */

	/* open; kind, name = "uverbs0" | "rdma_cm" | "umad0". fds[0]: /proc/self/mem,
	 * opened read-write. fds[1]: /proc/self/maps, or none: then the device
	 * does not look at the protections of the memory. With
	 * UROCE_TUN_F_MEMORY both may be missing. The device then takes those of
	 * an earlier OPEN of this process, if they hold this message (ret:
	 * random), or asks by GET_MEMORY and PUT_MEMORY in the middle of commands
	 * and refuses to register memory that it cannot map.
	 *
	 * With a cookie the connection joins the file whose DONE carried that
	 * cookie (a forked child, same user, on a connection of its own).
	 * Without cookie and name it joins the file whose visible descriptor
	 * has number fd in the caller (it came by SCM_RIGHTS or over exec; the
	 * device asks for it with FGET). An rdma_cm file is then one of an earlier
	 * device process, which was killed: the upper half of fd is the number of DONEs
	 * that the caller has had to its WRITEs on it. DONE is then that of an OPEN with
	 * name. If the device has carried out one WRITE more, and the next one begins with the same
	 * 24 bytes, its answer is sent in place of another one. An older device refuses. */
	UROCE_TUN_OPEN = 1,
	UROCE_TUN_IOCTL = 2, /* call */
	UROCE_TUN_WRITE = 3, /* call */
	/* closed: this process has closed its last descriptor of an installed event file.
	 * No reply. */
	UROCE_TUN_CLOSE_FD = 4,
	/*
	 * The application is about to read counters under sys/. The device
	 * brings the files up to date, then sends DONE. Needs no OPEN.
	 *
	 * With fds[0] it only proves a right. fds[0] is a netlink socket of
	 * NETLINK_USERSOCK that is a member of a group: the kernel makes it
	 * only for a process with CAP_NET_ADMIN over the socket's network
	 * namespace. If that is the device's, this connection is an
	 * administrator's from now on, whatever its uid. If the device itself
	 * does not have that capability, the file "lock" of the run directory,
	 * open for writing, proves the right too. ret is -EXDEV for another
	 * network namespace, -EPERM for any other descriptor. An older device
	 * looks at no descriptor.
	 */
	UROCE_TUN_SYNC = 5,
	/* Answers FGET and PROVE (the descriptor is attached where ret is 0) and
	 * INSTALL (ret is the descriptor's number or -errno). */
	UROCE_TUN_FD = 6,
	/* Sent by the command line. name: the subject. DONE has text, and a
	 * memfd with JSON. Needs no OPEN. */
	UROCE_TUN_STATUS = 7,
	/* link. Sent by the command line, for administrators only. DONE has the device's
	 * name. Needs no OPEN. */
	UROCE_TUN_LINK = 8,
	/* Ends the writes of a UROCE_TUN_SETTING: see above. An older front-end sends it on a
	 * uverbs file, too, before that or its process ends; the device sends DONE. */
	UROCE_TUN_DRAIN = 9,
	/* Sent by the command line. An on-demand device stays until the process
	 * that connected has ended, with or without this connection. Needs no
	 * OPEN. */
	UROCE_TUN_HOLD = 10,
	/* Only for kind UROCE_TUN_NETLINK: state set by bind() and setsockopt(). No reply. */
	UROCE_TUN_BIND = 11,

	/* A directory of rdma_cm's configfs, whose path follows the message: kind
	 * 1 makes it, 0 removes it. Needs no OPEN. */
	UROCE_TUN_DIRECTORY = 20,
	/* fault. Sent by the command line, for administrators only. The text of the rule
	 * follows the message. DONE has the number of the rule in ret, or, with -EINVAL,
	 * the reason in name. Needs no OPEN. */
	UROCE_TUN_FAULT = 21,
	/* memory. Answers GET_MEMORY (ret 0, and the bytes behind the message)
	 * and PUT_MEMORY; or ret is -EFAULT. */
	UROCE_TUN_MEMORY = 22,

	/* ---- device to front-end ---- */

	/* ret: the result or -errno. The answer to OPEN has opened, and fds[0]:
	 * the visible descriptor, none where a file was joined; fds[1]: the
	 * page of changes of an rdma_cm file, with UROCE_TUN_F_CACHED_REPLY. */
	UROCE_TUN_DONE = 32,
	UROCE_TUN_FGET = 33, /* ret = descriptor number asked for */
	/* install, kind. fds[0]: to install. fds[1], with UROCE_TUN_F_SENDERS: of
	 * a completion channel, the end into which events are sent, for an engine
	 * in the program. */
	UROCE_TUN_INSTALL = 34,
	/* memory: len bytes, UROCE_TUN_WINDOW at most, that the caller has at
	 * addr. With UROCE_TUN_F_MEMORY. */
	UROCE_TUN_GET_MEMORY = 35,
	/* memory: the next message on the connection consists of len bytes, at most
	 * UROCE_TUN_WINDOW, to be stored at addr. */
	UROCE_TUN_PUT_MEMORY = 36,
	/* kind = enum uroce_tun_right. Sent during a command that requires the right; with
	 * UROCE_TUN_F_PROVE. */
	UROCE_TUN_PROVE = 37,
};

/* The caller proves a right with a descriptor that only a process with the right can make:
 * the device cannot trust other information about the process. */
enum uroce_tun_right {
	/* CAP_NET_RAW over the device's network namespace: a packet socket of
	 * it. */
	UROCE_TUN_NET_RAW = 1,
	/* CAP_NET_BIND_SERVICE over it: a UDP socket of it that is bound to a
	 * port below net.ipv4.ip_unprivileged_port_start. */
	UROCE_TUN_NET_BIND = 2,
	/* Like UROCE_TUN_NET_RAW, with UROCE_TUN_F_RAW_IP: a raw IPv4 socket of the
	 * namespace, of protocol 253. Closing it, unlike a packet socket, does not wait for
	 * an RCU grace period. */
	UROCE_TUN_NET_RAW_IP = 3,
};

enum uroce_tun_link {
	UROCE_TUN_LINK_ADD = 1, /* name = "NETDEV [DEVICE] [node=N]" */
	UROCE_TUN_LINK_DEL = 2, /* name = "DEVICE" */
};

enum uroce_tun_fault_what {
	UROCE_TUN_FAULT_ADD = 1, /* text: "RULE" or "dev=DEVICE RULE" */
	UROCE_TUN_FAULT_DEL = 2, /* id: the rule's number; 0: all */
};

enum uroce_tun_kind {
	UROCE_TUN_UVERBS = 1,  /* visible: memfd that maps rings natively */
	UROCE_TUN_RDMA_CM = 2, /* visible: SOCK_SEQPACKET end; one datagram of
				* one byte (or a struct uroce_tun_event) for
				* each queued event (POLLIN). A
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
	UROCE_TUN_NETLINK = 6, /* the connection itself: see above */
	UROCE_TUN_UMAD = 7,    /* visible: SOCK_SEQPACKET end; each datagram is
			     * what one read() of the kernel's umad gives: a
			     * struct ib_user_mad_hdr (or _old) and the MAD */
	UROCE_TUN_SETTING = 20, /* the connection itself: see above */
};

/* OPEN */
struct uroce_tun_open {
	__u64 version;	/* UROCE_TUN_VERSION of the front-end, from 1 */
	__u64 fd;	/* without name and cookie: the descriptor's number */
	__u64 features; /* UROCE_TUN_F_* that it understands; version 4 */
	__u64 cookie;	/* of the file to join, or 0 */
	/* The address in the caller's memory where this message lies until it
	 * is answered. The device reads the part before the name there, which
	 * proves that fds[0] is that memory. 0: fds[0] must be /proc/PID/mem as
	 * the device sees it. */
	__u64 self;
};

/* BIND */
struct uroce_tun_bind {
	__u64 port;   /* nl_pid: in the nlmsg_pid of answers */
	__u64 groups; /* bit g - 1: a member of multicast group g */
	__u64 flags;  /* UROCE_TUN_NL_* */
	__u64 rsv[2];
};
#define UROCE_TUN_NL_EXT_ACK (1ull << 0) /* NETLINK_EXT_ACK is on */
#define UROCE_TUN_NL_CAP_ACK (1ull << 1) /* NETLINK_CAP_ACK is on */

/* DONE of OPEN */
struct uroce_tun_opened {
	__u64 features; /* those of the front-end's that the device has */
	__u64 rsv[2];
	__u64 cookie; /* the file's name for those who join it */
	__u64 rdev; /* st_rdev that the front-end reports for the descriptor */
};

/* IOCTL, WRITE */
struct uroce_tun_call {
	/* IOCTL: the number. WRITE: UROCE_TUN_TAKEN with UROCE_TUN_F_AHEAD, UROCE_TUN_CREATED with
	 * UROCE_TUN_F_SPARE, or both. */
	__u64 request;
	__u64 arg; /* IOCTL: the user pointer; WRITE: the user's bytes */
	__u64 len; /* WRITE only: how many */
	/* The front-end can store output of the command between these addresses itself,
	 * from the struct uroce_tun_out of DONE. Both 0: it cannot. */
	__u64 out_from;
	__u64 out_to;
};

/* CLOSE_FD */
struct uroce_tun_closed {
	__u64 rsv0[3];
	__u64 cookie; /* of the INSTALL */
	__u64 rsv1;
};

/* GET_MEMORY, PUT_MEMORY */
struct uroce_tun_memory {
	__u64 rsv0;
	__u64 addr;
	__u64 len;
	__u64 rsv1[2];
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

/* FAULT */
struct uroce_tun_fault {
	__u64 what; /* enum uroce_tun_fault_what */
	__u64 id;
	__u64 rsv[3];
};

/*
 * An event file of the caller. An IOCTL or WRITE lists the event files whose descriptor
 * numbers appear in the command, so that the device need not ask for them. With
 * UROCE_TUN_F_KNOWN.
 */
struct uroce_tun_known {
	__u64 cookie; /* of its INSTALL */
	__s32 fd;     /* the number */
	__u32 kind;   /* UROCE_TUN_COMP, UROCE_TUN_ASYNC; 0: no more of them */
};
#define UROCE_TUN_MAX_KNOWN (UROCE_TUN_NAME_MAX / 16)

/* The CREATE_ID that the front-end has answered with an UROCE_TUN_SPARE. */
struct uroce_tun_created {
	__u64 uid;
	__u32 id;
	__u32 rsv;
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
		struct uroce_tun_memory memory;
		struct uroce_tun_text text;
		struct uroce_tun_change link;
		struct uroce_tun_fault fault;
		struct uroce_tun_bind bind;
	};
	__u32 nfds;
	/* IOCTL, WRITE: the caller's processor, plus one, with UROCE_TUN_F_CPU. The device
	 * may serve the next commands there, as a system call would. 0: any. */
	__u32 cpu;
	union {
		char name[UROCE_TUN_NAME_MAX]; /* NUL terminated */
		struct uroce_tun_known
			known[UROCE_TUN_MAX_KNOWN]; /* IOCTL, WRITE */
		struct uroce_tun_created
			created; /* WRITE with UROCE_TUN_CREATED */
	};
};

/* Behind DONE. len bytes for address addr follow, and padding up to a multiple
 * of 8. */
struct uroce_tun_out {
	__u64 addr; /* 0: what follows is a struct uroce_tun_cached_reply */
	__u64 len;
};

/*
 * A reply to a WRITE on this file, sent ahead of the WRITE: the device would write the
 * bytes that follow to the address in bytes 8 to 15 of the WRITE, and return the length of
 * the WRITE. This holds as long as word slot of the page of changes equals change: the
 * device increments that word before any change of the reply. With
 * UROCE_TUN_F_CACHED_REPLY.
 */
struct uroce_tun_cached_reply {
	__u32 slot;
	__u32 change;
	__u8 question[24]; /* the WRITE, its bytes 8 to 15 zero */
};
/*
 * As slot: the reply to the next GET_EVENT on this file, with UROCE_TUN_F_AHEAD. question has the
 * 16 bytes of a GET_EVENT, and at UROCE_TUN_AHEAD_SLOT a __u32, the word of the page that must
 * equal change. It is good once, and only until the front-end sends another command; the
 * GET_EVENT takes its datagram from the socket as any other. The next WRITE has UROCE_TUN_TAKEN
 * where the program got the event; otherwise the event is the device's first again. A MIGRATE_ID
 * on another file is a next command, too: the front-end first sends an invalid WRITE on the file
 * that the id leaves.
 */
#define UROCE_TUN_AHEAD	     0xffffffffu
#define UROCE_TUN_AHEAD_SLOT 16
#define UROCE_TUN_TAKEN	     1
/*
 * As slot: the reply to the next CREATE_ID on this file, with UROCE_TUN_F_SPARE. change is the
 * id; question has the header and the last eight bytes of that CREATE_ID. It is good once. The
 * device has made the id, which no command can name yet. The WRITE after the CREATE_ID has
 * UROCE_TUN_CREATED, the id and the uid; the device gives the id to the program before it carries
 * out the WRITE. It passes over an id that is no spare one: an earlier device process may have
 * given it. As with UROCE_TUN_AHEAD, an invalid WRITE goes before the MIGRATE_ID of another file.
 */
#define UROCE_TUN_SPARE	  0xfffffffeu
#define UROCE_TUN_CREATED 2
/*
 * A datagram of an rdma_cm file that is longer than one byte, with UROCE_TUN_F_AHEAD. Behind it
 * are a reply of UROCE_TUN_AHEAD and others, as behind DONE. They are good if the front-end has
 * had so many DONEs to its WRITEs on the file; otherwise the datagram is one as any other.
 */
struct uroce_tun_event {
	__u32 answers;
	__u32 rsv;
};
#define UROCE_TUN_PAGE_BYTES 4096 /* of changes: __u32 each, read-only */
#define UROCE_TUN_PAGE_SLOTS (UROCE_TUN_PAGE_BYTES / 4)

#ifdef __cplusplus
}
#endif
#endif
