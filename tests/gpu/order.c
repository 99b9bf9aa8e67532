// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What follows a payload comes after it: matrix.h. With the stand-in no copy of that side ends until it is let go, and so
 * long nobody sees the flag, the completion, the acknowledgement or the answer.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/gpu/cuda.h"
#include "tests/gpu/matrix.h"
#include "tests/gpu/standin.h"

#define LEN	300000u
#define HELD_US 100000

static volatile uint64_t *flag(void)
{
	return (void *)(uintptr_t)own[HOST].addr;
}

static void hold(bool client, bool on)
{
	if (standin_hold && peer.client == client)
		standin_hold(on);
}

/* Both sides look while the copies of the side that receives are held. */
static void look(bool to_client)
{
	hold(to_client, true);
	rounds_both(&peer);
}

static void nothing_yet(bool to_client, const char *what)
{
	usleep(HELD_US);
	must(!standin_hold || is_quiet(), what);
	must(!standin_hold || peer.client || *flag() != 1, what);
	rounds_both(&peer);
	hold(to_client, false);
}

static void begin(uint32_t s)
{
	fill(FAR, s + peer.client);
	*flag() = 0;
	rounds_both(&peer);
}

static void came(uint32_t s)
{
	check(FAR, 0, LEN, s + 1, 0, s);
}

static struct ibv_sge payload(void)
{
	return sge_of(FAR, 0, LEN);
}

/* Memory of the host that the program spins on. */
static void before_flag(void)
{
	struct ibv_sge sge = payload(), one = sge_of(HOST, 0, 8);
	uint32_t s = ++seed * 2;

	begin(s);
	look(false);
	if (peer.client) {
		*flag() = 1;
		must(!post(IBV_WR_RDMA_WRITE, &sge, 1, FAR, 0) &&
			     !post(IBV_WR_RDMA_WRITE, &one, 1, HOST, 0),
		     "post");
	}
	nothing_yet(false, "a flag before its payload");
	while (*flag() != 1)
		;
	if (!peer.client)
		came(s);
	for (int i = 0; peer.client && i < 2; i++)
		must_be(poll_one().status, IBV_WC_SUCCESS);
	rounds_both(&peer);
}

/* The completion of the side that receives, of either opcode. */
static void before_completion(enum ibv_wr_opcode op, const char *what)
{
	struct ibv_sge sge = payload();
	uint32_t s = ++seed * 2;

	if (!peer.client)
		receive(&sge, 1);
	begin(s);
	look(false);
	if (peer.client)
		must(!post(op, &sge, 1, FAR, 0), "post");
	nothing_yet(false, what);
	must_be(poll_one().status, IBV_WC_SUCCESS);
	if (!peer.client)
		came(s);
	rounds_both(&peer);
}

/* Whoever has the acknowledgement may tell the other side by other means. */
static void before_ack(void)
{
	struct ibv_sge sge = payload();
	uint32_t s = ++seed * 2;

	begin(s);
	look(false);
	if (peer.client)
		must(!post(IBV_WR_RDMA_WRITE, &sge, 1, FAR, 0), "post");
	nothing_yet(false, "an acknowledgement before the payload");
	if (peer.client)
		must_be(poll_one().status, IBV_WC_SUCCESS);
	rounds_both(&peer);
	if (!peer.client)
		came(s);
	rounds_both(&peer);
}

/* A READ's bytes are there at its completion. */
static void before_read_ends(void)
{
	struct ibv_sge sge = payload();
	uint32_t s = ++seed * 2;

	begin(s);
	look(true);
	if (peer.client)
		must(!post(IBV_WR_RDMA_READ, &sge, 1, FAR, 0), "post");
	nothing_yet(true, "a READ that ends before its bytes are there");
	if (peer.client) {
		must_be(poll_one().status, IBV_WC_SUCCESS);
		check(FAR, 0, LEN, s, 0, s + 1);
	}
	rounds_both(&peer);
}

/* As NCCL flushes: the answer of a READ behind a WRITE comes when the WRITE's bytes are there, and has them. */
static void before_answer(void)
{
	struct ibv_sge sge = payload(), last = sge_of(HOST, 64, 8);
	uint32_t s = ++seed * 2;
	const uint8_t *got = (uint8_t *)(uintptr_t)own[HOST].addr + 64;

	begin(s);
	look(false);
	if (peer.client) {
		must(!post(IBV_WR_RDMA_WRITE, &sge, 1, FAR, 0), "post");
		must(!post(IBV_WR_RDMA_READ, &last, 1, FAR, LEN - 8), "post");
	}
	nothing_yet(false, "an answer before the payload");
	if (peer.client) {
		must_be(poll_one().status, IBV_WC_SUCCESS);
		must_be(poll_one().status, IBV_WC_SUCCESS);
		for (uint32_t i = 0; i < 8; i++)
			must(got[i] == byte_at(s + 1, LEN - 8 + i),
			     "the answer's bytes");
	}
	rounds_both(&peer);
	if (!peer.client)
		came(s);
	rounds_both(&peer);
}

void run_order(void)
{
	before_flag();
	before_completion(IBV_WR_SEND, "a completion before the payload");
	before_completion(IBV_WR_RDMA_WRITE_WITH_IMM,
			  "an immediate before the payload");
	before_ack();
	before_read_ends();
	before_answer();
}
