// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A program that does what libraries must bear of programs, with verified messages
 * meanwhile:
 *
 *	guest MODE GID_INDEX GID PORT [SERVER]
 *
 * The server does it, and each side of some modes; the other one answers. Prints
 * what it finds, and "done".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>

#include "forks.h"
#include "kernel-abi/uroce-abi.h"
#include "programs.h"
#include "rounds.h"

#define ROUNDS	    100
#define THREADS	    64
#define GENERATIONS 9

static struct rounds_peer peer;
static struct ibv_context *context;

static void say(const char *what, int number)
{
	printf("%s %d\n", what, number);
	fflush(stdout);
}

static void sleep_ms(long ms)
{
	const struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&ts, NULL);
}

/* Nothing happens for 3 s: the server sleeps at its channel, the client in between. */
static void stay_idle(void)
{
	struct rounds r;

	rounds_connect(&r, context, &peer, true);
	must(!rounds_run(&r, ROUNDS), "rounds");
	say("idle", 0);
	if (peer.client)
		sleep_ms(3000);
	must(!rounds_run(&r, ROUNDS), "rounds");
	rounds_end(&r);
}

/* ---- fork ---- */

static atomic_bool over;

static void *keep_forking(void *arg)
{
	int *n = arg;

	while (!atomic_load(&over)) {
		pid_t pid = fork();

		must(pid >= 0, "fork");
		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		must(waitpid(pid, NULL, 0) == pid, "waitpid");
		++*n;
	}
	return NULL;
}

/* Each side forks and executes meanwhile. */
static void fork_and_exec(void)
{
	struct rounds r;
	pthread_t thread;
	int n = 0;

	rounds_connect(&r, context, &peer, false);
	must(!pthread_create(&thread, NULL, keep_forking, &n), "a thread");
	must(!rounds_run(&r, 30 * ROUNDS), "rounds");
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	must(n > 0, "a child");
	rounds_end(&r);
}

/* Prints what the verbs say in a child. */
static void look(struct rounds *r)
{
	say("poll", rounds_run(r, 1));
	say("post", rounds_post(r));
	say("sleep", rounds_sleep(r));
}

/* The server's child looks at what it has, and its parent goes on. */
static void fork_and_look(void)
{
	struct rounds r;
	int status;
	pid_t pid;

	rounds_connect(&r, context, &peer, true);
	must(!rounds_run(&r, ROUNDS), "rounds");
	if (!peer.client) {
		pid = fork();
		must(pid >= 0, "fork");
		if (!pid) {
			look(&r);
			_exit(0);
		}
		must(waitpid(pid, &status, 0) == pid && !status, "the child");
	}
	must(!rounds_run(&r, ROUNDS), "rounds");
	rounds_end(&r);
}

/* Returns the number of descriptors; *others gets that of those which are no sockets. */
static int count_files(int *others)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;
	char to[16];
	int n = 0;

	must(dir, "/proc/self/fd");
	*others = 0;
	for (; (e = readdir(dir)); n++) {
		ssize_t len = readlinkat(dirfd(dir), e->d_name, to, sizeof(to));

		*others += len < 7 || memcmp(to, "socket:", 7);
	}
	closedir(dir);
	return n;
}

static void become_daemon(void)
{
	must(!daemon(1, 1), "daemon");
}

/* As daemons do that want no terminal. */
static void become_daemon_twice(void)
{
	if (fork())
		_exit(0);
	setsid();
	if (fork())
		_exit(0);
}

/* The server's parent ends; the client has sent before, sends meanwhile, or afterwards. */
static void end_parent(void (*become)(void), long server_ms, long client_ms)
{
	struct rounds r;

	rounds_connect(&r, context, &peer, true);
	must(!rounds_run(&r, ROUNDS), "rounds");
	sleep_ms(peer.client ? client_ms : server_ms);
	if (!peer.client)
		become();
	must(!rounds_run(&r, ROUNDS), "rounds");
	rounds_end(&r);
}

static void daemon_after(void)
{
	end_parent(become_daemon, 200, 0);
}

