// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The descriptor table, and the work at the end of a file, which follows its
 * last reference. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "preload/fdmap.h"
#include "preload/reply_cache.h"
#include "preload/real.h"
#include "preload/tunnel.h"

#define FDS_MASK ((1u << 20) - 1)
#define USER	 (1u << 20)
#define INDEX	 (UR_FDMAP_CLOSING - 1) /* bits of a slot's value */

_Static_assert(UR_FDMAP_FILES <= INDEX, "none is UR_FDMAP_HIDDEN as well");

/* Index 0 stays unused: slot 0 means "not ours". */
static struct ur_file files[UR_FDMAP_FILES];

/* Every process touches these; on pages of their own each would cost a page
 * fault. */
static struct {
	_Atomic uint32_t files_end; /* beyond the highest ever used */
	_Atomic uint64_t serials;
	_Atomic uint32_t generation;
	/* page wiped on fork: pid of this memory's owner */
	_Atomic pid_t *owner;
} map = {.files_end = 1, .generation = 1};

static void enter_child(void)
{
	uint32_t end = atomic_load(&map.files_end);
	pid_t pid = (pid_t)syscall(SYS_getpid);

	if (map.owner && atomic_exchange(map.owner, pid) == pid)
		return; /* done before, when the fork handlers ran */
	atomic_fetch_add(&map.generation, 1);
	/* Calls in progress of the parent's other threads never end here. */
	for (uint32_t i = 1; i < end; i++) {
		uint32_t refs = atomic_load(&files[i].refs);

		pthread_mutex_init(&files[i].lock, NULL);
		atomic_store(&files[i].caller, 0);
		if (refs > FDS_MASK) {
			atomic_store(&files[i].refs, (refs & FDS_MASK) + USER);
			ur_fdmap_put(&files[i]);
		}
	}
}

/* Marks the files as shared: nobody reports what the child closes. */
static void before_fork(void)
{
	uint32_t end = atomic_load(&map.files_end);

	for (uint32_t i = 1; i < end; i++)
		atomic_store(&files[i].shared, 1);
}

void ur_fdmap_init(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page != MAP_FAILED && madvise(page, 4096, MADV_WIPEONFORK) == 0) {
		map.owner = page;
		atomic_store(map.owner, (pid_t)syscall(SYS_getpid));
	}
	pthread_atfork(before_fork, NULL, enter_child);
}

bool ur_fdmap_borrowed(void)
{
	pid_t pid;

	if (!map.owner)
		return false;
	pid = atomic_load(map.owner);
	if (pid == 0) { /* a fork without handlers: raw clone() */
		enter_child();
		return false;
	}
	return pid != (pid_t)syscall(SYS_getpid);
}

uint32_t ur_fdmap_generation(void)
{
	if (map.owner && atomic_load(map.owner) == 0)
		enter_child();
	return atomic_load(&map.generation);
}

static bool get_index(uint32_t index, struct ur_file **ret)
{
	struct ur_file *file = &files[index];
	uint32_t refs = atomic_load(&file->refs);

	do {
		if (!(refs & FDS_MASK))
			return false;
	} while (
		!atomic_compare_exchange_weak(&file->refs, &refs, refs + USER));
	*ret = file;
	return true;
}

struct ur_file *ur_fdmap_next(uint32_t *at)
{
	uint32_t end = atomic_load(&map.files_end);
	struct ur_file *file;

	while (++*at < end)
		if (get_index(*at, &file))
			return file;
	return NULL;
}

static bool same_file(int fd, const struct ur_file *file)
{
	struct stat st;

	return syscall(SYS_fstat, fd, &st) == 0 && st.st_dev == file->dev &&
	       st.st_ino == file->ino;
}

uint32_t ur_fdmap_looks(int fd)
{
	uint16_t index = ur_fdmap_hit(fd) ? atomic_load(&ur_fdmap_slot[fd]) : 0;

	/* A number being closed may be another file already. */
	if (!index || index & UR_FDMAP_CLOSING)
		return 0;
	return __atomic_load_n(&files[index].kind, __ATOMIC_RELAXED);
}

static void send_closed(struct ur_file *parent, uint64_t cookie)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_CLOSE_FD,
				    .closed.cookie = cookie};

	ur_tunnel_send(parent->sock, &msg, -1);
}

/* Reports the end of an event file, whose last descriptor is closed. One that a
 * forked child may have ends with its parent file. */
