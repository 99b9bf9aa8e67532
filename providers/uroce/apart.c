// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The functions of ur_apart_ops: each call is a message to the engine process, which has numbers for
 * objects, and its reply. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allowed.h"
#include "apart.h"
#include "apart_channels.h"
#include "util/os/high_fd.h"
#include "util/os/scm.h"

/* Empty polls between two checks that the engine process exists. */
#define LOOK_POLLS 4096u

/* An object of the engine. */
struct ur_apart_thing {
	struct ur_apart *apart;
	u32 number;
	struct ur_apart_channel *channel; /* of a completion queue, or NULL */
	/* Of a flow rule, or NULL. node: of the context's rules that count. */
	struct uroce_eflow_counts *counts;
	struct uroce_eflow_counts seen; /* is in *counts */
	struct ur_list node;
};

static const struct ur_apart_thing *thing(const void *it)
{
	return it;
}

/* Returns the object's number; 0: none. */
static u32 number_of(const void *it)
{
	return it ? thing(it)->number : 0;
}

static struct ur_apart *of(struct uroce_ectx *ctx)
{
	return (struct ur_apart *)(void *)ctx;
}

/* ---- opening ---- */

static int mark_own(struct ur_apart *a)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	a->own = p;
	if (madvise(p, page, MADV_WIPEONFORK) < 0)
		return -errno;
	a->own[0] = a->own[1] = 1;
	return 0;
}

static void free_apart(struct ur_apart *a)
{
	if (a->sock >= 0)
		close(a->sock);
	if (a->rings >= 0)
		close(a->rings);
	if (a->wake >= 0)
		close(a->wake);
	if (a->own)
		munmap((void *)a->own, (size_t)sysconf(_SC_PAGESIZE));
	pthread_mutex_destroy(&a->lock);
	pthread_mutex_destroy(&a->flows_lock);
	free(a);
}

static int begin(struct ur_apart *a, struct uroce_ectx_info *info)
{
	struct uroce_call call = {.msg.op = UROCE_CALL_BEGIN};
	int err = ur_apart_ask(a, &call, NULL, 0);

	a->rings = call.out[0];
	a->wake = call.out[1];
	if (err)
		return err;
	if (a->rings < 0 || a->wake < 0)
		return -EPROTO;
	*info = (struct uroce_ectx_info){
		.fd = a->rings,
		.own = a->own,
		.db_map_off = call.reply.begun.db_map_off,
		.db_map_len = call.reply.begun.db_map_len,
		.wake_fd = a->wake,
	};
	return 0;
}

static int apart_open(const struct uroce_engine_open *open, int sock,
		      struct uroce_ectx **ctx, struct uroce_ectx_info *info)
{
	struct ur_apart *a = calloc(1, sizeof(*a));
	struct stat st;
	int err;

	if (!a) {
		close(sock);
		return -ENOMEM;
	}
	a->ops = &ur_apart_ops;
	ur_high_fds();
	a->sock = ur_high_fd(sock);
	a->rings = a->wake = -1;
	a->pid = getpid();
	if (!fstat(a->sock, &st))
		a->ino = st.st_ino;
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&a->flows_lock, NULL);
	ur_list_init(&a->channels);
	ur_list_init(&a->flows);
	err = mark_own(a);
	if (!err)
		err = begin(a, info);
	if (err) {
		free_apart(a);
		return err;
	}
	ur_apart_exit_add(a);
	*ctx = (struct uroce_ectx *)(void *)a;
	return 0;
}

/* A child does not end its parent's engine, since its descriptors are
 * copies. */
static void apart_close(struct uroce_ectx *ctx)
{
	ur_apart_exit_del(of(ctx));
	free_apart(of(ctx));
}

/* The objects belong to the parent and its memory, so a child does not get
 * them. */
static int take_over(struct uroce_ectx *ctx, int wait)
{
	if (of(ctx)->pid == getpid())
		return -EIO;
	return of(ctx)->objects ? -ESRCH : -ENOENT;
}

void ur_apart_set_room(struct uroce_ectx *ctx, bool (*more_room)(void *arg),
		       void *arg)
{
	of(ctx)->more_room = more_room;
	of(ctx)->room_arg = arg;
}

/* ---- calls ---- */

static int ask(struct ur_apart *a, struct uroce_call *c)
{
	return ur_apart_ask(a, c, NULL, 0);
}

static int create_cq(struct ur_apart *a, struct uroce_call *c,
		     struct ur_apart_thing *cq)
{
	struct ur_apart_channel *channel;
	int err = ur_apart_channel_get(a, c, &channel);

	if (err)
		return err;
	c->n_fds = ur_apart_channel_ends(channel, &c->msg.cq.channel, c->fds);
	err = ask(a, c);
	ur_apart_channel_given(channel, err);
	cq->channel = channel;
	return err;
}

/* Puts the numbers of what a queue pair uses into the message, and those of the work queues over which it spreads
 * frames behind it. */
static int create_qp(struct ur_apart *a, struct uroce_call *c)
{
	struct uroce_call_qp *to = &c->msg.qp;
	const struct uroce_eqp_rss *rss = to->init.rss;
	u32 wq[UROCE_CALL_WQS];

	to->send_cq = number_of(to->init.send_cq);
	to->recv_cq = number_of(to->init.recv_cq);
	to->srq = number_of(to->init.srq);
	if (!rss)
		return ask(a, c);
	if (rss->size > UROCE_CALL_WQS)
		return -EINVAL;
	to->n_wqs = rss->size;
	to->rss_fields = rss->fields;
	memcpy(to->rss_key, rss->key, sizeof(to->rss_key));
	for (u32 i = 0; i < rss->size; i++)
		wq[i] = number_of(rss->wq[i]);
	return ur_apart_ask(a, c, wq, rss->size);
}

