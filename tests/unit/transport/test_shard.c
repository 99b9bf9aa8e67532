// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Several ports of one device: the numbers that each gives out say which port
 * it was, and those of one tell nothing of another's.
 */
#include <errno.h>

#include "tests/check.h"
#include "transport/packet.h"
#include "transport/transport.h"
#include "transport/wire_format.h"

#define BITS	3u
#define PORTS	(1u << BITS)
#define OBJECTS 200u

static const struct ur_host_ops ops;
static u32 qpn[PORTS][OBJECTS], srqn[PORTS][OBJECTS], key[PORTS][OBJECTS];

static struct ur_port *make_port(u32 shard, u64 secret)
{
	struct ur_port_config config = {
		.seed = 1,
		.secret = {secret, secret * 3},
		.mtu_bytes = 1024,
		.max_qp = OBJECTS,
		.max_mr = OBJECTS,
		.first_qpn = 17,
		.shard = shard,
		.shard_bits = BITS,
		.ops = &ops,
	};
	struct ur_port *port = ur_port_create(&config);

	CHECK(port);
	return port;
}

static void fill(struct ur_port *port, u32 shard)
{
	static u8 memory[8];
	const struct ur_qp_init init = {.type = UR_QPT_RC};
	const struct ur_srq_attr srq_attr = {.pd = 1};
	const struct ur_mr_attr mr_attr = {.length = 8, .direct = memory};
	struct ur_qp *qp[OBJECTS];
	struct ur_srq *srq[OBJECTS];
	struct ur_mr *mr[OBJECTS];

	for (u32 i = 0; i < OBJECTS; i++) {
		CHECK_EQ(ur_qp_create(port, &init, &qp[i]), 0);
		CHECK_EQ(ur_srq_create(port, &srq_attr, &srq[i]), 0);
		CHECK_EQ(ur_mr_create(port, &mr_attr, &mr[i]), 0);
		qpn[shard][i] = ur_qp_number(qp[i]);
		srqn[shard][i] = ur_srq_number(srq[i]);
		key[shard][i] = ur_mr_key(mr[i]);
		CHECK_EQ(ur_shard_of(qpn[shard][i], BITS), shard);
		CHECK_EQ(ur_shard_of(srqn[shard][i], BITS), shard);
		CHECK(qpn[shard][i] >= 17 && qpn[shard][i] < 0xffffff);
	}
	for (u32 i = 0; i < OBJECTS; i++) {
		ur_qp_destroy(qp[i]);
		CHECK_EQ(ur_srq_destroy(srq[i]), 0);
		CHECK_EQ(ur_mr_destroy(mr[i]), 0);
	}
	ur_port_destroy(port);
}

/* The rest of a number, by which one port's must not tell another's. */
static u32 rest(u32 number)
{
	return number & ((1u << (24 - BITS)) - 1);
}

static void test_secret(void)
{
	u32 same = 0;

	for (u32 s = 0; s < PORTS; s++)
		fill(make_port(s, 0x5eed), s);
	for (u32 s = 1; s < PORTS; s++)
		for (u32 i = 0; i < OBJECTS; i++)
			same += rest(qpn[s][i]) == rest(qpn[0][i]) ||
				rest(qpn[s][i]) == rest(qpn[s - 1][i]) ||
				key[s][i] >> 8 == key[0][i] >> 8;
	/* By chance: one in 2^21. */
	CHECK(same < 3);
}

static void test_counted(void)
{
	fill(make_port(0, 0), 0);
	CHECK_EQ(qpn[0][0], 17);
	fill(make_port(PORTS - 1, 0), PORTS - 1);
	CHECK_EQ(qpn[PORTS - 1][0], 0xe00000);
}

/* A key that another port has drawn. */
static void test_given_key(void)
{
	static u8 memory[8];
	struct ur_mr_attr attr = {
		.length = 8, .direct = memory, .key = 0x12345678};
	struct ur_port *port = make_port(0, 0x5eed);
	struct ur_mr *mr, *other;

	CHECK_EQ(ur_mr_create(port, &attr, &mr), 0);
	CHECK_EQ(ur_mr_key(mr), 0x12345678);
	CHECK_EQ(ur_mr_create(port, &attr, &other), -EEXIST);
	CHECK_EQ(ur_mr_destroy(mr), 0);
	ur_port_destroy(port);
}

static void test_one_port(void)
{
	CHECK_EQ(ur_shard_of(0xffffff, 0), 0);
	CHECK_EQ(ur_shard_of(1, BITS), 0);
	CHECK_EQ(ur_shard_of(0xffffff, BITS), PORTS - 1);
}

int main(void)
{
	test_secret();
	test_counted();
	test_one_port();
	test_given_key();
	return 0;
}
