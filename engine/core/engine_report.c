// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The engine's reports to control: datagrams for QP1, events of queue pairs. Each is
 * posted to the control loop, so that the engine never waits for the control
 * lock. */
#include <stdlib.h>
#include <string.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/loop.h"

struct report {
	struct ur_engine *engine;
	struct ur_rx_meta meta;
	u32 qpn;
	u8 mad[UR_MAD_BYTES];
};

static void deliver_gsi(void *arg)
{
	struct report *t = arg;
	const struct ur_engine_config *c = &t->engine->config;

	if (c->events && c->events->gsi_rx)
		c->events->gsi_rx(c->ctx, &t->meta, t->qpn, t->mad);
	free(t);
}

static void deliver_woken(void *arg)
{
	const struct ur_engine *e = arg;

	e->config.events->woken(e->config.ctx);
}

void ur_engine_report_woken(struct ur_engine *e)
{
	if (!e->config.events || !e->config.events->woken)
		return;
	atomic_store_explicit(&e->report_waking, false, memory_order_relaxed);
	/* This wake-up was not reported, so report the next one. */
	if (ur_loop_post(e->config.loop, deliver_woken, e))
		atomic_store(&e->report_waking, true);
}

void ur_engine_report_waking(struct ur_engine *engine)
{
	atomic_store(&engine->report_waking, true);
}

bool ur_engine_asleep(struct ur_engine *engine)
{
	return atomic_load(&engine->asleep);
}

void ur_engine_report_gsi(struct ur_engine *engine,
			  const struct ur_rx_meta *meta, u32 src_qpn,
			  const u8 *mad)
{
	struct report *t = calloc(1, sizeof(*t));

	if (!t)
		return; /* the datagram is lost; its sender repeats it */
	t->engine = engine;
	t->meta = *meta;
	t->qpn = src_qpn;
	memcpy(t->mad, mad, sizeof(t->mad));
	if (ur_loop_post(engine->config.loop, deliver_gsi, t))
		free(t);
}
