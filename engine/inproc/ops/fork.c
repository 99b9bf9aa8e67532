// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A child of fork has no engine at first: its thread and its packets belong to the parent. The child's
 * verbs fail (uroce_ectx_info, own), and descriptors that it could sleep at are replaced by ones that have
 * hung up: a child that read its parent's completion channel would take the parent's events, and wait for
 * ever after the parent's end.
 *
 * A child takes the engine over at its first use, if the parent has ended and its engine has done nothing
 * since the fork (engine/inproc/inproc_fork.h). The process with the engine holds a record lock of a file,
 * which ends with the process and is not inherited. So only one child gets it, even if there are several, or
 * one forks again before its parent ends. Between fork and exec only async-signal-safe functions are
 * called.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "engine/ground/own_memory.h"
#include "engine/inproc/inproc_fork.h"
#include "engine/inproc/ops/process.h"
#include "kernel-abi/uroce-forks.h"
#include "util/os/clock.h"
#include "util/os/high_fd.h"
#include "util/os/map_shared.h"
#include "util/os/timed_lock.h"

/* Longest wait for the end of the parent. */
#define WAIT_MS 100u

/* Lock order: ectxs_lock, a context's withdraws and lock, lock. */
static pthread_mutex_t ectxs_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ur_list ectxs = {&ectxs, &ectxs};
static struct ur_list waits = {&waits, &waits};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int registered; /* 0 or -errno */
/* This process is a child of fork: some engines are, or were, its parent's. */
static _Atomic bool is_child;
/* Pipe made for a fork: the parent's end hangs up when the child has closed the other one. */
static int line[2] = {-1, -1};
/* A child's end of that pipe; line_ino is its inode, since the program may have closed it. */
static int line_of_child = -1;
static ino_t line_ino;

/* ---- handlers ---- */

static bool lock_soon(pthread_mutex_t *mutex)
{
	return ur_lock_within(mutex, 1000000000);
}

/* Takes all locks of an engine, so that no thread makes objects or runs it. Returns whether that worked. */
static bool freeze(struct uroce_ectx *g)
{
	if (!lock_soon(&g->home->withdraws))
		return false;
	if (lock_soon(&g->home->lock)) {
		if (ur_engine_freeze(g->engine))
			return true;
		pthread_mutex_unlock(&g->home->lock);
	}
	pthread_mutex_unlock(&g->home->withdraws);
	return false;
}

static void thaw(struct uroce_ectx *g)
{
	ur_engine_thaw(g->engine);
	pthread_mutex_unlock(&g->home->lock);
	pthread_mutex_unlock(&g->home->withdraws);
}

static struct uroce_ectx *ectx_of(struct ur_list *node)
{
	return ur_list_entry(node, struct uroce_ectx, node);
}

static void make_line(void)
{
	if (pipe2(line, O_CLOEXEC) < 0) {
		line[0] = line[1] = -1;
		return;
	}
	for (u32 i = 0; i < 2; i++)
		line[i] = ur_high_fd(line[i]);
}

/* Skips engines that this process, itself a child, has not taken over. */
static void before_fork(void)
{
	bool objects = false;

	pthread_mutex_lock(&ectxs_lock);
	ur_list_for_each(it, &ectxs) {
		struct uroce_ectx *g = ectx_of(it);

		if (!*g->own)
			continue;
		g->fork.frozen = g->fork.locked = freeze(g);
		g->fork.waited = false;
		g->fork.seen = atomic_load(g->fork.acts);
		objects |= g->objects != 0;
	}
	pthread_mutex_lock(&lock);
	if (objects)
		make_line();
}

static void enter_parent(void)
{
	pthread_mutex_unlock(&lock);
	ur_list_for_each(it, &ectxs) {
		struct uroce_ectx *g = ectx_of(it);

		if (!g->fork.locked)
			continue;
		if (g->objects)
			ur_engine_pause(g->engine, ur_high_fd_copy(line[0]));
		g->fork.locked = false;
		thaw(g);
	}
	for (u32 i = 0; i < 2; i++)
		if (line[i] >= 0)
			close(line[i]);
	line[0] = line[1] = -1;
	pthread_mutex_unlock(&ectxs_lock);
}

static bool is_same(const struct ur_process_wait *wait)
{
	struct stat st;

	return !fstat(wait->fd, &st) && st.st_dev == wait->dev &&
	       st.st_ino == wait->ino;
}