static void daemon_amid(void)
{
	end_parent(become_daemon, 0, 0);
}

static void daemon_before(void)
{
	end_parent(become_daemon, 0, 1000);
}

/* It sleeps at its channel first. */
static void daemon_sleeps(void)
{
	struct rounds r;

	rounds_connect(&r, context, &peer, true);
	must(!rounds_run(&r, ROUNDS), "rounds");
	if (peer.client) {
		sleep_ms(300);
	} else {
		must(!ibv_req_notify_cq(r.cq, 0), "ibv_req_notify_cq");
		become_daemon();
		must(!rounds_sleep(&r), "an event");
	}
	must(!rounds_run(&r, ROUNDS), "rounds");
	rounds_end(&r);
}

static void daemon_twice(void)
{
	end_parent(become_daemon_twice, 0, 0);
}

/* Generation after generation has the engine: how many descriptors more the last one has than the first, how many of
 * them are no sockets, and how many generations lie between. */
static void daemon_again(void)
{
	struct rounds r;
	int first = 0, first_others = 0, others;

	rounds_connect(&r, context, &peer, true);
	must(!rounds_run(&r, ROUNDS), "rounds");
	for (int i = 0; i <= GENERATIONS; i++) {
		if (!peer.client)
			become_daemon();
		must(!rounds_run(&r, ROUNDS), "rounds");
		if (!i)
			first = count_files(&first_others);
	}
	if (!peer.client) {
		say("more", count_files(&others) - first);
		say("no-sockets", others - first_others);
		say("generations", GENERATIONS);
	}
	rounds_end(&r);
}

/* The context is all that the child has of its parent. */
static void daemon_makes(void)
{
	struct rounds r;

	if (!peer.client)
		become_daemon();
	rounds_connect(&r, context, &peer, true);
	must(!rounds_run(&r, ROUNDS), "rounds");
	rounds_end(&r);
}

/* So it is with a parent that has an engine meanwhile, and each has a connection. */
static void child_makes(void)
{
	struct rounds mine, r;
	int status;
	pid_t pid = 0;

	if (!peer.client) {
		pid = fork();
		must(pid >= 0, "fork");
	}
	if (!pid) {
		rounds_connect(&r, context, &peer, true);
		must(!rounds_run(&r, ROUNDS), "rounds");
		rounds_end(&r);
		if (!peer.client)
			_exit(0);
	} else {
		must(waitpid(pid, &status, 0) == pid && !status, "the child");
	}
	rounds_connect(&mine, context, &peer, true);
	must(!rounds_run(&mine, ROUNDS), "rounds");
	rounds_end(&mine);
}

/* The server's parent goes on for a moment, and ends: what its engine has done the child does not
 * know of. */
static void end_late(void)
{
	struct rounds r;
	int n = 0;

	rounds_connect(&r, context, &peer, true);
	must(!rounds_run(&r, ROUNDS), "rounds");
	if (peer.client) {
		while (!n)
			n = rounds_send(&r);
		say("send", n);
		return;
	}
	if (fork()) {
		must(!rounds_run(&r, 1), "rounds");
		_exit(0);
	}
	sleep_ms(500);
	look(&r);
}

static void keep_serving(void)
{
	serve_and_fork(context, &peer);
}

/* ---- threads ---- */

static void *run_rounds(void *arg)
{
	must(!rounds_run(arg, ROUNDS), "rounds");
	return NULL;
}