static int create_srq(struct ur_apart *a, struct uroce_call *c)
{
	c->msg.value = number_of(c->msg.srq.cq);
	c->msg.srq.cq = NULL;
	return ask(a, c);
}

static int reg_mr(struct ur_apart *a, struct uroce_call *c)
{
	if (c->msg.mr.init.flags & UROCE_EMR_FILE) {
		c->n_fds = 1;
		c->fds[0] = c->msg.mr.init.dmabuf;
	}
	return ask(a, c);
}

static int make(struct ur_apart *a, struct uroce_call *c,
		struct ur_apart_thing *it)
{
	switch (c->msg.op) {
	case UROCE_CALL_CREATE_CQ:
		return create_cq(a, c, it);
	case UROCE_CALL_CREATE_QP:
		return create_qp(a, c);
	case UROCE_CALL_CREATE_SRQ:
		return create_srq(a, c);
	case UROCE_CALL_REG_MR:
		return reg_mr(a, c);
	default:
		return ask(a, c);
	}
}

static int call_making(struct ur_apart *a, struct uroce_call *c)
{
	struct ur_apart_thing *it = calloc(1, sizeof(*it));
	int err = it ? make(a, c, it) : -ENOMEM;

	if (err) {
		free(it);
		return err;
	}
	it->apart = a;
	it->number = c->reply.number;
	__atomic_add_fetch(&a->objects, 1, __ATOMIC_RELAXED);
	c->it = it;
	if (!c->counts)
		return 0;
	it->counts = c->counts;
	pthread_mutex_lock(&a->flows_lock);
	ur_list_add_tail(&a->flows, &it->node);
	pthread_mutex_unlock(&a->flows_lock);
	return 0;
}

/* Adds to the rule's counters what it has counted since. Lock held. */
static void count(struct ur_apart_thing *flow,
		  const struct uroce_eflow_counts *now)
{
	__atomic_add_fetch(&flow->counts->packets,
			   now->packets - flow->seen.packets, __ATOMIC_RELAXED);
	__atomic_add_fetch(&flow->counts->bytes, now->bytes - flow->seen.bytes,
			   __ATOMIC_RELAXED);
	flow->seen = *now;
}

/* Also ends the object if the engine process has ended. */
static int end(struct ur_apart *a, struct uroce_call *c)
{
	struct ur_apart_thing *it = c->it;
	int err = ask(a, c);

	if (err && (err != -EIO || !ur_apart_is_dead(a)))
		return err;
	if (err)
		c->reply = (struct uroce_call_msg){0};
	ur_apart_channel_put(it->channel, c->out[0]);
	if (it->counts && !err)
		count(it, &c->reply.counts);
	if (it->counts)
		ur_list_del(&it->node);
	__atomic_sub_fetch(&a->objects, 1, __ATOMIC_RELAXED);
	free(it);
	return 0;
}

/* With the lock no rule is counted by the number of one that has ended. */
static int call_ending(struct ur_apart *a, struct uroce_call *c)
{
	const bool counts = thing(c->it)->counts;
	int err;

	if (counts)
		pthread_mutex_lock(&a->flows_lock);
	err = end(a, c);
	if (counts)
		pthread_mutex_unlock(&a->flows_lock);
	return err;
}

static int apart_call(struct uroce_ectx *ctx, struct uroce_call *c)
{
	const int makes = uroce_call_makes(c->msg.op);
	int ret;

	c->out[0] = c->out[1] = -1;
	c->msg.number = number_of(c->it);
	ret = makes > 0	  ? call_making(of(ctx), c)
	      : makes < 0 ? call_ending(of(ctx), c)
			  : ask(of(ctx), c);
	ur_scm_close(c->out, UR_ARRAY_SIZE(c->out));
	return ret;
}

#if UROCE_WITH_RAW_PACKET
void ur_apart_update_counts(struct uroce_ectx *ctx,
			    const struct uroce_eflow_counts *counts)
{
	struct ur_apart *a = of(ctx);

	if (ur_apart_is_parents(a))
		return;
	pthread_mutex_lock(&a->flows_lock);
	ur_list_each(struct ur_apart_thing, flow, &a->flows, node) {
		struct uroce_call c = {.msg = {.op = UROCE_CALL_READ_FLOW,
					       .number = flow->number}};

		if (flow->counts == counts && !ask(a, &c))
			count(flow, &c.reply.counts);
	}
	pthread_mutex_unlock(&a->flows_lock);
}
#endif

/* The engine process has a thread for this. */
static void nothing(struct uroce_ectx *ctx)
{
}

static void look(struct uroce_ectx *ctx)
{
	struct ur_apart *a = of(ctx);
	int error = errno;

	if (__atomic_add_fetch(&a->vain, 1, __ATOMIC_RELAXED) % LOOK_POLLS ||
	    !*a->own || !ur_calls_allowed())
		return;
	if (!ur_apart_is_there(a)) {
		__atomic_store_n(&a->dead, true, __ATOMIC_RELAXED);
		*a->own = 0;
	}
	errno = error;
}

const struct uroce_engine_ops ur_apart_ops = {
	.version = UROCE_ENGINE_OPS_VERSION,
	.open = apart_open,
	.close = apart_close,
	.take_over = take_over,
	.call = apart_call,
	.posted = nothing,
	.datagram = nothing,
	.armed = nothing,
	.poll = look,
};
