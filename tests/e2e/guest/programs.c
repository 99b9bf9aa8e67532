// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The modes of programs.h. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs.h"

#define MANY	300 /* rounds */
#define ENOUGH	10u /* times that it is done */
#define PAGE	4096u
#define OBJECTS 64u /* pages that a collector protects */
#define BITE	(1u << 20)
#define BITES	1024

static atomic_bool over;
static atomic_uint times; /* how often it was done */

/* ---- vfork ---- */

static void *vfork_and_exec(void *arg)
{
	(void)arg;
	while (!atomic_load(&over) || atomic_load(&times) < ENOUGH) {
		pid_t pid = vfork();

		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		must(pid > 0 && waitpid(pid, NULL, 0) == pid, "a child");
		atomic_fetch_add(&times, 1);
	}
	return NULL;
}

/* Runs rounds while a thread does something else again and again. */
static void beside(void *(*work)(void *), struct ibv_context *context,
		   const struct rounds_peer *peer)
{
	struct rounds r;
	pthread_t thread;

	for (int sleeps = 0; sleeps < 2; sleeps++) {
		atomic_store(&over, false);
		atomic_store(&times, 0);
		rounds_connect(&r, context, peer, sleeps);
		must(!pthread_create(&thread, NULL, work, NULL), "a thread");
		must(!rounds_run(&r, MANY), "rounds");
		atomic_store(&over, true);
		must(!pthread_join(thread, NULL), "pthread_join");
		rounds_end(&r);
	}
}

static void keep_vforking(struct ibv_context *context,
			  const struct rounds_peer *peer)
{
	beside(vfork_and_exec, context, peer);
}

/* ---- a handler of its own ---- */

static char *heap;

/* As a collector's, which opens the page. */
static void open_page(int number, siginfo_t *info, void *state)
{
	char *at = info->si_addr;

	(void)state;
	if (at < heap || at >= heap + OBJECTS * PAGE) {
		signal(number, SIG_DFL);
		return;
	}
	mprotect(heap + (at - heap) / PAGE * PAGE, PAGE,
		 PROT_READ | PROT_WRITE);
	atomic_fetch_add(&times, 1);
}

static void *protect_and_touch(void *arg)
{
	(void)arg;
	while (!atomic_load(&over) || atomic_load(&times) < ENOUGH) {
		must(!mprotect(heap, OBJECTS * PAGE, PROT_NONE), "mprotect");
		for (unsigned i = 0; i < OBJECTS; i++)
			heap[i * PAGE]++;
	}
	return NULL;
}

/* With a context from before the handler, and with one from after it. */
static void protect_pages(struct ibv_context *context,
			  const struct rounds_peer *peer)
{
	struct sigaction sa = {.sa_sigaction = open_page,
			       .sa_flags = SA_SIGINFO | SA_NODEFER},
			 now;
	struct ibv_context *later;

	heap = mmap(NULL, OBJECTS * PAGE, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(heap != MAP_FAILED, "mmap");
	must(!sigaction(SIGSEGV, &sa, NULL), "sigaction");
	beside(protect_and_touch, context, peer);
	later = rounds_open();
	beside(protect_and_touch, later, peer);
	must(!ibv_close_device(later), "ibv_close_device");
	must(!sigaction(SIGSEGV, NULL, &now) && now.sa_sigaction == open_page,
	     "the handler is still there");
}

/* ---- all signals blocked ---- */

static void block_signals(struct ibv_context *context,
			  const struct rounds_peer *peer)
{
	struct ibv_context *later;
	sigset_t all;

	sigfillset(&all);
	must(!pthread_sigmask(SIG_SETMASK, &all, NULL), "pthread_sigmask");
	must(!raise(SIGUSR1) && !raise(SIGALRM), "raise");
	later = rounds_open();
	for (int i = 0; i < 4; i++) {
		struct rounds r;

		rounds_connect(&r, i / 2 ? later : context, peer, i & 1);
		must(!rounds_run(&r, MANY), "rounds");
		rounds_end(&r);
	}
	must(!ibv_close_device(later), "ibv_close_device");
}

/* ---- ends ---- */

static void *end_by_exit(void *arg)
{
	(void)arg;
	usleep(100000);
	printf("done 0\n");
	exit(0);
}

/* The system ends who takes more than its group may have. */
static void *end_by_eating(void *arg)
{
	usleep(100000);
	for (int i = 0; i < BITES; i++) {
		char *more = mmap(NULL, BITE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		must(more != MAP_FAILED, "mmap");
		memset(more, 1, BITE);
	}
	return arg;
}

static void *end_by_abort(void *arg)
{
	(void)arg;
	usleep(100000);
	abort();
}

static void end_by(void *(*way)(void *), struct ibv_context *context,
		   const struct rounds_peer *peer)
{
	struct rounds r;
	pthread_t thread;
	int err = 0;

	rounds_connect(&r, context, peer, false);
	if (!peer->client)
		must(!pthread_create(&thread, NULL, way, NULL), "a thread");
	while (!err)
		err = peer->client ? rounds_send(&r) : rounds_run(&r, 1);
	printf("send %d\n", err);
}

static void exit_in_thread(struct ibv_context *context,
			   const struct rounds_peer *peer)
{
	end_by(end_by_exit, context, peer);
}

static void abort_in_traffic(struct ibv_context *context,
			     const struct rounds_peer *peer)
{
	end_by(end_by_abort, context, peer);
}

/* ---- always something on its way ---- */

/* For ever: the client does not wait for the answers. */
static void stream(struct ibv_context *context, const struct rounds_peer *peer)
{
	struct rounds r;
	int err = 0;

	rounds_connect(&r, context, peer, false);
	for (uint32_t n = 1; !err; n++) {
		err = peer->client ? rounds_send(&r) : rounds_run(&r, 1);
		if (n % MANY == 0) {
			printf("rounds %u\n", n);
			fflush(stdout);
		}
	}
	printf("send %d\n", err);
}

/* ---- ends with its last thread ---- */

static struct rounds_peer parting;
static struct ibv_context *parted;

static void say_done(void)
{
	printf("done 0\n");
}

static void *go_on_alone(void *arg)
{
	struct rounds r;

	(void)arg;
	rounds_connect(&r, parted, &parting, true);
	must(!rounds_run(&r, MANY), "rounds");
	return NULL;
}

/* Without anything that is made having been destroyed, another context among it. */
static void end_by_threads(struct ibv_context *context,
			   const struct rounds_peer *peer)
{
	pthread_t thread;

	parting = *peer;
	parted = context;
	rounds_open();
	must(!atexit(say_done), "atexit");
	must(!pthread_create(&thread, NULL, go_on_alone, NULL), "a thread");
	pthread_exit(NULL);
}

static void eat(struct ibv_context *context, const struct rounds_peer *peer)
{
	end_by(end_by_eating, context, peer);
}

static const struct {
	const char *name;
	void (*run)(struct ibv_context *, const struct rounds_peer *);
} programs[] = {
	{"vfork", keep_vforking},
	{"handler", protect_pages},
	{"masked", block_signals},
	{"exit", exit_in_thread},
	{"abort", abort_in_traffic},
	{"parts", end_by_threads},
	{"eats", eat},
	{"streams", stream},
};

bool run_program(const char *name, struct ibv_context *context,
		 const struct rounds_peer *peer)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!strcmp(name, programs[i].name)) {
			programs[i].run(context, peer);
			return true;
		}
	return false;
}
