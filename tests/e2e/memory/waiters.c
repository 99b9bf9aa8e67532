// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Threads that sleep on a word of memory while it is registered, and threads in
 * system calls on it or on what lies beside it in the same page.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "undisturbed.h"

#define REGISTRATIONS 3000
#define SOME_ROUNDS   3000

static struct bench t;
static int stop;
static unsigned long rounds; /* of the other threads, all right */

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_ACQUIRE);
}

static uint8_t *new_memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	memset(p, 0, bytes);
	return p;
}

/* ---- asleep ---- */

/* The thread is in a futex's queue. */
static void until_asleep(pid_t tid)
{
	char path[64], text[128];
	FILE *f;
	char state = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	for (int i = 0; i < 20000 && state != 'S'; i++) {
		usleep(1000);
		f = fopen(path, "re");
		CHECK(f && fgets(text, sizeof(text), f));
		fclose(f);
		state = strrchr(text, ')')[2];
	}
	CHECK_EQ(state, 'S');
}

struct waiter {
	uint32_t *word;
	pid_t tid;
	bool woken;
};

/* As those do who share memory with other processes: without the flag
 * FUTEX_PRIVATE_FLAG. */
static void *futex_wait(void *arg)
{
	struct waiter *w = arg;
	struct timespec most = {.tv_sec = 60};

	__atomic_store_n(&w->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!__atomic_load_n(w->word, __ATOMIC_ACQUIRE))
		if (!syscall(SYS_futex, w->word, FUTEX_WAIT, 0, &most, NULL, 0))
			w->woken = true;
	return NULL;
}

static pid_t tid_of(struct waiter *w)
{
	pid_t tid = 0;

	while (!tid) {
		usleep(100);
		tid = __atomic_load_n(&w->tid, __ATOMIC_ACQUIRE);
	}
	return tid;
}

void case_futex(void)
{
	bench_bare(&t);
	for (int again = 0; again < 2; again++) {
		uint8_t *p = new_memory(65536);
		struct waiter w = {.word = (uint32_t *)(p + 128)};
		struct ibv_mr *mr;
		pthread_t thread;

		CHECK(!pthread_create(&thread, NULL, futex_wait, &w));
		until_asleep(tid_of(&w));
		mr = ibv_reg_mr(t.pd, p, 65536, ALL_ACCESS);
		CHECK(mr);
		if (again)
			CHECK(!ibv_dereg_mr(mr));
		__atomic_store_n(w.word, 1, __ATOMIC_RELEASE);
		CHECK_EQ(syscall(SYS_futex, w.word, FUTEX_WAKE, 1, NULL, NULL,
				 0),
			 1);
		CHECK(!pthread_join(thread, NULL));
		CHECK(w.woken);
	}
}

struct sem_waiter {
	sem_t *sem;
	struct waiter w;
};

static void *sem_waits(void *arg)
{
	struct sem_waiter *s = arg;

	__atomic_store_n(&s->w.tid, (pid_t)syscall(SYS_gettid),
			 __ATOMIC_RELEASE);
	CHECK(!sem_wait(s->sem));
	return NULL;
}

/* A semaphore of several processes in memory of one. */
void case_psem(void)
{
	uint8_t *p = new_memory(65536);
	struct sem_waiter s = {.sem = (sem_t *)(p + 64)};
	struct timespec end;
	pthread_t thread;

	bench_bare(&t);
	CHECK(!sem_init(s.sem, 1, 0));
	CHECK(!pthread_create(&thread, NULL, sem_waits, &s));
	until_asleep(tid_of(&s.w));
	CHECK(ibv_reg_mr(t.pd, p, 65536, ALL_ACCESS));
	CHECK(!sem_post(s.sem));
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 20;
	CHECK(!pthread_timedjoin_np(thread, NULL, &end));
}

/* ---- in system calls ---- */

