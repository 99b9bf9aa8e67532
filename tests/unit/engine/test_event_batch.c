// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Events that leave together: each is sent once, by whomever; one that finds no room says so; a
 * program that the first has woken sends the others. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
#include "engine/core/event_batch.h"
#include "tests/check.h"
#include "util/os/event_pair.h"

#define SOCKETS 8u
#define BATCHES 2000u

static struct ur_event_batch batch;
static int pair[SOCKETS][2];
static _Atomic bool over;

static void open_all(void)
{
	for (u32 i = 0; i < SOCKETS; i++)
		CHECK_EQ(ur_event_pair(pair[i]), 0);
}

static void put_all(void)
{
	for (u32 i = 0; i < SOCKETS; i++)
		ur_event_batch_put(&batch, pair[i][0], i + 1, pair[i]);
}

/* All but the full one are sent. */
static void send_all(u32 full)
{
	CHECK_EQ(ur_event_batch_send(&batch), SOCKETS);
	for (u32 i = 0; i < SOCKETS; i++) {
		CHECK(batch.event[i].about == pair[i]);
		CHECK_EQ(batch.event[i].sent, i != full);
	}
}

static u64 next(u32 i)
{
	u64 v = 0;

	if (recv(pair[i][1], &v, sizeof(v), MSG_DONTWAIT) < 0)
		return 0;
	return v;
}

static void test_alone(void)
{
	open_all();
	ur_event_batch_help(&batch);
	for (u32 round = 0; round < 3; round++) {
		put_all();
		ur_event_batch_help(&batch); /* of none that is being sent */
		for (u32 i = 0; i < SOCKETS; i++)
			CHECK_EQ(next(i), 0);
		send_all(SOCKETS);
		for (u32 i = 0; i < SOCKETS; i++) {
			CHECK_EQ(next(i), i + 1);
			CHECK_EQ(next(i), 0);
		}
	}
}

static void test_full(void)
{
	u64 event = 1;

	open_all();
	while (send(pair[3][0], &event, sizeof(event), MSG_DONTWAIT) > 0)
		;
	put_all();
	send_all(3);
}

/* A program: sleeps until there is an event, then sends what is left. */
static void *help(void *arg)
{
	struct pollfd pfd[SOCKETS];

	for (u32 i = 0; i < SOCKETS; i++)
		pfd[i] = (struct pollfd){.fd = pair[i][1], .events = POLLIN};
	while (!over) {
		poll(pfd, SOCKETS, 10);
		ur_event_batch_help(&batch);
	}
	return NULL;
}

static void test_helped(void)
{
	pthread_t threads[2];

	open_all();
	for (u32 i = 0; i < UR_ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, help, NULL), 0);
	for (u32 round = 0; round < BATCHES; round++) {
		put_all();
		send_all(SOCKETS);
		for (u32 i = 0; i < SOCKETS; i++) {
			CHECK_EQ(next(i), i + 1);
			CHECK_EQ(next(i), 0);
		}
	}
	over = true;
	for (u32 i = 0; i < UR_ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_alone());
	CASE(test_full());
	CASE(test_helped());
	return cases_status();
}
