// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The device's outboxes: creation, storing, polling. */
#include "engine/local/udp_outbox_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/local/udp_relay_impl.h"
#include "util/assert.h"
#include "util/os/event_pair.h"
#include "util/os/map_shared.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
/* Wake-up datagrams received with one call. */
#define WAKES 16u

/* ---- life ---- */

static int *file_of(struct ur_udp_outbox *o, u32 which)
{
	return which == UR_RELAY_OUTBOX ? &o->file
	       : which == UR_RELAY_WAKE ? &o->wake_fd
					: &o->bell;
}

static void free_outbox(struct ur_udp_outbox *o)
{
	if (o->packets)
		munmap(o->packets, UR_PEER_FILE_BYTES);
	for (u32 which = UR_RELAY_OUTBOX; which <= UR_RELAY_BELL; which++)
		if (*file_of(o, which) >= 0)
			close(*file_of(o, which));
	free(o);
}

static struct ur_udp_outbox *new_outbox(struct ur_wire_udp *w, u32 slot,
					struct ur_peer_word *words)
{
	struct ur_udp_outbox *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->wire = w;
	o->slot = slot;
	o->word = &words[1];
	o->file = o->wake_fd = o->bell = -1;
	for (u32 v4 = 0; v4 < 2; v4++)
		o->port[v4] = (struct ur_outbox_port){
			.outbox = o, .fd = -1, .tos = -1, .sl = -1};
	return o;
}

