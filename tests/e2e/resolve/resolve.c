// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Addresses that rdma_cm resolves on one id, one after the other, for test_resolve.py:
 *
 *	resolve TIMEOUT_MS WORD...
 *
 * A word is an address, which is resolved; "begin" before one, which is not waited for; "wait", for the event
 * of that; "new", another id in place of the one there was. Prints "begin ERRNO" and
 * "NAME STATUS MS", the milliseconds since the last begin.
 */
#include <errno.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/check.h"

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static struct timespec began;
static int timeout;

static long since_begin(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - began.tv_sec) * 1000 +
	       (now.tv_nsec - began.tv_nsec) / 1000000;
}

static void begin(const char *word)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST}, *to;
	int ret;

	CHECK(!getaddrinfo(word, "7000", &hints, &to));
	clock_gettime(CLOCK_MONOTONIC, &began);
	ret = rdma_resolve_addr(id, NULL, to->ai_addr, timeout);
	printf("begin %d\n", ret ? errno : 0);
	fflush(stdout);
	freeaddrinfo(to);
}

static void wait_event(void)
{
	struct rdma_cm_event *e;

	CHECK(!rdma_get_cm_event(channel, &e));
	CHECK(e->id == id);
	printf("%s %d %ld\n", rdma_event_str(e->event), e->status,
	       since_begin());
	fflush(stdout);
	CHECK(!rdma_ack_cm_event(e));
}

static void make(void)
{
	CHECK(!id || !rdma_destroy_id(id));
	CHECK(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
}

int main(int argc, char **argv)
{
	CHECK(argc > 1);
	timeout = atoi(argv[1]);
	channel = rdma_create_event_channel();
	CHECK(channel);
	make();
	for (char **word = argv + 2; *word; word++) {
		if (!strcmp(*word, "new")) {
			make();
		} else if (!strcmp(*word, "wait")) {
			wait_event();
		} else if (!strcmp(*word, "begin")) {
			CHECK(word[1]);
			begin(*++word);
		} else {
			begin(*word);
			wait_event();
		}
	}
	CHECK(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	return 0;
}
