// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two programs throw one Ethernet frame back and forth, by raw packet queue pairs, and look
 * at each byte of it. Both print "rounds N" now and then. On SIGUSR2 a program makes one more
 * of everything with what it has, changes it, destroys it, and prints "again". SIGUSR1 to
 * the second one ends both, which say "done", and SIGWINCH makes a program throw another one.
 *
 * usage: raw_rounds OWN_MAC PEER_MAC plain|spread|fork first|second
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <signal.h>

#include "tests/check.h"

#define TYPE	0x88b5 /* IEEE 802: local experimental */
#define OTHERS	0x88b6
#define DEPTH	16
#define FRAME	2048
#define QUEUES	4
#define LAST	UINT64_MAX
#define GOES_ON 50

static uint8_t own[6], peer[6];
static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *send_cq, *cq;
static struct ibv_mr *mr;
static struct ibv_counters *counters;
static struct ibv_qp *qp, *spread; /* sends; receives where frames are spread */
static struct ibv_wq *wq[QUEUES];
static struct ibv_rwq_ind_table *table;
static struct ibv_flow *flow;
static uint8_t buf[(DEPTH * (QUEUES + 1) + 1) * FRAME];
static volatile sig_atomic_t asked_again, asked_end, asked_frame;

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		asked_end = 1;
	else if (sig == SIGWINCH)
		asked_frame = 1;
	else
		asked_again = 1;
}

static void read_mac(const char *text, uint8_t mac[6])
{
	unsigned int b[6];

	CHECK_EQ(sscanf(text, "%x:%x:%x:%x:%x:%x", b, b + 1, b + 2, b + 3,
			b + 4, b + 5),
		 6);
	for (int i = 0; i < 6; i++)
		mac[i] = (uint8_t)b[i];
}

/* ---- frames ---- */

static uint32_t length_of(uint64_t seq)
{
	return 60 + (uint32_t)(seq % 1400);
}

static void fill(uint8_t *f, const uint8_t *to, const uint8_t *from,
		 uint64_t seq)
{
	memcpy(f, to, 6);
	memcpy(f + 6, from, 6);
	f[12] = TYPE >> 8;
	f[13] = TYPE & 0xff;
	memcpy(f + 14, &seq, sizeof(seq));
	for (uint32_t i = 22; i < length_of(seq); i++)
		f[i] = (uint8_t)(seq + i * 7);
}

