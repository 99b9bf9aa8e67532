// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * When datagrams stay to leave together: in a stream, while the engine's thread looks after
 * them, up to a burst, and not for a program that does not come back for them.
 */
#include "engine/core/post_batch.h"
#include "tests/check.h"

/* So many posts, then a poll in vain. Returns how many stayed at the end of it. */
static u32 round_of(struct ur_post_batch *b, u32 posts, bool thread_ticks)
{
	u32 stayed = 0;

	for (u32 i = 0; i < posts; i++) {
		if (ur_post_batch_stays(b, thread_ticks))
			stayed++;
		else
			ur_post_batch_sent(b);
	}
	ur_post_batch_sent(b);
	ur_post_batch_polled(b);
	return stayed;
}

/* Rounds between two looks of the thread. */
static void rounds(struct ur_post_batch *b, u32 n, u32 posts)
{
	while (n--)
		round_of(b, posts, true);
	ur_post_batch_tick(b);
}

static void single_posts_leave(void)
{
	struct ur_post_batch b = {0};

	/* However many, with a poll after each. */
	for (int n = 0; n < 100; n++)
		rounds(&b, 500, 1);
	CHECK(!ur_post_batch_is_stream(&b));
	CHECK(round_of(&b, 1, true) == 0);
	/* A few bursts make no stream. */
	rounds(&b, 3, 8);
	CHECK(!ur_post_batch_is_stream(&b));
}

static void streams_stay(void)
{
	struct ur_post_batch b = {0};

	rounds(&b, 10, 20);
	CHECK(ur_post_batch_is_stream(&b));
	CHECK(round_of(&b, 5, true) == 5);
	/* The sixteenth takes the others along. */
	CHECK(round_of(&b, 32, true) == 31);
	CHECK(round_of(&b, 40, true) == 39);
	/* Nobody would look after them. */
	CHECK(round_of(&b, 40, false) == 0);
	CHECK(ur_post_batch_stays(&b, true) && ur_post_batch_is_left(&b));
	ur_post_batch_sent(&b);
	CHECK(!ur_post_batch_is_left(&b));
	/* It ends some time after the last. */
	rounds(&b, 10, 20);
	rounds(&b, 1, 1);
	CHECK(ur_post_batch_is_stream(&b));
	for (int n = 0; n < 100; n++)
		rounds(&b, 1, 1);
	CHECK(!ur_post_batch_is_stream(&b));
}

/* A program that posts bursts and computes: the thread sends each. Returns after how many
 * looks nothing stays any more. */
static u32 abandon(struct ur_post_batch *b)
{
	u32 looks = 0;

	rounds(b, 10, 20);
	for (; ur_post_batch_is_stream(b); looks++) {
		for (int i = 0; i < 40; i++)
			ur_post_batch_stays(b, true);
		b->sent++;
		ur_post_batch_sent(b);
		ur_post_batch_tick(b);
		CHECK(looks < 100);
	}
	return looks;
}

static u32 ticks_until_stream(struct ur_post_batch *b)
{
	u32 looks = 0;

	for (; !ur_post_batch_is_stream(b); looks++) {
		rounds(b, 10, 20);
		CHECK(looks < 100000);
	}
	return looks;
}

static void abandoned(void)
{
	struct ur_post_batch b = {0};
	u32 first, second;

	CHECK(abandon(&b) > 1);
	first = ticks_until_stream(&b);
	abandon(&b);
	second = ticks_until_stream(&b);
	CHECK(first > 100 && second >= 2 * first - 2);
	/* Forgiven, after a stream of which the program sends all itself. */
	for (int n = 0; n < 200; n++)
		rounds(&b, 10, 20);
	abandon(&b);
	CHECK(ticks_until_stream(&b) <= first + 1);
}

/* Now and then the scheduler takes the processor from a program between post and poll. */
static void preempted(void)
{
	struct ur_post_batch b = {0};

	rounds(&b, 10, 20);
	for (int n = 0; n < 1000; n++) {
		b.sent++;
		rounds(&b, 10, 20);
		CHECK(ur_post_batch_is_stream(&b));
	}
}

int main(void)
{
	single_posts_leave();
	streams_stay();
	abandoned();
	preempted();
	return 0;
}
