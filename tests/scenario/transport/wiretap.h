/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A port with a wire in the test's hand: build a packet in one line, feed it,
 * expect the next packet, the next completion, or silence.
 */
#ifndef UR_TESTS_WIRETAP_H
#define UR_TESTS_WIRETAP_H

#include "tests/check.h"
#include "tests/transport_host.h"
#include "transport/packet.h"
#include "transport/qp.h"
#include "transport/transport.h"

#define WT_MEM_BYTES (1u << 20)
#define WT_OUT	     4096
#define WT_RING	     256
#define WT_US	     1000ull
#define WT_MS	     1000000ull

struct wt_packet {
	struct ur_pkt pkt; /* payload points into bytes */
	u8 bytes[UR_HEADERS_MAX_BYTES + UR_MTU_MAX_BYTES + 4];
	u32 len;
	u8 tos;
};

struct wt {
	struct ur_port_config cfg;
	struct ur_port *port;
	ur_time now;
	u8 *mem;
	bool copied; /* it is not mapped: the port reads and writes by ops */
	bool pieces; /* and those of several packets in pieces */
	bool ahead;  /* and what is read is announced */
	struct {
		const void *reader;
		u64 next, end;
		u32 times;
	} announced;
	u32 alone; /* reads that nobody has announced */
	u32 reads; /* so many times */
	u32 writes;
	u32 faults; /* reads of so many bytes and more fail; 0: none */
	struct ur_mr *mr;
	u32 key; /* of mem, all rights; its addresses start at WT_IOVA */
	struct ur_av av;
	struct ur_rx_meta meta; /* of packets that are fed */
	u8 *tx_buf;
	struct wt_packet *out; /* ring of what came out */
	u32 out_head, out_tail;
};

/* Syndromes of an AETH: an acknowledgement without credits, NAKs, and a NAK of a
 * receiver that is not ready. */
#define WT_ACK	       (UR_AETH_ACK | UR_AETH_CREDIT_NONE)
#define WT_NAK_SEQ     (UR_AETH_NAK | UR_NAK_PSN_SEQ)
#define WT_NAK_INV_REQ (UR_AETH_NAK | UR_NAK_INV_REQ)
#define WT_NAK_ACCESS  (UR_AETH_NAK | UR_NAK_REM_ACCESS)
#define WT_NAK_OP      (UR_AETH_NAK | UR_NAK_REM_OP)
#define WT_RNR(timer)  (UR_AETH_RNR_NAK | (timer))

#define WT_IOVA 0x10000000ull
#define WT_PD	7
/* The memory that the packets of wt_pkt() name. */
#define WT_REMOTE_OFF 0x80000u
#define WT_REMOTE     (WT_IOVA + WT_REMOTE_OFF)

struct wt_qp {
	struct host_ring ring; /* of send; receives are in recv */
	struct wt *wt;
	struct ur_qp *qp;
	struct ur_send_wr send[WT_RING];
	struct ur_recv_wr recv[WT_RING];
	struct ur_wc wc[WT_RING];
	u32 wc_head, wc_tail, cq_room;
	u32 events; /* bit for each enum ur_event */
	u32 event_count;
};

/* wiretap_host.c: what the port calls; ctx of its objects is a struct wt_qp. */
extern const struct ur_host_ops wt_host_ops;

/* A port; change cfg between the two calls. side 1 has mirrored addresses. */
void wt_config(struct wt *w, int side);
/* Its peers are its own queue pairs: between wt_config() and wt_open(). */
void wt_loop(struct wt *w);
void wt_open(struct wt *w);
void wt_close(struct wt *w);
/* Checks and destroys the one queue pair, then closes. */
void wt_stop(struct wt *w, struct wt_qp *q);

/* A queue pair of any type, in RESET. tune may be NULL. */
void wt_qp_create(struct wt *w, struct wt_qp *q, enum ur_qp_type type,
		  void (*tune)(struct ur_qp_init *init));
/* Its attributes for the whole way: connected to dqpn, PSNs as given, MTU
 * 256, else as qp_attr_to(). */
struct ur_qp_attr wt_attr(const struct wt *w, u32 dqpn, u32 sq_psn, u32 rq_psn);
void wt_to_rtr(struct wt_qp *q, const struct ur_qp_attr *a);
void wt_to_rts(struct wt_qp *q, const struct ur_qp_attr *a);
/* Create and connect in one. */
void wt_rts(struct wt *w, struct wt_qp *q, enum ur_qp_type type, u32 dqpn,
	    u32 sq_psn, u32 rq_psn);

