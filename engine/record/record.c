// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The flight recorder and the probes: on and off, and packets. */
#include "engine/grant/program_records.h"
#include "engine/record/record_impl.h"
#include "engine/core/engine_impl.h"
#include "engine/core/wait.h"
#include "engine/ground/program_record.h"
#include "engine/ground/user.h"
#include "transport/opcode.h"
#include "transport/packet.h"

#ifdef UROCE_PROBES
#define X(name)                                          \
	volatile unsigned short uroce_##name##_semaphore \
		__attribute__((section(".probes")));
UR_PROBES(X)
#undef X
#endif

/* Recorded bytes of a MAD: the header (IBTA 13.4.3), and both communication IDs of
 * CM. */
#define MAD_BYTES 32

_Static_assert(UR_HEADERS_MAX_BYTES <= UROCE_RECORD_HEADERS,
	       "room for headers");
/* ---- packets ---- */

static u8 header_bytes(const u8 *bth, u32 len)
{
	u32 bytes = ur_opcode_lookup(bth[0])->header_bytes;

	if (ur_get_be24(bth + 5) == UR_QPN_GSI)
		bytes += MAD_BYTES;
	if (!bytes)
		bytes = UR_BTH_BYTES;
	return (u8)ur_min_u32(ur_min_u32(bytes, len), UROCE_RECORD_HEADERS);
}

static void record_packet(struct ur_engine *e, u8 kind, u32 qpn,
			  const struct ur_rx_meta *m, const u8 *bth, u32 len)
{
	const struct ur_eqp *qp = e->kind->qp(e, qpn);
	struct uroce_record_packet p = {
		.ns = ur_clock_ns(CLOCK_MONOTONIC),
		.kind = kind,
		.op = bth[0],
		.status = header_bytes(bth, len),
		.flags = m->v1 ? UROCE_RECORD_F_V1 : 0,
		.qpn = qpn,
		.uid = qp ? qp->uid : UROCE_RECORD_NOBODY,
		.pid = qp ? (u32)qp->pid : 0,
		.psn = ur_bth_psn(bth),
		.length = len,
		.flow_label = m->flow_label,
		.sport = m->udp_sport,
		.tos = m->tos,
		.ttl = m->ttl,
	};

	memcpy(p.headers, bth, p.status);
	memcpy(p.saddr, m->saddr, 16);
	memcpy(p.daddr, m->daddr, 16);
	if (kind == UROCE_RECORD_PACKET_OUT)
		PROBE(5, packet_out, p.qpn, p.op, p.psn, p.length,
		      ur_bth_dqpn(bth));
	else
		PROBE(4, packet_in, p.qpn, p.op, p.psn, p.length);
	if (e->record.recorder)
		ur_recorder_put_packet(e->record.recorder, &p);
}

/* Returns the number of the queue pair that sent the packet: the BTH names only the
 * destination. */
static u32 sender_of(const struct ur_av *av, const u8 *bth, u32 len)
{
	if (bth[0] >> 5 == UR_SVC_UD >> 5 &&
	    len >= UR_BTH_BYTES + UR_DETH_BYTES)
		return ur_get_be24(bth + UR_BTH_BYTES + 5);
	return av->lqpn;
}

void ur_record_sent(struct ur_engine *e)
{
	const struct ur_tx *tx = &e->tx;

	for (u32 i = 0; i < tx->n_desc; i++) {
		const struct ur_tx_desc *d = &tx->desc[i];
		const u8 *bth = tx->buf + d->off;
		struct ur_rx_meta meta;

		if (d->av->raw) /* not a RoCE packet */
			continue;
		ur_av_meta(d->av, &meta);
		record_packet(e, UROCE_RECORD_PACKET_OUT,
			      sender_of(d->av, bth, d->len), &meta, bth,
			      d->len);
	}
}

void ur_record_received(struct ur_engine *e, const struct ur_rx_meta *meta,
			const u8 *bth, u32 len)
{
	if (len >= UR_BTH_BYTES)
		record_packet(e, UROCE_RECORD_PACKET_IN, ur_get_be24(bth + 5),
			      meta, bth, len);
}

/* ---- on and off ---- */

static void choose(struct ur_engine *e)
{
	e->record.on = e->record.recorder || e->record.probed;
	e->kind->recorded(e);
}

void ur_record_probes_changed(struct ur_engine *e)
{
	e->record.probed = !e->record.probed;
	e->record.run++;
	choose(e);
}

static int record(struct ur_engine *e, struct ur_recorder *rec)
{
	ur_recorder_free(e->record.recorder);
	e->record.recorder = rec;
	e->record.run++;
	choose(e);
	return 0;
}
UR_ENGINE_CALL(1, record, struct ur_recorder *);

void ur_engine_record(struct ur_engine *engine, struct ur_recorder *rec)
{
	if (rec)
		ur_recorder_keep(rec);
	call_record(engine, rec);
	ur_record_grant_begin(engine, rec ? ur_recorder_kib(rec) : 0);
}

void ur_record_follow(struct ur_engine *e, u32 run, u32 kib)
{
	struct ur_recorder *rec = NULL;

	if (run == e->inproc.record_run)
		return;
	e->inproc.record_run = run;
	if (kib)
		rec = ur_recorder_attach(
			e->inproc.record,
			ur_program_record_kib(
				kib, ur_slot_is_small(e->config.grant.slot)),
			run);
	record(e, rec);
}

static int record_cm(struct ur_engine *e, const struct uroce_record *r)
{
	ur_record_keep(e, r);
	return 0;
}
UR_ENGINE_CALL(1, record_cm, const struct uroce_record *);

void ur_engine_record_cm(struct ur_engine *engine, u32 qpn, uid_t uid,
			 pid_t pid, u32 event, int status)
{
	struct uroce_record r = ur_record_begin(UROCE_RECORD_CM, qpn);

	ur_record_owned(&r, uid, pid);
	r.op = (u8)event;
	r.va = (u64)(s64)status;
	call_record_cm(engine, &r);
}
