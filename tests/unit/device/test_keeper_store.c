// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* systemd's store of descriptors in the keeper's place. This process is systemd: it has the store,
 * and starts one uroced after the other with what is in it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "device/keeper.h"
#include "engine/ground/keep.h"
#include "tests/check.h"
#include "util/os/event_pair.h"
#include "util/os/scm.h"

#define PROCESS 4711u
#define NOBODY	4712u

static struct ur_daemon daemon_of = {.lock_fd = -1};

static const struct ur_kept liveness = {.kind = UR_KEPT_LIVENESS,
					.device = 1,
					.place = 9,
					.value = PROCESS},
			    file = {.kind = UR_KEPT_COUNTERS,
				    .device = 1,
				    .place = 9},
			    sock = {.kind = UR_KEPT_SOCKET,
				    .device = 1,
				    .place = 9,
				    .value = 2};

/* ---- systemd ---- */

static struct {
	int notify;
	char dir[32];
	struct {
		char name[64];
		int fd;
	} store[64];
	u32 n, barriers, max;
} systemd;

static void clear_store(void)
{
	while (systemd.n)
		close(systemd.store[--systemd.n].fd);
}

static void begin_systemd(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};

	strcpy(systemd.dir, "/tmp/uroce-store-XXXXXX");
	CHECK(mkdtemp(systemd.dir));
	snprintf(daemon_of.run_dir, sizeof(daemon_of.run_dir), "%s",
		 systemd.dir);
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/notify", systemd.dir);
	systemd.notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(systemd.notify >= 0 &&
	      !bind(systemd.notify, (void *)&sun, sizeof(sun)));
	setenv("NOTIFY_SOCKET", sun.sun_path, 1);
	systemd.max = 32;
	systemd.barriers = 0;
}

static void end_systemd(void)
{
	char path[64];

	clear_store();
	close(systemd.notify);
	snprintf(path, sizeof(path), "%s/keeper", systemd.dir);
	unlink(path); /* a process's, where this was not the service */
	unlink(getenv("NOTIFY_SOCKET"));
	CHECK(!rmdir(systemd.dir));
}

static void remove_name(const char *name)
{
	for (u32 i = systemd.n; i--;) {
		if (strcmp(systemd.store[i].name, name))
			continue;
		close(systemd.store[i].fd);
		systemd.store[i] = systemd.store[--systemd.n];
	}
}

static void obey(char *text, int fd)
{
	const char *name = NULL;
	bool store = false, removal = false;
	char *state;

	for (char *line = strtok_r(text, "\n", &state); line;
	     line = strtok_r(NULL, "\n", &state)) {
		store |= !strcmp(line, "FDSTORE=1");
		removal |= !strcmp(line, "FDSTOREREMOVE=1");
		systemd.barriers += !strcmp(line, "BARRIER=1");
		if (!strncmp(line, "FDNAME=", 7))
			name = line + 7;
	}
	if (removal)
		remove_name(name);
	if (!store || systemd.n == systemd.max) {
		if (fd >= 0)
			close(fd);
		return;
	}
	CHECK(fd >= 0 && name && strlen(name) < sizeof(systemd.store[0].name));
	strcpy(systemd.store[systemd.n].name, name);
	systemd.store[systemd.n++].fd = fd;
}

static bool receive_one(int ms)
{
	char text[256];
	struct iovec iov = {.iov_base = text, .iov_len = sizeof(text) - 1};
	union ur_scm scm;
	struct msghdr mh = {.msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = scm.buf,
			    .msg_controllen = sizeof(scm.buf)};
	struct pollfd p = {.fd = systemd.notify, .events = POLLIN};
	int fd = -1;
	ssize_t n;

	if (poll(&p, 1, ms) != 1)
		return false;
	n = recvmsg(systemd.notify, &mh, MSG_CMSG_CLOEXEC);
	CHECK(n > 0);
	text[n] = '\0';
	ur_scm_take(&mh, &fd, 1, close);
	obey(text, fd);
	return true;
}

