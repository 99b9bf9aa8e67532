// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * QP1: the bytes of its packets as another implementation writes them, what is taken and what is counted,
 * and the queue of what is to be sent.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/gsi/gsi.h"
#include "engine/gsi/gsi_packet.h"
#include "tests/check.h"
#include "tests/golden/pcap.h"
#include "transport/frame.h"

static struct {
	u32 n, src_qpn;
	u8 mad[UR_MAD_BYTES];
} told;

/* In place of control. */
void ur_engine_report_gsi(struct ur_engine *engine,
			  const struct ur_rx_meta *meta, u32 src_qpn,
			  const u8 *mad)
{
	told.n++;
	told.src_qpn = src_qpn;
	memcpy(told.mad, mad, UR_MAD_BYTES);
}

/* The conversations of connections that Soft-RoCE and its peer had: each packet is taken, and the
 * same one is built, but that Soft-RoCE asks for an acknowledgement, which no datagram gets. */
static void golden(void)
{
	static const char *const files[] = {"rping.pcap", "ucmatose.pcap",
					    "udaddy.pcap", "write_bw_cm.pcap"};
	struct ur_rx_meta meta = {0};
	u32 n = 0;

	for (u32 i = 0; i < UR_ARRAY_SIZE(files); i++) {
		struct pcap_frame frame;
		struct pcap *pcap;
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", UR_GOLDEN_DIR, files[i]);
		pcap = pcap_open(path);
		CHECK(pcap);
		while (pcap_next(pcap, &frame)) {
			u8 built[UR_GSI_PACKET_BYTES];
			struct ur_gsi_packet packet;
			enum ur_counter fault;
			struct ur_frame f;

			if (ur_frame_parse(&f, false, frame.packet,
					   frame.packet_bytes) ||
			    ur_bth_dqpn(f.bth) != UR_QPN_GSI)
				continue;
			CHECK(ur_gsi_packet_parse(&packet, &meta, f.bth,
						  (u32)f.bth_bytes, &fault));
			CHECK_EQ(packet.src_qpn, 1);
			CHECK_EQ(f.bth_bytes, UR_GSI_PACKET_BYTES);
			ur_gsi_packet_build(built, 1, ur_bth_psn(f.bth),
					    packet.mad);
			CHECK_EQ(f.bth[8], UR_BTH_ACKREQ);
			built[8] |= UR_BTH_ACKREQ;
			CHECK(!memcmp(built, f.bth, UR_GSI_PACKET_BYTES));
			n++;
		}
		pcap_close(pcap);
	}
	CHECK_EQ(n, 22);
}

/* The headers that uroce has always sent. */
static void headers(void)
{
	static const u8 expected[] = {0x64, 0, 0xff, 0xff, 0, 0xab, 0xcd,
				      0xef, 0, 1,    2,	   3, 0x80, 1,
				      0,    0, 0,    0,	   0, 1};
	u8 mad[UR_MAD_BYTES] = {1, 7, 2, 3}, buf[UR_GSI_PACKET_BYTES];

	ur_gsi_packet_build(buf, 0xabcdef, 0x010203, mad);
	CHECK(!memcmp(buf, expected, sizeof(expected)));
	CHECK(!memcmp(buf + sizeof(expected), mad, UR_MAD_BYTES));
}

/* ---- receive ---- */

static struct ur_engine *e;

static void start(void)
{
	e = calloc(1, sizeof(*e));
	CHECK(e);
	e->counters = e->own_counters;
	CHECK_EQ(ur_gsi_create(e), 0);
	memset(&told, 0, sizeof(told));
}

static void stop(void)
{
	ur_gsi_destroy(e);
	free(e);
}

/* A packet as it comes, which a case changes. */
struct in {
	struct ur_rx_meta meta;
	struct ur_pkt pkt;
	u8 mad[UR_MTU_MAX_BYTES];
	u32 less; /* bytes that are missing at the end */
};

static struct in good(void)
{
	return (struct in){
		.pkt = {.opcode = UR_OP_UD_SEND_ONLY,
			.pkey = UR_PKEY_DEFAULT,
			.dqpn = UR_QPN_GSI,
			.sqpn = UR_QPN_GSI,
			.qkey = UR_QKEY_GSI,
			.payload_bytes = UR_MAD_BYTES},
		.mad = {1, 7, 2, 3},
	};
}

