// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Spreads frames over work queues by a hash of their headers. See raw.h. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include "engine/raw/rss.h"

struct ur_rss {
	struct ur_rss_conf conf;
	struct ur_eqp *queue[];
};

/* ---- the hash ---- */

/* Most input bytes: two IPv6 addresses and two ports. */
#define MAX_INPUT 36u

_Static_assert(MAX_INPUT + 4 <= UR_RSS_KEY_BYTES,
	       "each bit has 32 bits of the key");

/* Each set bit of the input XORs the 32 bits of the key from the same position on. */
static u32 toeplitz(const u8 *key, const u8 *in, u32 len)
{
	u32 hash = 0;

	for (u32 i = 0; i < len; i++) {
		u64 window = (u64)ur_get_be32(key + i) << 8 | key[i + 4];

		for (u32 bit = 0; bit < 8; bit++)
			if (in[i] & 0x80 >> bit)
				hash ^= (u32)(window >> (8 - bit));
	}
	return hash;
}

/* All fragments of a datagram must hash alike, and only the first has ports. */
static bool has_ports(const struct ur_flow_key *k, u8 proto)
{
	return k->l4 == proto && !(k->ip_flags & UR_FLOW_MORE_FRAG) &&
	       k->proto != IPPROTO_FRAGMENT;
}

struct input {
	u8 bytes[MAX_INPUT];
	u32 len;
};

static void add_field(struct input *in, bool wanted, const void *field, u32 len)
{
	if (!wanted)
		return;
	memcpy(in->bytes + in->len, field, len);
	in->len += len;
}

u32 ur_rss_hash(const struct ur_rss_conf *conf, const struct ur_flow_key *k)
{
	struct input in = {.len = 0};
	u32 f = conf->fields;
	bool tcp = has_ports(k, IPPROTO_TCP), udp = has_ports(k, IPPROTO_UDP);

	if (k->ip == UR_FLOW_IPV4) {
		add_field(&in, f & UR_RSS_SRC_IPV4, k->src_ip + 12, 4);
		add_field(&in, f & UR_RSS_DST_IPV4, k->dst_ip + 12, 4);
	} else if (k->ip == UR_FLOW_IPV6) {
		add_field(&in, f & UR_RSS_SRC_IPV6, k->src_ip, 16);
		add_field(&in, f & UR_RSS_DST_IPV6, k->dst_ip, 16);
	}
	add_field(&in,
		  (tcp && (f & UR_RSS_SRC_PORT_TCP)) ||
			  (udp && (f & UR_RSS_SRC_PORT_UDP)),
		  &k->src_port, 2);
	add_field(&in,
		  (tcp && (f & UR_RSS_DST_PORT_TCP)) ||
			  (udp && (f & UR_RSS_DST_PORT_UDP)),
		  &k->dst_port, 2);
	return toeplitz(conf->key, in.bytes, in.len);
}

/* ---- the table ---- */

struct ur_eqp *ur_rss_queue(struct ur_eqp *qp, const struct ur_flow_key *key)
{
	const struct ur_rss *rss = qp->rss;

	if (!rss)
		return qp;
	return rss->queue[ur_rss_hash(&rss->conf, key) & (rss->conf.size - 1)];
}

static int set(struct ur_engine *engine, struct ur_eqp *qp, struct ur_rss *rss)
{
	qp->rss = rss;
	return 0;
}
UR_ENGINE_CALL(2, set, struct ur_eqp *, struct ur_rss *);

int ur_eqp_spread(struct ur_eqp *qp, const struct ur_rss_conf *conf,
		  struct ur_eqp *const *table)
{
	size_t bytes = conf->size * sizeof(*table);
	struct ur_rss *rss;

	ur_assert(conf->size && conf->size <= UR_RSS_TABLE_MAX &&
		  !(conf->size & (conf->size - 1)));
	rss = malloc(sizeof(*rss) + bytes);
	if (!rss)
		return -ENOMEM;
	rss->conf = *conf;
	memcpy(rss->queue, table, bytes);
	return call_set(qp->engine, qp, rss);
}

/* ---- work queues ---- */

int ur_ewq_modify(struct ur_eqp *wq, enum ur_wq_state from, enum ur_wq_state to)
{
	struct ur_qp_attr attr = {.port_num = 1};
	int err;

	if (to == from && to != UR_WQ_RESET)
		return 0;
	if (!ur_wq_may(from, to))
		return -EINVAL;
	if (to != UR_WQ_RDY) {
		attr.state = to == UR_WQ_ERR ? UR_QP_ERR : UR_QP_RESET;
		return ur_eqp_modify(wq, &attr, NULL, UR_QP_ATTR_STATE);
	}
	attr.state = UR_QP_INIT;
	err = ur_eqp_modify(wq, &attr, NULL,
			    UR_QP_ATTR_STATE | UR_QP_ATTR_PORT);
	attr.state = UR_QP_RTR;
	return err ? err : ur_eqp_modify(wq, &attr, NULL, UR_QP_ATTR_STATE);
}
