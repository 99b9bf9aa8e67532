// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The captures of two Soft-RoCE hosts, replayed: the requests one of them sent
 * go to our responder, and the answers must be the other's, byte for byte from
 * BTH to pad. The queue pair has the same number, PSNs and rights; only R_Keys,
 * which hosts choose, are put in. Where ours differs, the row says so.
 *
 * usage: scenario_golden [FILE]      one capture, with what is fed and answered
 */
#include <stdlib.h>
#include <string.h>

#include "tests/golden/pcap.h"
#include "tests/qp_walk.h"
#include "tests/scenario/transport/wiretap.h"
#include "transport/frame.h"

#define SERVER	   2 /* last byte of the address */
#define CLIENT	   3
#define BAD_RKEY   0x1234u
#define RECV_MANY  200u
#define RECV_BYTES 65536u
#define ALL                                               \
	(UR_ACCESS_REMOTE_WRITE | UR_ACCESS_REMOTE_READ | \
	 UR_ACCESS_REMOTE_ATOMIC)

/* How ours departs from the capture. */
enum differs {
	SAME,
	/* A SEND that is longer than the receive: NAK invalid request, as hfi1
	 * and qib, where Soft-RoCE has remote operational error. */
	TOO_LONG_IS_INVALID,
	/* Behind an RNR NAK Soft-RoCE answers the rest of the message with a
	 * sequence NAK as well. The RNR NAK has named the PSN to go on from,
	 * and one NAK does until that comes: silence, as Linux's drivers hfi1
	 * and qib (rc.c and qib_rc.c: a NAK for a packet from beyond only
	 * while r_nak_state is 0, and an RNR NAK sets it). */
	SILENT_BEHIND_RNR,
};

static const struct row {
	const char *file;
	u32 recvs;	  /* posted at the start, RECV_MANY for enough */
	u32 recv_bytes;	  /* 0: RECV_BYTES */
	u32 region_bytes; /* 0: as large as needed */
	enum differs differs;
	bool both_ways; /* each side is a requester */
	bool read_only; /* the queue pair has no right but READ */
	bool dead;	/* the responder is in INIT */
} rows[] = {
	{.file = "rc_sizes_send", .recvs = RECV_MANY},
	{.file = "rc_sizes_write"},
	{.file = "rc_sizes_read"},
	{.file = "rc_imm", .recvs = RECV_MANY},
	{.file = "rc_atomics"},
	{.file = "rc_bad_rkey_write"},
	{.file = "rc_bad_rkey_read"},
	{.file = "rc_oob_write", .region_bytes = 2000},
	{.file = "rc_no_perm_write", .read_only = true},
	{.file = "rc_rnr", .differs = SILENT_BEHIND_RNR},
	{.file = "rc_send_too_long",
	 .recvs = 1,
	 .recv_bytes = 100,
	 .differs = TOO_LONG_IS_INVALID},
	{.file = "rc_retry_exceeded", .dead = true},
	{.file = "rc_pingpong_ip6", .recvs = RECV_MANY, .both_ways = true},
	{.file = "rc_pingpong_mtu4096", .recvs = RECV_MANY, .both_ways = true},
	{.file = "send_bw", .recvs = RECV_MANY},
	{.file = "send_lat", .recvs = RECV_MANY, .both_ways = true},
	{.file = "write_bw"},
	{.file = "read_bw"},
	{.file = "atomic_cas_bw"},
	{.file = "atomic_faa_bw"},
};

static bool loud;

struct message {
	struct ur_pkt pkt;
	const u8 *bytes;
	size_t len;
	bool request;
};

/* The packets of one requester, and the answers to them. */
struct talk {
	struct message msg[4096];
	u32 n;
	u32 requester, responder; /* QPNs */
	u32 rkey;
	u64 first_va, last_va;
	u32 largest;
};

static bool is_answer(u8 opcode)
{
	return opcode >= UR_OP_RC_READ_RESP_FIRST &&
	       opcode <= UR_OP_RC_ATOMIC_ACK;
}

static void learn(struct talk *t, const struct ur_pkt *p)
{
	u32 reach = p->dma_bytes ? p->dma_bytes : 8;

	if (!(p->op->flags & (UR_OPF_RETH | UR_OPF_ATOMICETH)))
		return;
	if (!t->first_va)
		t->first_va = t->last_va = p->va;
	t->first_va = ur_min_u64(t->first_va, p->va);
	t->last_va = p->va > t->last_va ? p->va : t->last_va;
	t->largest = reach > t->largest ? reach : t->largest;
	if (p->rkey != BAD_RKEY)
		t->rkey = p->rkey;
}