/* Two connected to each other, alike; q's requests start at psn, as r's do. */
void wt_pair(struct wt *w, struct wt_qp *q, struct wt_qp *r,
	     enum ur_qp_type type, u32 psn);

/* Work. off: in mem. Returned: the request, to be changed before wt_kick. */
struct ur_send_wr *wt_post(struct wt_qp *q, u8 opcode, u32 off, u32 len);
void wt_kick(struct wt_qp *q);
/* Never out of work: eight WRITEs of 256 packets, for the port to take when it
 * runs. */
void wt_work(struct wt_qp *q);
void wt_post_recv(struct wt_qp *q, u32 off, u32 len);

/* A packet of the peer of q, for WT_REMOTE with the key of mem; to be changed
 * before wt_feed(). */
struct ur_pkt wt_pkt(const struct wt_qp *q, u8 opcode, u32 psn, u32 bytes);
/* Feed. payload NULL: pattern bytes, see wt_pattern. */
void wt_feed(struct wt *w, struct ur_pkt pkt, const void *payload);
/* The same, but another packet is there before the port gets to send. */
void wt_arrive(struct wt *w, struct ur_pkt pkt, const void *payload);
/* Take what the port wants to send into out. */
void wt_run(struct wt *w);
/* The same of one queue pair, which is kicked, whoever else has something. */
void wt_run_alone(struct wt_qp *q);
/* Time passes; what is due happens. */
void wt_sleep(struct wt *w, u64 ns);

/* The peer of q answers with an Acknowledge. */
void wt_ack(struct wt *w, const struct wt_qp *q, u32 psn, u8 syndrome);

/* The next packet out; fails when there is none. */
struct wt_packet *wt_next(struct wt *w);
/* The same, with these fields. */
struct wt_packet *wt_expect(struct wt *w, u8 opcode, u32 psn);
struct wt_packet *wt_expect_ack(struct wt *w, u8 syndrome, u32 psn);
void wt_silence(struct wt *w);

struct ur_wc wt_wc(struct wt_qp *q, u8 status);
void wt_no_wc(struct wt_qp *q);

/* Everything in flight between two ports, until both are quiet. drop: 0 or
 * one in how many packets is lost (from a fixed seed). */
void wt_pump(struct wt *a, struct wt *b, u32 drop);
/* As above, with time going on while there is a deadline, up to ns. */
void wt_pump_for(struct wt *a, struct wt *b, u32 drop, u64 ns);

u8 wt_pattern(u32 i);

/* A case from each of these PSNs, of an array: *psn is what it starts from, and a
 * failure says which that was. */
#define WT_FROM_EACH(first, psn, subject)                           \
	do {                                                        \
		for (u32 i_ = 0; i_ < UR_ARRAY_SIZE(first); i_++) { \
			*(psn) = (first)[i_];                       \
			ck_psn(*(psn));                             \
			subject();                                  \
		}                                                   \
	} while (0)
#define CASE_FROM_EACH(first, psn, subject) \
	CK_RUN(WT_FROM_EACH(first, psn, subject), #subject, true)

/* Their failures are reported with the line of the caller. */
#ifndef WT_OWN_LINES
#define wt_next(w)	(ck_at(__FILE__, __LINE__), wt_next(w))
#define wt_silence(w)	(ck_at(__FILE__, __LINE__), wt_silence(w))
#define wt_wc(q, s)	(ck_at(__FILE__, __LINE__), wt_wc(q, s))
#define wt_no_wc(q)	(ck_at(__FILE__, __LINE__), wt_no_wc(q))
#define wt_stop(w, q)	(ck_at(__FILE__, __LINE__), wt_stop(w, q))
#define wt_run(w)	(ck_at(__FILE__, __LINE__), wt_run(w))
#define wt_sleep(w, ns) (ck_at(__FILE__, __LINE__), wt_sleep(w, ns))
#define wt_expect(w, opcode, psn) \
	(ck_at(__FILE__, __LINE__), wt_expect(w, opcode, psn))
#define wt_expect_ack(w, syndrome, psn) \
	(ck_at(__FILE__, __LINE__), wt_expect_ack(w, syndrome, psn))
#endif

#endif
