// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queues, regions and device memory that a program has made when uroced is killed, and changes with the next one:
 *
 *	queues MODE GID_INDEX GID PORT [SERVER]
 *
 * Both print "made" and wait for SIGUSR1. Then their queues become larger, the region that the other writes to
 * lies elsewhere, belongs to another domain and has other rights, and all of that is used: every byte is looked at.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/e2e/guest/rounds.h"
#include "tests/verbs_pair.h"

#define BYTES  5000
#define FEW    4   /* entries of the queues before */
#define MANY   200 /* and after */
#define DM_LEN 64

static struct rounds_peer peer;
static struct ibv_context *context;
static struct ibv_pd *pd, *other_pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_qp *qp;
static struct ibv_mr *target, *source, *on_demand, *of_dm;
static struct ibv_dm *dm;
static uint8_t *before, *after, *out, *pages;

static uint8_t *memory(void)
{
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED, "mmap");
	return p;
}

static void make_regions(void)
{
	struct ibv_alloc_dm_attr attr = {.length = DM_LEN};

	before = memory();
	after = memory();
	out = memory();
	pages = memory();
	/* Nobody may write to it yet, in this domain nor in the other one. */
	target = ibv_reg_mr(other_pd, before, BYTES, IBV_ACCESS_LOCAL_WRITE);
	source = ibv_reg_mr(pd, out, BYTES, 0);
	on_demand = ibv_reg_mr(pd, pages, BYTES,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
	dm = ibv_alloc_dm(context, &attr);
	must(target && source && on_demand && dm, "regions");
	of_dm = ibv_reg_dm_mr(pd, dm, 0, DM_LEN, IBV_ACCESS_ZERO_BASED);
	must(of_dm, "ibv_reg_dm_mr");
}

static void make(void)
{
	struct ibv_srq_init_attr shared = {
		.attr = {.max_wr = FEW, .max_sge = 1}};
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = MANY, .max_send_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	pd = ibv_alloc_pd(context);
	other_pd = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	must(pd && other_pd && channel, "domains");
	cq = ibv_create_cq(context, FEW, NULL, channel, 0);
	srq = ibv_create_srq(pd, &shared);
	must(cq && srq, "queues");
	init.send_cq = init.recv_cq = cq;
	init.srq = srq;
	qp = ibv_create_qp(pd, &init);
	must(qp, "ibv_create_qp");
	make_regions();
}

static void connect_it(void)
{
	union ibv_gid gid;
	struct ibv_qp_attr attr;
	uint32_t number;

	rounds_swap(&peer, &peer.gid, &gid, sizeof(gid));
	rounds_swap(&peer, &qp->qp_num, &number, sizeof(number));
	attr = pair_attr(&gid, number);
	attr.ah_attr.grh.sgid_index = (uint8_t)peer.gid_index;
	must(!pair_connect(qp, &attr), "RTS");
	rounds_both(&peer);
}

static void change_queues(void)
{
	struct ibv_modify_cq_attr slow = {.attr_mask = IBV_CQ_ATTR_MODERATE,
					  .moderate = {1, 0}};
	struct ibv_srq_attr attr = {.max_wr = MANY, .srq_limit = 1};

	must(!ibv_resize_cq(cq, 2 * MANY) && cq->cqe >= 2 * MANY,
	     "ibv_resize_cq");
	must(!ibv_modify_cq(cq, &slow), "ibv_modify_cq");
	must(ibv_resize_cq(cq, 1 << 30) == EINVAL, "too many");
	must(!ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), "its size");
	must(!ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), "its limit");
	memset(&attr, 0, sizeof(attr));
	must(!ibv_query_srq(srq, &attr) && attr.max_wr >= MANY &&
		     attr.max_sge >= 1 && attr.srq_limit == 1,
	     "ibv_query_srq");
}