/* As execve() by systemd leaves it: descriptors from 3 on, and what the environment says. */
static void become_service(u32 first)
{
	char number[16], names[1024] = "";
	int high[64];

	for (u32 i = 0; i < systemd.n; i++) {
		high[i] = fcntl(systemd.store[i].fd, F_DUPFD, 200);
		CHECK(high[i] >= 0);
		strcat(strcat(names, i ? ":" : ""), systemd.store[i].name);
	}
	for (int fd = 3; fd < 200; fd++)
		close(fd);
	for (u32 i = 0; i < systemd.n; i++) {
		CHECK(dup2(high[i], 3 + (int)i) >= 0);
		close(high[i]);
	}
	snprintf(number, sizeof(number), "%d", getpid());
	setenv("SYSTEMD_EXEC_PID", first ? number : "1", 1);
	setenv("LISTEN_PID", number, 1);
	snprintf(number, sizeof(number), "%u", systemd.n);
	setenv("LISTEN_FDS", number, 1);
	setenv("LISTEN_FDNAMES", names, 1);
	snprintf(number, sizeof(number), "%u", systemd.max);
	setenv("FDSTORE", number, 1);
}

/* Runs it to its end as a uroced, which is SIGKILL where it says no other. */
static void serve(void (*uroced)(void), bool is_service)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		become_service(is_service);
		ur_keeper_start(&daemon_of);
		uroced();
		raise(SIGKILL);
	}
	while (!waitpid(pid, &status, WNOHANG))
		receive_one(5);
	while (receive_one(0))
		;
	CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
	      (WIFEXITED(status) && !WEXITSTATUS(status)));
}

/* ---- uroced ---- */

static int pair[2];

static void put_all(void)
{
	int fd = memfd_create("kept", MFD_CLOEXEC), other[2];

	CHECK(fd >= 0 && write(fd, "text", 4) == 4);
	CHECK(!ur_event_pair(pair) && !ur_event_pair(other));
	CHECK_EQ(ur_keep_put(&liveness, pair[0]), 0);
	CHECK_EQ(ur_keep_put(&file, other[0]), 0);
	CHECK_EQ(ur_keep_put(&file, fd), 0); /* in its place */
	CHECK_EQ(ur_keep_put(&sock, other[1]), 0);
	ur_keep_renumber(&(struct ur_kept){.kind = UR_KEPT_SOCKET,
					   .device = 1,
					   .place = 9,
					   .value = 1},
			 other[1]);
}

static void take_all(void)
{
	struct ur_kept what = file;
	char text[4];
	int fd = ur_keep_take(&what);

	CHECK(fd >= 0 && pread(fd, text, 4, 0) == 4 &&
	      !memcmp(text, "text", 4));
	what = liveness;
	CHECK(ur_keep_take(&what) >= 0 && what.value == PROCESS);
	what = sock;
	CHECK(ur_keep_take(&what) >= 0 && what.value == 1);
	CHECK_EQ(ur_keep_take(&what), -1);
	ur_keep_forget();
}

static void take_all_and_drop(void)
{
	take_all();
	ur_keep_drop(&file);
	ur_keep_drop(&sock);
	ur_keep_drop(&sock); /* nothing */
}

static void take_liveness(void)
{
	struct ur_kept what = liveness;

	CHECK(ur_keep_take(&what) >= 0);
	what = file;
	CHECK_EQ(ur_keep_take(&what), -1);
	ur_keep_forget();
}

static void take_none(void)
{
	struct ur_kept what = liveness;

	CHECK_EQ(ur_keep_take(&what), -1);
}

static void forget_all(void)
{
	ur_keep_forget();
}

