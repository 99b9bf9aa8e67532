// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion queues of an engine in a program, and their channels. The engine has a
 * channel as long as a queue uses it.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>
#include <unistd.h>
#include "engine/inproc/ops/process.h"
#include "kernel-abi/uroce-resumes.h"
#include "util/os/high_fd.h"

struct ur_process_channel {
	struct ur_list node;
	const void *key; /* the program's struct ibv_comp_channel */
	struct ur_echan *chan;
	struct ur_process_wait wait;
	u32 users;
};

static struct ur_process_channel *find_channel(struct uroce_ectx *ctx,
					       const void *key)
{
	ur_list_for_each(it, &ctx->channels) {
		struct ur_process_channel *c =
			ur_list_entry(it, struct ur_process_channel, node);

		if (c->key == key)
			return c;
	}
	return NULL;
}

/* Returns a new descriptor of the channel's sending end, or -errno. */
static int take_sender(const struct uroce_ecq_init *in)
{
	const struct uroce_resumes *preload = uroce_get_resumes();

	if (in->tx >= 0)
		return ur_high_fd_copy(in->tx);
	return preload ? preload->take_sender(in->rx) : -ENOENT;
}

/* Keeps the sending end of a channel without queues, for a later queue. fd: the program's descriptor. */
static void leave_sender(struct uroce_ectx *ctx, int fd, int rx, int tx)
{
	const struct uroce_resumes *preload = uroce_get_resumes();

	if (ctx->apart) {
		if (ctx->left_sender >= 0)
			close(ctx->left_sender);
		ctx->left_sender = ur_high_fd_copy(tx);
		return;
	}
	if (!preload)
		return;
	preload->keep_sender(fd, rx, tx, ctx);
	/* The device was removed meanwhile, and this sender was not hung up with the others. */
	if (atomic_load(&ctx->channels_ended))
		preload->end_senders(ctx);
}

void ur_process_end_channels(void *arg)
{
	const struct uroce_resumes *preload = uroce_get_resumes();
	struct uroce_ectx *ctx = arg;

	atomic_store(&ctx->channels_ended, true);
	if (preload)
		preload->end_senders(ctx);
}

static int make_channel(struct uroce_ectx *ctx, const struct uroce_ecq_init *in,
			struct ur_process_channel **ret)
{
	struct ur_process_channel *c;
	int tx = take_sender(in), rx, err;

	if (tx < 0)
		return tx;
	c = calloc(1, sizeof(*c));
	if (!c) {
		leave_sender(ctx, in->rx, in->rx, tx);
		close(tx);
		return -ENOMEM;
	}
	rx = err = ur_high_fd_copy(in->rx);
	ur_list_init(&c->wait.node);
	c->wait.ctx = ctx;
	if (err >= 0 && ctx->apart)
		err = 0;
	else if (err >= 0)
		err = ur_process_wait_add(&c->wait, ctx, in->rx, rx);
	if (!err) {
		err = ur_echan_attach(ctx->ectx, tx, rx, &c->chan);
		if (err)
			ur_process_wait_del(&c->wait);
	}
	if (err) {
		if (rx >= 0)
			close(rx);
		leave_sender(ctx, in->rx, in->rx, tx);
		close(tx);
		free(c);
		return err;
	}
	c->key = in->channel;
	ur_list_add_tail(&ctx->channels, &c->node);
	*ret = c;
	return 0;
}

/* Finds or makes the channel of a queue, and counts the queue as its user. */
static int get_channel(struct uroce_ectx *ctx, const struct uroce_ecq_init *in,
		       struct ur_process_channel **ret)
{
	int err = 0;

	*ret = NULL;
	if (!in->channel)
		return 0;
	*ret = find_channel(ctx, in->channel);
	if (!*ret)
		err = make_channel(ctx, in, ret);
	if (!err)
		(*ret)->users++;
	return err;
}

static void put_channel(struct ur_process_channel *c)
{
	if (!c || --c->users)
		return;
	ur_list_del(&c->node);
	leave_sender(c->wait.ctx, c->wait.fd, c->wait.copy,
		     ur_echan_sender(c->chan));
	ur_process_wait_del(&c->wait);
	close(ur_echan_destroy(c->chan));
	free(c);
}

static int create_cq(struct uroce_ectx *ctx, const struct uroce_ecq_init *in,
		     struct uroce_ecq *cq, struct uroce_create_cq_resp *resp)
{
	struct ur_ecq_init init = {.entries = in->entries,
				   .user_handle = in->user_handle,
				   .async = ctx->async};
	int err = get_channel(ctx, in, &cq->channel);

	if (err)
		return err;
	if (in->flags & UROCE_ECQ_IGNORE_OVERRUN)
		init.flags |= IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	if (in->flags & UROCE_ECQ_STAMPED)
		init.flags |= IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	init.chan = cq->channel ? cq->channel->chan : NULL;
	err = ur_ecq_create(ctx->ectx, &init, &cq->cq, resp);
	if (err)
		put_channel(cq->channel);
	else
		ctx->objects++;
	return err;
}

int ur_process_create_cq(struct uroce_ectx *ctx,
			 const struct uroce_ecq_init *init,
			 struct uroce_ecq **ret,
			 struct uroce_create_cq_resp *resp)
{
	struct uroce_ecq *cq = calloc(1, sizeof(*cq));
	int err;

	if (!cq)
		return -ENOMEM;
	cq->ctx = ctx;
	pthread_mutex_lock(&ctx->home->lock);
	err = create_cq(ctx, init, cq, resp);
	pthread_mutex_unlock(&ctx->home->lock);
	if (err)
		free(cq);
	else
		*ret = cq;
	return err;
}

int ur_process_modify_cq(struct uroce_ecq *cq, u16 count, u16 period_us)
{
	return UR_PROCESS_CALL(cq->ctx,
			       ur_ecq_modify(cq->cq, count, period_us));
}

int ur_process_resize_cq(struct uroce_ecq *cq, u32 entries,
			 struct uroce_resize_cq_resp *resp)
{
	return UR_PROCESS_CALL(cq->ctx, ur_ecq_resize(cq->cq, entries, resp));
}

u32 ur_process_take_back(struct uroce_ectx *ctx,
			 const struct ur_events_left *left)
{
	u32 n;

	if (!left->sent)
		return 0;
	ur_events_freeze(left);
	pthread_mutex_unlock(&ctx->home->lock);
	n = ur_events_withdraw(left);
	pthread_mutex_lock(&ctx->home->lock);
	ur_events_thaw(left);
	return n;
}

int ur_process_destroy_cq(struct uroce_ecq *cq, u32 read[2])
{
	struct uroce_ectx *ctx = cq->ctx;
	struct ur_events_left comp, async;
	int err;

	pthread_mutex_lock(&ctx->home->withdraws);
	pthread_mutex_lock(&ctx->home->lock);
	err = ur_ecq_destroy(cq->cq, &comp, &async);
	if (!err) {
		read[0] = ur_process_take_back(ctx, &comp);
		read[1] = ur_process_take_back(ctx, &async);
		put_channel(cq->channel);
		ctx->objects--;
	}
	pthread_mutex_unlock(&ctx->home->lock);
	pthread_mutex_unlock(&ctx->home->withdraws);
	if (!err)
		free(cq);
	return err;
}
