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
	u64 key; /* of the program's struct ibv_comp_channel */
	struct ur_echan *chan;
	struct ur_process_wait wait;
	u32 users;
};

static struct ur_process_channel *find_channel(struct uroce_ectx *ctx, u64 key)
{
	ur_list_each(struct ur_process_channel, c, &ctx->channels, node) {
		if (c->key == key)
			return c;
	}
	return NULL;
}

/* Keeps the sending end of a channel without queues, for a later queue; a context of another process does that
 * itself. fd: the program's descriptor. */
static void leave_sender(struct uroce_ectx *ctx, int fd, int rx, int tx)
{
	const struct uroce_resumes *preload = uroce_get_resumes();

	if (ctx->apart || !preload)
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

static int make_channel(struct uroce_ectx *ctx, const struct uroce_call *call,
			struct ur_process_channel **ret)
{
	int program = call->fds[1], rx, err;
	int tx = call->fds[0] >= 0 ? ur_high_fd_copy(call->fds[0])
				   : uroce_take_sender(program);
	struct ur_process_channel *c;

	if (tx < 0)
		return tx;
	c = calloc(1, sizeof(*c));
	if (!c) {
		leave_sender(ctx, program, program, tx);
		close(tx);
		return -ENOMEM;
	}
	rx = err = ur_high_fd_copy(program);
	ur_list_init(&c->wait.node);
	c->wait.ctx = ctx;
	if (err >= 0 && ctx->apart)
		err = 0;
	else if (err >= 0)
		err = ur_process_wait_add(&c->wait, ctx, program, rx);
	if (!err) {
		err = ur_echan_attach(ctx->ectx, tx, rx, &c->chan);
		if (err)
			ur_process_wait_del(&c->wait);
	}
	if (err) {
		if (rx >= 0)
			close(rx);
		leave_sender(ctx, program, program, tx);
		close(tx);
		free(c);
		return err;
	}
	c->key = call->msg.cq.channel;
	ur_list_add_tail(&ctx->channels, &c->node);
	*ret = c;
	return 0;
}

/* Finds or makes the channel of a queue, and counts the queue as its user. */
static int get_channel(struct uroce_ectx *ctx, const struct uroce_call *call,
		       struct ur_process_channel **ret)
{
	int err = 0;

	*ret = NULL;
	if (!call->msg.cq.channel)
		return 0;
	*ret = find_channel(ctx, call->msg.cq.channel);
	if (!*ret)
		err = make_channel(ctx, call, ret);
	if (!err)
		(*ret)->users++;
	return err;
}

/* Drops a user of the channel, and ends the channel with its last one. Returns the sending end then, for a
 * context of another process, which keeps it; else -1. */
static int put_channel(struct ur_process_channel *c)
{
	int sender, left = -1;

	if (!c || --c->users)
		return -1;
	ur_list_del(&c->node);
	sender = ur_echan_sender(c->chan);
	leave_sender(c->wait.ctx, c->wait.fd, c->wait.copy, sender);
	if (c->wait.ctx->apart)
		left = ur_high_fd_copy(sender);
	ur_process_wait_del(&c->wait);
	close(ur_echan_destroy(c->chan));
	free(c);
	return left;
}

int ur_process_create_cq(struct uroce_ectx *ctx, struct uroce_call *call)
{
	const struct uroce_call_cq *in = &call->msg.cq;
	struct ur_ecq_init init = {.entries = in->entries,
				   .user_handle = in->user_handle,
				   .async = ctx->async};
	struct uroce_ecq *cq = calloc(1, sizeof(*cq));
	int err, left;

	if (!cq)
		return -ENOMEM;
	cq->ctx = ctx;
	err = get_channel(ctx, call, &cq->channel);
	if (err)
		return ur_process_made(call, cq, err);
	if (in->flags & UROCE_ECQ_IGNORE_OVERRUN)
		init.flags |= IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	if (in->flags & UROCE_ECQ_STAMPED)
		init.flags |= IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	init.chan = cq->channel ? cq->channel->chan : NULL;
	err = ur_ecq_create(ctx->ectx, &init, &cq->cq, &call->reply.new_cq);
	left = err ? put_channel(cq->channel) : -1;
	if (left >= 0)
		close(left);
	return ur_process_made(call, cq, err);
}

int ur_process_modify_cq(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_ecq *cq = call->it;

	return ur_ecq_modify(cq->cq, (u16)call->msg.value,
			     (u16)(call->msg.value >> 16));
}

int ur_process_resize_cq(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_ecq *cq = call->it;

	return ur_ecq_resize(cq->cq, call->msg.value, &call->reply.new_ring);
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

int ur_process_destroy_cq(struct uroce_ectx *ctx, struct uroce_call *call)
{
	struct uroce_ecq *cq = call->it;
	struct ur_events_left comp, async;
	int err = ur_ecq_destroy(cq->cq, &comp, &async);

	if (err)
		return err;
	call->reply.read[0] = ur_process_take_back(ctx, &comp);
	call->reply.read[1] = ur_process_take_back(ctx, &async);
	call->out[0] = put_channel(cq->channel);
	free(cq);
	return 0;
}
