// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The program's side of its outbox. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/faults/faults.h"
#include "engine/wire/udp_message.h"
#include "engine/local/udp_outbox.h"
#include "engine/wire/wire_udp.h"
#include "util/assert.h"
#include "util/os/high_fd.h"
#include "util/os/map_shared.h"

/* Interval of repeated wake-ups, as for pairs: a wake-up may be lost. */
#define ASK_AGAIN_NS 1000000u
/* Longest wait for a device that reads nothing; then packets are lost. */
#define FULL_NS 1000000u
/* How long a refusal counts: a queue pair mostly retries within this time. */
#define REFUSAL_NS 10000000000ull

/* Handles a wake-up of the device. The device closes its end when it ends or the grant does: then
 * there are no more wake-ups. */
static void called_by_device(struct ur_watch *watch, u32 events)
{
	struct ur_udp_woken *at =
		ur_container_of(watch, struct ur_udp_woken, watch);
	char bytes[16];

	while (recv(at->fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	if (events & (EPOLLHUP | EPOLLERR))
		ur_engine_unwatch(at->engine, at->fd);
}

int ur_udp_outbox_use(struct ur_wire_udp *w, const struct ur_grant *grant)
{
	struct ur_udp_pair *p = w->pairs[0];
	struct ur_peer_word *words = p->words;
	int err = ur_map_shared(grant->outbox, UR_PEER_FILE_BYTES,
				PROT_READ | PROT_WRITE, &p->out_file);

	if (err)
		return err;
	ur_peer_out_init(&p->out, p->out_file, &words[1]);
	w->wake_fd = ur_high_fd_copy(grant->wake_fd);
	w->woken[0].fd = ur_high_fd_copy(grant->bell);
	if (w->wake_fd < 0 || w->woken[0].fd < 0)
		return -EMFILE;
	w->woken[0].watch.fn = called_by_device;
	w->woken[0].engine = w->wire.engine;
	return ur_engine_watch(w->wire.engine, w->woken[0].fd, EPOLLIN,
			       &w->woken[0].watch);
}

int ur_udp_outbox_check(struct ur_wire *wire, const struct ur_av *av)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	return ur_udp_find(w, av->sgid) ? 0 : -EADDRNOTAVAIL;
}

/* ---- waking ---- */

static void knock(const struct ur_wire_udp *w)
{
	static const u64 one = 1;

	/* Errors are ignored: the program notices the device's end by its device file. */
	if (write(w->wake_fd, &one, sizeof(one)) < 0)
		return;
}

/* Publishes the written records, and wakes the device if needed. */
static void show(struct ur_wire_udp *w, struct ur_udp_pair *p)
{
	ur_time now = w->wire.engine->now;

	if (!ur_peer_publish(&p->out) &&
	    (!ur_peer_still_sleeps(&p->out) || now - p->asked < ASK_AGAIN_NS))
		return;
	p->asked = now;
	knock(w);
}

void ur_udp_outbox_wake(struct ur_wire_udp *w, const struct ur_udp_pair *pair)
{
	struct ur_udp_pair *p = w->pairs[0];
	struct ur_peer_message m = {.len = UR_UDP_WAKE_BYTES,
				    .seg = UR_UDP_WAKE_BYTES};
	u8 *to;

	if (!pair->slot) {
		knock(w);
		return;
	}
	memcpy(m.saddr, pair->addrs[0], 16);
	memcpy(m.daddr, pair->addrs[1], 16);
	p->out.has_addrs = false;
	to = pair->has_addrs ? ur_peer_room(&p->out, &m) : NULL;
	if (!to)
		return;
	memset(to, 0, UR_UDP_WAKE_BYTES);
	to[5] = (u8)(pair->slot << (8 - UR_PLACE_BITS));
	ur_peer_put(&p->out, &m);
	show(w, p);
}

/* ---- sending ---- */

/* Returns whether av leads to an engine of this host. Looked up again after addresses have changed. */
static bool is_near(const struct ur_wire_udp *w, struct ur_av *av)
{
	u32 gen = ur_udp_local_generation(w->local);

	if (av->wire >> 16 != gen)
		av->wire =
			(u64)gen << 16 |
			(ur_udp_local_whose(w->local, av->dgid, w->device).local
				 ? 2
				 : 1);
	return (av->wire & 0xffff) == 2;
}

u8 *ur_udp_outbox_payload_room(struct ur_wire *wire, const struct ur_av *av,
			       u32 dqpn, u32 len)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	return is_near(w, (struct ur_av *)av)
		       ? ur_udp_pair_payload_room(w, av, dqpn, len)
		       : NULL;
}

bool ur_udp_outbox_holds(struct ur_wire *wire, const struct ur_av *av, u32 dqpn,
			 bool datagram)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	return is_near(w, (struct ur_av *)av) &&
	       ur_udp_pair_holds(w, dqpn, datagram);
}

bool ur_udp_outbox_unread(struct ur_wire *wire, const struct ur_av *av,
			  u32 dqpn)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);

	return is_near(w, (struct ur_av *)av) &&
	       ur_udp_pair_unread(w, av, dqpn);
}

