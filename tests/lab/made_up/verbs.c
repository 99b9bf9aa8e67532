// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The made-up libibverbs: contexts and queue pairs with the layout of one release.
 * MADE_CONTEXT_OFF is where struct ibv_context begins in struct verbs_context,
 * MADE_QP_TAIL where struct verbs_qp ends for others (x86-64's, where a pthread_mutex_t
 * has 40 bytes), MADE_RELEASE the release, for functions that came later.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lab/made_up/made_up.h"

#undef ibv_query_port

/* A context's own part, its guard, the entries before struct ibv_context. */
#define GUARD	   512
#define FRONT	   (MADE_CONTEXT_OFF)
#define HEADER	   offsetof(struct verbs_context, context)
#define HAS(entry) (offsetof(struct verbs_context, entry) + FRONT >= HEADER)

/* The tail of struct verbs_qp: its comp_mask and xrcd, then a guard. */
#define TAIL	 (MADE_QP_TAIL + sizeof(pthread_mutex_t) - 40)
#define QP_BYTES (TAIL + 16)
#define QP_EX	 2u /* VERBS_QP_EX of rdma-core's driver.h */

static struct ibv_device device = {.node_type = IBV_NODE_CA,
				   .transport_type = IBV_TRANSPORT_IB,
				   .name = "fakecard0"};
static enum ibv_fork_status forks = IBV_FORK_DISABLED;
static uint32_t numbers;

static void broken(const char *what)
{
	printf("made-up: somebody wrote to %s\n", what);
	fflush(stdout);
	abort();
}

static void watch_bytes(const unsigned char *at, size_t n, const char *what)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] != MADE_GUARD)
			broken(what);
}

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = calloc(2, sizeof(*list));

	list[0] = &device;
	if (count)
		*count = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

static int query_port(struct ibv_context *context, uint8_t number,
		      struct ibv_port_attr *port, size_t size)
{
	struct ibv_port_attr all = {.state = IBV_PORT_ACTIVE,
				    .max_mtu = IBV_MTU_4096,
				    .active_mtu = IBV_MTU_1024,
				    .gid_tbl_len = 4,
				    .link_layer = IBV_LINK_LAYER_ETHERNET};

	memcpy(port, &all, size < sizeof(all) ? size : sizeof(all));
	return number == 1 ? 0 : EINVAL;
}

int ibv_query_port(struct ibv_context *context, uint8_t number,
		   struct _compat_ibv_port_attr *port)
{
	return query_port(context, number, (struct ibv_port_attr *)port, 48);
}

/* A new queue; the caller has counted on its public part alone. */
static struct ibv_cq *make_cq(struct ibv_context *context, int cqe,
			      struct ibv_comp_channel *channel)
{
	struct made_cq *made = calloc(1, sizeof(*made));
	struct ibv_cq *cq = ibv_cq_ex_to_cq(&made->ex);

	cq->context = context;
	cq->channel = channel;
	cq->cqe = cqe;
	pthread_mutex_init(&made->lock, NULL);
	if (channel)
		channel->refcnt++;
	return cq;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context,
				      struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq *cq = make_cq(context, (int)attr->cqe, attr->channel);

	made_fill_cq((struct ibv_cq_ex *)cq);
	return (struct ibv_cq_ex *)cq;
}

static struct ibv_qp *make_qp(struct ibv_context *context, struct ibv_pd *pd,
			      struct ibv_cq *send_cq, struct ibv_cq *recv_cq,
			      struct ibv_srq *srq, enum ibv_qp_type type,
			      const struct ibv_qp_cap *cap, bool sq_sig_all,
			      bool extended)
{
	char *block = calloc(1, sizeof(struct made_qp) + QP_BYTES + GUARD);
	struct made_qp *made = (struct made_qp *)block;
	struct ibv_qp *qp = (struct ibv_qp *)(block + sizeof(*made));
	uint32_t mask = extended ? QP_EX : 0;

	memset((char *)qp + TAIL, MADE_GUARD, QP_BYTES - TAIL + GUARD);
	memcpy((char *)qp + TAIL, &mask, sizeof(mask));
	qp->context = context;
	qp->pd = pd;
	qp->send_cq = send_cq;
	qp->recv_cq = recv_cq;
	qp->srq = srq;
	qp->qp_num = 0x1000 + ++numbers;
	qp->qp_type = type;
	made->cap = *cap;
	made->sq_sig_all = sq_sig_all;
	made->next = made_qps;
	made_qps = qp;
	pthread_mutex_init(&made->lock, NULL);
	made_cq_of(send_cq)->users++;
	made_cq_of(recv_cq)->users++;
	pd->handle++;
	if (extended)
		made_fill_qp((struct ibv_qp_ex *)qp);
	return qp;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context,
				   struct ibv_qp_init_attr_ex *attr)
{
	return make_qp(context, attr->pd, attr->send_cq, attr->recv_cq,
		       attr->srq, attr->qp_type, &attr->cap, attr->sq_sig_all,
		       attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS);
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	uint32_t mask;

