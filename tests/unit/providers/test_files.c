// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file of a context is turned by one thread while another one gives a command by its number of before: that finds
 * the context, and says that it has seen no turn.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "providers/uroce/ectx_files.c"
#include "tests/check.h"

#define ROUNDS 200
#define FIRST  1000
#define NEXT   1001

static int (*command_on)(int number, unsigned long request,
			 const void *command);
static struct uroce_context context;
static _Atomic int begun, turned;

static void tell(int (*resume)(int number, unsigned long request,
			       const void *command))
{
	command_on = resume;
}

const struct uroce_resumes uroce_resumes = {.version = UROCE_RESUMES_VERSION,
					    .tell = tell};

void ur_ectx_keep_senders(const struct uroce_context *ctx, int number)
{
	(void)ctx;
	(void)number;
}

bool ur_ectx_reattach(struct uroce_context *ctx, u32 seen)
{
	CHECK_EQ(seen, 0);
	return ctx == &context;
}

static void *turn(void *arg)
{
	for (int round = 1; round <= ROUNDS; round++) {
		while (begun < round)
			sched_yield();
		ur_ectx_files_turn(&context, NEXT);
		turned = round;
	}
	return arg;
}

int main(void)
{
	const struct ib_uverbs_cmd_hdr channel = {
		.command = IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL};
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, turn, NULL));
	for (int round = 1; round <= ROUNDS; round++) {
		context.ibv.cmd_fd = FIRST;
		context.first_cmd_fd = -1;
		context.recoveries = 0;
		ur_ectx_files_add(&context);
		begun = round;
		do
			CHECK(command_on(FIRST, 0, &channel) >= 0);
		while (turned < round);
		CHECK_EQ(command_on(FIRST, 0, &channel), NEXT);
		ur_ectx_files_del(&context);
	}
	CHECK(!pthread_join(thread, NULL));
	return 0;
}