static void run_threads(void)
{
	static struct rounds r[THREADS];
	pthread_t thread[THREADS];

	for (uint32_t i = 0; i < THREADS; i++) {
		rounds_connect(&r[i], context, &peer, i & 1);
		r[i].salt = i * 3;
	}
	for (int i = 0; i < THREADS; i++)
		must(!pthread_create(&thread[i], NULL, run_rounds, &r[i]),
		     "a thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < THREADS; i++)
		rounds_end(&r[i]);
}

static void *poll_for_ever(void *arg)
{
	struct rounds *r = arg;
	struct ibv_wc wc;

	for (;;) {
		must(!ibv_poll_cq(r->cq, 1, &wc), "an empty queue");
		pthread_testcancel();
	}
	return NULL;
}

/* Threads that poll other queues of the context are cancelled. */
static void cancel_threads(void)
{
	struct rounds r, other;
	pthread_t thread;

	rounds_connect(&r, context, &peer, false);
	rounds_connect(&other, context, &peer, false);
	for (int i = 0; i < 100; i++) {
		must(!pthread_create(&thread, NULL, poll_for_ever, &other),
		     "a thread");
		must(!rounds_run(&r, 5), "rounds");
		must(!pthread_cancel(thread), "pthread_cancel");
		must(!pthread_join(thread, NULL), "pthread_join");
	}
	rounds_end(&other);
	rounds_end(&r);
}

/* ---- signals ---- */

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

static void take_signals(void)
{
	const struct itimerval every = {{0, 300}, {0, 300}},
			       none = {{0, 0}, {0, 0}};
	const struct sigaction sa = {.sa_handler = count_signal};
	struct rounds r;

	for (int sleeps = 0; sleeps < 2; sleeps++) {
		rounds_connect(&r, context, &peer, sleeps);
		must(!sigaction(SIGALRM, &sa, NULL), "sigaction");
		must(!setitimer(ITIMER_REAL, &every, NULL), "setitimer");
		must(!rounds_run(&r, 10 * ROUNDS), "rounds");
		must(!setitimer(ITIMER_REAL, &none, NULL), "setitimer");
		rounds_end(&r);
	}
	must(signals > 10, "signals");
}

/* ---- descriptors ---- */

#define FIRST_FD 3
#define SOCKETS	 40

/* Nobody has written to them or read from them. */
static void check_sockets(void)
{
	char byte = 0;

	for (int fd = FIRST_FD; fd < FIRST_FD + SOCKETS; fd++)
		must(recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN,
		     "an empty socket");
	for (int fd = FIRST_FD; fd < FIRST_FD + SOCKETS; fd++)
		must(send(fd, &byte, 1, MSG_DONTWAIT) == 1, "a socket");
	sleep_ms(300);
	for (int fd = FIRST_FD; fd < FIRST_FD + SOCKETS; fd++)
		must(recv(fd, &byte, 1, MSG_DONTWAIT) == 1, "what was sent");
}

/* The server closes all descriptors, and opens others under the next numbers.
 * Messages that were on their way may fail in their own way. */
static void close_all(void)
{
	struct rounds r;
	struct ibv_wc wc;
	int pair[2], n;

	rounds_connect(&r, context, &peer, false);
	must(!rounds_run(&r, ROUNDS), "rounds");
	if (peer.client) {
		while (!(n = rounds_send(&r)))
			;
		say("send", n);
		return;
	}
	must(!close_range(FIRST_FD, ~0u, 0), "close_range");
	for (int i = 0; i < SOCKETS / 2; i++)
		must(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), "socketpair");
	must(pair[1] == FIRST_FD + SOCKETS - 1, "the numbers");
	while ((n = ibv_poll_cq(r.cq, 1, &wc)) >= 0)
		;
	say("poll", n);
	say("post", rounds_post(&r));
	check_sockets();
}

/* ---- memory ---- */

static void lose(void)
{
	say("behind", lose_memory(context, &peer));
}

/* ---- uroced is killed, and another one comes ---- */

static volatile sig_atomic_t asked;

static void note_signal(int number)
{
	(void)number;
	asked = 1;
}

