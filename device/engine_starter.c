// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The starter of engine processes: receives requests of fixed size. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "device/engine_starter.h"
#include "device/fork_apart.h"
#include "engine/ground/log.h"
#include "kernel-abi/uroce-apart.h"
#include "util/bytes.h"
#include "util/os/preload.h"
#include "util/os/scm.h"

#define NAME "uroced-starter"
/* The kernel's overflow gid. */
#define NO_GROUP 65534

static int asks = -1;

/* ---- in the starter ---- */

static int become(uid_t uid)
{
	if (geteuid())
		return 0;
	if (setgroups(0, NULL) < 0 ||
	    setresgid(NO_GROUP, NO_GROUP, NO_GROUP) < 0 ||
	    setresuid(uid, uid, uid) < 0)
		return -errno;
	return 0;
}

/* Allows the large sparse file of rings, and as many descriptors as uroced. */
static void set_limits(void)
{
	static const struct rlimit none = {0, 0};
	static const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
	struct rlimit files;

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &all);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static void set_descriptors(int link)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		_exit(1);
	/* Neither is below UROCE_APART_FD: those are open. */
	for (int fd = 0; fd < UROCE_APART_FD; fd++)
		dup2(null, fd);
	if (link == UROCE_APART_FD)
		fcntl(link, F_SETFD, 0);
	else
		dup2(link, UROCE_APART_FD);
	syscall(SYS_close_range, UROCE_APART_FD + 1, ~0u, 0);
}

static _Noreturn void execute(const char *path, uid_t uid, int link)
{
	static char name[] = UROCE_APART_PROGRAM;
	char *const argv[] = {name, NULL}, *const env[] = {NULL};

	setsid();
	set_limits();
	if (chdir("/") < 0 || become(uid))
		_exit(1);
	/* The user must not see its memory, even before it is confined. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	umask(077);
	set_descriptors(link);
	execve(path, argv, env);
	_exit(1);
}

/* Returns false when uroced has ended. */
static bool receive(int sock, uid_t *uid, int *link)
{
	return ur_scm_recv_one(sock, uid, sizeof(*uid), link, 1, NULL) ==
		       sizeof(*uid) &&
	       *link >= 0;
}

static _Noreturn void serve(int sock)
{
	static const char *const beside[] = {"", NULL};
	uid_t uid;
	char path[PATH_MAX];
	int link;

	if (ur_own_file(UROCE_APART_PROGRAM, beside, UROCE_LIBDIR, path,
			sizeof(path)))
		_exit(0);
	/* Engine processes are not waited for. */
	signal(SIGCHLD, SIG_IGN);
	while (receive(sock, &uid, &link)) {
		if (!fork()) {
			signal(SIGCHLD, SIG_DFL);
			execute(path, uid, link);
		}
		close(link);
	}
	_exit(0);
}

/* ---- in uroced ---- */

void ur_engine_starter_begin(char **argv)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		ur_log("no engine processes: %s", strerror(errno));
		return;
	}
	pid = ur_fork_apart();
	if (!pid) {
		int own = fcntl(pair[1], F_DUPFD_CLOEXEC, 3);

		ur_leave_uroced(argv, NAME, own, own);
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		signal(SIGPIPE, SIG_DFL);
		serve(own);
	}
	close(pair[1]);
	if (pid > 0) {
		asks = pair[0];
		return;
	}
	ur_log("no engine processes: %s", strerror(errno));
	close(pair[0]);
}

int ur_engine_starter_ask(uid_t uid, int link)
{
	return asks < 0 ? -EOPNOTSUPP
			: ur_scm_send_one(asks, &uid, sizeof(uid), &link, 1,
					  MSG_DONTWAIT);
}
