// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rings between this program's engine and others of its device: attaching, ending,
 * sleeping. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/ground/own_memory.h"
#include "engine/wire/wire_udp.h"
#include "transport/wire_format.h"
#include "util/assert.h"
#include "util/os/high_fd.h"
#include "util/os/map_shared.h"

static void *map(int fd, size_t bytes, int rights)
{
	void *p;

	return ur_map_shared(fd, bytes, rights, &p) ? NULL : p;
}

struct ur_user_mem *ur_udp_memory(const struct ur_wire_udp *w)
{
	const struct ur_engine *e = w->wire.engine;

	return ur_list_empty(&e->ectxs)
		       ? NULL
		       : ur_list_first(&e->ectxs, struct ur_ectx, node)->mem;
}

/* Stops using the pair. */
static void leave_pair(struct ur_wire_udp *w, struct ur_udp_pair *p)
{
	struct ur_user_mem *mem = ur_udp_memory(w);

	if (p->in.word)
		ur_peer_read(&p->in, false);
	ur_chore_forget(w->wire.engine, &p->look);
	ur_chore_forget(w->wire.engine, &p->see);
	ur_udp_seen_leave(p);
	if (mem && p->out_file)
		ur_user_mem_forget(mem, p->out_file);
	if (mem && p->in_file)
		ur_user_mem_forget(mem, p->in_file);
}

static void close_pair(struct ur_udp_pair *p)
{
	ur_udp_seen_unmap(p);
	if (p->words)
		munmap(p->words, UR_PEER_WORDS_BYTES);
	if (p->out_file)
		munmap(p->out_file, UR_PEER_FILE_BYTES);
	if (p->in_file)
		munmap((void *)(uintptr_t)p->in_file, UR_PEER_FILE_BYTES);
	if (p->out_fd >= 0)
		close(p->out_fd);
	if (p->in_fd >= 0)
		close(p->in_fd);
	free(p);
}

static void close_all(struct ur_udp_pair *p)
{
	struct ur_udp_pair *next;

	for (; p; p = next) {
		next = p->next;
		close_pair(p);
	}
}

/* A chore, since unmapping may take long. */
static void close_ended(struct ur_engine *e, struct ur_chore *chore)
{
	struct ur_wire_udp *w =
		ur_container_of(chore, struct ur_wire_udp, close_ended);
	struct ur_udp_pair *p = w->ended;

	w->ended = NULL;
	ur_chore_steps_aside(e);
	close_all(p);
	ur_chore_steps_back(e);
}

void ur_udp_close_pairs(struct ur_wire_udp *w)
{
	for (; w->paired; w->paired &= w->paired - 1) {
		u32 i = (u32)__builtin_ctz(w->paired);

		leave_pair(w, w->pairs[i]);
		close_pair(w->pairs[i]);
		w->pairs[i] = NULL;
	}
	ur_chore_forget(w->wire.engine, &w->close_ended);
	close_all(w->ended);
	w->ended = NULL;
}

static void drop(struct ur_wire_udp *w, struct ur_udp_pair *p)
{
	ur_assert(w->pairs[p->slot] == p);
	w->pairs[p->slot] = NULL;
	w->paired &= ~(1u << p->slot);
	ur_udp_pair_forget(w, p->slot);
	leave_pair(w, p);
	p->next = w->ended;
	w->ended = p;
	w->close_ended.run = close_ended;
	ur_chore_ask(w->wire.engine, &w->close_ended);
}

static int open_pair(struct ur_udp_pair *p, const struct ur_granted_ring *ring,
		     u32 me, struct ur_engine *engine, struct ur_user_mem *mem)
{
	struct ur_peer_word *words;

	p->out_fd = ur_high_fd_copy(ring->out);
	p->in_fd = ur_high_fd_copy(ring->in);
	if (p->out_fd < 0 || p->in_fd < 0)
		return -EMFILE;
	words = p->words =
		map(ring->words, UR_PEER_WORDS_BYTES, PROT_READ | PROT_WRITE);
	p->out_file =
		map(p->out_fd, UR_PEER_FILE_BYTES, PROT_READ | PROT_WRITE);
	p->in_file = map(p->in_fd, UR_PEER_FILE_BYTES, PROT_READ);
	if (!words || !p->out_file || !p->in_file)
		return -ENOMEM;
	ur_peer_out_init(&p->out, p->out_file, &words[!me]);
	ur_peer_in_init(&p->in, p->in_file, &words[me]);
	if (!mem)
		return -EINVAL;
	ur_user_mem_file(mem, p->out_file, UR_PEER_FILE_BYTES, p->out_fd);
	ur_user_mem_file(mem, p->in_file, UR_PEER_FILE_BYTES, p->in_fd);
	ur_udp_seen_begin(p, engine, mem);
	return 0;
}