/* An old queue pair: all that needs no new path. */
static void change(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.min_rnr_timer = 7, .timeout = 15}, now;
	struct ibv_qp_init_attr init;

	must(!ibv_query_qp(qp, &now, IBV_QP_STATE, &init) &&
		     now.qp_state == IBV_QPS_RTS && now.retry_cnt == 7 &&
		     now.path_mtu == IBV_MTU_1024 && now.ah_attr.is_global &&
		     now.cap.max_send_sge == 1 && init.send_cq == qp->send_cq,
	     "what the old queue pair is");
	must(!ibv_modify_qp(qp, &attr, IBV_QP_MIN_RNR_TIMER), "a timer");
	attr.qp_state = IBV_QPS_SQD;
	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE), "SQD");
	must(!ibv_modify_qp(qp, &attr, IBV_QP_TIMEOUT), "the timeout");
	attr.qp_state = IBV_QPS_RTS;
	attr.cur_qp_state = IBV_QPS_RTS;
	must(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE) ==
		     EINVAL,
	     "another state");
	attr.cur_qp_state = IBV_QPS_SQD;
	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE), "RTS");
	must(ibv_modify_qp(qp, &attr, IBV_QP_PATH_MTU) == EINVAL, "no change");
	must(!ibv_query_qp(qp, &now, IBV_QP_STATE, &init) &&
		     now.qp_state == IBV_QPS_RTS && now.min_rnr_timer == 7 &&
		     now.timeout == 15,
	     "what it is now");
}

/* uroced is another one since. The old domain and completion queue serve for more: a region, and a queue
 * pair; and so do new ones. */
static void make_more(struct rounds *r, bool sleeps)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.send_cq = r->cq,
		.recv_cq = r->cq,
	};
	struct ibv_port_attr port;
	struct rounds other;
	struct ibv_mr *mr;
	struct ibv_qp *qp;

	must(!ibv_query_port(context, 1, &port), "ibv_query_port");
	change(r->qp);
	mr = ibv_reg_mr(r->pd, r->in, 1, IBV_ACCESS_LOCAL_WRITE);
	must(mr, "a region of the old domain");
	qp = ibv_create_qp(r->pd, &init);
	must(qp, "a queue pair of old things");
	must(!ibv_destroy_qp(qp), "its end");
	must(!ibv_dereg_mr(mr), "the region's end");
	rounds_connect(&other, context, &peer, sleeps);
	must(!rounds_run(&other, ROUNDS), "rounds of a new connection");
	must(!rounds_run(r, ROUNDS), "rounds of the old one");
	rounds_end(&other);
}

/* The two make rounds until the client gets SIGUSR1, and print how many there were. */
static void run_until_asked(bool sleeps, bool more_then)
{
	const struct sigaction sa = {.sa_handler = note_signal,
				     .sa_flags = SA_RESTART};
	struct ibv_async_event event;
	struct rounds r;
	char more = 1;

	must(!sigaction(SIGUSR1, &sa, NULL), "sigaction");
	rounds_connect(&r, context, &peer, sleeps);
	for (int n = ROUNDS; more; n += ROUNDS) {
		must(!rounds_run(&r, ROUNDS), "rounds");
		say("rounds", n);
		if (peer.client) {
			more = !asked;
			must(write(peer.sock, &more, 1) == 1, "write");
		} else {
			must(read(peer.sock, &more, 1) == 1, "read");
		}
	}
	if (more_then)
		make_more(&r, sleeps);
	must(!fcntl(context->async_fd, F_SETFL, O_NONBLOCK), "fcntl");
	while (!ibv_get_async_event(context, &event)) {
		say("event", event.event_type);
		ibv_ack_async_event(&event);
	}
	rounds_end(&r);
}

/* Opens the device as a client without our provider does: the context has no slot. */
static int open_file(void)
{
	struct ib_uverbs_get_context_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_get_context in;
	} get = {.hdr = {.command = IB_USER_VERBS_CMD_GET_CONTEXT,
			 .in_words = sizeof(get) / 4,
			 .out_words = sizeof(resp) / 4},
		 .in.response = (uintptr_t)&resp};
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/dev/infiniband/%s",
		 context->device->dev_name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	must(fd >= 0, "open");
	must(write(fd, &get, sizeof(get)) == sizeof(get), "a context");
	return fd;
}

/* Asks for the slots of other programs, or says that it has one now, with a file that has none. Says how many it
 * got, and how many it asked for that somebody has or may have. */
