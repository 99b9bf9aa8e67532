// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * undisturbed_memory CASE: what a program notices of its memory's registration,
 * which with a card is nothing: pages stay where they are. Here: what a forked
 * child does first, to the page beside a registered buffer.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "undisturbed.h"

static struct bench t;
static pthread_barrier_t step;

/* The header of a thread's arena lies in the page before its first buffer. */
static void *owner(void *arg)
{
	size_t bytes = 100000;
	uint8_t *p = malloc(bytes);
	struct ibv_mr *mr;

	CHECK(p);
	memset(p, 1, bytes);
	mr = ibv_reg_mr(t.pd, p, bytes, ALL_ACCESS);
	CHECK(mr);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step); /* the child has come and gone */
	CHECK(!ibv_dereg_mr(mr));
	free(p);
	return NULL;
}

static void fork_and_wait(void)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child)
		_exit(0);
	CHECK(waitpid(child, &status, 0) == child && !status);
}

/* fork() of glibc makes the arenas anew in the child; were the page shared, the
 * thread's end would find its arena without threads, and abort. */
static void case_arena(void)
{
	pthread_t thread;

	bench_bare(&t);
	for (int i = 0; i < 20; i++) {
		CHECK(!pthread_create(&thread, NULL, owner, NULL));
		pthread_barrier_wait(&step);
		fork_and_wait();
		pthread_barrier_wait(&step);
		CHECK(!pthread_join(thread, NULL));
	}
}

static void *locker(void *arg)
{
	flockfile(arg);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	funlockfile(arg);
	return NULL;
}

/* A FILE whose lock lies in a page of the buffer. */
static FILE *file_beside(const uint8_t *p, size_t bytes)
{
	FILE *f;

	for (int i = 0; i < 500; i++) {
		f = fopen("/dev/null", "we");
		CHECK(f);
		if ((uintptr_t)f >> 12 >= (uintptr_t)p >> 12 &&
		    (uintptr_t)f >> 12 <= (uintptr_t)(p + bytes - 1) >> 12)
			return f;
	}
	CHECK(!"a file beside the buffer");
	return NULL;
}

/* The child makes all locks of stdio anew. */
static void case_filelock(void)
{
	size_t bytes = 6000;
	uint8_t *p = malloc(bytes);
	FILE *f = file_beside(p, bytes);
	pthread_t thread;

	bench_bare(&t);
	memset(p, 1, bytes);
	CHECK(ibv_reg_mr(t.pd, p, bytes, ALL_ACCESS));
	CHECK(!pthread_create(&thread, NULL, locker, f));
	pthread_barrier_wait(&step);
	fork_and_wait();
	CHECK(ftrylockfile(f));
	pthread_barrier_wait(&step);
	CHECK(!pthread_join(thread, NULL));
}

static const struct verbs_test cases_here[] = {
	{"pages", case_pages},	       {"arena", case_arena},
	{"filelock", case_filelock},   {"futex", case_futex},
	{"psem", case_psem},	       {"read", case_read},
	{"near_read", case_near_read}, {"near_cond", case_near_cond},
	{"near_sem", case_near_sem},
};

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	setvbuf(stdout, NULL, _IOLBF, 0);
	CHECK(!pthread_barrier_init(&step, NULL, 2));
	for (size_t i = 0; i < sizeof(cases_here) / sizeof(*cases_here); i++)
		if (!strcmp(argv[1], cases_here[i].name)) {
			cases_here[i].run();
			printf("%s: undisturbed\n", argv[1]);
			return 0;
		}
	fprintf(stderr, "no case %s\n", argv[1]);
	return 2;
}
