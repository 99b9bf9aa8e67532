// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The burst buffer's way to the wires; packets to the engine itself are handed in directly. */
#include <sys/epoll.h>
#include "engine/core/engine_impl.h"
#include "engine/core/tx.h"
#include "engine/core/watch.h"
#include "engine/faults/faults.h"
#include "engine/record/record.h"
#include "engine/wire/wire.h"

/* Returns whether the packet is for an engine of this process. The first bits of the
 * queue pair's number tell it from one for an engine in another process. */
static bool loops(const struct ur_engine *e, const struct ur_tx_desc *d)
{
	return d->av->loop &&
	       ur_engine_has(e, ur_get_be24(e->tx.buf + d->off + 5));
}

static void feed_one(struct ur_engine *e, u32 i)
{
	const struct ur_tx_desc *d = &e->tx.desc[i];
	struct ur_rx_meta meta;

	ur_av_meta(d->av, &meta);
	if (ur_faults_spoils(e, i))
		ur_engine_tally(e, UR_CNT_rx_icrc_encapsulated, 1);
	else
		ur_engine_rx(e, &meta, e->tx.buf + d->off, d->len);
	e->looped = true;
}

/* Hands packets to this engine in as if received. The port has already delivered
 * multicast packets to its own members. */
static void feed_loop(struct ur_engine *e, u32 first)
{
	struct ur_tx *tx = &e->tx;

	/* The port may drop its reference to an av when it gets a packet. */
	for (u32 i = first; i < tx->n_desc; i++)
		if (tx->desc[i].av->loop)
			ur_av_get((struct ur_av *)tx->desc[i].av);
	for (u32 i = first; i < tx->n_desc; i++) {
		struct ur_av *av = (struct ur_av *)tx->desc[i].av;

		if (!av->loop)
			continue;
		if (loops(e, &tx->desc[i]))
			feed_one(e, i);
		ur_av_put(av);
	}
}

static void on_room(struct ur_watch *watch, u32 events)
{
	/* Only ends a sleep: ur_tx_flush() retries in each turn while blocked. */
}

static struct ur_watch room_watch = {on_room};

bool ur_tx_flush(struct ur_engine *e)
{
	struct ur_tx *tx = &e->tx;
	int wait_fd = -1;
	u32 i = e->tx_sent;

	while (i < tx->n_desc) {
		u32 end = i, taken;

		if (loops(e, &tx->desc[i])) {
			i++;
			continue;
		}
		while (end < tx->n_desc && !loops(e, &tx->desc[end]))
			end++;
		taken = ur_wire_send(e, i, end, &wait_fd);
		i += taken;
		if (i < end)
			break;
	}
	if (i < tx->n_desc) {
		if (!e->tx_blocked) {
			for (u32 k = 0; k < tx->n_desc; k++)
				ur_av_get((struct ur_av *)tx->desc[k].av);
			if (wait_fd >= 0)
				ur_engine_watch(e, wait_fd,
						EPOLLOUT | EPOLLONESHOT,
						&room_watch);
			e->tx_wait_fd = wait_fd;
		}
		e->tx_blocked = true;
		e->tx_sent = i;
		return false;
	}
	feed_loop(e, 0);
	if (e->tx_blocked) {
		for (u32 k = 0; k < tx->n_desc; k++)
			ur_av_put((struct ur_av *)tx->desc[k].av);
		if (e->tx_wait_fd >= 0)
			ur_engine_unwatch(e, e->tx_wait_fd);
		e->tx_blocked = false;
	}
	tx->n_desc = 0;
	tx->used = 0;
	e->tx_sent = 0;
	return true;
}

bool ur_tx_empty(struct ur_engine *e)
{
	if (e->tx_blocked && !ur_tx_flush(e))
		return false;
	e->tx.n_desc = 0;
	e->tx.used = 0;
	e->tx_sent = 0;
	return true;
}

bool ur_tx_held(struct ur_engine *e)
{
	bool any;

	if (e->now < ur_faults_deadline(e))
		return false;
	any = ur_faults_hand_in(e);
	if (ur_tx_empty(e) && ur_faults_release(e)) {
		ur_tx_flush(e);
		ur_faults_let_go(e);
		any = true;
	}
	return any;
}

void ur_tx_arrange(struct ur_engine *e)
{
	if (e->record.on)
		ur_record_sent(e);
	if (e->faults)
		ur_faults_sent(e);
}

bool ur_tx_put_out(struct ur_engine *e)
{
	ur_tx_arrange(e);
	return !e->tx.n_desc || ur_tx_flush(e);
}
