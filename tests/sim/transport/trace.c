// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/sim/transport/trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "transport/icrc.h"
#include "transport/packet.h"

#define FNV_PRIME 0x100000001b3ull

void sim_trace_init(struct sim_trace *t, bool print)
{
	*t = (struct sim_trace){.hash = 0xcbf29ce484222325ull, .print = print};
}

static void mix(struct sim_trace *t, u64 v)
{
	t->hash = (t->hash ^ v) * FNV_PRIME;
	t->hash ^= t->hash >> 32;
}

static void mix_text(struct sim_trace *t, const char *s)
{
	for (; *s; s++)
		t->hash = (t->hash ^ (u8)*s) * FNV_PRIME;
}

static void print_head(u64 now, const char *what)
{
	printf("%10" PRIu64 ".%03u us  %-12s", now / 1000,
	       (unsigned)(now % 1000), what);
}

void sim_trace(struct sim_trace *t, u64 now, const char *what, u64 a, u64 b,
	       u64 c, u64 d)
{
	t->events++;
	mix(t, now);
	mix_text(t, what);
	mix(t, a);
	mix(t, b);
	mix(t, c);
	mix(t, d);
	if (!t->print)
		return;
	print_head(now, what);
	printf(" %" PRIu64 " 0x%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", a, b, c,
	       d);
}

static void print_packet(const u8 *bth, u32 len)
{
	struct ur_pkt p;

	if (ur_pkt_parse(&p, bth, len)) {
		printf(" unparseable, %u bytes\n", len);
		return;
	}
	printf(" %-22s dqpn %u psn %u%s", ur_opcode_name(p.opcode), p.dqpn,
	       p.psn, p.ackreq ? " ackreq" : "");
	if (p.op->flags & UR_OPF_AETH)
		printf(" syndrome 0x%02x msn %u", p.syndrome, p.msn);
	if (p.op->flags & UR_OPF_RETH)
		printf(" va 0x%" PRIx64 " rkey 0x%x dma %u", p.va, p.rkey,
		       p.dma_bytes);
	if (p.op->flags & UR_OPF_PAYLOAD)
		printf(" payload %u", p.payload_bytes);
	printf("\n");
}

void sim_trace_packet(struct sim_trace *t, u64 now, const char *what, u32 src,
		      u32 dst, const u8 *bth, u32 len)
{
	t->events++;
	mix(t, now);
	mix_text(t, what);
	mix(t, (u64)src << 32 | dst);
	mix(t, ur_icrc_update(0, bth, len));
	if (!t->print)
		return;
	print_head(now, what);
	printf(" %u>%u", src, dst);
	print_packet(bth, len);
}
