// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Life of relays: creation, storing, recovery and end, with their addresses and groups. */
#include "engine/local/udp_relay_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>
#include "transport/frame.h"
#include "util/assert.h"
#include "util/os/map_shared.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* ---- life ---- */

static void end_address(struct ur_udp_addr *a)
{
	struct ur_wire_udp *w = a->wire;

	if (w->hot == a)
		w->hot = NULL;
	if (a->fd >= 0)
		ur_engine_unwatch(w->wire.engine, a->fd);
	/* Other sockets belong to the udp_group. */
	if (a->mcast)
		close(a->fd);
	ur_list_del(&a->node);
	free(a);
}

static void close_relay(struct ur_udp_relay *r)
{
	ur_list_for_each_safe(it, &r->addrs)
		end_address(ur_list_entry(it, struct ur_udp_addr, node));
	if (r->packets)
		munmap(r->packets, UR_PEER_FILE_BYTES);
	if (r->words)
		munmap(r->words, UR_PEER_WORDS_BYTES);
	if (r->file >= 0)
		close(r->file);
	if (r->words_fd >= 0)
		close(r->words_fd);
	free(r);
}

static struct ur_udp_relay *new_relay(struct ur_wire_udp *w, u32 slot)
{
	struct ur_udp_relay *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	ur_list_init(&r->addrs);
	r->wire = w;
	r->slot = slot;
	r->file = r->words_fd = -1;
	return r;
}

static int make_files(struct ur_udp_relay *r)
{
	void *words;
	int err = ur_make_shared("uroce-packets", UR_PEER_FILE_BYTES,
				 PROT_READ | PROT_WRITE, SEALS, &r->file,
				 &r->packets);

	if (!err)
		err = ur_make_shared("uroce-words", UR_PEER_WORDS_BYTES,
				     PROT_READ | PROT_WRITE, SEALS,
				     &r->words_fd, &words);
	if (!err)
		r->words = words;
	return err;
}

static int keep(const struct ur_udp_relay *r)
{
	struct ur_kept what =
		ur_udp_relay_kept(r->wire, r->slot, UR_RELAY_PACKETS);
	int err = ur_keep_put(&what, r->file);

	what.which = UR_RELAY_WORDS;
	return err ? err : ur_keep_put(&what, r->words_fd);
}

static struct ur_kept group_name(const struct ur_wire_udp *w, u32 slot,
				 const u8 gid[16])
{
	struct ur_kept what = ur_udp_relay_kept(w, slot, UR_RELAY_GROUP);

	memcpy(what.gid, gid, sizeof(what.gid));
	return what;
}

static void drop_groups(const struct ur_udp_relay *r)
{
	ur_list_for_each(it, &r->addrs) {
		const struct ur_udp_addr *a =
			ur_list_entry(it, struct ur_udp_addr, node);
		const struct ur_kept what =
			group_name(r->wire, r->slot, a->gid);

		if (a->mcast)
			ur_keep_drop(&what);
	}
}

int ur_udp_grant_relay(struct ur_wire *wire, struct ur_grant *grant, bool far)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	struct ur_udp_relay *r = new_relay(w, grant->slot);
	int err = r ? make_files(r) : -ENOMEM;

	ur_assert(grant->slot && grant->slot < UR_SLOTS &&
		  !w->relays[grant->slot]);
	if (!err)
		err = grant->relay = ur_open_to_read(r->file);
	if (err < 0)
		goto err_close;
	err = keep(r);
	if (!err && far)
		err = ur_udp_outbox_make(w, grant, r->words);
	if (err) {
		ur_udp_relay_drop(w, grant->slot, UR_RELAY_PACKETS,
				  UR_RELAY_WORDS);
		close(grant->relay);
		goto err_close;
	}
	/* The ring is its copy's, which the caller closes. */
	grant->relay_words = r->words_fd;
	ur_peer_out_init(&r->out, r->packets, r->words);
	w->relays[grant->slot] = r;
	return 0;
err_close:
	grant->relay = -1;
	if (r)
		close_relay(r);
	return err;
}