static void read_talk(struct talk *t, struct pcap *p, u8 responder)
{
	struct pcap_frame frame;

	while (pcap_next(p, &frame)) {
		struct message *m = &t->msg[t->n];
		struct ur_frame f;
		bool to_responder;

		if (!pcap_is_roce(&frame))
			continue;
		CHECK_EQ(ur_frame_parse(&f, false, frame.packet,
					frame.packet_bytes),
			 UR_FRAME_OK);
		CHECK_EQ(ur_pkt_parse(&m->pkt, f.bth, f.bth_bytes), UR_PKT_OK);
		if (m->pkt.opcode >> 5)
			continue; /* not RC */
		m->bytes = f.bth;
		m->len = f.bth_bytes;
		m->request = !is_answer(m->pkt.opcode);
		to_responder = f.addr.dgid[15] == responder;
		if (m->request != to_responder)
			continue;
		CHECK(t->n + 1 < UR_ARRAY_SIZE(t->msg));
		t->n++;
		if (m->request) {
			t->responder = m->pkt.dqpn;
			learn(t, &m->pkt);
		} else {
			t->requester = m->pkt.dqpn;
		}
	}
}

static void say(const char *what, const struct ur_pkt *p)
{
	if (loud)
		printf("%-8s %-18s psn %6u syndrome %#x\n", what, p->op->name,
		       p->psn, p->syndrome);
}

static struct message *next(struct talk *t, u32 *at, bool request)
{
	while (*at < t->n) {
		struct message *m = &t->msg[(*at)++];

		if (m->request == request)
			return m;
	}
	return NULL;
}

/* The answer of the capture that ours is to equal. */
static struct message *next_answer(struct talk *t, u32 *at,
				   const struct row *row)
{
	struct message *m = next(t, at, false);

	while (m && row->differs == SILENT_BEHIND_RNR &&
	       m->pkt.syndrome == (UR_AETH_NAK | UR_NAK_PSN_SEQ))
		m = next(t, at, false);
	if (m && row->differs == TOO_LONG_IS_INVALID) {
		static u8 bytes[64];

		CHECK_EQ(m->pkt.syndrome, (UR_AETH_NAK | UR_NAK_REM_OP));
		m->pkt.syndrome = UR_AETH_NAK | UR_NAK_INV_REQ;
		memcpy(bytes, m->bytes, m->len);
		ur_pkt_build(&m->pkt, bytes);
		m->bytes = bytes;
	}
	return m;
}

/* Prepares the value that an atomic finds at an address that none before it
 * had. */
static void prepare_atomic(struct wt *w, struct talk *t, u32 at, u32 answers)
{
	const struct ur_pkt *req = &t->msg[at].pkt;
	const struct message *m = next(t, &answers, false);

	for (u32 i = 0; i < at; i++)
		if (t->msg[i].request && t->msg[i].pkt.va == req->va)
			return;
	if (m && m->pkt.opcode == UR_OP_RC_ATOMIC_ACK)
		memcpy(w->mem + (req->va - t->first_va), &m->pkt.atomic_orig,
		       8);
}

/* A READ's answer carries what is there: put there what the capture has. */
static void prepare_read(struct wt *w, struct talk *t, const struct ur_pkt *req,
			 u32 answers)
{
	u64 at = req->va - t->first_va;
	const struct message *m;

	while ((m = next(t, &answers, false)) &&
	       m->pkt.opcode >= UR_OP_RC_READ_RESP_FIRST &&
	       m->pkt.opcode <= UR_OP_RC_READ_RESP_ONLY) {
		memcpy(w->mem + at, m->pkt.payload, m->pkt.payload_bytes);
		at += m->pkt.payload_bytes;
		if (m->pkt.opcode == UR_OP_RC_READ_RESP_LAST ||
		    m->pkt.opcode == UR_OP_RC_READ_RESP_ONLY)
			return;
	}
}

static u32 compare(struct wt *w, struct talk *t, u32 *answers,
		   const struct row *row)
{
	u32 n = 0;

	for (; w->out_head != w->out_tail; n++) {
		struct wt_packet *got = wt_next(w);
		struct message *want = next_answer(t, answers, row);

		say("answer", &got->pkt);
		CHECK(want);
		if (got->len != want->len ||
		    memcmp(got->bytes, want->bytes, got->len)) {
			fprintf(stderr,
				"%s: ours %s psn %u syndrome %#x msn %u, "
				"capture %s psn %u syndrome %#x msn %u\n",
				row->file, got->pkt.op->name, got->pkt.psn,
				got->pkt.syndrome, got->pkt.msn,
				want->pkt.op->name, want->pkt.psn,
				want->pkt.syndrome, want->pkt.msn);
			CHECK(!"the same bytes");
		}
	}
	return n;
}