/* Makes a closed socket pair the file at these descriptors. The system calls are made directly,
 * since libraries that track descriptors must not notice. */
static void end_waits(void)
{
	struct stat st;
	int pair[2];

	if (ur_list_empty(&waits) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return;
	syscall(SYS_close, pair[0]);
	fstat(pair[1], &st);
	ur_list_for_each(it, &waits) {
		struct ur_process_wait *wait =
			ur_list_entry(it, struct ur_process_wait, node);

		if (!is_same(wait))
			continue;
		wait->end = st.st_ino;
		syscall(SYS_dup3, pair[1], wait->fd, O_CLOEXEC);
	}
	syscall(SYS_close, pair[1]);
}

/* Keeps the end to its own parent, and closes the one to the grandparent. */
static void keep_line(void)
{
	struct stat st;

	if (line[1] < 0)
		return;
	syscall(SYS_close, line[0]);
	if (line_of_child >= 0 && !fstat(line_of_child, &st) &&
	    S_ISFIFO(st.st_mode) && st.st_ino == line_ino)
		syscall(SYS_close, line_of_child);
	line_of_child = line[1];
	line_ino = fstat(line_of_child, &st) ? 0 : st.st_ino;
	line[0] = line[1] = -1;
}

/* In the child: the kernel has wiped own. */
static void enter_child(void)
{
	keep_line();
	atomic_store(&is_child, true);
	ur_process_cross_poll_forked();
	end_waits();
	pthread_mutex_unlock(&lock);
	ur_list_for_each(it, &ectxs) {
		struct uroce_ectx *g = ectx_of(it);

		g->own[1] = g->fork.frozen;
		g->fork.parents = true;
		if (!g->fork.locked)
			continue;
		g->fork.locked = false;
		thaw(g);
	}
	pthread_mutex_unlock(&ectxs_lock);
}

static struct uroce_ectx *who_waits_at(int fd)
{
	struct uroce_ectx *g = NULL;

	pthread_mutex_lock(&lock);
	ur_list_for_each(it, &waits) {
		const struct ur_process_wait *wait =
			ur_list_entry(it, struct ur_process_wait, node);

		if (wait->fd == fd && wait->end)
			g = wait->ctx;
	}
	pthread_mutex_unlock(&lock);
	return g;
}

/* Called before a read of a descriptor: in a child that waits at one of its channels, tries to take over
 * the engine. */
static void before_read(int fd)
{
	struct uroce_ectx *g;
	int error = errno;

	if (!atomic_load_explicit(&is_child, memory_order_relaxed))
		return;
	g = who_waits_at(fd);
	if (g)
		ur_process_take_over(g, 1);
	errno = error;
}

/* Called before the process ends or runs another program. */
static void last(void)
{
	int error = errno;

	if (pthread_mutex_trylock(&ectxs_lock))
		return; /* another thread makes an engine, or this one was interrupted while it did */
	ur_list_for_each(it, &ectxs) {
		struct uroce_ectx *g = ectx_of(it);

		if (g->own && *g->own)
			ur_engine_finish(g->engine);
	}
	pthread_mutex_unlock(&ectxs_lock);
	errno = error;
}

static void make_handlers(void)
{
	registered = -pthread_atfork(before_fork, enter_parent, enter_child);
	if (&uroce_forks && uroce_forks.version == UROCE_FORKS_VERSION) {
		uroce_forks.tell(before_read);
		uroce_forks.tell_end(last);
	}
}

/* ---- descriptors that the program waits at ---- */

int ur_process_wait_add(struct ur_process_wait *wait, struct uroce_ectx *ctx,
			int fd, int copy)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	wait->fd = fd;
	wait->ctx = ctx;
	wait->copy = copy;
	wait->dev = st.st_dev;
	wait->ino = st.st_ino;
	wait->end = 0;
	pthread_mutex_lock(&lock);
	ur_list_add_tail(&waits, &wait->node);
	pthread_mutex_unlock(&lock);
	return 0;
}

void ur_process_wait_del(struct ur_process_wait *wait)
{
	pthread_mutex_lock(&lock);
	ur_list_del(&wait->node);
	pthread_mutex_unlock(&lock);
}

/* ---- taking over ---- */

