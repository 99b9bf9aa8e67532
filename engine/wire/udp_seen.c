// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory of a neighbour that this program reads. */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/ground/user.h"
#include "engine/watch.h"
#include "engine/wire/udp_pair.h"
#include "engine/wire/udp_shown.h"
#include "util/os/high_fd.h"

#ifndef SYS_pidfd_open /* Linux 5.3 */
#define SYS_pidfd_open 434
#endif

void ur_udp_seen_begin(struct ur_udp_pair *p, struct ur_engine *engine,
		       const struct ur_user_mem *mem)
{
	for (u32 i = 0; i < UR_PEER_FILES; i++)
		atomic_store(&p->in.word->seen[i], 0);
	p->life.engine = engine;
	p->life.fd = -1;
	atomic_store(&p->in.word->proof, (u32)p->in_fd);
	p->may = p->same_user && mem->copies && ur_shared_files_may();
	atomic_store(&p->in.word->maps, p->may ? (u32)getpid() : 0);
}

static void drop_all(struct ur_udp_pair *p)
{
	for (u32 i = 0; i < UR_PEER_FILES; i++) {
		if (!p->seen[i].map)
			continue;
		atomic_store(&p->in.word->seen[i], 0);
		ur_seen_file_unmap(&p->seen[i]);
	}
}

static void end_life(struct ur_udp_life *life)
{
	if (life->fd < 0)
		return;
	ur_engine_unwatch(life->engine, life->fd);
	close(life->fd);
	life->fd = -1;
}

/* The process has ended, and its memory is to be free. */
static void on_end(struct ur_watch *watch, u32 events)
{
	struct ur_udp_pair *p =
		ur_container_of(watch, struct ur_udp_pair, life.watch);

	end_life(&p->life);
	drop_all(p);
}

static bool is_alive(const struct ur_udp_life *life)
{
	struct pollfd fd = {.fd = life->fd, .events = POLLIN};

	return life->fd >= 0 && !poll(&fd, 1, 0);
}

/* The files that another process has shown go: nobody would notice its end. */
static bool begin_life(struct ur_udp_pair *p, s32 pid)
{
	struct ur_udp_life *life = &p->life;

	if (life->fd >= 0 && life->pid == pid)
		return true;
	end_life(life);
	drop_all(p);
	life->fd = ur_high_fd((int)syscall(SYS_pidfd_open, pid, 0));
	if (life->fd < 0)
		return false;
	life->pid = pid;
	life->watch.fn = on_end;
	if (!ur_engine_watch(life->engine, life->fd, EPOLLIN, &life->watch))
		return true;
	close(life->fd);
	life->fd = -1;
	return false;
}

/* All that a neighbour shows is not more than one may. */
static bool has_room(const struct ur_udp_pair *p, u64 bytes)
{
	u64 all = 0;

	for (u32 i = 0; i < UR_PEER_FILES; i++)
		all += p->seen[i].map ? p->seen[i].map_bytes : 0;
	return bytes <= UR_SHOWN_FILE_BYTES &&
	       all <= UR_SHOWN_FILE_BYTES - bytes;
}

/* Whoever shows us what is none of his, once, shows nothing. */
static bool map_shown(struct ur_udp_pair *p, const struct ur_shown_file *shown,
		      struct ur_seen_file *seen)
{
	int err;

	if (!p->may || !has_room(p, shown->bytes) ||
	    p->kin == UR_UDP_STRANGER || shown->pid <= 0 ||
	    !begin_life(p, shown->pid))
		return false;
	err = ur_seen_file_map(shown, p->in_fd, seen);
	if (err == -EPERM)
		p->kin = UR_UDP_STRANGER;
	if (err)
		return false;
	/* So long its number was no other's. */
	if (is_alive(&p->life))
		return true;
	ur_seen_file_unmap(seen);
	return false;
}

void ur_udp_seen_take(struct ur_udp_pair *p, const u8 *record)
{
	struct ur_shown_file shown;
	struct ur_seen_file *seen;

	memcpy(&shown, record, sizeof(shown));
	if (shown.place >= UR_PEER_FILES)
		return;
	seen = &p->seen[shown.place];
	atomic_store(&p->in.word->seen[shown.place], 0);
	ur_seen_file_unmap(seen);
	if (shown.bytes && map_shown(p, &shown, seen))
		atomic_store(&p->in.word->seen[shown.place], shown.number);
}

const u8 *ur_udp_seen_bytes(const struct ur_udp_pair *p,
			    const struct ur_peer_message *m, u64 bytes)
{
	const struct ur_seen_file *seen;

	if (m->file >= UR_PEER_FILES)
		return NULL;
	seen = &p->seen[m->file];
	if (!seen->map || m->at > seen->bytes || bytes > seen->bytes - m->at)
		return NULL;
	return seen->at + m->at;
}

void ur_udp_seen_refuse(struct ur_udp_pair *p, const struct ur_peer_message *m)
{
	if (m->file < UR_PEER_FILES)
		atomic_store(&p->in.word->seen[m->file], 0);
}

void ur_udp_seen_end(struct ur_udp_pair *p)
{
	if (p->life.engine)
		end_life(&p->life);
	drop_all(p);
}
