// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The keeper: what a process leaves with it when it is killed, the next one gets; what
 * is no message of uroced ends the connection, and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "device/keeper.h"
#include "engine/ground/keep.h"
#include "tests/check.h"
#include "util/os/event_pair.h"
#include "util/os/scm.h"

static struct ur_daemon daemon_of = {.lock_fd = -1};

static const struct ur_kept
	life = {.kind = UR_KEPT_LIFE, .device = 1, .place = 9, .value = 4711},
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
	CHECK_EQ(ur_keep_put(&life, pair[0]), 0);
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
	CHECK(!ur_keep_next(UR_KEPT_LIFE, 2, &at, &what));
	what = life;
	fd = ur_keep_take(&what);
	CHECK(fd >= 0 && what.value == 4711);
	close(fd);
	ur_keep_forget();
	CHECK(!has_hung_up(0));
	ur_keep_drop(&life);
	CHECK(has_hung_up(0));
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
	CHECK(!ur_keep_has_left_life(4713));
	ur_keep_forget();
	CHECK(has_hung_up(0));
	ur_keeper_stop(&daemon_of);
	close(program_fd);
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
	return cases_status();
}