/* It does what SIGTERM asks for. */
static void end_with_program(void)
{
	CHECK(ur_keep_stay());
	CHECK(ur_keep_stays(PROCESS, 0) && !ur_keep_stays(NOBODY, 0));
	ur_keep_drop(&liveness);
	ur_keep_end();
	_exit(0);
}

static void end_without(void)
{
	ur_keep_drop(&liveness);
	CHECK(!ur_keep_stay() && !ur_keep_stays(PROCESS, 0));
	ur_keeper_stop(&daemon_of);
	_exit(0);
}

static void fill(void)
{
	struct ur_kept what = liveness;
	int fd = memfd_create("kept", MFD_CLOEXEC);

	for (what.place = 0; what.place < systemd.max - 1; what.place++)
		CHECK_EQ(ur_keep_put(&what, fd), 0);
	CHECK_EQ(ur_keep_put(&what, fd), -ENOSPC);
	what.place = 5;
	ur_keep_drop(&what);
	CHECK_EQ(ur_keep_put(&what, fd), 0);
}

static void no_store(void)
{
	CHECK(!ur_keep_stay());
}

/* ---- */

static void take_over(void)
{
	begin_systemd();
	serve(put_all, true);
	CHECK_EQ(systemd.n, 4); /* and the ledger */
	serve(take_all, true);
	serve(take_all, true);
	CHECK_EQ(systemd.barriers, 0);
	serve(take_all_and_drop, true);
	CHECK_EQ(systemd.n, 2);
	CHECK_EQ(systemd.barriers, 1);
	serve(take_liveness, true);
	CHECK_EQ(systemd.n, 2);
	serve(forget_all, true);
	CHECK_EQ(systemd.n, 1);
	serve(take_none, true);
	end_systemd();
}

static void restarted(void)
{
	begin_systemd();
	serve(put_all, true);
	serve(end_with_program, true);
	CHECK_EQ(systemd.n, 4);
	serve(take_all, true);
	serve(end_without, true);
	CHECK_EQ(systemd.n, 0);
	serve(take_none, true);
	end_systemd();
}

static void full(void)
{
	begin_systemd();
	serve(fill, true);
	CHECK_EQ(systemd.n, systemd.max);
	end_systemd();
}

/* Names that are nobody's, a name twice, and a descriptor that did not come. */
static void strange_names(void)
{
	int i;

	begin_systemd();
	serve(put_all, true);
	for (const char *const *name =
		     (const char *const[]){"k31", "k1x", "x", "k-1", "k4096",
					   "k9999999999", "k", "", NULL};
	     *name; name++) {
		i = (int)systemd.n++;
		strcpy(systemd.store[i].name, *name);
		systemd.store[i].fd = memfd_create("strange", MFD_CLOEXEC);
	}
	serve(take_all, true);
	CHECK_EQ(systemd.n, 4);
	/* The entry that the file has. */
	remove_name("k1");
	serve(take_liveness, true);
	end_systemd();
}

/* Another release's ledger, or one that has ended so many, is nobody's. */
static void spoil_ledger(u32 word, u32 value)
{
	begin_systemd();
	serve(put_all, true);
	for (u32 i = 0; i < systemd.n; i++)
		if (!strcmp(systemd.store[i].name, "ledger"))
			CHECK(pwrite(systemd.store[i].fd, &value, sizeof(value),
				     word * sizeof(value)) == sizeof(value));
	serve(take_none, true);
	CHECK_EQ(systemd.n, 1);
	serve(put_all, true);
	serve(take_all, true);
	end_systemd();
}

/* They have NOTIFY_SOCKET and all else from the service that has started them. */
static void not_the_service(void)
{
	begin_systemd();
	serve(no_store, false);
	CHECK_EQ(systemd.n, 0);
	end_systemd();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(take_over());
	CASE(restarted());
	CASE(full());
	CASE(strange_names());
	CASE(spoil_ledger(0, UR_KEEP_VERSION + 1));
	CASE(spoil_ledger(1, 1000));
	CASE(not_the_service());
	return cases_status();
}
