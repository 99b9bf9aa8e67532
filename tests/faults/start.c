// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The start of uroced: it says no and ends, or serves. */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/faults/faults.h"
#include "tests/faults/inject.h"

bool faults_spawn(const char *uroced, pid_t *pid)
{
	const char *dir = getenv("UROCE_RUN_DIR");
	char number[16], fd[64], options[160], text[8] = "";
	const char *argv[] = {"uroced", "--run-dir", dir,    "--netdev",
			      "eth1",	"--netdev",  "eth2", "--ready-fd",
			      number,	NULL};
	const char *env[] = {fd, options, NULL};
	int ready[2], status;

	CHECK(!pipe(ready));
	*pid = fork();
	CHECK(*pid >= 0);
	if (!*pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		snprintf(number, sizeof(number), "%d", ready[1]);
		snprintf(fd, sizeof(fd), INJECT_ENV "=%s", getenv(INJECT_ENV));
		snprintf(options, sizeof(options), "ASAN_OPTIONS=%s",
			 getenv("ASAN_OPTIONS"));
		/* Past the preload library, which would come along. */
		syscall(SYS_execve, uroced, argv, env);
		_exit(127);
	}
	close(ready[1]);
	if (read(ready[0], text, sizeof(text)) == 6) {
		close(ready[0]);
		return true;
	}
	close(ready[0]);
	CHECK_EQ(waitpid(*pid, &status, 0), *pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 1);
	return false;
}

static void end(pid_t pid)
{
	int status;

	CHECK(!kill(pid, SIGTERM));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
}

void test_start(const char *uroced)
{
	int fault = 1, refused = 0, served = 0;
	pid_t pid;

	for (int64_t n = 1; fault; n = faults_next(n)) {
		bool ok;

		faults_arm(n);
		ok = faults_spawn(uroced, &pid);
		fault = faults_disarm();
		if (getenv("FAULTS_VERBOSE"))
			fprintf(stderr, "start, call %" PRId64 ": %s\n", n,
				ok ? "serves" : "ends");
		CHECK(ok || fault);
		if (ok)
			end(pid);
		refused += !ok;
		served += ok;
	}
	/* The last one met no fault. */
	printf("%d starts refused, %d served\n", refused, served);
	CHECK(refused);
}
