// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Exported files of a neighbour that this program reads. */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/user.h"
#include "engine/local/udp_pair.h"
#include "engine/local/udp_shown.h"
#include "util/os/high_fd.h"

#ifndef SYS_pidfd_open /* Linux 5.3 */
#define SYS_pidfd_open 434
#endif

void ur_udp_seen_begin(struct ur_udp_pair *p, struct ur_engine *engine,
		       const struct ur_user_mem *mem)
{
	for (u32 i = 0; i < UR_PEER_FILES; i++)
		atomic_store(&p->in.word->seen[i], 0);
	p->liveness.engine = engine;
	p->liveness.fd = -1;
	atomic_store(&p->in.word->proof, (u32)p->in_fd);
	p->may = p->same_user && mem->copies && ur_shared_files_may();
	atomic_store(&p->in.word->maps, p->may ? (u32)syscall(SYS_getpid) : 0);
}

void ur_udp_seen_unmap(struct ur_udp_pair *p)
{
	for (u32 i = 0; i < UR_PEER_FILES; i++)
		ur_seen_file_unmap(&p->seen[i]);
}

static void drop_all(struct ur_udp_pair *p)
{
	for (u32 i = 0; i < UR_PEER_FILES; i++)
		if (p->seen[i].map)
			atomic_store(&p->in.word->seen[i], 0);
	ur_udp_seen_unmap(p);
}

static void end_liveness(struct ur_udp_liveness *liveness)
{
	if (liveness->fd < 0)
		return;
	ur_engine_unwatch(liveness->engine, liveness->fd);
	close(liveness->fd);
	liveness->fd = -1;
}

/* The process has ended: unmap its files, so that their memory is freed. */
static void on_end(struct ur_watch *watch, u32 events)
{
	struct ur_udp_pair *p =
		ur_container_of(watch, struct ur_udp_pair, liveness.watch);

	end_liveness(&p->liveness);
	drop_all(p);
}

static bool is_alive(const struct ur_udp_liveness *liveness)
{
	struct pollfd fd = {.fd = liveness->fd, .events = POLLIN};

	return liveness->fd >= 0 && !poll(&fd, 1, 0);
}

/* Starts to watch the process, to notice its end. Drops the files of an earlier process of the neighbour. */
static bool begin_liveness(struct ur_udp_pair *p, s32 pid)
{
	struct ur_udp_liveness *liveness = &p->liveness;

	if (liveness->fd >= 0 && liveness->pid == pid)
		return true;
	end_liveness(liveness);
	drop_all(p);
	liveness->fd = ur_high_fd((int)syscall(SYS_pidfd_open, pid, 0));
	if (liveness->fd < 0)
		return false;
	liveness->pid = pid;
	liveness->watch.fn = on_end;
	if (!ur_engine_watch(liveness->engine, liveness->fd, EPOLLIN,
			     &liveness->watch))
		return true;
	close(liveness->fd);
	liveness->fd = -1;
	return false;
}

/* The limit of one file holds for all files of a neighbour together. */
static bool has_room(const struct ur_udp_pair *p, u64 bytes)
{
	u64 all = 0;

	for (u32 i = 0; i < UR_PEER_FILES; i++)
		all += p->seen[i].map ? p->seen[i].map_bytes : 0;
	return bytes <= UR_SHOWN_FILE_BYTES &&
	       all <= UR_SHOWN_FILE_BYTES - bytes;
}

/* Returns whether to map the file. A neighbour that once exported a file of another process is refused for good. */
static bool may_map(struct ur_udp_pair *p, const struct ur_shown_file *shown)
{
	return shown->bytes && p->may && has_room(p, shown->bytes) &&
	       p->kin != UR_UDP_STRANGER && shown->pid > 0 &&
	       begin_liveness(p, shown->pid);
}

/* Returns whether the file was mapped and is still valid. */
static bool is_welcome(struct ur_udp_pair *p, u32 place, int err)
{
	if (err == -EPERM)
		p->kin = UR_UDP_STRANGER;
	/* The process is alive, so its pid was not reused meanwhile. */
	return !err && !(p->news >> place & 1) && is_alive(&p->liveness);
}

static void map_shown(struct ur_engine *e, struct ur_udp_pair *p, u32 place)
{
	const struct ur_shown_file shown = p->said[place];
	struct ur_seen_file seen = {0};
	int err;

	if (!may_map(p, &shown))
		return;
	ur_chore_steps_aside(e);
	err = ur_seen_file_map(&shown, p->in_fd, &seen);
	if (ur_chore_steps_back(e) && is_welcome(p, place, err)) {
		p->seen[place] = seen;
		atomic_store(&p->in.word->seen[place], shown.number);
		return;
	}
	ur_seen_file_unmap(&seen);
}

/* The pair may end meanwhile, but only this thread frees it. */
static void see(struct ur_engine *e, struct ur_chore *chore)
{
	struct ur_udp_pair *p = ur_container_of(chore, struct ur_udp_pair, see);
	u32 place = p->news ? (u32)__builtin_ctz(p->news) : 0;
	struct ur_seen_file old = p->seen[place];

	/* In a child of fork: the parent's thread had already taken the last report. */
	if (!p->news)
		return;
	p->news &= ~(1u << place);
	p->seen[place].map = NULL;
	if (old.map) {
		ur_chore_steps_aside(e);
		ur_seen_file_unmap(&old);
		if (!ur_chore_steps_back(e))
			return;
	}
	map_shown(e, p, place);
	/* Unless the chore was forgotten. */
	if (e->chores.runs && p->news)
		ur_chore_ask(e, chore);
}

void ur_udp_seen_take(struct ur_udp_pair *p, const u8 *record)
{
	struct ur_shown_file shown;

	memcpy(&shown, record, sizeof(shown));
	if (shown.place >= UR_PEER_FILES)
		return;
	atomic_store(&p->in.word->seen[shown.place], 0);
	p->said[shown.place] = shown;
	p->news |= 1u << shown.place;
	p->see.run = see;
	ur_chore_ask(p->liveness.engine, &p->see);
}

const u8 *ur_udp_seen_bytes(const struct ur_udp_pair *p,
			    const struct ur_peer_message *m, u64 bytes)
{
	const struct ur_seen_file *seen;

	if (m->file >= UR_PEER_FILES)
		return NULL;
	seen = &p->seen[m->file];
	if (!seen->map || p->news >> m->file & 1 || m->at > seen->bytes ||
	    bytes > seen->bytes - m->at)
		return NULL;
	return seen->at + m->at;
}

void ur_udp_seen_refuse(struct ur_udp_pair *p, const struct ur_peer_message *m)
{
	if (m->file < UR_PEER_FILES)
		atomic_store(&p->in.word->seen[m->file], 0);
}

void ur_udp_seen_leave(struct ur_udp_pair *p)
{
	if (!p->liveness.engine)
		return;
	end_liveness(&p->liveness);
	for (u32 i = 0; i < UR_PEER_FILES; i++)
		atomic_store(&p->in.word->seen[i], 0);
}
