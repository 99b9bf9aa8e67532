/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The descriptors of this process that are virtual RDMA files.
 *
 * One struct ur_file is one open file description, shared by all descriptors
 * that dup() made of it, with the hidden socket of uroce-tunnel.h as its twin.
 * Files live in a static pool and descriptors in a static array, so nothing
 * here allocates, and the question "is this one ours" is one load.
 *
 * Lock-free: a reference is taken by compare-and-swap, the pool likewise.
 *
 * A vfork() child runs in our memory with its own descriptor table, until it
 * execs: it must change nothing here. A fork() child owns a copy of all of it.
 * A page that the kernel wipes on fork shows which of the two it is.
 */
#ifndef UR_PRELOAD_FDMAP_H
#define UR_PRELOAD_FDMAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel-abi/uroce-tunnel.h"

/* Descriptors above this number pass through untracked; Linux's usual
 * fs.nr_open. The array costs memory only where it is touched. */
#define UR_FDMAP_FDS	(1 << 20)
#define UR_FDMAP_FILES	16384
#define UR_FDMAP_HIDDEN 0xffff
/* Beside the index of a file: somebody closes the number. */
#define UR_FDMAP_CLOSING 0x8000
/* So many event files of a device file end within one command. */
#define UR_FDMAP_ENDED 8

struct ur_reply_cache; /* reply_cache.h */

struct ur_file {
	/* descriptors in the low 20 bits, calls in progress above */
	_Atomic uint32_t refs;
	_Atomic uint32_t used; /* pool: 0 when free */
	uint32_t kind;	       /* enum uroce_tun_kind */
	uint32_t generation;   /* of the process that sock belongs to */
	uint64_t serial;       /* never reused, names the file to its events */
	uint64_t cookie;       /* the device's name for it */
	uint64_t rdev;
	uint64_t features; /* UROCE_TUN_F_* that the device has too */
	uint32_t answers;  /* to commands on an rdma_cm file; the lock's */
	/* uverbs: generation of the process that has its engine */
	_Atomic uint32_t engine;
	/* the name of that engine; completion channel: of that which its
	 * sending end is kept for (uroce-resumes.h) */
	const void *_Atomic engine_name;
	/* completion channel: sender.h. Noticed to be another file by its
	 * inode, too */
	int sender;
	ino_t sender_ino;
	ino_t sock_ino; /* the same of sock */
	/* the visible descriptor, to notice when its number was closed behind
	 * our back (by fclose() or a raw system call) and used again */
	dev_t dev;
	ino_t ino;
	/* who made it: real and effective user, then group */
	uint32_t opener[4];
	int sock; /* hidden twin, or -1: an event file, counter or netlink */
	uint32_t parent;	  /* event file: pool index of the file ... */
	uint64_t parent_serial;	  /* ... that it came from */
	_Atomic uint32_t dead;	  /* the device went away */
	_Atomic uint32_t joined;  /* opened by another process */
	_Atomic uint32_t shared;  /* a forked child may have it too */
	pthread_mutex_t lock;	  /* one command at a time on sock */
	_Atomic uintptr_t caller; /* the thread that the command is of, or 0 */
	/* The lock's: cookies of event files that ended within the command. */
	uint64_t ended[UR_FDMAP_ENDED];
	uint32_t ended_count;
	struct ur_reply_cache *reply_cache; /* NULL: none; the lock's */
	/* For a netlink socket, netlink.c. If two threads change them at once,
	 * one of the two values stays, as with the kernel. */
	uint32_t nl_type, nl_bound,
		nl_port;	      /* socket(2)'s; bind() was called */
	uint64_t nl_groups, nl_flags; /* as in UROCE_TUN_BIND */
};

extern _Atomic uint16_t ur_fdmap_slot[UR_FDMAP_FDS];

/* Returns whether @fd may be one of ours: the fast path of every wrapper. */
static inline bool ur_fdmap_hit(int fd)
{
	return (unsigned int)fd < UR_FDMAP_FDS &&
	       __builtin_expect(atomic_load_explicit(&ur_fdmap_slot[fd],
						     memory_order_acquire) != 0,
				0);
}

/* Returns whether @fd is the hidden twin of some file. */
static inline bool ur_fdmap_is_hidden(int fd)
{
	return (unsigned int)fd < UR_FDMAP_FDS &&
	       atomic_load(&ur_fdmap_slot[fd]) == UR_FDMAP_HIDDEN;
}

/**
 * ur_fdmap_get() - the file behind a descriptor, with a reference
 *
 * Return: NULL when the descriptor is not ours (also when it was ours and its
 * number has been used again since, which is noticed here). Otherwise end with
 * ur_fdmap_put().
 */
struct ur_file *ur_fdmap_get(int fd);
/* Drops such a reference. */
void ur_fdmap_put(struct ur_file *file);

/**
 * ur_fdmap_looks() - the kind of file that a descriptor was last known as
 *
 * Costs no system call, so it may be wrong where ur_fdmap_get() would notice
 * that the number was used again: for those who do the same as the kernel would
 * in either case.
 *
 * Return: 0 when the descriptor is not ours.
 */