static void steal_slots(void)
{
	int fd = open_file(), got = 0, others = 0;

	for (uint32_t n = 0; n < 80; n++) {
		struct uroce_engine_resume in = {n / 2, n % 2};
		uint32_t resp;
		struct {
			struct ib_uverbs_ioctl_hdr hdr;
			struct ib_uverbs_attr attr[2];
		} cmd = {.hdr = {.length = sizeof(cmd),
				 .object_id = UVERBS_OBJECT_DEVICE,
				 .method_id = UROCE_METHOD_ENGINE_RESUME,
				 .num_attrs = 2},
			 .attr = {{.attr_id = UROCE_ATTR_ENGINE_RESUME,
				   .len = sizeof(in),
				   .flags = UVERBS_ATTR_F_MANDATORY},
				  {.attr_id = UROCE_ATTR_ENGINE_RESUME_RESP,
				   .len = sizeof(resp),
				   .flags = UVERBS_ATTR_F_MANDATORY,
				   .data = (uintptr_t)&resp}}};

		memcpy(&cmd.attr[0].data, &in, sizeof(in));
		if (!ioctl(fd, RDMA_VERBS_IOCTL, &cmd))
			got++;
		else if (errno == ENOENT)
			others++;
		else
			must(errno == EINVAL, "EINVAL");
	}
	close(fd);
	say("stolen", got);
	say("others", others);
}

/* So many that of those of two uroceds some have the same number of 24 bits: 8 in the mean. */
#define REGIONS 12000

static void make_regions(struct ibv_pd *pd)
{
	static uint8_t byte;

	for (uint32_t i = 0; i < REGIONS; i++)
		must(ibv_reg_mr(pd, &byte, 1, IBV_ACCESS_LOCAL_WRITE),
		     "one of many regions");
	say("regions", REGIONS);
}

static void restart_regions(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);

	must(pd, "ibv_alloc_pd");
	make_regions(pd);
	run_until_asked(false, false);
	make_regions(pd);
	fflush(stdout);
	_exit(0);
}

static void restart_polls(void)
{
	run_until_asked(false, false);
}

static void restart_sleeps(void)
{
	run_until_asked(true, false);
}

static void restart_more(void)
{
	run_until_asked(false, true);
}

static void restart_more_sleeps(void)
{
	run_until_asked(true, true);
}

/* The server is a child beside its parent, which goes on with what it has. */
static void restart_child(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq;
	struct ibv_wc wc;
	int status;
	pid_t pid;

	must(pd, "ibv_alloc_pd");
	cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	must(cq, "ibv_create_cq");
	pid = peer.client ? 0 : fork();
	must(pid >= 0, "fork");
	if (!pid) {
		run_until_asked(false, true);
		if (peer.client)
			return;
		fflush(stdout);
		_exit(0);
	}
	must(waitpid(pid, &status, 0) == pid && !status, "the child");
	must(!ibv_poll_cq(cq, 1, &wc), "ibv_poll_cq");
	must(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd), "the parent's end");
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{"restart", restart_polls},
	{"restart_sleeps", restart_sleeps},
	{"steal", steal_slots},
	{"restart_more", restart_more},
	{"restart_child", restart_child},
	{"restart_regions", restart_regions},
	{"restart_more_sleeps", restart_more_sleeps},
	{"idle", stay_idle},
	{"exec", fork_and_exec},
	{"fork", fork_and_look},
	{"daemon_late", end_late},
	{"daemon_after", daemon_after},
	{"daemon_amid", daemon_amid},
	{"daemon_before", daemon_before},
	{"daemon_twice", daemon_twice},
	{"daemon_sleeps", daemon_sleeps},
	{"daemon_makes", daemon_makes},
	{"daemon_again", daemon_again},
	{"child_makes", child_makes},
	{"serves", keep_serving},
	{"threads", run_threads},
	{"cancel", cancel_threads},
	{"signals", take_signals},
	{"close", close_all},
	{"gone", lose},
};

int main(int argc, char **argv)
{
	rounds_begin(&peer, argc, argv);
	context = rounds_open();
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			say("done", 0);
			return 0;
		}
	must(run_program(argv[1], context, &peer) ||
		     run_confined(argv[1], context, &peer),
	     "a mode");
	say("done", 0);
	return 0;
}
