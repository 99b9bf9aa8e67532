// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The asker's probes: one per traffic class, sizes, bursts, and a thousand to detect drops.
 * The listener counts each series, which shows whether probes or echoes were lost.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/path/asker.h"
#include "cli/path/lines.h"

#define MS	     1000000ull
#define TRIES	     3
#define TRY_NS	     (100 * MS) /* for an echo or a report */
#define SETTLE_NS    (30 * MS)	/* between two ASKs after a burst */
#define SETTLED	     3		/* equal reports: no more packets in flight */
#define SMALL	     200u	/* no MAD has that length */
#define DROP_PROBES  1000u
#define DROP_GAP_NS  MS
#define HOPS_AT_LEFT 64

/* Makes the handle for datagrams to the listener. */
static struct ibv_ah *handle(struct ur_path_asker *a, uint8_t tclass)
{
	struct ibv_ah_attr attr = a->attr;

	attr.grh.traffic_class = tclass;
	return ibv_create_ah(a->queue.pd, &attr);
}

static struct ur_path_message message(const struct ur_path_asker *a,
				      enum ur_path_kind kind, uint8_t tclass,
				      uint16_t index, size_t bytes)
{
	return (struct ur_path_message){.token = a->token,
					.version = UR_PATH_VERSION,
					.kind = (uint8_t)kind,
					.tclass = tclass,
					.series = htons(a->series),
					.index = htons(index),
					.bytes = htons((uint16_t)bytes),
					.sent_ns = htobe64(ur_path_now())};
}

static int send_to(struct ur_path_asker *a, struct ibv_ah *ah,
		   enum ur_path_kind kind, uint8_t tclass, uint16_t index,
		   size_t bytes)
{
	struct ur_path_target to = {.ah = ah, .qpn = a->qpn, .qkey = a->qkey};
	struct ur_path_message m = message(a, kind, tclass, index, bytes);

	return ur_path_queue_send(&a->queue, &to, &m, bytes);
}

/* Waits for an answer of @kind in the series. Return: 1, 0 or -errno. */
static int answer(struct ur_path_asker *a, enum ur_path_kind kind,
		  uint64_t until_ns, struct ur_path_received *ret)
{
	for (;;) {
		const struct ur_path_message *m = &ret->arrival.message;
		int n = ur_path_queue_receive(&a->queue, until_ns, ret);

		if (n <= 0)
			return n;
		if (m->token == a->token && m->kind == kind &&
		    m->version == UR_PATH_VERSION &&
		    ntohs(m->series) == a->series &&
		    ntohs(m->index) < UR_PATH_SERIES_MAX)
			return 1;
	}
}

/* Gets the listener's count of the series; zeros if it does not answer. */
static int get_report(struct ur_path_asker *a, struct ur_path_message *ret)
{
	struct ibv_ah *ah = handle(a, 0);
	struct ur_path_received got;
	int err = ah ? 0 : -errno;

	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < TRIES && !err; i++) {
		err = send_to(a, ah, UR_PATH_ASK, 0, 0, sizeof(*ret));
		if (err)
			break;
		err = answer(a, UR_PATH_REPORT, ur_path_now() + TRY_NS, &got);
		if (err == 1)
			*ret = got.arrival.message;
	}
	if (ah)
		ibv_destroy_ah(ah);
	return err < 0 ? err : 0;
}

static uint32_t arrived(const struct ur_path_message *report)
{
	return ntohl(report->arrived[0]) + ntohl(report->arrived[1]);
}

/* The outcome of a probe that is repeated until its echo comes. */
struct outcome {
	bool there, back;
	uint8_t seen_there, seen_back, hops;
	uint64_t trip_ns;
};

static int probe(struct ur_path_asker *a, uint8_t tclass, size_t bytes,
		 struct outcome *ret)
{
	struct ibv_ah *ah = handle(a, tclass);
	struct ur_path_message report;
	struct ur_path_received got;
	int err = ah ? 0 : -errno;

	*ret = (struct outcome){0};
	a->series++;
	for (uint16_t i = 0; i < TRIES && !err; i++) {
		err = send_to(a, ah, UR_PATH_PING, tclass, i, bytes);
		if (!err)
			err = answer(a, UR_PATH_ECHO, ur_path_now() + TRY_NS,
				     &got);
	}
	if (err == 1) {
		const struct ur_path_message *m = &got.arrival.message;

		*ret = (struct outcome){.there = true,
					.back = true,
					.seen_there = m->seen_class,
					.seen_back = got.arrival.tclass,
					.hops = m->seen_hops,
					.trip_ns = got.arrival.ns -
						   be64toh(m->sent_ns)};
	} else if (!err) {
		err = get_report(a, &report);
		ret->there = arrived(&report) != 0;
	}
	if (ah)
		ibv_destroy_ah(ah);
	return err < 0 ? err : 0;
}

