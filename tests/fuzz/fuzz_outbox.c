// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The door of outboxes: a program of another network namespace that writes anything into its outbox and
 * into the words, before and while the engine looks at them.
 *
 * Input: a byte of options, then steps, a byte of what and its arguments: see step(). A message is
 * right but for what its patches change, a record is 64 bytes as they come, and both get the
 * mark of their place, where the device finds them.
 *
 * Whatever leaves must be what verbs could have made (outbox_oracle.c). After the input the slot ends, and nothing
 * of it is left.
 */
#include <errno.h>
#include <fcntl.h>
#include "engine/core/call.h"
#include "engine/core/dispatch.h"
#include "engine/local/udp_relay_impl.h"
#include "engine/wire/wire.h"
#include "tests/check.h"
#include "tests/fuzz/outbox_world.h"
#include "tests/fuzz/ring_writer.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define STEPS	  96u
#define INPUT_MAX 8192u
/* One turn may send so much at most: its part, and one message more of each outbox. */
#define TURN_MOST  (512u << 10)
#define TURN_SENDS 128u

static struct outbox_world *const w = &outbox_world;

/* The program: where it puts the next record. */
struct program {
	struct input in;
	struct ring_writer ring;
	u8 answers[8]; /* of the kernel, to what leaves next */
	u32 n_answers;
	u32 counted; /* of what comes, before the last that did */
	u32 later;   /* steps that are taken while a datagram leaves */
	u32 steps;
	bool inside;
	bool says;	 /* the message says its way */
	int stranger[2]; /* v6, v4 */
};

static void step(struct program *p);

/* ---- messages ---- */

static const u8 *gid_of(u32 n)
{
	return outbox_gids[n % OUTBOX_GIDS];
}

/* Also a group that the program is in. */
static const u8 *source_of(u8 way)
{
	return gid_of(way & 0x40 ? GROUP_V4 + (way & 1u) : way & 3u);
}

static u8 opcode_of(struct program *p, u32 kind)
{
	static const u8 opcodes[] = {0x04, 0x0a, 0x24, 0x64, 0x65, 0x81, 0x11};

	return kind < UR_ARRAY_SIZE(opcodes) ? opcodes[kind] : take(&p->in);
}

static void put_packet(u8 *to, u32 room, u8 opcode, const u8 *dgid)
{
	u8 head[24] = {opcode, [4] = 0xff};
	bool group =
		dgid == outbox_gids[GROUP_V4] || dgid == outbox_gids[GROUP_V6];

	ur_put_be24(head + 5, group ? 0xffffff : 0x123456);
	if (opcode >> 5 == 3) {
		ur_put_be32(head + 12, 0x11111111);
		ur_put_be24(head + 17, OUTBOX_SLOT << 19 | 5);
	}
	memcpy(to, head, room < sizeof(head) ? room : sizeof(head));
}

static void put_message(struct program *p)
{
	u8 way = take(&p->in), kind = take(&p->in), count = take(&p->in);
	u32 size = take16(&p->in), n = 1 + (count & 63), head, len;
	u32 seg = size & 0x8000 ? size & 0x7fff : 16 + 4 * (size % 1050);
	const u8 *dgid = gid_of(way >> 2 & 15);
	u8 opcode = opcode_of(p, kind & 7), *r;
	bool says = !p->says || way & 0x80;

	len = n * seg;
	if (count & 0x80 && seg >= 20)
		len -= 4;
	if (len > UR_PEER_BYTES)
		len = seg * (UR_PEER_BYTES / (seg ? seg : 1));
	head = says ? RING_UNIT : RING_SHORT;
	r = ring_begin(&p->ring, len, seg, says ? RING_HAS_ADDRS : 0);
	if (says) {
		memcpy(r + RING_ADDRS, source_of(way), 16);
		memcpy(r + RING_ADDRS + 16, dgid, 16);
	}
	for (u32 i = 0; seg && i < len; i += seg)
		put_packet(r + head + i, len - i, opcode, dgid);
	if (kind & 8)
		r[RING_FIRST] = take(&p->in);
	if (kind & 16)
		r[RING_TOS] = take(&p->in);
	if (kind & 32)
		r[RING_TTL] = take(&p->in);
	if (kind & 64)
		ur_put_le32(r + RING_FLOW, take_be(&p->in, 3));
	if (kind & 128)
		ring_patch(&p->in, r, head + len);
	p->says = true;
	ring_show(&p->ring, head + len);
}

/* It wakes another program of the device, or seems to. */
static void put_wake(struct program *p)
{
	u8 way = take(&p->in),
	   *r = ring_begin(&p->ring, 12, 12, RING_HAS_ADDRS);

	memset(r + RING_UNIT, 0, RING_UNIT);
	memcpy(r + RING_ADDRS, source_of(way), 16);
	memcpy(r + RING_ADDRS + 16, gid_of(way >> 2 & 15), 16);
	r[RING_UNIT + 5] = take(&p->in);
	if (way & 0x80)
		ring_patch(&p->in, r, RING_UNIT + 12);
	p->says = true;
	ring_show(&p->ring, RING_UNIT + 12);
}

/* ---- the device ---- */

static void take_turns(u32 n)
{
	struct ur_engine *e = w->engine;

	while (n--) {
		u64 bytes = w->bytes;
		u32 datagrams = w->datagrams;

		if (e->now >= e->wire_retry_at)
			ur_wire_retry(e);
		ur_wire_forward(e);
		CHECK(w->bytes - bytes <= TURN_MOST);
		CHECK(w->datagrams - datagrams <= TURN_SENDS);
		e->now += 10000;
	}
}

