// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports of the port spaces TCP, UDP, IB and IPOIB. They have nothing to do
 * with the host's own TCP and UDP ports, but the same rules: two ids conflict
 * on a port when their addresses do, unless both allow reuse and none listens.
 */
#include <errno.h>

#include "device/ucma/ucma.h"

/* The default of net.ipv4.ip_local_port_range. */
#define EPHEMERAL_FIRST 32768
#define EPHEMERAL_COUNT (60999 - EPHEMERAL_FIRST + 1)

static struct ur_list *bucket(struct ur_ucma *ucma, u16 ps, u16 port)
{
	return &ucma->ports[(port * 4u + ps) % UCMA_PORT_BUCKETS];
}

static bool conflict(const struct ucma_id *a, const struct ucma_id *b,
		     bool reuse)
{
	if (reuse && a->reuse_addr && b->reuse_addr && b->state != UCMA_LISTEN)
		return false;
	if (a->src.sa.sa_family != b->src.sa.sa_family &&
	    ((a->af_only && b->af_only) || a->src.sa.sa_family == AF_IB ||
	     b->src.sa.sa_family == AF_IB))
		return false;
	if (ucma_sa_any(&a->src) || ucma_sa_any(&b->src))
		return true;
	return ucma_sa_same_addr(&a->src, &b->src);
}

static bool is_free(struct ur_ucma *ucma, const struct ucma_id *id, u16 port,
		    bool reuse, bool ephemeral)
{
	ur_list_for_each(n, bucket(ucma, id->ps, port)) {
		const struct ucma_id *other =
			ur_list_entry(n, struct ucma_id, port_node);

		if (other == id || other->ps != id->ps || other->port != port)
			continue;
		if (ephemeral || conflict(id, other, reuse))
			return false;
	}
	return true;
}

static void take(struct ur_ucma *ucma, struct ucma_id *id, u16 port)
{
	id->port = port;
	ucma_sa_set_port(&id->src, port);
	ur_list_add_tail(bucket(ucma, id->ps, port), &id->port_node);
}

static int take_ephemeral(struct ur_ucma *ucma, struct ucma_id *id)
{
	u32 start = ur_rng_below(&ucma->rng, EPHEMERAL_COUNT);

	for (u32 i = 0; i < EPHEMERAL_COUNT; i++) {
		u16 port =
			(u16)(EPHEMERAL_FIRST + (start + i) % EPHEMERAL_COUNT);

		if (is_free(ucma, id, port, false, true)) {
			take(ucma, id, port);
			return 0;
		}
	}
	return -EADDRNOTAVAIL;
}

int ucma_port_bind(struct ucma_id *id)
{
	struct ur_ucma *ucma = ucma_of(id->file);
	u16 port = ucma_sa_port(&id->src);

	if (!port)
		return take_ephemeral(ucma, id);
	if (!is_free(ucma, id, port, true, false))
		return -EADDRINUSE;
	take(ucma, id, port);
	return 0;
}

int ucma_port_listen(struct ucma_id *id)
{
	return is_free(ucma_of(id->file), id, id->port, false, false)
		       ? 0
		       : -EADDRINUSE;
}

void ucma_port_release(struct ucma_id *id)
{
	ur_list_del(&id->port_node);
}