static void report_event_closed(struct ur_file *file)
{
	struct ur_file *parent;

	if (file->sock >= 0 || file->generation != ur_fdmap_generation() ||
	    atomic_load(&file->shared))
		return;
	parent = ur_fdmap_parent(file);
	if (!parent)
		return;
	/* The number was closed unseen, and the command that this thread gives reuses it. */
	if (atomic_load(&parent->caller) == (uintptr_t)pthread_self()) {
		if (parent->ended_count < UR_FDMAP_ENDED)
			parent->ended[parent->ended_count++] = file->cookie;
	} else {
		pthread_mutex_lock(&parent->lock);
		send_closed(parent, file->cookie);
		pthread_mutex_unlock(&parent->lock);
	}
	ur_fdmap_put(parent);
}

void ur_fdmap_begin_call(struct ur_file *file)
{
	pthread_mutex_lock(&file->lock);
	atomic_store(&file->caller, (uintptr_t)pthread_self());
}

void ur_fdmap_end_call(struct ur_file *file)
{
	atomic_store(&file->caller, 0);
	while (file->ended_count)
		send_closed(file, file->ended[--file->ended_count]);
	pthread_mutex_unlock(&file->lock);
}

/* Drops the descriptor reference of the file with that index, after its slot
 * was emptied. */
static void drop_descriptor(uint16_t index)
{
	struct ur_file *file = &files[index];
	uint32_t refs;

	/* Keeps the file while its end is reported. */
	refs = atomic_fetch_add(&file->refs, USER - 1) - 1;
	if (!(refs & FDS_MASK))
		report_event_closed(file);
	ur_fdmap_put(file);
}

/* Empties the slot if it still has that value of a file. */
static void forget_as(int fd, uint16_t value)
{
	if (atomic_compare_exchange_strong(&ur_fdmap_slot[fd], &value, 0))
		drop_descriptor(value & INDEX);
}

struct ur_file *ur_fdmap_get(int fd)
{
	struct ur_file *file;
	uint16_t value;

	for (;;) {
		if (!ur_fdmap_hit(fd))
			return NULL;
		value = atomic_load(&ur_fdmap_slot[fd]);
		if (!value || value == UR_FDMAP_HIDDEN)
			return NULL;
		if (!get_index(value & INDEX, &file))
			continue; /* the slot is about to change */
		if (atomic_load(&ur_fdmap_slot[fd]) == value) {
			if (same_file(fd, file))
				return file;
			if (ur_fdmap_borrowed())
				break;
			forget_as(fd, value);
		}
		ur_fdmap_put(file);
	}
	ur_fdmap_put(file);
	return NULL;
}

static bool is_twin(int hidden, int fd, ino_t ino)
{
	return hidden == fd && ur_fdmap_keeps(fd, ino);
}

struct ur_file *ur_fdmap_find_hidden(int hidden)
{
	uint32_t at = 0;
	struct ur_file *file;

	while ((file = ur_fdmap_next(&at))) {
		if (is_twin(hidden, file->sock, file->sock_ino) ||
		    is_twin(hidden, file->sender, file->sender_ino))
			return file;
		ur_fdmap_put(file);
	}
	return NULL;
}

bool ur_fdmap_is_kept(int fd)
{
	struct ur_file *file;

	if (!ur_fdmap_is_hidden(fd))
		return false;
	if (ur_fdmap_borrowed())
		return true;
	file = ur_fdmap_find_hidden(fd);
	if (!file) {
		ur_fdmap_uncover(fd);
		/* it has become hidden meanwhile */
		file = ur_fdmap_find_hidden(fd);
		if (!file)
			return false;
		ur_fdmap_set_slot(fd, UR_FDMAP_HIDDEN);
	}
	ur_fdmap_put(file);
	return true;
}

void ur_fdmap_close_hidden(int fd, ino_t ino)
{
	if (ur_fdmap_keeps(fd, ino)) {
		ur_fdmap_uncover(fd);
		syscall(SYS_close, fd);
	} else if (fd >= 0) {
		ur_fdmap_is_kept(fd);
	}
}

/* Waits until the device has ended the file: the next one may want its agents'
 * methods, or its ids' ports. */
static void end_twin(struct ur_file *file)
{
	if ((file->kind == UROCE_TUN_UMAD || file->kind == UROCE_TUN_RDMA_CM) &&
	    file->generation == ur_fdmap_generation() &&
	    !atomic_load(&file->shared))
		ur_tunnel_end(file->sock);
}

static void release(struct ur_file *file)
{
	int sender = file->sender, sock = file->sock;

	if (ur_fdmap_keeps(sock, file->sock_ino))
		end_twin(file);
	/* Cleared first: others may look for the owner of these numbers. */
	file->sender = -1;
	file->sock = -1;
	ur_fdmap_close_hidden(sender, file->sender_ino);
	ur_fdmap_close_hidden(sock, file->sock_ino);
	ur_reply_cache_close(file->reply_cache);
	file->reply_cache = NULL;
	atomic_store(&file->used, 0);
}

void ur_fdmap_put(struct ur_file *file)
{
	if (atomic_fetch_sub(&file->refs, USER) == USER)
		release(file);
}