uint32_t ur_fdmap_looks(int fd);

/* Beside enum uroce_tun_kind: an open counter, an ordinary file that the device
 * brings up to date before each read. */
#define UR_KIND_COUNTER 100

/**
 * ur_fdmap_new() - a file without descriptors, with one reference in use
 * @sock: hidden twin, owned by the file from here on; -1 for an event file
 *
 * Return: NULL when the pool is empty (the caller still owns @sock).
 */
struct ur_file *ur_fdmap_new(uint32_t kind, int sock);

/* Returns whether the calling thread has the user and group, real and effective,
 * of the one that opened the file. */
bool ur_fdmap_is_opener(const struct ur_file *file);

/* Holds a file as if by a descriptor (the connection kept for SYNC). */
void ur_fdmap_keep(struct ur_file *file);
/* Ends that. */
void ur_fdmap_unkeep(struct ur_file *file);

/* Returns the open device file that @fd is a descriptor of, though it is not
 * known as one, with a reference, or NULL. */
struct ur_file *ur_fdmap_find(int fd);

/* Binds a new descriptor to a file. Returns false where the number is too
 * high. */
bool ur_fdmap_bind(int fd, struct ur_file *file);

/* Makes @fd, a fresh descriptor, a copy of what @from is. */
void ur_fdmap_copy(int from, int fd);

/**
 * ur_fdmap_closing() - @fd is about to be closed
 *
 * It stays what it is for as long as it is open. ur_fdmap_closed() follows.
 */
void ur_fdmap_closing(int fd);

/* Forgets @fd, which was closed, if nobody has done so or bound it anew. Keeps errno. */
void ur_fdmap_closed(int fd);

/**
 * ur_fdmap_forget() - @fd is no longer ours
 *
 * With the last descriptor of an event file the device is notified (CLOSE_FD);
 * with that of a cdev the hidden twin is closed. The descriptor itself is the
 * caller's to close.
 */
void ur_fdmap_forget(int fd);

/* Locks a device file for a command. */
void ur_fdmap_begin_call(struct ur_file *file);
/* Ends that. The device gets to know of event files that ended within the command. */
void ur_fdmap_end_call(struct ur_file *file);

/* Returns the file that @file came from, with a reference, or NULL where it is
 * not open any more. */
struct ur_file *ur_fdmap_parent(struct ur_file *file);
/* Returns the number of the file in the pool. */
uint32_t ur_fdmap_index(const struct ur_file *file);

/* Returns whether this is a vfork() child: its descriptors are its own, this
 * memory is not. */
bool ur_fdmap_borrowed(void);

/* Returns a number that changes with every fork(). A file of another generation
 * is the parent's. */
uint32_t ur_fdmap_generation(void);

/* Has what the process posted fetched, before the process ends. Waits for no
 * lock, so it may be called in a signal handler. */
void ur_fdmap_settle(void);
/* Makes the table. Called once, when the library is loaded. */
void ur_fdmap_init(void);

/**
 * ur_fdmap_next() - the next open file, with a reference
 * @at: 0 at first; where the walk is
 *
 * Return: NULL after the last.
 */
struct ur_file *ur_fdmap_next(uint32_t *at);
/* Returns the file that @fd is a hidden twin of, with a reference, or NULL. */
struct ur_file *ur_fdmap_find_hidden(int fd);

/* Closes a number that was hidden as @ino, and which its file has no more. One
 * that is another file by now stays open, and whatever it is here. */
void ur_fdmap_close_hidden(int fd, ino_t ino);

/* Returns whether @fd is the hidden twin of some file. One whose number was closed behind
 * our back is hidden no more. */
bool ur_fdmap_is_kept(int fd);

/* ---- fdmap_slot.c ---- */

/* Returns the number beyond the highest that was ever tracked. */
int ur_fdmap_end(void);
/* Says what the number @fd, below UR_FDMAP_FDS, is: a file's index or
 * UR_FDMAP_HIDDEN. */
void ur_fdmap_set_slot(int fd, uint16_t value);

/* Hides the number of a socket that a file owns. ur_fdmap_keeps() knows it by
 * *ino. */
void ur_fdmap_hide(int fd, ino_t *ino);

/* Returns whether the number @fd, or -1, is still the socket that was hidden as
 * @ino, and not closed behind our back, or another file by now. */
bool ur_fdmap_keeps(int fd, ino_t ino);

/* Ends that a number is hidden, where it is. By now it may be a descriptor of ours
 * that the program sees. */
void ur_fdmap_uncover(int fd);

/* ---- fdmap_hidden.c ---- */

/* Moves a hidden twin off the number @fd, which the application wants. Returns
 * 0 or -errno. */
int ur_fdmap_evict(int fd);

/* Closes the descriptors first..last, and forgets them, but no hidden twins of
 * others. Returns as close_range(2). */
int ur_fdmap_close_range(unsigned int first, unsigned int last, int flags);

/* Gives a locked file another hidden twin; the old one is closed. */
void ur_fdmap_replace(struct ur_file *file, int sock);

#endif