/* Its old memory is gone by now. */
static void change_region(void)
{
	uint32_t lkey = target->lkey, rkey = target->rkey;

	must(!munmap(before, BYTES), "munmap");
	must(ibv_rereg_mr(target, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			  IBV_ACCESS_REMOTE_WRITE),
	     "remote writes without local ones");
	must(!ibv_rereg_mr(target, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, after,
			   BYTES, 0),
	     "its memory");
	must(!ibv_rereg_mr(target, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0),
	     "its domain");
	must(!ibv_rereg_mr(target, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
	     "its rights");
	must(target->lkey == lkey && target->rkey == rkey, "its keys");
}

static void change_memory(void)
{
	struct ibv_sge sge = {(uintptr_t)pages, BYTES, on_demand->lkey};
	struct ibv_alloc_dm_attr attr = {.length = DM_LEN};
	struct ibv_mr *old, *new;
	struct ibv_dm *made;

	must(!ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			    IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
	     "ibv_advise_mr");
	made = ibv_alloc_dm(context, &attr);
	must(made, "ibv_alloc_dm");
	old = ibv_reg_dm_mr(pd, dm, 4, DM_LEN - 4, IBV_ACCESS_ZERO_BASED);
	new = ibv_reg_dm_mr(pd, made, 4, DM_LEN - 4, IBV_ACCESS_ZERO_BASED);
	must(old && new, "ibv_reg_dm_mr");
	must(!ibv_dereg_mr(old) && !ibv_dereg_mr(new), "ibv_dereg_mr");
	must(!ibv_free_dm(made) && !ibv_free_dm(dm), "ibv_free_dm");
}

static void receive_all(void)
{
	struct ibv_recv_wr wr = {0}, *bad;

	for (int i = 0; i < MANY; i++)
		must(!ibv_post_srq_recv(srq, &wr, &bad), "a receive");
}

/* Those that are there, and an event at the least for them. */
static int take(struct ibv_cq *from)
{
	struct ibv_wc wc;
	struct ibv_cq *of;
	void *user;
	int n, all = 0;

	must(!ibv_req_notify_cq(from, 0), "ibv_req_notify_cq");
	while ((n = ibv_poll_cq(from, 1, &wc))) {
		must(n == 1 && !wc.status, ibv_wc_status_str(wc.status));
		all++;
	}
	if (all)
		return all;
	must(!ibv_get_cq_event(channel, &of, &user) && of == from,
	     "ibv_get_cq_event");
	ibv_ack_cq_events(of, 1);
	return 0;
}

/* Each writes MANY pieces to the other, which has as many receives. */
static void write_all(void)
{
	struct {
		uint64_t addr;
		uint32_t key;
	} mine = {(uintptr_t)after, target->rkey}, theirs;
	struct ibv_send_wr wr = {.num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	for (uint32_t i = 0; i < BYTES; i++)
		out[i] = (uint8_t)(i * 7 + peer.client);
	receive_all();
	rounds_swap(&peer, &mine, &theirs, sizeof(mine));
	for (uint32_t i = 0; i < MANY; i++) {
		struct ibv_sge sge = {(uintptr_t)out + i * (BYTES / MANY),
				      BYTES / MANY, source->lkey};

		wr.sg_list = &sge;
		wr.wr.rdma.remote_addr = theirs.addr + i * (BYTES / MANY);
		wr.wr.rdma.rkey = theirs.key;
		must(!ibv_post_send(qp, &wr, &bad), "ibv_post_send");
	}
	for (int left = 2 * MANY; left;)
		left -= take(cq);
	for (uint32_t i = 0; i < BYTES; i++)
		must(after[i] == (uint8_t)(i * 7 + !peer.client), "the bytes");
}

/* Others may come before, as of an address. */
static void wait_for_limit(void)
{
	struct ibv_async_event event;
	bool found;

	do {
		must(!ibv_get_async_event(context, &event),
		     "ibv_get_async_event");
		found = event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED;
		must(!found || event.element.srq == srq, "the queue");
		ibv_ack_async_event(&event);
	} while (!found);
}

/* A queue of the next uroced, whose events go to the channel of before. */
static void use_channel(void)
{
	struct ibv_cq *made = ibv_create_cq(context, 8, NULL, channel, 0);
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 1, .max_send_sge = 1},
		.qp_type = IBV_QPT_RC,
		.send_cq = made,
		.recv_cq = made};
	struct ibv_qp *with;

	must(made, "a queue at the channel");
	with = ibv_create_qp(pd, &init);
	must(with, "ibv_create_qp");
	must(!ibv_destroy_qp(with) && !ibv_destroy_cq(made), "their ends");
}

/* The next uroced knows neither a domain nor its region. */
static void refuse_to_end(void)
{
	must(ibv_dealloc_pd(other_pd) == EBUSY, "a domain with a region");
	must(ibv_dealloc_pd(pd) == EBUSY, "a domain with queues");
	must(ibv_free_dm(dm) == EBUSY, "device memory with a region");
	must(!ibv_dereg_mr(of_dm), "its end");
}

/* A region of a domain that the next uroced made is no other domain's: before any of the old ones is known there. */
static void keep_apart(void)
{
	struct ibv_qp_init_attr init = {.cap = {.max_send_wr = 1,
						.max_recv_wr = 1,
						.max_send_sge = 1,
						.max_recv_sge = 1},
					.qp_type = IBV_QPT_RC,
					.sq_sig_all = 1};
	struct ibv_pd *made = ibv_alloc_pd(context);
	struct ibv_mr *region = made ? ibv_reg_mr(made, out, BYTES, 0) : NULL;
	struct ibv_cq *own = ibv_create_cq(context, 4, NULL, NULL, 0);
	struct ibv_sge sge = {.addr = (uintptr_t)out, .length = 8};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND},
			   *bad;
	struct ibv_qp_attr attr;
	struct ibv_qp *with;
	struct ibv_wc wc;

	must(region && own, "a domain's region");
	init.send_cq = init.recv_cq = own;
	with = ibv_create_qp(pd, &init);
	must(with, "ibv_create_qp");
	attr = pair_attr(&peer.gid, with->qp_num);
	attr.ah_attr.grh.sgid_index = (uint8_t)peer.gid_index;
	must(!pair_connect(with, &attr), "RTS");
	sge.lkey = region->lkey;
	must(!ibv_post_send(with, &wr, &bad), "ibv_post_send");
	while (!ibv_poll_cq(own, 1, &wc))
		;
	must(wc.status == IBV_WC_LOC_PROT_ERR, "a region of another domain");
	must(!ibv_destroy_qp(with) && !ibv_destroy_cq(own) &&
		     !ibv_dereg_mr(region) && !ibv_dealloc_pd(made),
	     "their ends");
}

static void end(void)
{
	must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	must(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(!ibv_dereg_mr(target) && !ibv_dereg_mr(source) &&
		     !ibv_dereg_mr(on_demand),
	     "ibv_dereg_mr");
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	must(!ibv_dealloc_pd(pd) && !ibv_dealloc_pd(other_pd),
	     "ibv_dealloc_pd");
	must(!ibv_close_device(context), "ibv_close_device");
}

int main(int argc, char **argv)
{
	rounds_will_wait();
	rounds_begin(&peer, argc, argv);
	context = rounds_open();
	make();
	connect_it();
	rounds_wait(1);
	refuse_to_end();
	keep_apart();
	change_queues();
	change_region();
	change_memory();
	use_channel();
	write_all();
	wait_for_limit();
	rounds_both(&peer);
	end();
	printf("done 0\n");
	return 0;
}