int ur_udp_relay_begin(struct ur_udp_relay *r, const u8 gid[16], int fd,
		       ur_udp_readable_fn *readable)
{
	struct ur_udp_addr *a;
	int err;

	if (fd < 0 && ur_udp_find_in(&r->addrs, gid))
		return 0;
	ur_list_for_each(it, &r->addrs)
		if (fd >= 0 &&
		    ur_list_entry(it, struct ur_udp_addr, node)->fd == fd)
			return 0;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->wire = r->wire;
	a->relay = r;
	a->watch.fn = readable;
	a->v4 = ur_gid_is_v4(gid);
	a->fd = fd;
	a->mcast = ur_gid_is_mcast(gid);
	a->refs = 1;
	memcpy(a->gid, gid, 16);
	err = fd < 0 ? 0
		     : ur_engine_watch(r->wire->wire.engine, fd, EPOLLIN,
				       &a->watch);
	if (err)
		free(a);
	else
		ur_list_add_tail(&r->addrs, &a->node);
	return err;
}

struct ur_udp_relay *ur_udp_relay_of(struct ur_wire_udp *w, u32 slot)
{
	u32 place = ur_place_of(ur_slot_first(slot));
	struct ur_udp_relay **shared;

	if (!w->relays[slot] || !ur_slot_is_small(slot))
		return w->relays[slot];
	shared = &w->shared[place - UR_SHARED_FIRST];
	if (!*shared)
		*shared = new_relay(w, 0);
	return *shared;
}

bool ur_udp_relay_has(struct ur_wire_udp *w, u32 slot, const u8 gid[16])
{
	const struct ur_udp_relay *r = ur_udp_relay_of(w, slot);

	return r && ur_udp_find_in(&r->addrs, gid);
}

/* ---- groups ---- */

static int join_group(struct ur_udp_relay *r, const u8 gid[16],
		      ur_udp_readable_fn *readable)
{
	const struct ur_kept what = group_name(r->wire, r->slot, gid);
	struct ur_udp_addr *a = ur_udp_find_in(&r->addrs, gid);
	int fd, err;

	if (a) {
		a->refs++;
		return 0;
	}
	fd = ur_udp_open_group(r->wire, gid);
	if (fd < 0)
		return fd;
	err = ur_keep_put(&what, fd);
	if (!err)
		err = ur_udp_relay_begin(r, gid, fd, readable);
	if (!err)
		return 0;
	ur_keep_drop(&what);
	close(fd);
	return err;
}

int ur_udp_relay_join(struct ur_wire_udp *w, u32 slot, const u8 gid[16],
		      ur_udp_readable_fn *readable)
{
	ur_assert(slot < UR_SLOTS && ur_gid_is_mcast(gid));
	return w->relays[slot] ? join_group(w->relays[slot], gid, readable)
			       : -EINVAL;
}

void ur_udp_relay_leave(struct ur_wire_udp *w, u32 slot, const u8 gid[16])
{
	struct ur_udp_relay *r = w->relays[slot];
	const struct ur_kept what = group_name(w, slot, gid);
	struct ur_udp_addr *a = r ? ur_udp_find_in(&r->addrs, gid) : NULL;

	if (!a)
		return;
	ur_assert(a->mcast && a->refs);
	if (--a->refs)
		return;
	ur_keep_drop(&what);
	end_address(a);
}

/* Takes over the groups of an earlier uroced. The members are not known, so a group stays until the grant ends. */
static void inherit_groups(struct ur_wire_udp *w, ur_udp_readable_fn *readable)
{
	struct ur_kept what;
	u32 at = 0;

	while (ur_keep_next(UR_KEPT_RELAY, w->device, &at, &what)) {
		int fd = what.which == UR_RELAY_GROUP &&
					 what.place < UR_SLOTS &&
					 w->relays[what.place]
				 ? ur_keep_take(&what)
				 : -1;

		if (fd >= 0 && ur_udp_relay_begin(w->relays[what.place],
						  what.gid, fd, readable))
			close(fd);
	}
}

void ur_udp_relay_end(struct ur_wire_udp *w, u32 slot)
{
	if (!w->relays[slot])
		return;
	ur_udp_outbox_end(w, slot);
	drop_groups(w->relays[slot]);
	ur_udp_relay_drop(w, slot, UR_RELAY_PACKETS, UR_RELAY_WORDS);
	close_relay(w->relays[slot]);
	w->relays[slot] = NULL;
}

