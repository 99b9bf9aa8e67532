// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Exported memory of this program. */
#include "engine/local/udp_shown.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/user.h"
#include "engine/local/udp_pair.h"
#include "kernel-abi/uroce-copies.h"
#include "util/assert.h"

/* Payload pieces, of some 16 MiB together, after which a search for the region's file pays. */
#define LOOK_AFTER 64u
/* Most files of a program; each takes a descriptor. */
#define MOST_FILES 32u
#define PAGE	   4096u /* the smallest of any system */

_Static_assert(sizeof(struct ur_shown_file) == UR_PEER_SHOWN_BYTES,
	       "what is said of a file");

static bool say(struct ur_udp_pair *p, u32 place, const u8 addrs[32])
{
	const struct ur_udp_shown *s = &p->shown[place];
	struct ur_shown_file said = {0};
	struct ur_peer_message m = {.len = sizeof(said), .seg = 1, .shows = 1};
	u8 *to;

	if (s->mr)
		said = s->mr->file;
	said.pid = (pid_t)syscall(SYS_getpid);
	said.proof = p->out_fd;
	said.number = s->number;
	said.place = place;
	memcpy(m.saddr, addrs, 16);
	memcpy(m.daddr, addrs + 16, 16);
	to = ur_peer_room(&p->out, &m);
	if (!to)
		return false;
	memcpy(to, &said, sizeof(said));
	ur_peer_put(&p->out, &m);
	p->put = true;
	return true;
}

void ur_udp_shown_announce(struct ur_udp_pair *p)
{
	for (u32 left = p->out.has_addrs ? p->due : 0; left; left &= left - 1) {
		u32 i = (u32)__builtin_ctz(left);

		if (say(p, i, p->out.addrs))
			p->due &= ~(1u << i);
	}
}

/* Exports a region at a free index. An index is free once the neighbour was notified that the earlier export
 * is revoked. */
static void show(struct ur_udp_pair *p, const struct ur_av *av,
		 const struct ur_emr *mr)
{
	u8 addrs[32];

	for (u32 i = 0; i < UR_PEER_FILES; i++) {
		struct ur_udp_shown *s = &p->shown[i];

		if (s->mr || p->due >> i & 1)
			continue;
		if (!++p->shown_ever)
			p->shown_ever = 1;
		*s = (struct ur_udp_shown){.mr = mr,
					   .bytes = mr->attr.length,
					   .number = p->shown_ever};
		memcpy(addrs, av->sgid, 16);
		memcpy(addrs + 16, av->dgid, 16);
		if (!say(p, i, addrs))
			p->due |= 1u << i;
		return;
	}
}

/* Not on-demand memory, since the mapping at its address may change. */
static bool may_be_file(const struct ur_emr *mr)
{
	return !mr->attr.on_demand && !mr->attr.implicit && mr->attr.length &&
	       mr->ectx->n_files < MOST_FILES;
}

static void end_search(struct ur_emr *mr, const struct ur_shown_file *file)
{
	ur_assert(!mr->searched);
	mr->searched = true;
	mr->file.fd = -1;
	if (!file)
		return;
	mr->file = *file;
	mr->ectx->n_files++;
}

/* A step of the search for the region's file. */
static void look_for_file(struct ur_engine *e, struct ur_chore *chore)
{
	struct ur_emr *mr = ur_container_of(chore, struct ur_emr, search_chore);
	struct ur_file_search *search = mr->search;
	u64 addr = mr->attr.addr, len = mr->attr.length;
	struct ur_shown_file file;
	int err = -ENOENT;

	/* A turn may have asked again while the last step ran without the lock. */
	if (mr->searched)
		return;
	if (!may_be_file(mr)) {
		end_search(mr, NULL);
		return;
	}
	/* This function owns the search while it does not have the lock. */
	mr->search = NULL;
	ur_chore_steps_aside(e);
	if (!search)
		search = ur_file_search_begin(addr, len);
	if (search)
		err = ur_file_search_step(search, &file);
	if (err != -EAGAIN)
		ur_file_search_end(search);
	if (!ur_chore_steps_back(e)) {
		if (err == -EAGAIN)
			ur_file_search_end(search);
		if (!err)
			close(file.fd);
	} else if (err == -EAGAIN) {
		mr->search = search;
		ur_chore_ask(e, chore);
	} else {
		end_search(mr, err ? NULL : &file);
	}
}

