// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Events come in order, each read once; those of a queue that goes are taken
 * back and only the read ones are counted; a full socket loses none. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "tests/check.h"
#include "util/os/event_pair.h"

static struct ur_watch *watched;

/* In place of the engine's. */
int ur_engine_watch(struct ur_engine *engine, int fd, u32 events,
		    struct ur_watch *watch)
{
	watched = watch;
	return 0;
}

void ur_engine_unwatch(struct ur_engine *engine, int fd)
{
	watched = NULL;
}

int ur_engine_call(struct ur_engine *engine,
		   int (*fn)(struct ur_engine *engine, void *arg), void *arg)
{
	return fn(engine, arg);
}

static u64 next(const struct ur_evsock *s)
{
	u64 v[2] = {0};

	if (recv(s->rx, v, sizeof(v), MSG_DONTWAIT) < 0)
		return 0;
	return v[0];
}

static u32 purge(struct ur_evsock *s, struct ur_evsrc *src)
{
	struct ur_events_left left;
	u32 n;

	ur_evsock_forget(s, src, &left);
	ur_events_freeze(&left);
	n = ur_events_withdraw(&left);
	ur_events_thaw(&left);
	return n;
}

static void open_pair(struct ur_evsock *sock, bool async)
{
	int fd[2];

	CHECK_EQ(ur_event_pair(fd), 0);
	ur_evsock_init(sock, NULL, fd[0], fd[1], async);
}

static void test_purge(void)
{
	struct ur_evsock s;
	struct ur_evsrc a, b;

	open_pair(&s, false);
	ur_evsrc_init(&a, 0xa);
	ur_evsrc_init(&b, 0xb);
	for (int i = 0; i < 5; i++) {
		ur_evsock_send(&s, &a, 0);
		ur_evsock_send(&s, &b, 0);
	}
	CHECK_EQ(next(&s), 0xa);
	CHECK_EQ(next(&s), 0xb);
	CHECK_EQ(next(&s), 0xa);
	CHECK_EQ(purge(&s, &a), 2);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(next(&s), 0xb);
	CHECK_EQ(next(&s), 0);
	CHECK_EQ(purge(&s, &b), 5);
	close(ur_evsock_close(&s));
}

/* The device has gone, or the program has closed its end: nothing waits for room that
 * never comes, however many events there are. */
static void test_ended(void)
{
	struct ur_evsock s;
	struct ur_evsrc a;

	open_pair(&s, false);
	ur_evsrc_init(&a, 0xa);
	while (!a.pending)
		ur_evsock_send(&s, &a, 0);
	CHECK(watched == &s.watch);
	CHECK_EQ(shutdown(s.tx, SHUT_WR), 0);
	watched->fn(watched, EPOLLOUT);
	CHECK(!watched);
	ur_evsock_send(&s, &a, 0);
	CHECK(!watched);
	close(ur_evsock_close(&s));
}

static void test_full(void)
{
	struct ur_evsock s;
	struct ur_evsrc a;
	u32 sent = 0, got = 0;

	open_pair(&s, false);
	ur_evsrc_init(&a, 0xa);
	while (!a.pending || sent % 100) {
		ur_evsock_send(&s, &a, 0);
		sent++;
	}
	CHECK(watched == &s.watch);
	while (next(&s)) {
		got++;
		if (watched)
			watched->fn(watched, 0);
	}
	CHECK_EQ(got, sent);
	CHECK(!watched);
	CHECK_EQ(purge(&s, &a), sent);
	close(ur_evsock_close(&s));
}

/* An event that comes while others are taken back waits, and takes no room from
 * those. */
static void test_held(void)
{
	struct ur_evsock s;
	struct ur_events_left left;
	struct ur_evsrc a, b, c;
	u32 sent = 0, got = 0;

	open_pair(&s, false);
	ur_evsrc_init(&a, 0xa);
	ur_evsrc_init(&b, 0xb);
	ur_evsrc_init(&c, 0xc);
	while (!b.pending) {
		ur_evsock_send(&s, &b, 0);
		sent++;
	}
	CHECK(watched == &s.watch);
	ur_evsock_forget(&s, &a, &left);
	left.sent = 1; /* look */
	ur_events_freeze(&left);
	CHECK(!watched);
	CHECK_EQ(next(&s), 0xb);
	got++;
	ur_evsock_send(&s, &c, 0);
	CHECK_EQ(c.sent, 0);
	CHECK(!watched);
	CHECK_EQ(ur_events_withdraw(&left), 1);
	ur_events_thaw(&left);
	while (c.pending || b.pending) {
		CHECK_EQ(next(&s), 0xb);
		got++;
		if (watched)
			watched->fn(watched, 0);
	}
	CHECK_EQ(purge(&s, &c), 0);
	while (next(&s) == 0xb)
		got++;
	CHECK_EQ(got, sent);
	close(ur_evsock_close(&s));
}

static void test_async(void)
{
	struct ur_evsock s;
	struct ur_evsrc a;
	struct {
		u64 element;
		u32 type, reserved;
	} ev;

	open_pair(&s, true);
	ur_evsrc_init(&a, 0x1234);
	ur_evsock_send(&s, &a, UR_EVENT_QP_FATAL);
	CHECK_EQ(read(s.rx, &ev, sizeof(ev)), sizeof(ev));
	CHECK_EQ(ev.element, 0x1234);
	CHECK_EQ(ev.type, UR_EVENT_QP_FATAL);
	ur_evsock_send(&s, &a, UR_EVENT_COMM_EST);
	CHECK_EQ(purge(&s, &a), 1);
	close(ur_evsock_close(&s));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_purge());
	CASE(test_full());
	CASE(test_ended());
	CASE(test_held());
	CASE(test_async());
	return cases_status();
}
