// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Creates and destroys a port, with all that it allocates. */
#include "transport/internal.h"

#include <stdlib.h>

/* Lowest key: zero and small numbers are easily hit by broken programs. */
#define FIRST_KEY 16
#define FIRST_SRQ 1

/* Each shard's port draws from its own generator, so its numbers reveal none of
 * another port's, which belong to other programs. */
static void set_secret(struct ur_port *port)
{
	struct ur_secret *secret = &port->secret;
	u64 key[2];

	memcpy(secret->key, port->cfg.secret, sizeof(secret->key));
	if (!port->cfg.shard)
		return;
	secret->count = 0 - 2ull * port->cfg.shard;
	key[0] = ur_secret_u64(secret);
	key[1] = ur_secret_u64(secret);
	*secret = (struct ur_secret){.key = {key[0], key[1]}};
}

/* Initializes a table for the port's share of the numbers from first to
 * last. */
static void init_table(struct ur_port *port, struct ur_table *table, u32 first,
		       u32 last, u32 max)
{
	const struct ur_port_config *cfg = &port->cfg;
	u32 share = 1u << (24 - cfg->shard_bits), base = cfg->shard * share;
	bool secret = cfg->secret[0] | cfg->secret[1];

	ur_table_init(table, first > base ? first : base,
		      ur_min_u32(last, base + share - 1), max,
		      secret ? &port->secret : NULL);
}

static void init_tables(struct ur_port *port)
{
	const struct ur_port_config *cfg = &port->cfg;

	if (cfg->secret[0] | cfg->secret[1])
		set_secret(port);
	init_table(port, &port->qps, cfg->first_qpn, UR_QPN_MULTICAST - 1,
		   cfg->max_qp);
	/* Keys need no port prefix, since no packet is dispatched by its
	 * key. */
	ur_table_init(&port->keys, FIRST_KEY, UR_24BIT_MASK, cfg->max_mr,
		      port->qps.secret);
	init_table(port, &port->srqs, FIRST_SRQ, UR_24BIT_MASK, 1u << 20);
}

/* Draws from a generator of its own, so that numbers of queue pairs and keys do
 * not change. */
static void init_paths(struct ur_port *port)
{
	struct ur_secret secret = {
		.key = {port->cfg.secret[0], port->cfg.secret[1]},
		.count = 1ull << 63,
	};

	for (u32 i = 0; i < UR_ARRAY_SIZE(port->path_key); i++)
		port->path_key[i] = ur_secret_u64(&secret);
}

struct ur_port *ur_port_create(const struct ur_port_config *config)
{
	struct ur_port *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	port->cfg = *config;
	ur_port_set_cc(port, &config->cc);
	port->mem_gen = 1;
	port->bounce = port->own_bounce;
	port->counters =
		config->counters ? config->counters : port->own_counters;
	port->ops = config->ops;
	port->ctx = config->ctx;
	port->rng.state = config->seed;
	if (!port->cfg.window_pkts)
		port->cfg.window_pkts = UR_WINDOW_PKTS;
	if (port->cfg.first_qpn < 2)
		port->cfg.first_qpn = 2;
	init_tables(port);
	ur_list_init(&port->active);
	ur_list_init(&port->held);
	init_paths(port);
	ur_list_init(&port->mcast);
	if (port->cfg.ooo && ur_ooo_pool_create(&port->ooo)) {
		free(port);
		return NULL;
	}
	return port;
}

void ur_port_destroy(struct ur_port *port)
{
	ur_port_put_avs(port);
	ur_answer_last_drop(port);
	ur_mcast_fini(port);
	ur_table_fini(&port->qps);
	ur_table_fini(&port->keys);
	ur_table_fini(&port->srqs);
	free(port->deadlines.place);
	ur_ooo_pool_destroy(&port->ooo);
	free(port);
}
