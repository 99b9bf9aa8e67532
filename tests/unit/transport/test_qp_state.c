// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Every cell of the modify table: for each type, state and next state, the
 * required attributes alone are enough, none of them may miss, each optional
 * one may come, and every other one is refused with nothing changed.
 */
#include "tests/check.h"
#include "tests/qp_walk.h"
#include "tests/transport_host.h"
#include "transport/modify_table.h"

#include <string.h>

static const enum ur_qp_type types[] = {
	UR_QPT_RC,	   UR_QPT_UC,	   UR_QPT_UD,
#if UROCE_WITH_RAW_PACKET
	UR_QPT_RAW_PACKET,
#endif
	UR_QPT_XRC_INI,	   UR_QPT_XRC_TGT,
};

/* The transitions of IBTA table 96, written down a second time. */
static bool transition_exists(int cur, int next)
{
	static const u8 reach[UR_QP_STATES] = {
		[UR_QP_RESET] = 1 << UR_QP_RESET | 1 << UR_QP_INIT,
		[UR_QP_INIT] = 1 << UR_QP_RESET | 1 << UR_QP_INIT |
			       1 << UR_QP_RTR | 1 << UR_QP_ERR,
		[UR_QP_RTR] =
			1 << UR_QP_RESET | 1 << UR_QP_RTS | 1 << UR_QP_ERR,
		[UR_QP_RTS] = 1 << UR_QP_RESET | 1 << UR_QP_RTS |
			      1 << UR_QP_SQD | 1 << UR_QP_ERR,
		[UR_QP_SQD] = 1 << UR_QP_RESET | 1 << UR_QP_RTS |
			      1 << UR_QP_SQD | 1 << UR_QP_ERR,
		[UR_QP_SQE] =
			1 << UR_QP_RESET | 1 << UR_QP_RTS | 1 << UR_QP_ERR,
		[UR_QP_ERR] = 1 << UR_QP_RESET | 1 << UR_QP_ERR,
	};

	return reach[cur] & (1 << next);
}

static int sq_next(void *ctx, struct ur_send_wr *wr)
{
	return 0;
}

static int cq_push(void *ctx, const struct ur_wc *wc)
{
	return 0;
}

static const struct ur_host_ops ops = IDLE_HOST(sq_next, cq_push);

static struct ur_av av = {.refs = 1};
static struct ur_port *port;

static struct ur_qp_attr values(enum ur_qp_state next)
{
	return (struct ur_qp_attr){
		.state = next,
		.path_mtu = 1024,
		.qkey = 1,
		.rq_psn = 2,
		.sq_psn = 3,
		.dest_qpn = 4,
		.port_num = 1,
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.av = &av,
	};
}

static void step(struct ur_qp *qp, enum ur_qp_state next)
{
	struct ur_qp_attr attr = values(next);

	CHECK_EQ(qp_walk(qp, 1, &attr), 0);
}

/* SQE is entered by an error only; the table is checked for it as data. */
static struct ur_qp *qp_in(enum ur_qp_type type, enum ur_qp_state state)
{
	struct ur_qp_init init = {
		.type = type, .max_send_wr = 1, .raw_av = &av};
	struct ur_qp *qp;

	CHECK_EQ(ur_qp_create(port, &init, &qp), 0);
	if (state == UR_QP_RESET)
		return qp;
	step(qp, UR_QP_INIT);
	if (state == UR_QP_INIT)
		return qp;
	if (state == UR_QP_ERR) {
		step(qp, UR_QP_ERR);
		return qp;
	}
	step(qp, UR_QP_RTR);
	if (state == UR_QP_RTR)
		return qp;
	step(qp, UR_QP_RTS);
	if (state == UR_QP_SQD)
		step(qp, UR_QP_SQD);
	return qp;
}

static bool try_mask(enum ur_qp_type type, enum ur_qp_state cur,
		     enum ur_qp_state next, u32 mask)
{
	struct ur_qp *qp = qp_in(type, cur);
	struct ur_qp_attr attr = values(next), before, after;
	int rc;

