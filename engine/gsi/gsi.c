// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* QP1: datagrams to send and received ones. */
#include <errno.h>
#include <stdlib.h>
#include "engine/gsi/gsi.h"
#include "engine/gsi/gsi_packet.h"
#include "transport/psn.h"

#define SLOTS 64u /* datagrams that wait to be sent */

struct slot {
	struct ur_av *av; /* a reference */
	u32 dqpn;
	u8 mad[UR_MAD_BYTES];
};

/* Slots [sent, filled) are in engine->tx, and [filled, queued) wait. Counts, modulo SLOTS. */
struct ur_gsi {
	struct slot slots[SLOTS];
	u32 sent, filled, queued;
	u32 psn;
};

int ur_gsi_create(struct ur_engine *e)
{
	e->gsi = calloc(1, sizeof(*e->gsi));
	return e->gsi ? 0 : -ENOMEM;
}

void ur_gsi_destroy(struct ur_engine *e)
{
	if (!e->gsi)
		return;
	e->gsi->filled = e->gsi->queued;
	ur_gsi_sent(e);
	free(e->gsi);
	e->gsi = NULL;
}

/* ---- send ---- */

int ur_gsi_send(struct ur_engine *e, struct ur_av *av, u32 dqpn, const u8 *mad)
{
	struct ur_gsi *g = e->gsi;
	struct slot *s;

	if (!g)
		return -EOPNOTSUPP;
	if (g->queued - g->sent == SLOTS)
		return -ENOMEM;
	s = &g->slots[g->queued++ % SLOTS];
	s->av = ur_av_get(av);
	s->dqpn = dqpn;
	memcpy(s->mad, mad, UR_MAD_BYTES);
	return 0;
}

bool ur_gsi_waits(const struct ur_engine *e)
{
	return e->gsi && e->gsi->filled != e->gsi->queued;
}

static void count_sent(struct ur_engine *e, const struct ur_av *av, u32 bytes)
{
	ur_count_tx_prio(e->counters, av, 1, bytes);
	ur_engine_tally(e, UR_CNT_sent_pkts, 1);
	ur_engine_tally(e, UR_CNT_port_xmit_data, bytes / 4);
}

void ur_gsi_fill(struct ur_engine *e)
{
	const u32 bytes = UR_GSI_PACKET_BYTES;
	struct ur_gsi *g = e->gsi;
	struct ur_tx *tx = &e->tx;

	while (g->filled != g->queued && tx->n_desc < tx->max_desc &&
	       tx->cap - tx->used >= bytes + UR_ICRC_BYTES) {
		const struct slot *s = &g->slots[g->filled++ % SLOTS];

		ur_gsi_packet_build(tx->buf + tx->used, s->dqpn, g->psn,
				    s->mad);
		g->psn = ur_psn_add(g->psn, 1);
		tx->desc[tx->n_desc++] = (struct ur_tx_desc){
			.off = tx->used, .len = bytes, .av = s->av};
		tx->used += bytes + UR_ICRC_BYTES;
		count_sent(e, s->av, bytes);
	}
}

void ur_gsi_sent(struct ur_engine *e)
{
	struct ur_gsi *g = e->gsi;

	for (; g->sent != g->filled; g->sent++)
		ur_av_put(g->slots[g->sent % SLOTS].av);
}

/* ---- receive ---- */

static void count_received(struct ur_engine *e, u8 tos, u32 bytes)
{
	ur_count_rx_prio(e->counters, tos, 1, bytes);
	ur_engine_tally(e, UR_CNT_rcvd_pkts, 1);
	ur_engine_tally(e, UR_CNT_port_rcv_data, bytes / 4);
}

void ur_gsi_rx(struct ur_engine *e, const struct ur_rx_meta *meta,
	       const u8 *bth, u32 len)
{
	struct ur_gsi_packet packet;
	enum ur_counter fault;
	bool good = ur_gsi_packet_parse(&packet, meta, bth, len, &fault);

	count_received(e, meta->tos, len);
	if (packet.marked)
		ur_engine_tally(e, UR_CNT_np_ecn_marked_roce_packets, 1);
	if (good)
		ur_engine_report_gsi(e, meta, packet.src_qpn, packet.mad);
	else
		ur_engine_tally(e, fault, 1);
}

void ur_gsi_refuse(struct ur_engine *e, const struct ur_rx_meta *meta,
		   const u8 *bth, u32 len)
{
	bool marked;
	enum ur_counter counter = ur_gsi_stray(meta, bth, len, &marked);

	count_received(e, meta->tos, len);
	if (marked)
		ur_engine_tally(e, UR_CNT_np_ecn_marked_roce_packets, 1);
	if (counter != UR_CNT_COUNT)
		ur_engine_tally(e, counter, 1);
}