static const uint8_t dscps[] = {0, 26, 46};

/* Tests whether the device preserves a traffic class to itself. */
static int ask_self(struct ur_path_asker *a)
{
	struct ibv_ah_attr attr = a->attr;
	struct ur_path_received got;
	struct ur_path_target to = {.qpn = a->id->qp->qp_num, .qkey = a->qkey};
	int seen, err = 0;

	if (ibv_query_gid(a->id->verbs, a->id->port_num, attr.grh.sgid_index,
			  &attr.grh.dgid))
		return -errno;
	a->series++;
	for (uint8_t ecn = 0; ecn < 4 && err >= 0; ecn++) {
		struct ur_path_message m =
			message(a, UR_PATH_ECHO, ecn, ecn, sizeof(m));

		attr.grh.traffic_class = ecn;
		to.ah = ibv_create_ah(a->queue.pd, &attr);
		if (!to.ah)
			return 0; /* the device has no loopback */
		err = ur_path_queue_send(&a->queue, &to, &m, sizeof(m));
		seen = UR_PATH_LOST;
		if (!err)
			err = answer(a, UR_PATH_ECHO, ur_path_now() + TRY_NS,
				     &got);
		if (err == 1)
			seen = got.arrival.tclass;
		ibv_destroy_ah(to.ah);
		printf("%s %d %d\n", UR_PATH_SELF, ecn, seen);
		if (!err)
			break;
	}
	return err < 0 ? err : 0;
}

static int ask_classes(struct ur_path_asker *a)
{
	uint64_t best = UINT64_MAX;
	int routers = 0;

	for (int i = 0; i < (int)sizeof(dscps) * 4; i++) {
		uint8_t tclass = (uint8_t)(dscps[i / 4] << 2 | i % 4);
		struct outcome o;
		int err = probe(a, tclass, SMALL, &o);

		if (err)
			return err;
		printf("%s %d %d %d\n", UR_PATH_CLASS, tclass,
		       o.back	 ? o.seen_there
		       : o.there ? UR_PATH_UNKNOWN
				 : UR_PATH_LOST,
		       o.back	 ? o.seen_back
		       : o.there ? UR_PATH_LOST
				 : UR_PATH_UNKNOWN);
		if (o.back && o.trip_ns < best)
			best = o.trip_ns;
		if (o.back)
			routers = HOPS_AT_LEFT - o.hops;
		/* Each further class would only time out. */
		if (i == 3 && best == UINT64_MAX)
			break;
	}
	if (a->queue.v1)
		puts(UR_PATH_V1);
	if (best < UINT64_MAX)
		printf("%s %llu %d\n", UR_PATH_TRIP, (unsigned long long)best,
		       routers);
	return 0;
}

/* Return: the largest that crosses both ways, 0 for none, or -errno. */
static int ask_sizes(struct ur_path_asker *a)
{
	uint32_t most = a->mtu < a->peer_mtu ? a->mtu : a->peer_mtu;
	int largest = 0;

	for (uint32_t bytes = 256; bytes <= most; bytes *= 2) {
		struct outcome o;
		int err = probe(a, 0, bytes, &o);

		if (err)
			return err;
		printf("%s %u %d %d\n", UR_PATH_SIZE, bytes, o.there, o.back);
		if (!o.back)
			break;
		largest = (int)bytes;
	}
	return largest;
}

/* Sends a burst, and gets the count once it is stable. */
static int burst(struct ur_path_asker *a, uint8_t tclass, uint16_t packets,
		 size_t bytes, struct ur_path_message *ret)
{
	struct ibv_ah *ah = handle(a, tclass);
	struct ur_path_received got;
	uint32_t before = 0;
	int equal = 0, err = ah ? 0 : -errno;

	a->series++;
	for (uint16_t i = 0; i < packets && !err; i++)
		err = send_to(a, ah, UR_PATH_PROBE, tclass, i, bytes);
	memset(ret, 0, sizeof(*ret));
	while (!err && equal < SETTLED) {
		err = get_report(a, ret);
		if (err || arrived(ret) == packets)
			break;
		equal = arrived(ret) == before ? equal + 1 : 0;
		before = arrived(ret);
		/* Drops late echoes and reports. */
		err = answer(a, UR_PATH_ECHO, ur_path_now() + SETTLE_NS, &got);
		err = err < 0 ? err : 0;
	}
	/* Not earlier: Soft-RoCE uses the handle when it sends. */
	if (ah)
		ibv_destroy_ah(ah);
	return err;
}

