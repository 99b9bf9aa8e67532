// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A context of the engine process, and the thread that serves its program. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/apart/apart.h"
#include "util/os/scm.h"
#include "util/os/thread.h"

#define STACK_BYTES (256u << 10)

/* Returns 0, or -errno if the program has ended or sends an invalid message. */
static int receive(int sock, struct ur_apart_call *c)
{
	struct uroce_call *call = &c->call;
	struct iovec iov[] = {{&call->msg, sizeof(call->msg)},
			      {c->wq, sizeof(c->wq)}};
	int flags;
	ssize_t n =
		ur_scm_recv(sock, iov, 2, call->fds, UROCE_CALL_FDS, &flags);

	if (n < 0)
		return (int)n;
	c->n_wqs = (u32)((size_t)n / 4 - sizeof(call->msg) / 4);
	while (call->n_fds < UROCE_CALL_FDS && call->fds[call->n_fds] >= 0)
		call->n_fds++;
	if (n >= (ssize_t)sizeof(call->msg) && !(n % 4) &&
	    !(flags & (MSG_TRUNC | MSG_CTRUNC)))
		return 0;
	ur_scm_close(call->fds, UROCE_CALL_FDS);
	return -EPROTO;
}

static int answer(int sock, struct uroce_call *call)
{
	u32 n = call->out[0] < 0 ? 0 : call->out[1] < 0 ? 1 : 2;
	int err = ur_scm_send_one(sock, &call->reply, sizeof(call->reply),
				  call->out, n, 0);

	/* Those of BEGIN are the engine's. */
	if (call->msg.op != UROCE_CALL_BEGIN)
		ur_scm_close(call->out, n);
	return err;
}

static void end_engine(struct ur_apart_client *c)
{
	if (c->ctx)
		c->ops->close(c->ctx);
	if (c->file)
		ur_apart_file_put(c->file);
	if (c->engine)
		ur_apart_engine_put(c->engine);
	else if (c->home)
		c->ops->end_home(c->home);
}

static void end(struct ur_apart_client *c)
{
	void (*ended)(void) = c->ended;

	ur_apart_destroy_all(c);
	end_engine(c);
	close(c->sock);
	free(c->listed);
	free(c);
	ended();
}

/* Returns whether there was a message. */
static bool serve_one(struct ur_apart_client *client)
{
	struct ur_apart_call c = {0};
	int err = receive(client->sock, &c);

	if (err)
		return false;
	ur_apart_call(client, &c);
	ur_scm_close(c.call.fds, UROCE_CALL_FDS);
	return !answer(client->sock, &c.call);
}

static void *serve(void *client)
{
	while (serve_one(client))
		;
	end(client);
	return NULL;
}

static void take_granted(struct uroce_engine_open *open, const int *fds)
{
	open->local_fd = fds[UROCE_APART_LOCAL];
	open->out_fd[0] = fds[UROCE_APART_OUT6];
	open->out_fd[1] = fds[UROCE_APART_OUT4];
	open->count_fd = fds[UROCE_APART_COUNT];
	open->settings_fd = fds[UROCE_APART_SETTINGS];
	open->record_fd = fds[UROCE_APART_RECORD];
	open->relay_fd = fds[UROCE_APART_RELAY];
	open->relay_words_fd = fds[UROCE_APART_RELAY_WORDS];
	open->outbox_fd = fds[UROCE_APART_OUTBOX];
	open->wake_fd = fds[UROCE_APART_WAKE];
	open->bell_fd = fds[UROCE_APART_BELL];
}

static int find_engine(struct ur_apart_client *c,
		       const struct uroce_apart_context *in, const int *fds)
{
	struct uroce_engine_open open = in->open;
	const int *v1 = fds + UROCE_APART_V1;
	int err;

	take_granted(&open, fds);
	if (!in->engine)
		return c->ops->make_home(&open, v1, in->realm, c->sock,
					 &c->home);
	err = ur_apart_engine_get(c->ops, in->engine, &open, v1, in->realm,
				  fds[UROCE_APART_LIVENESS], &c->engine);
	if (err)
		return err;
	c->home = ur_apart_engine_home(c->engine);
	c->file = ur_apart_file_get(c->engine, in->file);
	return c->file ? 0 : -ENOMEM;
}

/* For a shared engine uroced sends the program's event file itself. */
static int set_async(const struct ur_apart_client *c, const int *fds)
{
	struct uroce_call call = {.msg.op = UROCE_CALL_SET_ASYNC,
				  .n_fds = 3,
				  .fds = {fds[UROCE_APART_ASYNC_TX],
					  fds[UROCE_APART_ASYNC_RX],
					  fds[UROCE_APART_LIVENESS]}};

	if (!c->engine || call.fds[0] < 0)
		return 0;
	return c->ops->call(c->ctx, &call);
}

static int open_engine(struct ur_apart_client *c,
		       const struct uroce_apart_context *in, int *fds)
{
	const struct uroce_ectx_client client = {
		.mem = fds[UROCE_APART_MEM],
		.maps = fds[UROCE_APART_MAPS],
		.pid = in->pid,
		.ring_bytes = in->ring_bytes,
		.adverse = in->adverse,
		.adverse_seed = in->adverse_seed,
		.realm = in->realm,
	};
	int err = find_engine(c, in, fds);

	if (err)
		return err;
	fds[UROCE_APART_MEM] = fds[UROCE_APART_MAPS] = -1;
	err = c->ops->open_apart(c->home, &client, &c->ctx, &c->info);
	if (!err)
		err = set_async(c, fds);
	if (!err && fds[UROCE_APART_LISTED] >= 0)
		ur_apart_register_listed(c, fds[UROCE_APART_LISTED],
					 in->listed);
	return err;
}

int ur_apart_begin(const struct uroce_engine_ops *ops,
		   const struct uroce_apart_context *in, int *fds,
		   void (*ended)(void))
{
	struct ur_apart_client *c = calloc(1, sizeof(*c));
	int err = c ? 0 : -ENOMEM;

	if (fds[UROCE_APART_SOCKET] < 0)
		err = -EPROTO;
	if (c) {
		c->ops = ops;
		c->ended = ended;
		c->sock = fds[UROCE_APART_SOCKET];
		c->slot = in->open.slot;
		c->max_kib =
			(u32)ur_min_u64(in->object_bytes >> 10, UINT32_MAX);
	}
	if (!err)
		err = open_engine(c, in, fds);
	if (!err)
		err = ur_thread_start(STACK_BYTES, serve, c);
	if (!err)
		fds[UROCE_APART_SOCKET] = -1;
	else if (c)
		end_engine(c);
	if (err)
		free(c);
	ur_scm_close(fds, UROCE_APART_FDS);
	return err;
}
