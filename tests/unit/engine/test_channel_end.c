// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The device goes while the first queue of a completion channel is made in a program, and the queue fails: the
 * channel hangs up like all that no queue uses. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/inproc/ops/process.h"
#include "kernel-abi/uroce-resumes.h"
#include "tests/check.h"

static struct uroce_ectx ctx;
static int sender = -1; /* as the preload library keeps it */

int ur_process_wait_add(struct ur_process_wait *wait, struct uroce_ectx *g,
			int fd, int copy)
{
	return -ENOMEM;
}

void ur_process_wait_del(struct ur_process_wait *wait)
{
}

static int take_sender(int number)
{
	int fd = sender;

	sender = -1;
	ur_process_end_channels(&ctx);
	return fd;
}

static void keep_sender(int number, int rx, int tx, const void *engine)
{
	CHECK(engine == &ctx);
	sender = dup(tx);
}

static void end_senders(const void *engine)
{
	CHECK(engine == &ctx);
	if (sender >= 0)
		shutdown(sender, SHUT_WR);
}

const struct uroce_resumes uroce_resumes = {
	.version = UROCE_RESUMES_VERSION,
	.take_sender = take_sender,
	.keep_sender = keep_sender,
	.end_senders = end_senders,
};

int main(void)
{
	struct uroce_call call = {.msg.cq.entries = 4, .n_fds = 2};
	struct pollfd p = {.events = POLLIN};
	int pair[2];

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	sender = pair[0];
	call.fds[0] = -1;
	call.fds[1] = p.fd = pair[1];
	call.msg.cq.channel = (uintptr_t)&call;
	ur_list_init(&ctx.channels);
	CHECK_EQ(ur_process_create_cq(&ctx, &call), -ENOMEM);
	CHECK_EQ(poll(&p, 1, 0), 1);
	return 0;
}