void ur_fdmap_keep(struct ur_file *file)
{
	atomic_fetch_add(&file->refs, 1);
}

void ur_fdmap_unkeep(struct ur_file *file)
{
	if (atomic_fetch_sub(&file->refs, 1) == 1)
		release(file);
}

uint32_t ur_fdmap_index(const struct ur_file *file)
{
	return (uint32_t)(file - files);
}

static void get_credentials(uint32_t who[4])
{
	uint32_t saved; /* of both calls */

	syscall(SYS_getresuid, &who[0], &who[1], &saved);
	syscall(SYS_getresgid, &who[2], &who[3], &saved);
}

bool ur_fdmap_is_opener(const struct ur_file *file)
{
	uint32_t who[4];

	get_credentials(who);
	return !memcmp(who, file->opener, sizeof(who));
}

struct ur_file *ur_fdmap_new(uint32_t kind, int sock)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
	struct ur_file *file = NULL;
	uint32_t i, end;

	for (i = 1; i < UR_FDMAP_FILES; i++) {
		uint32_t none = 0;

		if (atomic_compare_exchange_strong(&files[i].used, &none, 1)) {
			file = &files[i];
			break;
		}
	}
	if (!file)
		return NULL;
	end = atomic_load(&map.files_end);
	while (i >= end &&
	       !atomic_compare_exchange_weak(&map.files_end, &end, i + 1))
		;
	__atomic_store_n(&file->kind, kind, __ATOMIC_RELAXED);
	file->generation = ur_fdmap_generation();
	file->serial = atomic_fetch_add(&map.serials, 1) + 1;
	file->cookie = 0;
	file->rdev = 0;
	file->features = 0;
	file->answers = 0;
	atomic_store(&file->engine, 0);
	atomic_store(&file->engine_name, NULL);
	file->sender = -1;
	file->sender_ino = 0;
	file->sock_ino = 0;
	file->dev = 0;
	file->ino = 0;
	file->sock = sock;
	get_credentials(file->opener);
	atomic_store(&file->caller, 0);
	file->ended_count = 0;
	file->nl_type = 0;
	file->nl_bound = 0;
	file->nl_port = 0;
	file->nl_groups = 0;
	file->nl_flags = 0;
	file->parent = 0;
	file->parent_serial = 0;
	atomic_store(&file->dead, 0);
	atomic_store(&file->joined, 0);
	atomic_store(&file->shared, 0);
	file->lock = fresh;
	atomic_store(&file->refs, USER);
	if (sock >= 0)
		ur_fdmap_hide(sock, &file->sock_ino);
	return file;
}

bool ur_fdmap_bind(int fd, struct ur_file *file)
{
	struct stat st;

	if ((unsigned int)fd >= UR_FDMAP_FDS || syscall(SYS_fstat, fd, &st))
		return false;
	if (ur_fdmap_hit(fd))
		ur_fdmap_forget(fd);
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	atomic_fetch_add(&file->refs, 1);
	ur_fdmap_set_slot(fd, (uint16_t)ur_fdmap_index(file));
	return true;
}

void ur_fdmap_copy(int from, int fd)
{
	struct ur_file *file = ur_fdmap_get(from);

	if (file) {
		ur_fdmap_bind(fd, file);
		ur_fdmap_put(file);
	} else if (ur_fdmap_hit(fd)) {
		ur_fdmap_forget(fd);
	}
}

void ur_fdmap_forget(int fd)
{
	uint16_t value = atomic_load(&ur_fdmap_slot[fd]);

	while (value && value != UR_FDMAP_HIDDEN) {
		if (atomic_compare_exchange_weak(&ur_fdmap_slot[fd], &value,
						 0)) {
			drop_descriptor(value & INDEX);
			return;
		}
	}
}

void ur_fdmap_closed(int fd)
{
	uint16_t value = atomic_load(&ur_fdmap_slot[fd]);
	int err = errno;

	if (value & UR_FDMAP_CLOSING && value != UR_FDMAP_HIDDEN)
		forget_as(fd, value);
	errno = err;
}

struct ur_file *ur_fdmap_parent(struct ur_file *file)
{
	struct ur_file *parent;

	if (!file->parent || !get_index(file->parent, &parent))
		return NULL;
	if (parent->serial == file->parent_serial)
		return parent;
	ur_fdmap_put(parent);
	return NULL;
}

struct ur_file *ur_fdmap_find(int fd)
{
	uint32_t at = 0;
	struct ur_file *file;

	while ((file = ur_fdmap_next(&at))) {
		if (file->kind == UROCE_TUN_UVERBS && same_file(fd, file))
			return file;
		ur_fdmap_put(file);
	}
	return NULL;
}