	attr.cur_state = cur;
	ur_qp_query(qp, &before);
	CHECK_EQ(before.state, cur);
	rc = ur_qp_modify(qp, 1, &attr, mask | UR_QP_ATTR_STATE);
	ur_qp_query(qp, &after);
	if (rc) {
		CHECK_EQ(-rc, 22);
		CHECK(memcmp(&before, &after, sizeof(after)) == 0);
	} else {
		CHECK_EQ(after.state, next);
	}
	ur_qp_destroy(qp);
	CHECK_EQ(av.refs, 1);
	return rc == 0;
}

static void check_cell(enum ur_qp_type type, enum ur_qp_state cur,
		       enum ur_qp_state next)
{
	const struct ur_qp_transition *t = &ur_qp_transitions[cur][next];
	u32 req = t->required[type], opt = t->optional[type];

	CHECK_EQ(t->valid, transition_exists(cur, next));
	CHECK_EQ(req & opt, 0);
	CHECK_EQ(ur_qp_modify_allowed(cur, next, type, req), t->valid);
	if (cur == UR_QP_SQE)
		return;
	if (!t->valid) {
		CHECK(!try_mask(type, cur, next, 0));
		return;
	}
	CHECK(try_mask(type, cur, next, req));
	for (u32 bit = 1; bit <= UR_QP_ATTR_RATE_LIMIT; bit <<= 1) {
		if (bit == UR_QP_ATTR_STATE)
			continue;
		if (req & bit)
			CHECK(!try_mask(type, cur, next, req & ~bit));
		else if (bit == UR_QP_ATTR_ALT_PATH)
			CHECK(!try_mask(type, cur, next, req | bit));
		else
			CHECK_EQ(try_mask(type, cur, next, req | bit),
				 !!(opt & bit));
	}
}

static void check_values(void)
{
	struct ur_qp *qp = qp_in(UR_QPT_RC, UR_QP_INIT);
	u32 mask =
		ur_qp_transitions[UR_QP_INIT][UR_QP_RTR].required[UR_QPT_RC] |
		UR_QP_ATTR_STATE;
	struct ur_qp_attr a;

	a = values(UR_QP_RTR);
	a.path_mtu = 1000;
	CHECK(ur_qp_modify(qp, 1, &a, mask));
	a = values(UR_QP_RTR);
	a.path_mtu = 4096; /* above the port's */
	CHECK(ur_qp_modify(qp, 1, &a, mask));
	a = values(UR_QP_RTR);
	a.av = NULL;
	CHECK(ur_qp_modify(qp, 1, &a, mask));
	a = values(UR_QP_RTR);
	a.min_rnr_timer = 32;
	CHECK(ur_qp_modify(qp, 1, &a, mask));
	a = values(UR_QP_RTR);
	a.dest_qpn = 1u << 24;
	CHECK(ur_qp_modify(qp, 1, &a, mask));
	a = values(UR_QP_RTR);
	a.max_dest_rd_atomic = 200;
	CHECK(ur_qp_modify(qp, 1, &a, mask));
	a = values(UR_QP_RTR);
	CHECK_EQ(ur_qp_modify(qp, 1, &a, mask), 0);
	/* Taking the state to be another one. */
	a = values(UR_QP_RTS);
	a.cur_state = UR_QP_RTS;
	mask = ur_qp_transitions[UR_QP_RTR][UR_QP_RTS].required[UR_QPT_RC] |
	       UR_QP_ATTR_STATE | UR_QP_ATTR_CUR_STATE;
	CHECK(ur_qp_modify(qp, 1, &a, mask));
	a.cur_state = UR_QP_RTR;
	CHECK_EQ(ur_qp_modify(qp, 1, &a, mask), 0);
	ur_qp_destroy(qp);
}

int main(void)
{
	struct ur_port_config cfg = {.mtu_bytes = 2048,
				     .max_qp = 16,
				     .max_mr = 16,
				     .first_qpn = 16,
				     .ops = &ops};

	port = ur_port_create(&cfg);
	CHECK(port);
	for (u32 i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (u32 cur = 0; cur < UR_QP_STATES; cur++)
			for (u32 next = 0; next < UR_QP_STATES; next++)
				check_cell(types[i], cur, next);
	check_values();
	ur_port_destroy(port);
	return 0;
}