static void end_at(struct ur_udp_relay *r, const u8 gid[16])
{
	if (!r)
		return;
	ur_list_for_each_safe(it, &r->addrs) {
		struct ur_udp_addr *a =
			ur_list_entry(it, struct ur_udp_addr, node);

		if (!memcmp(a->gid, gid, 16))
			end_address(a);
	}
}

void ur_udp_relay_end_address(struct ur_wire_udp *w, const u8 gid[16])
{
	for (u32 slot = 0; slot < UR_SLOTS; slot++)
		end_at(w->relays[slot], gid);
	for (u32 i = 0; i < UR_SHARED_PLACES; i++)
		end_at(w->shared[i], gid);
}

void ur_udp_relays_close(struct ur_wire_udp *w)
{
	for (u32 slot = 0; slot < UR_SLOTS; slot++) {
		if (!w->relays[slot])
			continue;
		ur_udp_outbox_close(w, slot);
		close_relay(w->relays[slot]);
	}
	for (u32 i = 0; i < UR_SHARED_PLACES; i++)
		if (w->shared[i])
			close_relay(w->shared[i]);
}

struct ur_peer_out *ur_udp_relay_ring(struct ur_udp_relay *r)
{
	return &r->out;
}

/* ---- recovery ---- */

static int map_files(struct ur_udp_relay *r)
{
	void *words;
	int err;

	if (r->file < 0 || r->words_fd < 0)
		return -ENOENT;
	err = ur_map_shared(r->file, UR_PEER_FILE_BYTES, PROT_READ | PROT_WRITE,
			    &r->packets);
	if (!err)
		err = ur_map_shared(r->words_fd, UR_PEER_WORDS_BYTES,
				    PROT_READ | PROT_WRITE, &words);
	if (!err)
		r->words = words;
	return err;
}

static void inherit_one(struct ur_wire_udp *w, u32 slot)
{
	struct ur_kept what = ur_udp_relay_kept(w, slot, UR_RELAY_PACKETS);
	struct ur_udp_relay *r = new_relay(w, slot);

	if (!r)
		return;
	r->file = ur_keep_take(&what);
	what.which = UR_RELAY_WORDS;
	r->words_fd = ur_keep_take(&what);
	if (map_files(r)) {
		ur_udp_relay_drop(w, slot, UR_RELAY_PACKETS, UR_RELAY_BELL);
		close_relay(r);
		return;
	}
	ur_peer_out_reattach(&r->out, r->packets, r->words);
	w->relays[slot] = r;
	ur_udp_outbox_inherit(w, slot, r->words);
}

void ur_udp_relays_inherit(struct ur_wire_udp *w)
{
	struct ur_slot_set slots = {0};
	struct ur_kept what;
	u32 at = 0;

	while (ur_keep_next(UR_KEPT_RELAY, w->device, &at, &what))
		if (what.place && what.place < UR_SLOTS)
			ur_slot_set_add(&slots, what.place);
	ur_slot_set_for_each(slot, &slots) inherit_one(w, slot);
}

static void receive_all(const struct ur_wire_udp *w, struct ur_udp_relay *r,
			u32 place, ur_udp_readable_fn *readable)
{
	ur_list_for_each(it, &w->addrs) {
		const struct ur_udp_addr *a =
			ur_list_entry(it, struct ur_udp_addr, node);
		int fd = a->mcast ? -1
				  : ur_udp_group_use(w->group, a->gid, place);

		if (fd >= 0 || (!a->mcast && !ur_udp_group_steers(w->group)))
			ur_udp_relay_begin(r, a->gid, fd, readable);
	}
}

void ur_udp_relays_recovery_done(struct ur_wire_udp *w,
				 ur_udp_readable_fn *readable)
{
	inherit_groups(w, readable);
	for (u32 slot = 0; slot < UR_SLOTS; slot++) {
		struct ur_udp_relay *r = ur_udp_relay_of(w, slot);

		if (r)
			receive_all(w, r, ur_place_of(ur_slot_first(slot)),
				    readable);
		if (w->relays[slot])
			ur_udp_outbox_begin(w, slot);
	}
}