static void post_frame(uint64_t seq)
{
	uint8_t *f = buf + DEPTH * (QUEUES + 1) * FRAME;
	struct ibv_sge sge = {(uintptr_t)f, length_of(seq), mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_wc wc;

	fill(f, peer, own, seq);
	CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
	while (!ibv_poll_cq(send_cq, 1, &wc))
		;
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

static void post_place(uint64_t place)
{
	struct ibv_sge sge = {(uintptr_t)(buf + place * FRAME), FRAME,
			      mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = place, .sg_list = &sge, .num_sge = 1},
			   *bad;

	if (spread)
		CHECK_EQ(ibv_post_wq_recv(wq[place / DEPTH], &wr, &bad), 0);
	else
		CHECK_EQ(ibv_post_recv(qp, &wr, &bad), 0);
}

/* Returns the number of the next frame for us. */
static uint64_t take_frame(void)
{
	uint8_t want[FRAME];
	const uint8_t *got;
	struct ibv_wc wc;
	uint64_t seq;
	int n = ibv_poll_cq(cq, 1, &wc);

	CHECK(n >= 0);
	if (!n)
		return 0;
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	got = buf + wc.wr_id * FRAME;
	memcpy(&seq, got + 14, sizeof(seq));
	CHECK_EQ(wc.byte_len, length_of(seq));
	fill(want, own, peer, seq);
	CHECK(!memcmp(want, got, wc.byte_len));
	post_place(wc.wr_id);
	return seq;
}

/* ---- objects ---- */

static struct ibv_qp *make_qp(void)
{
	struct ibv_qp_init_attr init = {.send_cq = send_cq,
					.recv_cq = cq,
					.cap = {DEPTH, DEPTH, 1, 1, 0},
					.qp_type = IBV_QPT_RAW_PACKET};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp *made = ibv_create_qp(pd, &init);

	CHECK(made);
	CHECK_EQ(ibv_modify_qp(made, &attr, IBV_QP_STATE | IBV_QP_PORT), 0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQ(ibv_modify_qp(made, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQ(ibv_modify_qp(made, &attr, IBV_QP_STATE), 0);
	return made;
}

static struct ibv_wq *make_wq(void)
{
	struct ibv_wq_init_attr init = {.wq_type = IBV_WQT_RQ,
					.max_wr = DEPTH,
					.max_sge = 1,
					.pd = pd,
					.cq = cq};
	struct ibv_wq_attr attr = {.attr_mask = IBV_WQ_ATTR_STATE,
				   .wq_state = IBV_WQS_RDY};
	struct ibv_wq *made = ibv_create_wq(ctx, &init);

	CHECK(made);
	CHECK_EQ(ibv_modify_wq(made, &attr), 0);
	return made;
}

static struct ibv_rwq_ind_table *make_table(void)
{
	struct ibv_rwq_ind_table_init_attr init = {.log_ind_tbl_size = 2,
						   .ind_tbl = wq};
	struct ibv_rwq_ind_table *made = ibv_create_rwq_ind_table(ctx, &init);

	CHECK(made);
	return made;
}

static struct ibv_qp *make_spread(void)
{
	static uint8_t key[40] = {1, 2, 3};
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = pd,
		.rwq_ind_tbl = table,
		.rx_hash_conf = {.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				 .rx_hash_key_len = sizeof(key),
				 .rx_hash_key = key,
				 .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 |
							IBV_RX_HASH_DST_IPV4}};
	struct ibv_qp *made = ibv_create_qp_ex(ctx, &init);

	CHECK(made);
	return made;
}

/* The parts of a rule follow each other without a gap. */
static struct ibv_flow *make_flow(struct ibv_qp *to, uint16_t type)
{
	struct ibv_flow_spec_eth eth = {.type = IBV_FLOW_SPEC_ETH,
					.size = sizeof(eth),
					.val.ether_type = htons(type),
					.mask.ether_type = 0xffff};
	const struct ibv_flow_spec_counter_action count = {
		.type = IBV_FLOW_SPEC_ACTION_COUNT,
		.size = sizeof(count),
		.counters = counters};
	struct ibv_flow_attr rule[8] = {
		{.num_of_specs = 2, .size = sizeof(rule), .port = 1}};
	uint8_t *parts = (uint8_t *)(rule + 1);
	struct ibv_flow *made;

	memcpy(eth.val.dst_mac, own, 6);
	memset(eth.mask.dst_mac, 0xff, 6);
	memcpy(parts, &eth, sizeof(eth));
	memcpy(parts + sizeof(eth), &count, sizeof(count));
	made = ibv_create_flow(to, rule);
	CHECK(made);
	return made;
}

static void make_all(bool spreads)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_counters_init_attr none = {0};
	struct ibv_counter_attach_attr packets = {
		.counter_desc = IBV_COUNTER_PACKETS, .index = 0};

	CHECK(list && *list);
	ctx = ibv_open_device(*list);
	CHECK(ctx);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(ctx);
	send_cq = ibv_create_cq(ctx, DEPTH, NULL, NULL, 0);
	cq = ibv_create_cq(ctx, DEPTH * (QUEUES + 1), NULL, NULL, 0);
	mr = ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE);
	counters = ibv_create_counters(ctx, &none);
	CHECK(pd && send_cq && cq && mr && counters);
	CHECK_EQ(ibv_attach_counters_point_flow(counters, &packets, NULL), 0);
	qp = make_qp();
	for (int i = 0; spreads && i < QUEUES; i++)
		wq[i] = make_wq();
	if (spreads) {
		table = make_table();
		spread = make_spread();
	}
	for (uint64_t i = 0; i < (spreads ? DEPTH * QUEUES : DEPTH); i++)
		post_place(i);
	flow = make_flow(spread ? spread : qp, TYPE);
}

static void check_state(struct ibv_qp *of)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_EQ(ibv_query_qp(of, &attr, IBV_QP_STATE, &init), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
}

static void make_once_more(void)
{
	struct ibv_flow *other = make_flow(spread ? spread : qp, OTHERS);
	struct ibv_qp *more = make_qp();
	struct ibv_flow *of_more = make_flow(more, OTHERS);

	check_state(qp);
	check_state(more);
	CHECK_EQ(ibv_destroy_qp(more), EBUSY);
	CHECK_EQ(ibv_destroy_flow(of_more), 0);
	CHECK_EQ(ibv_destroy_qp(more), 0);
	CHECK_EQ(ibv_destroy_flow(other), 0);
	CHECK_EQ(ibv_destroy_qp(spread ? spread : qp), EBUSY);
	CHECK_EQ(ibv_destroy_counters(counters), EBUSY);
	if (spread) {
		struct ibv_rwq_ind_table *first = table;
		struct ibv_wq *queue = make_wq();
		struct ibv_qp *second;

		table = make_table();
		second = make_spread();
		CHECK_EQ(ibv_destroy_rwq_ind_table(table), EBUSY);
		CHECK_EQ(ibv_destroy_rwq_ind_table(first), EBUSY);
		CHECK_EQ(ibv_destroy_wq(wq[1]), EBUSY);
		CHECK_EQ(ibv_destroy_qp(second), 0);
		CHECK_EQ(ibv_destroy_rwq_ind_table(table), 0);
		CHECK_EQ(ibv_destroy_wq(wq[1]), EBUSY);
		CHECK_EQ(ibv_destroy_wq(queue), 0);
		table = first;
	}
	printf("again\n");
}

static void destroy_all(uint64_t rounds)
{
	uint64_t counted;

	CHECK_EQ(ibv_read_counters(counters, &counted, 1, 0), 0);
	CHECK(counted >= rounds);
	CHECK_EQ(ibv_destroy_flow(flow), 0);
	CHECK_EQ(ibv_destroy_counters(counters), 0);
	if (spread) {
		CHECK_EQ(ibv_destroy_qp(spread), 0);
		CHECK_EQ(ibv_destroy_rwq_ind_table(table), 0);
		for (int i = 0; i < QUEUES; i++)
			CHECK_EQ(ibv_destroy_wq(wq[i]), 0);
	}
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_destroy_cq(send_cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* The parent ends: its child goes on with its engine, as a daemon's does. */
static void leave_to_child(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid)
		_exit(0);
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = on_signal};
	uint64_t rounds = 0, seq;
	bool second;

	CHECK_EQ(argc, 5);
	setvbuf(stdout, NULL, _IOLBF, 0);
	read_mac(argv[1], own);
	read_mac(argv[2], peer);
	second = !strcmp(argv[4], "second");
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR2, &act, NULL);
	sigaction(SIGWINCH, &act, NULL);
	make_all(!strcmp(argv[3], "spread"));
	if (!strcmp(argv[3], "fork"))
		leave_to_child();
	printf("ready %d\n", getpid());
	if (second)
		post_frame(1);
	for (;;) {
		if (asked_again) {
			asked_again = 0;
			make_once_more();
		}
		if (asked_frame) {
			asked_frame = 0;
			post_frame(1);
		}
		seq = take_frame();
		if (!seq)
			continue;
		if (++rounds % GOES_ON == 0)
			printf("rounds %llu\n", (unsigned long long)rounds);
		if (second && seq == LAST)
			break;
		if (!second)
			post_frame(seq);
		else
			post_frame(asked_end ? LAST : seq + 1);
		if (seq == LAST)
			break;
	}
	destroy_all(rounds);
	printf("done\n");
	return 0;
}