/* Registers and gives back, until the others have done enough beside it. */
static void register_beside(pthread_t *threads, int n, uint8_t *p, size_t bytes)
{
	bench_bare(&t);
	for (int i = 0;
	     i < REGISTRATIONS ||
	     __atomic_load_n(&rounds, __ATOMIC_RELAXED) < SOME_ROUNDS;
	     i++) {
		struct ibv_mr *mr = ibv_reg_mr(t.pd, p, bytes, ALL_ACCESS);

		CHECK(mr);
		if (i % 16 == 0)
			sched_yield();
		CHECK(!ibv_dereg_mr(mr));
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	while (n--)
		CHECK(!pthread_join(threads[n], NULL));
}

#define READ_BYTES 2000

/* read(2) and recv(2) fail with EFAULT where the page is held. */
static void *reader(void *arg)
{
	uint8_t sent[READ_BYTES], *into = arg;
	int sock[2];

	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, sock));
	for (unsigned int i = 0; !stopped(); i++) {
		memset(sent, (int)i, sizeof(sent));
		CHECK_EQ(write(sock[1], sent, sizeof(sent)), READ_BYTES);
		CHECK_EQ(i & 1 ? recv(sock[0], into, sizeof(sent), 0)
			       : read(sock[0], into, sizeof(sent)),
			 READ_BYTES);
		CHECK(!memcmp(into, sent, sizeof(sent)));
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Into the region itself. */
void case_read(void)
{
	uint8_t *p = new_memory(65536);
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, reader, p + 1234));
	register_beside(&thread, 1, p, 65536);
}

/* Two of the heap, next to each other. */
static uint8_t *beside(uint8_t **other, size_t bytes, size_t other_bytes)
{
	uint8_t *p = malloc(bytes);

	*other = malloc(other_bytes);
	CHECK(p && *other);
	CHECK_EQ((uintptr_t)*other >> 12, (uintptr_t)(p + bytes - 1) >> 12);
	memset(p, 0, bytes);
	memset(*other, 0, other_bytes);
	return p;
}

void case_near_read(void)
{
	pthread_t thread;
	uint8_t *mine, *p = beside(&mine, 6000, READ_BYTES);

	CHECK(!pthread_create(&thread, NULL, reader, mine));
	register_beside(&thread, 1, p, 6000);
}

static struct signals {
	pthread_mutex_t lock;
	pthread_cond_t cond[2];
	sem_t sem[2];
	int turn;
} * signals;

/* When futex() fails with EFAULT, glibc ends the process. */
static void *by_cond(void *arg)
{
	int me = (int)(intptr_t)arg;

	pthread_mutex_lock(&signals->lock);
	while (!stopped()) {
		if (signals->turn != me) {
			pthread_cond_wait(&signals->cond[me], &signals->lock);
			continue;
		}
		signals->turn = !me;
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
		pthread_cond_signal(&signals->cond[!me]);
	}
	pthread_cond_signal(&signals->cond[!me]);
	pthread_mutex_unlock(&signals->lock);
	return NULL;
}

static void *by_sem(void *arg)
{
	int me = (int)(intptr_t)arg;

	while (!stopped()) {
		CHECK(!sem_wait(&signals->sem[me]));
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
		CHECK(!sem_post(&signals->sem[!me]));
	}
	CHECK(!sem_post(&signals->sem[!me])); /* who waits still */
	return NULL;
}

static void signal_beside(void *(*how)(void *))
{
	pthread_t thread[2];
	uint8_t *mine, *p = beside(&mine, 60000, sizeof(*signals));

	signals = (struct signals *)mine;
	pthread_mutex_init(&signals->lock, NULL);
	for (unsigned int i = 0; i < 2; i++) {
		pthread_cond_init(&signals->cond[i], NULL);
		CHECK(!sem_init(&signals->sem[i], 0, !i));
	}
	for (uintptr_t i = 0; i < 2; i++)
		CHECK(!pthread_create(&thread[i], NULL, how, (void *)i));
	register_beside(thread, 2, p, 60000);
}

void case_near_cond(void)
{
	signal_beside(by_cond);
}

void case_near_sem(void)
{
	signal_beside(by_sem);
}
