// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * While events leave aside the owner lock is free, and a thread of the program that takes it
 * sends events of its own; each event is sent once and counted once. Completions of one turn make
 * one event, of a queue that is armed when the turn's events leave.
 */
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/engine_impl.h"
#include "tests/check.h"
#include "util/os/event_pair.h"

#define QUEUES 3u

static struct ur_engine e;
static struct ur_ectx ectx = {.engine = &e};
static struct ur_ecq cq[QUEUES];
static struct ur_echan chan[QUEUES];
static struct uroce_cq_hdr hdr[QUEUES];
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
	e.config.guest = true;
	CHECK_EQ(ur_mailbox_init(&e.mailbox), 0);
	ur_list_init(&e.ectxs);
	ur_list_init(&e.due);
	ur_list_init(&e.completed);
	ur_list_init(&e.moderated);
	for (u32 i = 0; i < QUEUES; i++) {
		int pair[2];

		CHECK_EQ(ur_event_pair(pair), 0);
		rx[i] = pair[1];
		ur_evsock_init(&chan[i].sock, &e, pair[0], pair[1], false);
		memset(&hdr[i], 0, sizeof(hdr[i]));
		cq[i] = (struct ur_ecq){.ectx = &ectx,
					.hdr = &hdr[i],
					.chan = &chan[i],
					.mod_deadline = UR_NEVER};
		ur_evsrc_init(&cq[i].comp_src, i + 1);
		ur_list_init(&cq[i].due_node);
		ur_list_init(&cq[i].mod_node);
		ur_list_init(&cq[i].completed);
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

static void complete(u32 i, bool solicited)
{
	const struct ur_wc wc = {.solicited = solicited};

	ur_ecq_completed(&cq[i], &wc);
}

static void arm(u32 i, u32 serial, u32 how)
{
	hdr[i].arm = serial << 2 | how;
}

static void test_armed(void)
{
	make_queues();
	arm(0, 1, UROCE_ARM_NEXT);
	arm(1, 1, UROCE_ARM_SOLICITED);
	ur_ecq_gather(&e, true);
	for (u32 i = 0; i < 3; i++)
		for (u32 k = 0; k < QUEUES; k++)
			complete(k, false);
	ur_ecq_send_events(&e);
	came_once(0);
	CHECK_EQ(next(1), 0);
	CHECK_EQ(next(2), 0);
	complete(0, false);
	complete(1, true);
	complete(1, false);
	ur_ecq_gather(&e, false);
	CHECK(!ur_list_empty(&e.due));
	ur_ecq_send_events(&e);
	CHECK_EQ(next(0), 0);
	came_once(1);
	CHECK(ur_list_empty(&e.due));
}

/* The event of a long message does not wait for the turn's end. */
static void test_long(void)
{
	const struct ur_wc wc = {.byte_len = 1u << 20};

	make_queues();
	arm(0, 1, UROCE_ARM_NEXT);
	ur_ecq_completed(&cq[0], &wc);
	came_once(0);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_aside());
	CASE(test_with_lock());
	CASE(test_armed());
	CASE(test_long());
	return cases_status();
}