static void look_for_kin(struct ur_engine *e, struct ur_chore *chore)
{
	struct ur_udp_pair *p =
		ur_container_of(chore, struct ur_udp_pair, look);
	s32 pid = (s32)atomic_load(&p->out.word->maps);
	s32 proof = (s32)atomic_load(&p->out.word->proof);
	bool is;

	ur_chore_steps_aside(e);
	is = ur_process_is_kin(pid, proof, p->out_fd);
	if (ur_chore_steps_back(e))
		p->kin = is ? UR_UDP_KIN : UR_UDP_STRANGER;
}

/* Returns whether the neighbour maps files, and could read our memory anyway. */
static bool is_kin(struct ur_udp_pair *p)
{
	u32 pid =
		atomic_load_explicit(&p->out.word->maps, memory_order_relaxed);

	if (!p->may || !pid)
		return false;
	if (p->kin == UR_UDP_KIN_UNKNOWN) {
		p->look.run = look_for_kin;
		ur_chore_ask(p->liveness.engine, &p->look);
	}
	return p->kin == UR_UDP_KIN;
}

/* A payload in an exported file is named by a token, not by its address: two regions may have the same address, one
 * of them unmapped. The token is no valid address; it has the index, the export's number and the offset. */
#define TOKEN	    (1ull << 63)
#define NUMBER_BITS 0x7ffffull
#define OFFSET_BITS (UR_SHOWN_FILE_BYTES - 1)

_Static_assert(OFFSET_BITS >> 40 == 0 && UR_PEER_FILES <= 16,
	       "44 bits are an offset and a place");

static u64 token_of(const struct ur_udp_shown *s, u32 place)
{
	return TOKEN | (s->number & NUMBER_BITS) << 44 | (u64)place << 40;
}

static bool is_seen(const struct ur_udp_pair *p, u32 place)
{
	return atomic_load_explicit(&p->out.word->seen[place],
				    memory_order_relaxed) ==
	       p->shown[place].number;
}

/* Returns whether the memory is mapped and readable. If the program has unmapped or protected it, it must not be sent,
 * although the file still has the bytes. */
static bool is_there(const struct ur_user_mem *mem, u64 at, u32 len)
{
	u64 end = at + len;
	u8 byte;

	if (!mem || !mem->direct)
		return false;
	for (; at < end; at = (at | (PAGE - 1)) + 1)
		if (mem->direct->copy(&byte, (void *)(uintptr_t)at, 1))
			return false;
	return true;
}

const u8 *ur_udp_shown_find(struct ur_udp_pair *p, const struct ur_av *av,
			    struct ur_emr *mr, u64 off, u32 len,
			    const struct ur_user_mem *mem)
{
	u64 at = mr->attr.addr + off;

	if (!mr->searched && ++mr->pieces < LOOK_AFTER)
		return NULL;
	if ((mr->searched && mr->file.fd < 0) || !ur_peer_is_read(&p->out) ||
	    !is_kin(p))
		return NULL;
	if (!mr->searched) {
		mr->search_chore.run = look_for_file;
		ur_chore_ask(mr->ectx->engine, &mr->search_chore);
		return NULL;
	}
	for (u32 i = 0; i < UR_PEER_FILES; i++)
		if (p->shown[i].mr == mr)
			return is_seen(p, i) && is_there(mem, at, len)
				       ? (u8 *)(uintptr_t)(token_of(
								   &p->shown[i],
								   i) |
							   off)
				       : NULL;
	show(p, av, mr);
	return NULL;
}

void ur_udp_shown_hide(struct ur_udp_pair *p, const struct ur_emr *mr)
{
	for (u32 i = 0; i < UR_PEER_FILES; i++)
		if (p->shown[i].mr == mr) {
			p->shown[i].mr = NULL;
			p->due |= 1u << i;
		}
}

u64 ur_udp_shown_place(const struct ur_udp_pair *p, const u8 *payload,
		       struct ur_peer_message *m)
{
	u64 token = (uintptr_t)payload, at = token & OFFSET_BITS;
	u32 place = token >> 40 & 0xf;
	const struct ur_udp_shown *s = &p->shown[place];

	if (!(token & TOKEN) || !s->mr || !is_seen(p, place) ||
	    (token & ~OFFSET_BITS) != token_of(s, place) || at >= s->bytes)
		return 0;
	m->shown = 1;
	m->file = (u16)place;
	m->at = at;
	return s->bytes - at;
}