static void refuse(struct uroce_ectx *g)
{
	g->fork.frozen = false;
	g->own[1] = 0;
}

/* Returns whether lock_fd is still the same file: the program may have closed all descriptors. */
static bool has_lock_file(const struct uroce_ectx *g)
{
	struct stat st;

	return !fstat(g->fork.lock_fd, &st) && st.st_ino == g->fork.ino;
}

static int set_lock(const struct uroce_ectx *g, short type)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

	return fcntl(g->fork.lock_fd, F_SETLK, &l) < 0 ? -errno : 0;
}

static int wait_for_lock(struct uroce_ectx *g, bool wait)
{
	int err = set_lock(g, F_WRLCK);

	for (u32 i = 0; err && wait && !g->fork.waited && i < WAIT_MS; i++) {
		ur_nap_ns(1000000);
		err = set_lock(g, F_WRLCK);
	}
	g->fork.waited = true;
	return err;
}

static void restart_waits(const struct uroce_ectx *g)
{
	pthread_mutex_lock(&lock);
	ur_list_for_each(it, &waits) {
		struct ur_process_wait *wait =
			ur_list_entry(it, struct ur_process_wait, node);
		struct stat st;

		if (wait->ctx == g && wait->end && !fstat(wait->fd, &st) &&
		    st.st_ino == wait->end)
			syscall(SYS_dup3, wait->copy, wait->fd, O_CLOEXEC);
		if (wait->ctx == g)
			wait->end = 0;
	}
	pthread_mutex_unlock(&lock);
}

static bool has_acted(const struct uroce_ectx *g)
{
	return atomic_load(g->fork.acts) != g->fork.seen;
}

static int take_over(struct uroce_ectx *g, bool wait)
{
	int err = has_lock_file(g) && !has_acted(g) ? wait_for_lock(g, wait)
						    : -EIO;

	if (!err && has_acted(g)) {
		set_lock(g, F_UNLCK);
		err = -EIO;
	}
	if (!err)
		err = ur_user_mem_inherit(g->mem);
	if (!err)
		err = ur_engine_restart(g->engine);
	if (!err) {
		restart_waits(g);
		g->fork.parents = false;
		*g->own = 1;
		return 0;
	}
	if (!wait || has_acted(g) || !has_lock_file(g))
		refuse(g);
	return -EIO;
}

int ur_process_take_over(struct uroce_ectx *g, int wait)
{
	int err = 0;

	if (!*g->own && !g->own[1])
		return g->fork.parents ? -ESRCH : -EIO;
	pthread_mutex_lock(&ectxs_lock);
	if (!*g->own && !g->objects)
		err = -ENOENT;
	else if (!*g->own && take_over(g, wait))
		err = -ESRCH;
	pthread_mutex_unlock(&ectxs_lock);
	return err;
}

/* ---- the lock file ---- */

static int make_lock_file(struct uroce_ectx *g)
{
	struct stat st;
	void *p;
	int err =
		ur_make_shared("uroce-lock", (size_t)sysconf(_SC_PAGESIZE),
			       PROT_READ | PROT_WRITE, 0, &g->fork.lock_fd, &p);

	if (err)
		return err;
	g->fork.acts = p;
	if (fstat(g->fork.lock_fd, &st) < 0)
		return -errno;
	g->fork.ino = st.st_ino;
	return set_lock(g, F_WRLCK);
}

int ur_process_fork_add(struct uroce_ectx *g)
{
	int err;

	pthread_once(&once, make_handlers);
	err = registered ? registered : make_lock_file(g);
	if (err)
		return err;
	ur_engine_count_acts(g->engine, g->fork.acts);
	pthread_mutex_lock(&ectxs_lock);
	ur_list_add_tail(&ectxs, &g->node);
	pthread_mutex_unlock(&ectxs_lock);
	return 0;
}

void ur_process_fork_del(struct uroce_ectx *g)
{
	if (!ur_list_empty(&g->node)) {
		pthread_mutex_lock(&ectxs_lock);
		ur_list_del(&g->node);
		pthread_mutex_unlock(&ectxs_lock);
		ur_engine_count_acts(g->engine, NULL);
	}
	if (g->fork.acts)
		munmap((void *)g->fork.acts, (size_t)sysconf(_SC_PAGESIZE));
	if (g->fork.lock_fd >= 0)
		close(g->fork.lock_fd);
}
