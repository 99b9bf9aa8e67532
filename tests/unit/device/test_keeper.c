// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The keeper: what a process leaves with it when it is killed, the next one gets; what
 * is no message of uroced ends the connection, and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "device/keeper.h"
#include "engine/ground/keep.h"
#include "tests/check.h"
#include "util/os/clock.h"
#include "util/os/event_pair.h"
#include "util/os/scm.h"

#define PATIENCE_MS 20000

static struct ur_daemon daemon_of = {.lock_fd = -1};

static const struct ur_kept
	liveness = {.kind = UR_KEPT_LIVENESS,
		    .device = 1,
		    .place = 9,
		    .value = 4711},
	file = {.kind = UR_KEPT_COUNTERS, .device = 1, .place = 9},
	events = {.kind = UR_KEPT_EVENTS, .place = 1, .value = 4711},
	others = {.kind = UR_KEPT_EVENTS, .place = 2, .value = 4712};

static void make_dir(void)
{
	char dir[] = "/tmp/uroce-keeper-XXXXXX";

	CHECK(mkdtemp(dir));
	snprintf(daemon_of.run_dir, sizeof(daemon_of.run_dir), "%s", dir);
}

static void remove_dir(void)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/keeper", daemon_of.run_dir);
	unlink(path);
	CHECK(!rmdir(daemon_of.run_dir));
}

/* A program's end of a pair of which the other one is kept. */
static int program_fd;

static bool has_hung_up(int ms)
{
	struct pollfd p = {.fd = program_fd};

	return poll(&p, 1, ms) == 1 && (p.revents & POLLHUP);
}

static void put_all(int pair[2])
{
	int fd = memfd_create("kept", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, "text", 4) == 4);
	ur_keeper_start(&daemon_of);
	CHECK_EQ(ur_keep_put(&liveness, pair[0]), 0);
	CHECK_EQ(ur_keep_put(&file, pair[0]), 0);
	CHECK_EQ(ur_keep_put(&file, fd), 0); /* in its place */
	CHECK_EQ(ur_keep_put(&events, fd), 0);
	CHECK_EQ(ur_keep_put(&others, fd), 0);
}

/* A process starts a keeper, and is killed. */
static void leave(void)
{
	int pair[2], status;
	pid_t pid;

	make_dir();
	CHECK_EQ(ur_event_pair(pair), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(pair[1]);
		put_all(pair);
		raise(SIGKILL);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	close(pair[0]);
	program_fd = pair[1];
}

static void take_over(void)
{
	struct ur_kept what;
	char text[4];
	u32 at = 0;
	int fd;

	leave();
	ur_keeper_start(&daemon_of);
	what = file;
	fd = ur_keep_take(&what);
	CHECK(fd >= 0 && pread(fd, text, 4, 0) == 4 &&
	      !memcmp(text, "text", 4));
	CHECK_EQ(ur_keep_take(&what), -1);
	close(fd);
	CHECK(ur_keep_next(UR_KEPT_EVENTS, 0, &at, &what));
	CHECK(what.place == 1 && what.value == 4711);
	CHECK(!ur_keep_next(UR_KEPT_EVENTS, 0, &at, &what));
	at = 0;
	CHECK(!ur_keep_next(UR_KEPT_LIVENESS, 2, &at, &what));
	what = liveness;
	fd = ur_keep_take(&what);
	CHECK(fd >= 0 && what.value == 4711);
	close(fd);
	ur_keep_forget();
	CHECK(!has_hung_up(0));
	ur_keep_drop(&liveness);
	CHECK(has_hung_up(PATIENCE_MS));
	ur_keeper_stop(&daemon_of);
	remove_dir();
}

/* Nobody takes it: it is kept no more. */
static void forgotten(void)
{
	leave();
	ur_keeper_start(&daemon_of);
	CHECK(!has_hung_up(0));
	ur_keep_forget();
	CHECK(has_hung_up(0));
	ur_keeper_stop(&daemon_of);
	remove_dir();
}

static void ordinary_end(void)
{
	leave();
	ur_keeper_start(&daemon_of);
	ur_keeper_stop(&daemon_of);
	CHECK(has_hung_up(0));
	remove_dir();
}

static int connect_to(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%.90s/keeper",
		 daemon_of.run_dir);
	CHECK(fd >= 0 && !connect(fd, (void *)&sun, sizeof(sun)));
	return fd;
}