static void feed(const struct in *in)
{
	u8 buf[UR_FRAME_MAX_BYTES] = {0};
	u32 len = (u32)ur_pkt_build(&in->pkt, buf);

	memcpy(buf + len, in->mad, in->pkt.payload_bytes);
	len += in->pkt.payload_bytes + ur_pkt_pad(in->pkt.payload_bytes);
	CHECK(ur_gsi_takes(e, buf, len));
	ur_gsi_rx(e, &in->meta, buf, len - in->less);
}

static void refused(const struct in *in, enum ur_counter c)
{
	u64 before = e->counters[c];
	u32 n = told.n;

	feed(in);
	CHECK_EQ(told.n, n);
	CHECK_EQ(e->counters[c], before + 1);
}

static void taken(const struct in *in)
{
	u32 n = told.n;

	feed(in);
	CHECK_EQ(told.n, n + 1);
	CHECK_EQ(told.src_qpn, in->pkt.sqpn);
	CHECK(!memcmp(told.mad, in->mad, UR_MAD_BYTES));
}

static void receive(void)
{
	struct in in = good();

	start();
	taken(&in);
	CHECK_EQ(e->counters[UR_CNT_rcvd_pkts], 1);
	CHECK_EQ(e->counters[UR_CNT_port_rcv_data], 69);
	in.pkt.pkey = 0x7fff; /* a limited member */
	taken(&in);
	in.pkt.pkey = 0x8001;
	refused(&in, UR_CNT_bad_pkey);
	in = good();
	in.pkt.qkey = 0x11111111;
	refused(&in, UR_CNT_bad_qkey);
	in = good();
	for (u32 n = 0; n <= UR_MTU_MAX_BYTES; n += n < 264 ? 1 : 383) {
		in.pkt.payload_bytes = n;
		if (n != UR_MAD_BYTES)
			refused(&in, UR_CNT_bad_length);
	}
	in = good();
	in.less = 4; /* the MAD is not whole */
	refused(&in, UR_CNT_bad_length);
	in.less = UR_MAD_BYTES + 4; /* nor is the DETH */
	refused(&in, UR_CNT_bad_length);
	in = good();
	in.pkt.opcode = UR_OP_RC_SEND_ONLY;
	refused(&in, UR_CNT_bad_opcode);
	in.pkt.opcode = UR_OP_UD_SEND_ONLY_IMM;
	taken(&in);
	in = good();
	in.meta.tos = 5 << 5;
	taken(&in);
	CHECK_EQ(e->counters[UR_CNT_RX_PRIO(5)], 1);
	CHECK_EQ(e->counters[UR_CNT_RX_PRIO(5) + 1], UR_GSI_PACKET_BYTES);
	stop();
}

/* A message of connections is from QP1, whoever has the other number, and whatever the host knows of that. */
static void source(void)
{
	struct in in = good();

	start();
	in.pkt.sqpn = 3u << 19 | 9;
	refused(&in, UR_CNT_bad_qpn);
	in.meta.slot = 3;
	in.meta.slot_bits = 5;
	refused(&in, UR_CNT_bad_qpn);
	/* Nor is QP1 a program's. */
	in.pkt.sqpn = 1;
	refused(&in, UR_CNT_bad_gid);
	/* Performance management answers whoever asks. */
	in.pkt.sqpn = 3u << 19 | 9;
	in.mad[1] = 4;
	taken(&in);
	/* But not under another one's number. */
	in.pkt.sqpn = 4u << 19 | 9;
	refused(&in, UR_CNT_bad_gid);
	in = good();
	in.meta.realm = 1;
	refused(&in, UR_CNT_bad_gid);
	stop();
}