/* The next uroced goes on where this one was, killed before it had counted what came last: what the program has been
 * shown is all there. */
static void resume_relay(const struct program *p)
{
	struct ur_udp_relay *r = w->relay;
	u32 put = r->out.put;

	CHECK(!r->out.begun);
	atomic_store(&r->out.head->published, p->counted);
	ur_peer_out_reattach(&r->out, r->packets, r->words);
	CHECK_EQ(r->out.put, put);
	atomic_store(&r->out.head->published, put);
}

/* The same of its outbox, by the words. */
static void resume(struct program *p)
{
	struct ur_udp_outbox *o = w->outbox;

	ur_peer_in_reattach(&o->in, o->packets, o->word);
	p->ring.put = o->in.taken;
	p->says = false;
}

/* Somebody sends to the program, whose words say what room there is, or wakes it. */
static void come(struct program *p)
{
	static const u32 to_gids[] = {OWN_V4, OWN_V6, GROUP_V4, OWN_V4};
	static const struct timespec zero;
	static u8 bytes[40000] = {0x04, [5] = OUTBOX_SLOT << 3};
	u32 len = 16 + take16(&p->in) % (sizeof(bytes) - 16);
	u8 what = take(&p->in);
	const u8 *gid = outbox_gids[to_gids[what >> 3 & 3]];
	bool wakes = (what >> 3 & 3) == 3;
	union ur_sockaddr to;
	socklen_t to_len = ur_sockaddr_of(
		&to, gid, wakes ? w->grant.port : UR_ROCE_V2_UDP_PORT, 1);

	p->counted = w->relay->out.put;
	ur_put_be24(bytes + 5, gid == outbox_gids[GROUP_V4]
				       ? 0xffffff
				       : OUTBOX_SLOT << 19);
	for (u32 n = what & 7; n; n--)
		sendto(p->stranger[ur_gid_is_v4(gid)], bytes, wakes ? 12 : len,
		       MSG_DONTWAIT, &to.sa, to_len);
	ur_dispatch(w->engine, &zero);
}

static int leaves(void *arg)
{
	static const int errors[] = {0,	     0,	      EAGAIN,	   EINVAL,
				     EIO,    EPERM,   ENETUNREACH, ENOBUFS,
				     EACCES, EMSGSIZE};
	struct program *p = arg;
	u32 answer = p->n_answers ? p->answers[--p->n_answers] : 0;

	/* A step inside a step, and no deeper. */
	for (p->inside = true; p->later; p->later--)
		step(p);
	p->inside = false;
	return errors[answer % UR_ARRAY_SIZE(errors)];
}

/* ---- steps ---- */

static void step(struct program *p)
{
	u8 what = take(&p->in);

	if (p->steps++ >= STEPS)
		return;
	switch (what % 12) {
	case 0:
	case 1:
		put_message(p);
		break;
	case 2:
		put_wake(p);
		break;
	case 3:
		ring_raw(&p->ring, &p->in);
		break;
	case 4:
		ring_scribble(&p->ring, &p->in);
		break;
	case 5:
		ring_word(&p->ring, w->words, &p->in);
		break;
	case 6:
		ring_skip(&p->ring);
		break;
	case 7:
		if (!p->inside)
			take_turns(1 + what / 12 % 4);
		break;
	case 8:
		if (!p->inside)
			p->later = 1 + what / 12 % 4;
		break;
	case 9:
		p->n_answers = 1 + what / 12 % 8;
		take_bytes(&p->in, p->answers, p->n_answers);
		break;
	case 10:
		if (!p->inside && what / 12 & 1)
			resume_relay(p);
		else if (!p->inside)
			resume(p);
		break;
	default:
		if (!p->inside)
			come(p);
	}
}

static int run(struct ur_engine *e, void *arg)
{
	struct program *p = arg;
	bool gso = e->opt.gso;
	u8 options = take(&p->in);

	e->opt.gso = !(options & 2);
	if (options & 4)
		ur_wire_sleeps(e, true);
	w->leaves = leaves;
	w->arg = p;
	while (p->in.left)
		step(p);
	take_turns(4);
	w->leaves = NULL;
	e->opt.gso = gso;
	return 0;
}

static u32 descriptors(void)
{
	u32 n = 0;

	for (int fd = 0; fd < 512; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int stranger(u32 v4)
{
	int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0),
	    lo = 1;

	CHECK(fd >= 0);
	CHECK(!setsockopt(
		fd, v4 ? IPPROTO_IP : IPPROTO_IPV6,
		v4 ? IP_MULTICAST_IF : IPV6_MULTICAST_IF,
		v4 ? (const void *)&(struct ip_mreqn){.imr_ifindex = lo} : &lo,
		v4 ? sizeof(struct ip_mreqn) : sizeof(lo)));
	return fd;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	outbox_world_start();
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct program p = {.in = {data, size}};
	u32 before = descriptors();

	if (!size || size > INPUT_MAX)
		return 0;
	for (u32 v4 = 0; v4 < 2; v4++)
		p.stranger[v4] = stranger(v4);
	outbox_world_grant(data[0] & 1);
	p.ring.file = w->file;
	p.counted = w->relay->out.put;
	ur_engine_call(w->engine, run, &p);
	outbox_world_end();
	close(p.stranger[0]);
	close(p.stranger[1]);
	CHECK_EQ(descriptors(), before);
	return 0;
}