/* Returns how many packets from first on form one message. */
static u32 run_length(const struct ur_wire_udp *w, const struct ur_tx *tx,
		      u32 first, u32 end)
{
	const struct ur_engine *e = w->wire.engine;
	u32 n = ur_udp_run_length(tx, first, end, false);

	for (u32 i = 0; i < n; i++)
		if (ur_faults_spoils(e, first + i))
			return i ? i : 1;
	return n;
}

/* Takes over the device's report of a refused datagram. It comes after the send, so it is read at
 * the next send to the same destination. */
static void hear_refusal(struct ur_wire_udp *w, struct ur_av *av)
{
	ur_time now = w->wire.engine->now;
	u64 said = atomic_load_explicit(&w->pairs[0]->out.word->refusal,
					memory_order_relaxed);
	int error;

	if (said != w->refusal)
		w->refused = now;
	w->refusal = said;
	if (!said || now - w->refused > REFUSAL_NS)
		return;
	error = ur_outbox_refused(said, av->dgid);
	if (!error)
		return;
	av->send_error = error;
	av->send_error_at = w->refused;
}

/* Returns whether to wait for room: as long as the device still reads records. */
static bool waits_for_device(struct ur_wire_udp *w, struct ur_udp_pair *p,
			     u32 bytes)
{
	struct ur_udp_full *f = &p->full;
	ur_time now = w->wire.engine->now;

	if (f->is && p->out.seen == f->moved_at)
		return now - f->moved < FULL_NS;
	*f = (struct ur_udp_full){
		.is = true, .moved_at = p->out.seen, .moved = now};
	ur_peer_wait(&p->out, bytes);
	return true;
}

/* Returns room for a message of *n packets. NULL with *n 0: there is no room now; NULL otherwise: the
 * packets are dropped. */
static u8 *room_or_none(struct ur_wire_udp *w, struct ur_udp_pair *p,
			const struct ur_peer_message *m, u32 *n)
{
	u8 *to = ur_peer_room(&p->out, m);

	if (to)
		return to;
	if (!waits_for_device(w, p, m->len)) {
		ur_engine_tally(w->wire.engine, UR_CNT_send_err, *n);
		return NULL;
	}
	to = ur_peer_room(&p->out, m);
	if (!to)
		*n = 0;
	return to;
}

/* Returns how many packets it wrote, or dropped since the device reads none; 0: there is no room now. */
static u32 put_run(struct ur_wire_udp *w, const struct ur_tx *tx, u32 first,
		   u32 end)
{
	struct ur_udp_pair *p = w->pairs[0];
	const struct ur_tx_desc *d = &tx->desc[first];
	struct ur_av *av = (struct ur_av *)d->av;
	u32 n = run_length(w, tx, first, end);
	const struct ur_tx_desc *last = &tx->desc[first + n - 1];
	struct ur_peer_message m = {
		.flow_label = av->v4 ? 0 : av->flow_label,
		.len = last->off + last->len + UR_ICRC_BYTES - d->off,
		.seg = (u16)(d->len + UR_ICRC_BYTES),
		.sport = av->udp_sport,
		.first = av->sl & UR_OUTBOX_SL,
		.tos = av->traffic_class,
		.ttl = av->hop_limit,
	};
	u8 *to;

	if (ur_faults_spoils(w->wire.engine, first))
		m.first |= UR_OUTBOX_SPOILT;
	memcpy(m.saddr, av->sgid, 16);
	memcpy(m.daddr, av->dgid, 16);
	/* Each message carries its addresses: the next uroced may start reading at any of them. */
	p->out.has_addrs = false;
	to = room_or_none(w, p, &m, &n);
	if (!to)
		return n;
	hear_refusal(w, av);
	p->full.is = false;
	memcpy(to, tx->buf + d->off, m.len);
	ur_peer_put(&p->out, &m);
	p->put = true;
	return n;
}

static u32 put_one_datagram(struct ur_wire_udp *w, const struct ur_tx *tx,
			    u32 i, u32 end)
{
	struct ur_udp_pair *p = is_near(w, (struct ur_av *)tx->desc[i].av)
					? ur_udp_pair_for(w, tx, i)
					: NULL;

	if (p)
		return ur_udp_pair_send(w, p, tx, i, end);
	if (!tx->desc[i].split)
		return put_run(w, tx, i, end);
	/* The ring that has its payload has ended. */
	ur_engine_tally(w->wire.engine, UR_CNT_send_err, 1);
	return 1;
}

u32 ur_udp_outbox_send(struct ur_wire *wire, const struct ur_tx *tx, u32 first,
		       u32 end, int *wait_fd)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	u32 i = first, n = 1;

	ur_assert(w->pairs[0] && w->wake_fd >= 0);
	while (i < end && n) {
		n = put_one_datagram(w, tx, i, end);
		i += n;
	}
	ur_udp_pairs_publish(w);
	if (w->pairs[0]->put) {
		w->pairs[0]->put = false;
		show(w, w->pairs[0]);
	}
	return i - first;
}