/* Sends growing bursts until packets were lost twice. */
static int ask_bursts(struct ur_path_asker *a, uint8_t tclass, size_t bytes)
{
	for (uint16_t n = 1; n <= UR_PATH_BURST_MAX; n *= 2) {
		struct ur_path_message r;
		int err = burst(a, tclass, n, bytes, &r);

		if (!err && arrived(&r) < n)
			err = burst(a, tclass, n, bytes, &r);
		if (err)
			return err;
		printf("%s %d %d %zu %u %u %llu\n", UR_PATH_BURST, tclass, n,
		       bytes, arrived(&r), ntohl(r.marked),
		       (unsigned long long)be64toh(r.spread_ns));
		if (arrived(&r) < n)
			break;
	}
	return 0;
}

/* Sends a probe each millisecond, too few to fill any queue: missing probes were dropped.
 * ECT and Not-ECT alternate without a pattern. */
static int ask_drops(struct ur_path_asker *a)
{
	struct ibv_ah *ah[2] = {handle(a, 0), handle(a, 2)};
	uint32_t sent[2] = {0, 0}, echoes = 0;
	uint8_t seen[UR_PATH_SERIES_MAX] = {0};
	uint64_t next = ur_path_now();
	struct ur_path_received got;
	struct ur_path_message r;
	int err = ah[0] && ah[1] ? 0 : -errno;

	a->series++;
	for (uint16_t i = 0; i <= DROP_PROBES && err >= 0; i++) {
		/* Fibonacci hashing: the bit has no period. */
		int ect = (int)((i * 2654435769u) >> 31);

		/* After the last probe, waits for echoes in flight. */
		next += i < DROP_PROBES ? DROP_GAP_NS : TRY_NS;
		if (i < DROP_PROBES) {
			sent[ect]++;
			err = send_to(a, ah[ect], UR_PATH_PING, ect ? 2 : 0, i,
				      SMALL);
		}
		while (err >= 0 && echoes < DROP_PROBES) {
			uint8_t *one;

			err = answer(a, UR_PATH_ECHO, next, &got);
			if (err <= 0)
				break;
			one = &seen[ntohs(got.arrival.message.index)];
			echoes += !*one;
			*one = 1;
		}
	}
	if (err >= 0)
		err = get_report(a, &r);
	if (!err)
		printf("%s %u %u %u %u %u %u\n", UR_PATH_DROPS, sent[0],
		       ntohl(r.arrived[0]), sent[1], ntohl(r.arrived[1]),
		       echoes, ntohl(r.marked));
	for (int i = 0; i < 2; i++)
		if (ah[i])
			ibv_destroy_ah(ah[i]);
	return err;
}

static int bye(struct ur_path_asker *a)
{
	struct ibv_ah *ah = handle(a, 0);
	int err = ah ? 0 : -errno;

	a->series++;
	if (!err)
		err = send_to(a, ah, UR_PATH_BYE, 0, 0,
			      sizeof(struct ur_path_message));
	/* Waits for the completion: destroying the queue pair would drop the send. */
	for (int i = 0; i < 2 && !err; i++) {
		struct ur_path_received got;

		err = ur_path_queue_receive(&a->queue, ur_path_now() + MS,
					    &got);
		err = err < 0 ? err : 0;
	}
	if (ah)
		ibv_destroy_ah(ah);
	return err;
}

int ur_path_ask(struct ur_path_asker *a)
{
	int err, bytes;

	printf("%s %u %u\n", UR_PATH_FOUND, a->mtu, a->peer_mtu);
	err = ask_self(a);
	if (!err)
		err = ask_classes(a);
	bytes = err ? err : ask_sizes(a);
	if (bytes > 0) {
		err = ask_bursts(a, 0, (size_t)bytes);
		if (!err)
			err = ask_bursts(a, 2, (size_t)bytes);
		if (!err)
			err = ask_drops(a);
	}
	if (!err && bytes >= 0)
		err = bye(a);
	if (err || bytes < 0)
		return ur_path_fail(UR_PATH_LOCAL,
				    strerror(err ? -err : -bytes));
	puts(UR_PATH_END);
	return 0;
}