int ur_udp_use_ring(struct ur_wire *wire, const struct ur_granted_ring *ring)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	u32 own = w->wire.engine->config.grant.slot;
	struct ur_udp_pair *p;
	int err;

	if (!ring->peer || ring->peer >= UR_PLACES || ring->peer == own)
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->slot = ring->peer;
	p->grant_id = ring->grant_id;
	p->port = ur_udp_local_port(w->local, w->device, ring->peer);
	p->relayed = ring->relayed;
	p->same_user = ring->same_user;
	err = open_pair(p, ring, own > ring->peer, w->wire.engine,
			ur_udp_memory(w));
	if (err) {
		leave_pair(w, p);
		close_pair(p);
		return err;
	}
	if (w->pairs[p->slot])
		drop(w, w->pairs[p->slot]);
	w->pairs[p->slot] = p;
	w->paired |= 1u << p->slot;
	/* This may run in place of the engine's thread, which sleeps. */
	ur_peer_sleep(&p->in,
		      atomic_load(&w->wire.engine->asleep) &&
			      !atomic_load(&w->wire.engine->inproc.naps));
	ur_peer_read(&p->in, true);
	return 0;
}

/* The datagram has only to wake the thread, which then polls the rings. */
static void woken(struct ur_watch *watch, u32 events)
{
	const struct ur_udp_woken *at =
		ur_container_of(watch, struct ur_udp_woken, watch);
	char bytes[UR_UDP_WAKE_BYTES];

	while (recv(at->fd, bytes, sizeof(bytes), MSG_DONTWAIT) >= 0)
		;
}

/* Receives wake-ups at the granted port, which otherwise only sends. */
static int be_woken(struct ur_wire_udp *w, u32 v4)
{
	struct ur_udp_woken *at = &w->woken[v4];
	int err;

	at->fd = w->granted[v4].fd;
	if (at->fd < 0)
		return 0;
	at->watch.fn = woken;
	err = ur_udp_let_wakes_in(at->fd);
	return err ? err
		   : ur_engine_watch(w->wire.engine, at->fd, EPOLLIN,
				     &at->watch);
}

int ur_udp_use_relay(struct ur_wire_udp *w, const struct ur_grant *grant)
{
	struct ur_udp_pair *p = calloc(1, sizeof(*p));
	int err = 0;

	if (!p)
		return -ENOMEM;
	p->out_fd = p->in_fd = -1;
	/* The number of the device's grant: an earlier device may have had the same device number. */
	p->grant_id = ur_udp_local_grant_id(w->local, w->device, 0);
	p->words = map(grant->relay_words, UR_PEER_WORDS_BYTES,
		       PROT_READ | PROT_WRITE);
	p->in_file = map(grant->relay, UR_PEER_FILE_BYTES, PROT_READ);
	if (!p->words || !p->in_file) {
		close_pair(p);
		return -ENOMEM;
	}
	ur_peer_in_init(&p->in, p->in_file, p->words);
	w->pairs[0] = p;
	w->paired |= 1;
	ur_peer_read(&p->in, true);
	for (u32 v4 = 0; v4 < 2 && !err; v4++)
		err = be_woken(w, v4);
	return err;
}

/* Returns whether the neighbour's slot was not granted again. */
static bool is_current(const struct ur_wire_udp *w, const struct ur_udp_pair *p)
{
	return ur_udp_local_grant_id(w->local, w->device, p->slot) ==
	       p->grant_id;
}

bool ur_udp_has_ring(struct ur_wire *wire, u32 peer)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	return peer < UR_PLACES && w->pairs[peer] &&
	       is_current(w, w->pairs[peer]);
}

struct ur_udp_pair *ur_udp_pair_at(struct ur_wire_udp *w, u32 slot)
{
	struct ur_udp_pair *p = ur_slot_is_small(slot) ? NULL : w->pairs[slot];

	if (!p || is_current(w, p))
		return p;
	drop(w, p);
	return NULL;
}

void ur_udp_pair_end(struct ur_wire_udp *w, struct ur_udp_pair *p)
{
	drop(w, p);
}

bool ur_udp_pairs_wait(const struct ur_wire *wire)
{
	const struct ur_wire_udp *w =
		ur_container_of(wire, struct ur_wire_udp, wire);

	for (u32 left = w->paired; left; left &= left - 1)
		if (ur_peer_any(&w->pairs[__builtin_ctz(left)]->in))
			return true;
	return w->wire.engine->forwards && ur_udp_outboxes_wait(w);
}

void ur_udp_pairs_sleep(struct ur_wire *wire, bool asleep)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	for (u32 left = w->paired; left; left &= left - 1)
		ur_peer_sleep(&w->pairs[__builtin_ctz(left)]->in, asleep);
	ur_udp_outboxes_sleep(w, asleep);
}
