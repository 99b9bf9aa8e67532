// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The services for the connection manager of cm/: its MADs are sent and received by the
 * engine's QP1, and its deadline is a timer of the control loop. ucma_cm_event.c converts
 * its events to those of rdma_cm.
 */
#include <string.h>

#include "device/ucma/ucma_journal.h"

/* perftest asks its client to connect before it listens: on two busy cores one
 * start in six was refused without this. */
#define LISTEN_GRACE_MS 200

/* Deadlines of one such interval are served together: each connection that ends has one. */
#define SLACK_NS 8000000ull

void ucma_cm_touch(struct ur_ucma *ucma)
{
	ur_cm_set_now(ucma->cm, ur_loop_now());
}

void ucma_cm_kick(struct ur_ucma *ucma)
{
	u64 deadline = ur_cm_deadline(ucma->cm);

	ucma_journal_flush(ucma);
	while (!ur_list_empty(&ucma->due)) {
		struct ucma_file *file =
			ur_list_first(&ucma->due, struct ucma_file, due);

		ur_list_del(&file->due);
		ucma_ahead_push(file);
	}
	if (deadline == UR_CM_NEVER)
		ur_loop_timer_clear(ucma->daemon->loop, &ucma->timer);
	else
		ur_loop_timer_set(ucma->daemon->loop, &ucma->timer,
				  (deadline / SLACK_NS + 1) * SLACK_NS);
}

static void on_timer(void *arg)
{
	struct ur_ucma *ucma = arg;

	ur_cm_expire(ucma->cm, ur_loop_now());
	ucma_cm_kick(ucma);
}

struct ur_cm_path ucma_cm_path(const struct ucma_id *id)
{
	struct ur_cm_path path = {
		.port = id->dev->index,
		.sgid_index = id->sgid_index,
		.flow_label = id->flow_label,
		.pkey = 0xffff,
		.hop_limit = id->hop_limit,
		.traffic_class = id->tos,
		.sl = id->tos >> 5,
		.packet_life_time = UCMA_PACKET_LIFE_TIME,
	};

	memcpy(path.sgid, id->sgid, 16);
	memcpy(path.dgid, id->dgid, 16);
	return path;
}

void ucma_cm_drop(struct ucma_id *id)
{
	if (id->cm)
		ur_cm_id_destroy(id->cm);
	id->cm = NULL;
}

static void on_send(void *ctx, const struct ur_cm_path *path, const u8 *mad)
{
	struct ur_ucma *ucma = ctx;
	struct ur_device *dev = ucma_device_by_index(ucma->daemon, path->port);
	struct ur_epath epath = {.sgid_index = path->sgid_index,
				 .traffic_class = path->traffic_class,
				 .hop_limit = path->hop_limit,
				 .sl = path->sl};
	const struct ur_gid *gid;

	if (!dev)
		return;
	/* The address may have been removed since; then the MAD is dropped. */
	gid = ur_gid_get(dev, path->sgid_index);
	if (!gid || !gid->valid || memcmp(gid->gid, path->sgid, 16))
		return;
	if (!epath.hop_limit)
		epath.hop_limit = UCMA_HOP_LIMIT;
	epath.v1 = gid->type == UR_GID_ROCE_V1;
	memcpy(epath.sgid, path->sgid, 16);
	memcpy(epath.dgid, path->dgid, 16);
	/* A MAD that cannot be sent counts as lost, and will be repeated. */
	ur_engine_gsi_send(dev->engine, &epath, 1, mad);
}

/* ---- from the engine ---- */

void ucma_cm_gsi_rx(struct ur_device *dev, const struct ur_rx_meta *meta,
		    const u8 *mad)
{
	struct ur_ucma *ucma = dev->daemon->cm;
	struct ur_cm_path from = {.port = dev->index,
				  .pkey = 0xffff,
				  .hop_limit = UCMA_HOP_LIMIT,
				  .traffic_class = meta->tos & 0xfc,
				  .sl = meta->sl};
	int index = ur_gid_find(dev, meta->daddr,
				meta->v1 ? UR_GID_ROCE_V1 : UR_GID_ROCE_V2);

	if (index < 0)
		return;
	from.sgid_index = (u32)index;
	memcpy(from.sgid, meta->daddr, 16);
	memcpy(from.dgid, meta->saddr, 16);
	ur_cm_rx(ucma->cm, ur_loop_now(), &from, mad, UR_CM_MAD_BYTES);
	ucma_cm_kick(ucma);
}

struct ur_cm *ucma_cm_create(struct ur_ucma *ucma, ucma_cm_event_fn *event)
{
	struct ur_cm_config config = {.ctx = ucma,
				      .send = on_send,
				      .event = event,
				      .listen_grace_ms = LISTEN_GRACE_MS};

	config.key[0] = ur_secret_u64(&ucma->secret);
	config.key[1] = ur_secret_u64(&ucma->secret);
	ucma->timer.fn = on_timer;
	ucma->timer.arg = ucma;
	return ur_cm_create(&config);
}