/* A switch on the way has marked it. */
static void marked(void)
{
	struct in in = good();

	start();
	in.meta.tos = UR_ECN_CE;
	taken(&in);
	CHECK_EQ(e->counters[UR_CNT_np_ecn_marked_roce_packets], 1);
	in.pkt.qkey++;
	refused(&in, UR_CNT_bad_qkey);
	CHECK_EQ(e->counters[UR_CNT_np_ecn_marked_roce_packets], 2);
	in.pkt.pkey = 0x8001;
	refused(&in, UR_CNT_bad_pkey);
	in = good();
	in.meta.tos = UR_ECN_CE;
	in.meta.v1 = true; /* a GRH has no such bits */
	taken(&in);
	CHECK_EQ(e->counters[UR_CNT_np_ecn_marked_roce_packets], 2);
	stop();
}

/* Neither another queue pair's packets, nor those of an engine without QP1. */
static void others(void)
{
	u8 bth[UR_BTH_BYTES] = {UR_OP_UD_SEND_ONLY};

	start();
	CHECK(!ur_gsi_takes(e, bth, sizeof(bth)));
	bth[7] = UR_QPN_GSI;
	CHECK(ur_gsi_takes(e, bth, sizeof(bth)));
	CHECK(!ur_gsi_takes(e, bth, sizeof(bth) - 1));
	ur_gsi_destroy(e);
	CHECK(!ur_gsi_takes(e, bth, sizeof(bth)));
	CHECK_EQ(ur_gsi_send(e, NULL, 1, bth), -EOPNOTSUPP);
	CHECK(!ur_gsi_waits(e));
	stop();
}

/* ---- send ---- */

#define QUEUE 64

static void send_all(void)
{
	struct ur_av av = {.refs = 1, .sl = 3};
	u8 mad[UR_MAD_BYTES] = {1, 7, 2, 3}, expected[UR_GSI_PACKET_BYTES];
	struct ur_tx_desc desc[QUEUE];
	/* Room for ten, less a byte. */
	u32 size = UR_GSI_PACKET_BYTES + UR_ICRC_BYTES, psn = 0;
	u8 *buf = malloc(10 * size - 1);

	start();
	CHECK(buf);
	e->tx = (struct ur_tx){.buf = buf,
			       .cap = 10 * size - 1,
			       .desc = desc,
			       .max_desc = QUEUE};
	for (u32 i = 0; i < QUEUE; i++) {
		mad[255] = (u8)i;
		CHECK_EQ(ur_gsi_send(e, &av, 1 + i, mad), 0);
	}
	CHECK_EQ(ur_gsi_send(e, &av, 1, mad), -ENOMEM);
	CHECK_EQ(av.refs, 1 + QUEUE);
	while (ur_gsi_waits(e)) {
		e->tx.n_desc = e->tx.used = 0;
		ur_gsi_fill(e);
		CHECK(e->tx.n_desc && e->tx.n_desc <= 9);
		/* What is on its way keeps its place. */
		if (!psn)
			CHECK_EQ(ur_gsi_send(e, &av, 1, mad), -ENOMEM);
		for (u32 i = 0; i < e->tx.n_desc; i++, psn++) {
			CHECK_EQ(desc[i].off, i * size);
			CHECK_EQ(desc[i].len, UR_GSI_PACKET_BYTES);
			CHECK(desc[i].av == &av && !desc[i].split);
			mad[255] = (u8)psn;
			ur_gsi_packet_build(expected, 1 + psn, psn, mad);
			CHECK(!memcmp(buf + desc[i].off, expected,
				      UR_GSI_PACKET_BYTES));
		}
		ur_gsi_sent(e);
		CHECK_EQ(av.refs, 1 + QUEUE - psn);
	}
	CHECK_EQ(psn, QUEUE);
	CHECK_EQ(e->counters[UR_CNT_sent_pkts], QUEUE);
	CHECK_EQ(e->counters[UR_CNT_port_xmit_data], QUEUE * 69);
	CHECK_EQ(e->counters[UR_CNT_TX_PRIO(3)], QUEUE);
	/* What is never sent gives its reference back. */
	CHECK_EQ(ur_gsi_send(e, &av, 1, mad), 0);
	ur_gsi_destroy(e);
	CHECK_EQ(av.refs, 1);
	stop();
	free(buf);
}

int main(void)
{
	golden();
	headers();
	receive();
	source();
	marked();
	others();
	send_all();
	return 0;
}