/* The keeper has ended the connection: everything that it has sent comes before. */
static void wait_for_end(int fd)
{
	char bytes[256];
	ssize_t n;

	do
		n = recv(fd, bytes, sizeof(bytes), 0);
	while (n > 0);
	CHECK(!n || errno == ECONNRESET);
	close(fd);
}

/* Returns whether the keeper has shown all that it has; false: it has ended. */
static bool take_all(int link)
{
	struct ur_keep_msg msg = {0};

	while (msg.op != UR_KEEP_DONE &&
	       recv(link, &msg, sizeof(msg), 0) == sizeof(msg))
		;
	return msg.op == UR_KEEP_DONE;
}

static void say(const void *bytes, size_t len, u32 fds)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes,
			    .iov_len = len};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	const int fd[UR_SCM_MAX] = {0};
	union ur_scm scm;
	int link = connect_to();

	ur_scm_put(&mh, &scm, fd, fds);
	CHECK(sendmsg(link, &mh, MSG_NOSIGNAL) == (ssize_t)len);
	wait_for_end(link);
	CHECK(!has_hung_up(0));
}

static void nonsense(void)
{
	struct ur_keep_msg msg = {.version = UR_KEEP_VERSION, .op = 99};
	char longer[2 * sizeof(msg)] = {0};

	leave();
	say("x", 1, 0);
	say(&msg, sizeof(msg), 0);
	say(&msg, sizeof(msg) - 1, 1);
	say(longer, sizeof(longer), 8);
	msg.op = UR_KEEP_PUT;
	msg.version++;
	say(&msg, sizeof(msg), 1);
	memcpy(longer, &msg, sizeof(msg));
	say(longer, sizeof(longer), 1);
	ur_keeper_start(&daemon_of);
	ur_keep_forget();
	CHECK(has_hung_up(0));
	ur_keeper_stop(&daemon_of);
	remove_dir();
}

/* Each that takes over is killed by what it takes: in the end nothing is left, and the next
 * one begins anew. */
static void loop(void)
{
	u32 tries = 0;
	int link;

	leave();
	while (!has_hung_up(0)) {
		CHECK(++tries < 1000);
		link = connect_to();
		take_all(link);
		close(link);
	}
	CHECK(tries >
	      25); /* "any moment" of a uroced's life is none of these */
	ur_keeper_start(&daemon_of);
	ur_keep_forget();
	ur_keeper_stop(&daemon_of);
	remove_dir();
}

/* A message without its descriptor is refused, and the next one is served. */
static void no_descriptor(void)
{
	struct ur_keep_msg msg = {.version = UR_KEEP_VERSION,
				  .op = UR_KEEP_PUT,
				  .what = {.kind = UR_KEPT_SETTINGS}};
	int link;

	leave();
	link = connect_to();
	CHECK(send(link, &msg, sizeof(msg), 0) == sizeof(msg));
	CHECK(take_all(link));
	CHECK(recv(link, &msg, sizeof(msg), 0) == sizeof(msg));
	CHECK(msg.op == UR_KEEP_DONE && msg.ret == -EMFILE);
	msg = (struct ur_keep_msg){.version = UR_KEEP_VERSION,
				   .op = UR_KEEP_END};
	CHECK(send(link, &msg, sizeof(msg), 0) == sizeof(msg));
	wait_for_end(link);
	CHECK(has_hung_up(0));
	remove_dir();
}

/* Programs have ended meanwhile: so has the keeper, and there is a new one. */
static void last_program(void)
{
	struct ur_kept what = file;
	int link;

	leave();
	link = connect_to();
	close(program_fd);
	close(link);
	ur_keeper_start(&daemon_of);
	/* The old one may have been asked before it has looked. */
	ur_keep_forget();
	CHECK_EQ(ur_keep_take(&what), -1);
	ur_keeper_stop(&daemon_of);
	remove_dir();
}