	memcpy(&mask, (char *)qp + TAIL, sizeof(mask));
	return mask & QP_EX ? (struct ibv_qp_ex *)qp : NULL;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd,
				struct ibv_qp_init_attr *attr)
{
	return make_qp(pd->context, pd, attr->send_cq, attr->recv_cq, attr->srq,
		       attr->qp_type, &attr->cap, attr->sq_sig_all, false);
}

static struct ibv_context *open_device(struct ibv_device *which)
{
	size_t front = GUARD + HEADER + FRONT;
	char *block = calloc(1, front + sizeof(struct ibv_context));
	struct ibv_context *context = (struct ibv_context *)(block + front);
	struct verbs_context *verbs =
		(struct verbs_context *)((char *)context - HEADER);
	int fds[2];

	memset(block, MADE_GUARD, front);
	if (pipe(fds))
		return NULL;
	context->device = which;
	context->cmd_fd = fds[1];
	context->async_fd = fds[0];
	context->num_comp_vectors = fds[1];
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	made_fill_context(context);
#define SET(entry, value)                     \
	do {                                  \
		if (HAS(entry))               \
			verbs->entry = value; \
	} while (0)
	/* The header's entries are pointers: those of others stay NULL. */
	memset((char *)context - (FRONT < HEADER ? FRONT : HEADER), 0,
	       FRONT < HEADER ? FRONT : HEADER);
	SET(query_port, query_port);
	SET(create_cq_ex, create_cq_ex);
	SET(create_qp_ex, create_qp_ex);
	verbs->sz = MADE_SZ;
	return context;
}

struct ibv_context *ibv_open_device(struct ibv_device *which)
{
	return open_device(which);
}

static __attribute__((constructor)) void begin(void)
{
	made_new_context = open_device;
	made_new_cq = make_cq;
	made_new_qp = create_qp;
}

int ibv_close_device(struct ibv_context *context)
{
	size_t front = GUARD + HEADER + FRONT;
	char *block = (char *)context - front;

	/* Whatever lies before the entries that the header and this release have. */
	watch_bytes((unsigned char *)block,
		    front - (FRONT < HEADER ? FRONT : HEADER),
		    "what is before a context");
	close(context->async_fd);
	close(context->num_comp_vectors);
	free(block);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe,
			     void *cq_context, struct ibv_comp_channel *channel,
			     int vector)
{
	return make_cq(context, cqe, channel);
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	if (made_cq_of(cq)->users)
		return EBUSY;
	while (__atomic_load_n(&made_cq_of(cq)->got, __ATOMIC_RELAXED))
		usleep(1000);
	if (cq->channel)
		cq->channel->refcnt--;
	free(made_cq_of(cq));
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	return create_qp(pd, attr);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct ibv_qp **at = &made_qps;

	watch_bytes((unsigned char *)qp + TAIL + 4, QP_BYTES - TAIL - 4 + GUARD,
		    "what is behind a queue pair");
	while (*at != qp)
		at = &made_qp_of(*at)->next;
	*at = made_qp_of(qp)->next;
	made_cq_of(qp->send_cq)->users--;
	made_cq_of(qp->recv_cq)->users--;
	qp->pd->handle--;
	while (__atomic_load_n(&made_qp_of(qp)->got, __ATOMIC_RELAXED))
		usleep(1000);
	free(made_qp_of(qp));
	return 0;
}

int ibv_fork_init(void)
{
	forks = IBV_FORK_ENABLED;
	return 0;
}

#if MADE_RELEASE >= 35
enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return forks;
}
#endif

#if MADE_RELEASE >= 59
/* struct ibv_mr_init_attr of those releases. */
struct init_attr {
	size_t length;
	int access;
	uint64_t comp_mask, iova;
	void *addr;
};

struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct init_attr *attr);
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct init_attr *attr)
{
	return (ibv_reg_mr)(pd, attr->addr, attr->length, attr->access);
}
#endif

#if MADE_RELEASE >= 65
int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, void *counter, void *attr);
int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, void *counter, void *attr)
{
	return 0;
}
#endif
