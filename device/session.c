// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads and writes the client's memory for a command. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/client_memory.h"
#include "device/session.h"
#include "device/memory.h"
#include "device/open_file.h"
#include "util/assert.h"

int ur_session_read(struct ur_session *s, u64 addr, void *dst, size_t len)
{
	u64 at = addr - s->window_addr;

	if (at > s->window_len || len > s->window_len - at)
		return ur_client_memory_read(s, addr, dst, len);
	memcpy(dst, s->window + at, len);
	return 0;
}

/* Reserves room for output among outs and writes its head. Returns NULL without room. */
static u8 *add_out(u8 *outs, u32 *outs_len, u64 addr, size_t len)
{
	struct uroce_tun_out out = {addr, len};
	u8 *to = outs + *outs_len;
	size_t padded;

	if (len > UROCE_TUN_WINDOW)
		return NULL;
	padded = ur_align_up(len, 8);
	if (sizeof(out) + padded > UROCE_TUN_WINDOW - *outs_len)
		return NULL;
	memcpy(to, &out, sizeof(out));
	to += sizeof(out);
	if (len & 7)
		memset(to + padded - 8, 0, 8);
	*outs_len += (u32)(sizeof(out) + padded);
	return to;
}

int ur_session_write(struct ur_session *s, u64 addr, const void *src,
		     size_t len)
{
	u8 *to = NULL;

	if (addr && addr >= s->outs_from && addr <= s->outs_to &&
	    len <= s->outs_to - addr)
		to = add_out(s->outs, &s->outs_len, addr, len);
	if (!to)
		return ur_client_memory_write(s, addr, src, len);
	memcpy(to, src, len);
	return 0;
}

bool ur_outs_cache_reply(u8 *outs, u32 *len,
			 const struct uroce_tun_cached_reply *cached,
			 const void *answer, u32 bytes)
{
	u8 *to = add_out(outs, len, 0, sizeof(*cached) + bytes);

	if (!to)
		return false;
	memcpy(to, cached, sizeof(*cached));
	memcpy(to + sizeof(*cached), answer, bytes);
	return true;
}

void ur_session_hang_up(const struct ur_device *dev)
{
	ur_assert(ur_loop_mine(dev->daemon->loop));
	ur_list_each(struct ur_session, s, &dev->daemon->sessions, node) {
		if (s->open && s->open->ops->device &&
		    s->open->ops->device(s->open->file) == dev)
			shutdown(s->sock, SHUT_RDWR);
	}
}

void ur_session_hang_up_file(const struct ur_daemon *daemon, const void *file)
{
	ur_assert(ur_loop_mine(daemon->loop));
	ur_list_each(const struct ur_session, s, &daemon->sessions, node) {
		if (s->open && s->open->file == file)
			shutdown(s->sock, SHUT_RDWR);
	}
}

/* A reply is charged in steps of this many KiB; a page of objects is smaller. */
#define ANSWER_STEP 64u

int ur_session_answer_room(struct ur_session *s, u64 bytes)
{
	u32 kib = (u32)(bytes / 1024 / ANSWER_STEP + 2) * ANSWER_STEP;

	if (kib <= s->answer_kib)
		return 0;
	if (ur_memory_take(s->uid, kib - s->answer_kib))
		return -ENOMEM;
	s->answer_kib = kib;
	return 0;
}

void ur_session_drop_answer(struct ur_session *s)
{
	if (s->answer >= 0) {
		/* The client may keep the file open; this frees its pages. */
		if (ftruncate(s->answer, 0))
			ur_debug("session %llu: an answer is not taken back",
				 (unsigned long long)s->id);
		close(s->answer);
		s->answer = -1;
	}
	if (!s->answer_kib && !s->answer_fds)
		return;
	ur_loop_lock(s->daemon->loop);
	if (s->answer_kib)
		ur_memory_give(s->uid, s->answer_kib);
	if (s->answer_fds)
		ur_quota_give_fds(s->uid, s->answer_fds);
	s->answer_kib = s->answer_fds = 0;
	ur_loop_unlock(s->daemon->loop);
}