/* A channel of a process without objects is kept for itself, until its program closes it. */
static void alone(void)
{
	struct ur_kept what = {.kind = UR_KEPT_EVENTS,
			       .place = 3,
			       .value = 4713 | UR_KEPT_ALONE};
	int pair[2], other[2], status;
	u32 at = 0;
	pid_t pid;

	make_dir();
	CHECK(!ur_event_pair(pair) && !ur_event_pair(other));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(pair[1]);
		close(other[1]);
		ur_keeper_start(&daemon_of);
		CHECK_EQ(ur_keep_put(&what, pair[0]), 0);
		CHECK_EQ(ur_keep_put(&others, other[0]), 0);
		raise(SIGKILL);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	close(pair[0]);
	close(other[0]);
	program_fd = other[1];
	CHECK(has_hung_up(1000)); /* it has no engine */
	close(other[1]);
	program_fd = pair[1];
	CHECK(!has_hung_up(0));
	ur_keeper_start(&daemon_of);
	CHECK(ur_keep_next(UR_KEPT_EVENTS, 0, &at, &what));
	CHECK(what.place == 3 && what.value == (4713 | UR_KEPT_ALONE));
	CHECK(!ur_keep_has_left_liveness(4713));
	ur_keep_forget();
	CHECK(has_hung_up(0));
	ur_keeper_stop(&daemon_of);
	close(program_fd);
	remove_dir();
}

/* ---- a keeper that gets no processor ---- */

static const struct ur_kept sock = {
	.kind = UR_KEPT_SOCKET, .device = 1, .place = 9, .value = 3};

/* The keeper that this process has started. */
static pid_t find_keeper(void)
{
	char path[64], text[64] = "";
	pid_t self = getpid();
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", self, self);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return atoi(text);
}

static pid_t stop_keeper(void)
{
	pid_t pid = find_keeper();
	int status;

	CHECK(!kill(pid, SIGSTOP));
	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	return pid;
}

/* Runs uroced, which kills itself. Returns its keeper, which is stopped. */
static pid_t leave_stopped(void (*uroced)(int fd))
{
	int pair[2], told[2], status;
	pid_t pid, keeper;

	make_dir();
	CHECK(!ur_event_pair(pair) && !pipe(told));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(pair[1]);
		ur_keeper_start(&daemon_of);
		CHECK_EQ(ur_keep_put(&liveness, pair[0]), 0);
		keeper = stop_keeper();
		CHECK(write(told[1], &keeper, sizeof(keeper)) ==
		      sizeof(keeper));
		uroced(pair[0]);
		raise(SIGKILL);
	}
	close(told[1]);
	CHECK(read(told[0], &keeper, sizeof(keeper)) == sizeof(keeper));
	close(told[0]);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	close(pair[0]);
	program_fd = pair[1];
	return keeper;
}

static void end_all(void)
{
	ur_keep_forget();
	ur_keeper_stop(&daemon_of);
	close(program_fd);
	remove_dir();
}

static void put_many(int fd)
{
	CHECK_EQ(ur_keep_put(&file, fd), 0);
	CHECK_EQ(ur_keep_put(&events, fd), 0);
	ur_keep_drop(&file);
	CHECK_EQ(ur_keep_put(&others, fd), 0);
}

/* uroced is killed while all that it has said is still on its way. */
static void killed_beside_stopped(void)
{
	struct ur_kept what = file;

	CHECK(!kill(leave_stopped(put_many), SIGCONT));
	CHECK_EQ(ur_keeper_start(&daemon_of), 0);
	CHECK_EQ(ur_keep_take(&what), -1);
	what = liveness;
	CHECK(ur_keep_take(&what) >= 0);
	what = events;
	CHECK(ur_keep_take(&what) >= 0);
	end_all();
}