void ur_udp_outbox_call(const struct ur_udp_outbox *o)
{
	send(o->bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool ur_udp_outbox_ring(struct ur_wire_udp *w, u32 slot)
{
	if (!w->outboxes[slot])
		return false;
	ur_udp_outbox_call(w->outboxes[slot]);
	return true;
}

/* Only ends a sleep: the device polls all outboxes in each turn. */
static void knocked(struct ur_watch *watch, u32 events)
{
}

/* Another program of the device wakes this one. */
static void called(struct ur_watch *watch, u32 events)
{
	const struct ur_outbox_port *p =
		ur_container_of(watch, struct ur_outbox_port, watch);
	char bytes[UR_UDP_WAKE_BYTES];
	u32 n = 0;

	while (n < WAKES &&
	       recv(p->fd, bytes, sizeof(bytes), MSG_DONTWAIT) >= 0)
		n++;
	if (n)
		ur_udp_outbox_call(p->outbox);
}

static int watch_all(struct ur_udp_outbox *o)
{
	struct ur_wire_udp *w = o->wire;
	int err;

	o->wake_watch.fn = knocked;
	err = ur_engine_watch(w->wire.engine, o->wake_fd, EPOLLIN | EPOLLET,
			      &o->wake_watch);
	for (u32 v4 = 0; v4 < 2 && !err; v4++) {
		struct ur_outbox_port *p = &o->port[v4];
		int fd = w->granted_to[o->slot][v4];

		if (fd < 0)
			continue;
		p->watch.fn = called;
		err = ur_udp_let_wakes_in(fd);
		if (!err)
			err = ur_engine_watch(w->wire.engine, fd, EPOLLIN,
					      &p->watch);
		if (!err)
			p->fd = fd;
	}
	return err;
}

static void unwatch_all(struct ur_udp_outbox *o)
{
	struct ur_engine *e = o->wire->wire.engine;

	ur_engine_unwatch(e, o->wake_fd);
	for (u32 v4 = 0; v4 < 2; v4++)
		if (o->port[v4].fd >= 0)
			ur_engine_unwatch(e, o->port[v4].fd);
}

static int make_outbox(struct ur_udp_outbox *o, int *bell)
{
	int pair[2], err;

	err = ur_make_shared("uroce-outbox", UR_PEER_FILE_BYTES, PROT_READ,
			     SEALS, &o->file, &o->packets);
	if (err)
		return err;
	o->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (o->wake_fd < 0)
		return -errno;
	err = ur_event_pair(pair);
	if (err)
		return err;
	o->bell = pair[0];
	*bell = pair[1];
	return 0;
}

static int keep_files(struct ur_udp_outbox *o)
{
	int err = 0;

	for (u32 which = UR_RELAY_OUTBOX; which <= UR_RELAY_BELL && !err;
	     which++) {
		const struct ur_kept what =
			ur_udp_relay_kept(o->wire, o->slot, which);

		err = ur_keep_put(&what, *file_of(o, which));
	}
	return err;
}

/* From now on the outbox is polled. */
void ur_udp_outbox_begin(struct ur_wire_udp *w, u32 slot)
{
	struct ur_udp_outbox *o = w->outboxes[slot];

	if (!o)
		return;
	ur_peer_sleep(&o->in, atomic_load(&w->wire.engine->asleep));
	if (ur_slot_set_has(&w->forwarding, slot))
		return;
	ur_slot_set_add(&w->forwarding, slot);
	w->wire.engine->forwards++;
}

int ur_udp_outbox_make(struct ur_wire_udp *w, struct ur_grant *grant,
		       struct ur_peer_word *words)
{
	struct ur_udp_outbox *o = new_outbox(w, grant->slot, words);
	int err = o ? make_outbox(o, &grant->bell) : -ENOMEM;

	ur_assert(grant->slot && !w->outboxes[grant->slot]);
	if (!err)
		err = watch_all(o);
	if (!err)
		err = keep_files(o);
	if (err) {
		if (o) {
			unwatch_all(o);
			free_outbox(o);
		}
		ur_udp_relay_drop(w, grant->slot, UR_RELAY_OUTBOX,
				  UR_RELAY_BELL);
		return err;
	}
	grant->outbox = o->file;
	grant->wake_fd = o->wake_fd;
	ur_peer_in_init(&o->in, o->packets, o->word);
	w->outboxes[grant->slot] = o;
	ur_udp_outbox_begin(w, grant->slot);
	return 0;
}

void ur_udp_outbox_inherit(struct ur_wire_udp *w, u32 slot,
			   struct ur_peer_word *words)
{
	struct ur_udp_outbox *o = new_outbox(w, slot, words);
	bool all = o;

	for (u32 which = UR_RELAY_OUTBOX; all && which <= UR_RELAY_BELL;
	     which++) {
		struct ur_kept what = ur_udp_relay_kept(w, slot, which);

		*file_of(o, which) = ur_keep_take(&what);
		all = *file_of(o, which) >= 0;
	}
	if (all &&
	    !ur_map_shared(o->file, UR_PEER_FILE_BYTES, PROT_READ,
			   &o->packets) &&
	    !watch_all(o)) {
		ur_peer_in_reattach(&o->in, o->packets, o->word);
		w->outboxes[slot] = o;
	} else if (o) {
		ur_udp_relay_drop(w, slot, UR_RELAY_OUTBOX, UR_RELAY_BELL);
		free_outbox(o);
	}
}

void ur_udp_outbox_close(struct ur_wire_udp *w, u32 slot)
{
	struct ur_udp_outbox *o = w->outboxes[slot];

	if (!o)
		return;
	if (ur_slot_set_has(&w->forwarding, slot)) {
		ur_slot_set_del(&w->forwarding, slot);
		w->wire.engine->forwards--;
	}
	w->outboxes[slot] = NULL;
	unwatch_all(o);
	free_outbox(o);
}

void ur_udp_outbox_end(struct ur_wire_udp *w, u32 slot)
{
	if (!w->outboxes[slot])
		return;
	ur_udp_relay_drop(w, slot, UR_RELAY_OUTBOX, UR_RELAY_BELL);
	ur_udp_outbox_close(w, slot);
}

/* ---- turns ---- */

bool ur_udp_outbox_has_some(const struct ur_udp_outbox *o, ur_time now)
{
	return !o->broken && o->again <= now && ur_peer_any(&o->in);
}

bool ur_udp_outboxes_wait(const struct ur_wire_udp *w)
{
	const struct ur_engine *e = w->wire.engine;

	ur_slot_set_for_each(
		slot,
		&w->forwarding) if (ur_udp_outbox_has_some(w->outboxes[slot],
							   e->now)) return true;
	return false;
}

void ur_udp_outboxes_sleep(struct ur_wire_udp *w, bool asleep)
{
	ur_slot_set_for_each(slot, &w->forwarding)
		ur_peer_sleep(&w->outboxes[slot]->in, asleep);
}

ur_time ur_udp_outboxes_retry_at(const struct ur_wire_udp *w)
{
	const struct ur_engine *e = w->wire.engine;
	ur_time first = UR_NEVER;

	ur_slot_set_for_each(slot, &w->forwarding)
	{
		ur_time again = w->outboxes[slot]->again;

		if (again > e->now)
			first = ur_min_u64(first, again);
	}
	return first;
}
