// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Threads that make completion channels and end them, while uroced is killed again and again:
 *
 *	channels
 *
 * Prints "made" for each twenty, and "done" after SIGUSR1. Each is made with the uroced that there
 * is, whichever thread has found the next one first.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include "tests/e2e/guest/rounds.h"

#define THREADS 4
#define SAYS	20

static struct ibv_context *context;
static _Atomic bool ends;
static _Atomic unsigned int made;

static void *make(void *arg)
{
	while (!ends) {
		struct ibv_comp_channel *channel =
			ibv_create_comp_channel(context);

		must(channel, "ibv_create_comp_channel");
		must(!ibv_destroy_comp_channel(channel), "its end");
		if (++made % SAYS == 0)
			printf("made\n");
	}
	return arg;
}

int main(void)
{
	pthread_t thread[THREADS];
	struct ibv_cq *cq;
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	context = rounds_open();
	cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	must(cq, "ibv_create_cq");
	for (int i = 0; i < THREADS; i++)
		must(!pthread_create(&thread[i], NULL, make, NULL), "thread");
	sigwait(&set, &number);
	ends = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	must(!ibv_close_device(context), "ibv_close_device");
	printf("done 0\n");
	return 0;
}
