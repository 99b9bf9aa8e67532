// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* While events leave aside the owner lock is free, and a thread of the program that takes it
 * sends events of its own; each event is sent once and counted once. */
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "tests/check.h"
#include "util/os/event_pair.h"

#define QUEUES 3u

static struct ur_engine e;
static struct ur_ectx ectx = {.engine = &e};
static struct ur_ecq cq[QUEUES];
static struct ur_echan chan[QUEUES];
static int rx[QUEUES];
static u32 leaves, free_leaves;

static void make_due(u32 i)
{
	ur_ecq_event(&cq[i]);
}

/* In place of the C library's: the first event of a batch has been sent when the program
 * that it wakes runs. */
long syscall(long number, ...)
{
	va_list ap;
	long a[4];

	va_start(ap, number);
	for (u32 i = 0; i < 4; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	/* Where there is no vDSO, as under an emulator, the clock is asked by it. */
	if (number == SYS_clock_gettime)
		return clock_gettime((clockid_t)a[0], (struct timespec *)a[1]);
	CHECK_EQ(number, SYS_sendto);
	leaves++;
	if (!pthread_mutex_trylock(&e.mailbox.owner)) {
		free_leaves++;
		if (free_leaves == 1) {
			make_due(2);
			ur_ecq_send_events(&e);
		}
		pthread_mutex_unlock(&e.mailbox.owner);
	}
	return send((int)a[0], (const void *)a[1], (size_t)a[2], (int)a[3]);
}

static void make_queues(void)
{
	memset(&e, 0, sizeof(e));
	e.config.inproc = true;
	CHECK_EQ(ur_mailbox_init(&e.mailbox), 0);
	ur_list_init(&e.ectxs);
	ur_list_init(&e.due);
	ur_list_init(&e.moderated);
	for (u32 i = 0; i < QUEUES; i++) {
		int pair[2];

		CHECK_EQ(ur_event_pair(pair), 0);
		rx[i] = pair[1];
		ur_evsock_init(&chan[i].sock, &e, pair[0], pair[1], false);
		cq[i] = (struct ur_ecq){.ectx = &ectx, .chan = &chan[i]};
		ur_evsrc_init(&cq[i].comp_src, i + 1);
		ur_list_init(&cq[i].due_node);
		ur_list_init(&cq[i].mod_node);
	}
	leaves = free_leaves = 0;
	pthread_mutex_lock(&e.mailbox.owner);
}

static u64 next(u32 i)
{
	u64 v = 0;

	return recv(rx[i], &v, sizeof(v), MSG_DONTWAIT) < 0 ? 0 : v;
}

static void came_once(u32 i)
{
	CHECK_EQ(next(i), i + 1);
	CHECK_EQ(next(i), 0);
	CHECK_EQ(cq[i].comp_src.sent, 1);
}

static void test_aside(void)
{
	make_queues();
	make_due(0);
	make_due(1);
	ur_ecq_send_events_aside(&e);
	CHECK_EQ(leaves, 2);
	CHECK_EQ(free_leaves, 2);
	CHECK(!e.events_away);
	for (u32 i = 0; i < QUEUES; i++)
		came_once(i);
	CHECK(pthread_mutex_trylock(&e.mailbox.owner));
}

static void test_with_lock(void)
{
	make_queues();
	make_due(0);
	make_due(1);
	ur_ecq_send_events(&e);
	CHECK_EQ(leaves, 2);
	CHECK_EQ(free_leaves, 0);
	came_once(0);
	came_once(1);
	CHECK_EQ(next(2), 0);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_aside());
	CASE(test_with_lock());
	return cases_status();
}