static void post_recv(struct wt_qp *q, const struct row *row)
{
	wt_post_recv(q, WT_MEM_BYTES / 2,
		     row->recv_bytes ? row->recv_bytes : RECV_BYTES);
}

static void open_responder(struct wt *w, struct wt_qp *q, struct talk *t,
			   const struct row *row, struct ur_mr **mr)
{
	struct ur_mr_attr attr = {
		.pd = WT_PD,
		.access = ALL | UR_ACCESS_LOCAL_WRITE,
		.iova = t->first_va,
		.length = row->region_bytes ? row->region_bytes : WT_MEM_BYTES,
	};
	struct ur_qp_attr a;
	u32 at = 0;

	wt_config(w, 0);
	w->cfg.first_qpn = t->responder;
	w->cfg.credits = false; /* as Soft-RoCE, which has 0x1f always */
	wt_open(w);
	attr.direct = w->mem;
	CHECK_EQ(ur_mr_create(w->port, &attr, mr), 0);
	memset(w->mem, 0, WT_MEM_BYTES);
	wt_qp_create(w, q, UR_QPT_RC, NULL);
	CHECK_EQ(ur_qp_number(q->qp), t->responder);
	a = wt_attr(w, t->requester, 0, next(t, &at, true)->pkt.psn);
	a.path_mtu = strstr(row->file, "4096") ? 4096 : 1024;
	a.access = row->read_only ? UR_ACCESS_REMOTE_READ : ALL;
	a.min_rnr_timer = row->differs == SILENT_BEHIND_RNR ? 22 : 12;
	if (row->dead) {
		CHECK_EQ(qp_walk_to(q->qp, w->now, &a, UR_QP_INIT), 0);
	} else {
		wt_to_rtr(q, &a);
	}
	for (u32 i = 0; i < row->recvs; i++)
		post_recv(q, row);
}

/* How often the SEND at `at` comes again behind it. */
static bool comes_again(struct talk *t, u32 at, u32 psn)
{
	const struct message *m;

	while ((m = next(t, &at, true)))
		if (m->pkt.psn == psn)
			return true;
	return false;
}

static void replay(struct talk *t, const struct row *row)
{
	u32 at = 0, answers = 0, fed = 0, same = 0;
	const struct message *m;
	struct ur_mr *mr;
	struct wt_qp q;
	struct wt w;

	open_responder(&w, &q, t, row, &mr);
	while ((m = next(t, &at, true))) {
		struct ur_pkt p = m->pkt;

		if (p.opcode == UR_OP_RC_READ_REQ)
			prepare_read(&w, t, &p, answers);
		if (p.op->flags & UR_OPF_ATOMICETH)
			prepare_atomic(&w, t, at - 1, answers);
		if (t->rkey && p.rkey == t->rkey)
			p.rkey = ur_mr_key(mr);
		if (row->differs == SILENT_BEHIND_RNR &&
		    p.opcode == UR_OP_RC_SEND_FIRST &&
		    !comes_again(t, at, p.psn))
			post_recv(&q, row);
		if (row->recvs == RECV_MANY &&
		    q.ring.recv_head == q.ring.recv_tail)
			post_recv(&q, row);
		say("request", &p);
		wt_feed(&w, p, p.payload);
		same += compare(&w, t, &answers, row);
		fed++;
		w.now += 100 * WT_US;
		q.wc_head = q.wc_tail;
	}
	CHECK(!next_answer(t, &answers, row));
	ur_qp_destroy(q.qp);
	CHECK_EQ(ur_mr_destroy(mr), 0);
	wt_close(&w);
	printf("%s: %u requests, %u answers the same\n", row->file, fed, same);
}

static void run(const struct row *row)
{
	static struct talk talk;
	char path[512];

	for (int side = 0; side < 1 + row->both_ways; side++) {
		struct pcap *p;

		snprintf(path, sizeof(path), UR_GOLDEN_DIR "/%s.pcap",
			 row->file);
		p = pcap_open(path);
		CHECK(p);
		memset(&talk, 0, sizeof(talk));
		read_talk(&talk, p, side ? CLIENT : SERVER);
		CHECK(talk.n);
		replay(&talk, row);
		pcap_close(p);
	}
}

int main(int argc, char **argv)
{
	loud = argc > 1;
	for (size_t i = 0; i < UR_ARRAY_SIZE(rows); i++)
		if (argc < 2 || !strcmp(argv[1], rows[i].file))
			run(&rows[i]);
	return 0;
}