/* Fills the link, goes on all the same, and is late for nothing once the keeper goes on. */
static void go_on_beside(int fd)
{
	struct ur_kept more = {.kind = UR_KEPT_COUNTERS, .device = 2},
		       renumbered = liveness;
	pid_t keeper = find_keeper();
	u64 limit;
	int err;

	CHECK_EQ(ur_keep_put(&sock, fd), 0);
	CHECK(!ur_keep_is_late());
	for (err = 0; !err; more.place++)
		err = ur_keep_put(&more, fd);
	CHECK_EQ(err, -EAGAIN);
	CHECK(more.place > 64 && more.place < UR_KEEP_MAX);
	for (u32 value = 0; value < UR_KEEP_MAX; value++) {
		renumbered.value = value;
		ur_keep_renumber(&renumbered, fd);
	}
	ur_keep_drop(&sock);
	CHECK(ur_keep_is_late());
	ur_keep_drop(&more);
	CHECK(!kill(keeper, SIGCONT));
	limit = ur_clock_ns(CLOCK_MONOTONIC) + PATIENCE_MS * 1000000ull;
	while (ur_keep_is_late())
		CHECK(ur_clock_ns(CLOCK_MONOTONIC) < limit);
	CHECK_EQ(ur_keep_put(&others, fd), 0);
}

static void slow(void)
{
	struct ur_kept what = liveness;

	leave_stopped(go_on_beside);
	CHECK_EQ(ur_keeper_start(&daemon_of), 0);
	CHECK(ur_keep_take(&what) >= 0 && what.value == UR_KEEP_MAX - 1);
	what = sock;
	CHECK_EQ(ur_keep_take(&what), -1);
	what = (struct ur_kept){
		.kind = UR_KEPT_COUNTERS, .device = 2, .place = 64};
	CHECK(ur_keep_take(&what) >= 0);
	end_all();
}

/* Waits until the process that writes there has logged that. */
static void wait_for_line(int fd, const char *line)
{
	char text[1024] = "";
	size_t n = 0;
	ssize_t got;

	while (!strstr(text, line)) {
		got = read(fd, text + n, sizeof(text) - 1 - n);
		CHECK(got > 0);
		n += (size_t)got;
	}
}

/* The next uroced waits for a keeper that is stopped, and does not begin another one. */
static void started_beside_stopped(void)
{
	pid_t keeper = leave_stopped(put_many), pid;
	struct ur_kept what = liveness;
	int log[2], status;

	CHECK(!pipe(log));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		dup2(log[1], STDERR_FILENO);
		close(log[1]);
		if (ur_keeper_start(&daemon_of) || ur_keep_take(&what) < 0)
			_exit(1);
		ur_keeper_stop(&daemon_of);
		_exit(0);
	}
	close(log[1]);
	wait_for_line(log[0], "waiting");
	close(log[0]);
	CHECK(!kill(keeper, SIGCONT));
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(has_hung_up(PATIENCE_MS));
	close(program_fd);
	remove_dir();
}

/* A keeper with few descriptors refuses what it cannot have before it is granted. */
static void full(void)
{
	struct ur_kept more = {.kind = UR_KEPT_COUNTERS, .device = 2};
	struct rlimit rl, few = {.rlim_cur = 64};
	int fd = memfd_create("kept", MFD_CLOEXEC), err = 0;

	CHECK(fd >= 0 && !getrlimit(RLIMIT_NOFILE, &rl));
	few.rlim_max = rl.rlim_max;
	make_dir();
	CHECK(!setrlimit(RLIMIT_NOFILE, &few));
	CHECK_EQ(ur_keeper_start(&daemon_of), 0);
	CHECK(!setrlimit(RLIMIT_NOFILE, &rl));
	for (; !err && more.place < UR_KEEP_MAX; more.place += !err)
		do
			err = ur_keep_put(&more, fd);
		while (err == -EAGAIN);
	CHECK_EQ(err, -ENOSPC);
	more.place = 0;
	ur_keep_renumber(&more, fd);
	ur_keep_drop(&more);
	ur_keep_forget(); /* the keeper has carried that out */
	CHECK_EQ(ur_keep_put(&more, fd), 0);
	close(fd);
	ur_keeper_stop(&daemon_of);
	remove_dir();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(take_over());
	CASE(forgotten());
	CASE(ordinary_end());
	CASE(nonsense());
	CASE(loop());
	CASE(no_descriptor());
	CASE(last_program());
	CASE(alone());
	CASE(killed_beside_stopped());
	CASE(slow());
	CASE(started_beside_stopped());
	CASE(full());
	return cases_status();
}
