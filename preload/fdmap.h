/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The descriptors of this process that are virtual RDMA files.
 *
 * One struct ur_file is one open file description, shared by all descriptors
 * that dup() made of it. Its twin is the hidden socket of uroce-tunnel.h. Files
 * live in a static pool and descriptors in a static array: nothing here
 * allocates, and one load tells whether a descriptor is ours.
 *
 * Lock-free: references and the pool use compare-and-swap.
 *
 * A vfork() child runs in our memory with its own descriptor table until it
 * execs, so it must change nothing here. A fork() child owns a copy of all of
 * it. A page that the kernel wipes on fork distinguishes the two.
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
/* With the index of a file: its number is being closed. */
#define UR_FDMAP_CLOSING 0x8000
/* Event files of a device file that can end within one command. */
#define UR_FDMAP_ENDED 8

struct ur_reply_cache; /* reply_cache.h */

struct ur_file {
	/* descriptors in the low 20 bits, calls in progress above */
	_Atomic uint32_t refs;
	_Atomic uint32_t used; /* pool: 0 when free */
	uint32_t kind;	       /* enum uroce_tun_kind */
	/* ur_fdmap_generation() of the process that owns sock */
	uint32_t generation;
	/* never reused; by it event files find their parent */
	uint64_t serial;
	uint64_t cookie; /* the device's name for it */
	uint64_t rdev;
	uint64_t features; /* UROCE_TUN_F_* that the device supports as well */
	/* number of answers on an rdma_cm file; guarded by lock */
	uint32_t answers;
	/* of the device processes that have had the file */
	_Atomic uint32_t lives;
	/* uverbs: generation of the process with its engine */
	_Atomic uint32_t engine;
	/* name of that engine; of a completion channel: the engine that its
	 * sending end is kept for (uroce-resumes.h) */
	const void *_Atomic engine_name;
	/* completion channel: its sending end (sender.h), and the inode by
	 * which a reused number is noticed */
	int sender;
	ino_t sender_ino;
	ino_t sock_ino; /* inode of sock, likewise */
	/* Identity of the visible descriptor: shows that its number was closed
	 * unseen (fclose(), raw system call) and reused. */
	dev_t dev;
	ino_t ino;
	/* its creator: real and effective user, then group */
	uint32_t opener[4];
	int sock; /* hidden twin; -1: event file, counter or netlink */
	/* event file: pool index of its parent file */
	uint32_t parent;
	uint64_t parent_serial;	  /* serial of that file */
	_Atomic uint32_t dead;	  /* the device is gone */
	_Atomic uint32_t joined;  /* opened by another process */
	_Atomic uint32_t shared;  /* a forked child may use it too */
	pthread_mutex_t lock;	  /* serializes commands on sock */
	_Atomic uintptr_t caller; /* thread that gives the command, or 0 */
	/* Cookies of event files that ended within the command; guarded by
	 * lock. */
	uint64_t ended[UR_FDMAP_ENDED];
	uint32_t ended_count;
	struct ur_reply_cache *reply_cache; /* or NULL; guarded by lock */
	/* Netlink socket (netlink.c). One of two concurrent changes wins, as in
	 * the kernel. */
	uint32_t nl_type, nl_bound,
		/* socket(2)'s protocol; bind() was called */
		nl_port;
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
/* Drops a reference of ur_fdmap_get(). */
void ur_fdmap_put(struct ur_file *file);

/**
 * ur_fdmap_looks() - the kind of file that a descriptor was last known as
 *
 * Costs no system call. It may be wrong where ur_fdmap_get() would notice a
 * reused number, so the caller must do what the kernel would do in either case.
 *
 * Return: 0 when the descriptor is not ours.
 */
uint32_t ur_fdmap_looks(int fd);

/* In addition to enum uroce_tun_kind: an open counter, an ordinary file that
 * the device updates before each read. */
#define UR_KIND_COUNTER 100

/**
 * ur_fdmap_new() - a file without descriptors, with one reference in use
 * @sock: hidden twin, owned by the file from here on; -1 for an event file
 *
 * Return: NULL when the pool is empty (the caller still owns @sock).
 */
struct ur_file *ur_fdmap_new(uint32_t kind, int sock);

/* Returns whether the calling thread has the opener's user and group, both real
 * and effective. */
bool ur_fdmap_is_opener(const struct ur_file *file);

/* Keeps a file open without a descriptor (the connection for SYNC). */
void ur_fdmap_keep(struct ur_file *file);
/* Undoes ur_fdmap_keep(). */
void ur_fdmap_unkeep(struct ur_file *file);

/* Returns the open device file that @fd, though not tracked, is a descriptor
 * of, with a reference; or NULL. */
struct ur_file *ur_fdmap_find(int fd);

/* Tracks a new descriptor as one of the file. Returns false where the number is
 * too high. */
bool ur_fdmap_bind(int fd, struct ur_file *file);

/* Tracks the new descriptor @fd as a copy of @from. */
void ur_fdmap_copy(int from, int fd);

/**
 * ur_fdmap_closing() - @fd is about to be closed
 *
 * It stays what it is for as long as it is open. ur_fdmap_closed() follows.
 */
void ur_fdmap_closing(int fd);

/* Forgets @fd, which was closed, unless it is forgotten or tracked anew already. Keeps errno. */
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
/* Unlocks the file, and reports to the device the event files that ended within
 * the command. */
void ur_fdmap_end_call(struct ur_file *file);

/* Returns the parent of an event file, with a reference, or NULL where it is
 * closed. */
struct ur_file *ur_fdmap_parent(struct ur_file *file);
/* Returns the file's index in the pool. */
uint32_t ur_fdmap_index(const struct ur_file *file);

/* Returns whether this is a vfork() child, which has its own descriptors but
 * shares this memory. */
bool ur_fdmap_borrowed(void);

/* Returns a number that changes with every fork(). A file with another one is
 * the parent's. */
uint32_t ur_fdmap_generation(void);

/* Initializes the table. Called once, when the library is loaded. */
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

/* Closes a number that was hidden as @ino and that its file gave up; unless the
 * number is another file by now. */
void ur_fdmap_close_hidden(int fd, ino_t ino);

/* Returns whether @fd is a hidden twin. One that was closed unseen is no longer hidden. */
bool ur_fdmap_is_kept(int fd);

/* ---- fdmap_slot.c ---- */

/* Returns the number beyond the highest that was ever tracked. */
int ur_fdmap_end(void);
/* Sets the slot of @fd, below UR_FDMAP_FDS: a file's index or
 * UR_FDMAP_HIDDEN. */
void ur_fdmap_set_slot(int fd, uint16_t value);

/* Hides the number of a socket that a file owns. *ino gets the inode, for
 * ur_fdmap_keeps(). */
void ur_fdmap_hide(int fd, ino_t *ino);

/* Returns whether @fd is still the socket hidden as @ino: not closed unseen,
 * and not reused. @fd may be -1. */
bool ur_fdmap_keeps(int fd, ino_t ino);

/* Unhides a number, if it is hidden. By now it may be a visible descriptor of
 * ours. */
void ur_fdmap_uncover(int fd);

/* ---- fdmap_hidden.c ---- */

/* Moves a hidden twin off the number @fd, which the application wants. Returns
 * 0 or -errno. */
int ur_fdmap_evict(int fd);

/* Closes and forgets the descriptors first..last, except the hidden twins of
 * other files. Returns as close_range(2). */
int ur_fdmap_close_range(unsigned int first, unsigned int last, int flags);

/* Replaces the hidden twin of a locked file, and closes the old one. */
void ur_fdmap_replace(struct ur_file *file, int sock);

#endif
