// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * util/assert.h: a broken rule ends the process by SIGABRT and says where, what
 * and about which device; one that holds costs nothing that is seen. The forms
 * for the path of packets are on where UR_CHECKED is defined.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#undef UR_CHECKED
#define UR_CHECKED
#include "tests/check.h"
#include "util/assert.h"
#include <string.h>

static int three = 3;
static char said[512];

/* Checks the message of a child that runs fn before it is aborted. */
static void aborted(void (*fn)(void))
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	CHECK(!pipe(fds));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		dup2(fds[1], 2);
		fn();
		_exit(0);
	}
	close(fds[1]);
	n = read(fds[0], said, sizeof(said) - 1);
	CHECK(n > 0);
	said[n] = 0;
	close(fds[0]);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void broken(void)
{
	ur_assert_about = "uroce7";
	ur_assert(three == 4);
}

static void broken_hot(void)
{
	ur_assert_hot(three > 3);
}

static const char *check(int n)
{
	return n == 3 ? "never is it three" : NULL;
}

static void broken_rules(void)
{
	ur_assert_rules(check(three - 1));
	ur_assert_rules(check(three));
}

static void broken_rules_hot(void)
{
	ur_assert_rules_hot(check(three - 1));
	ur_assert_rules_hot(check(three));
}

int main(void)
{
	ur_assert(three == 3);
	ur_assert_hot(three == 3);
	aborted(broken);
	CHECK(strstr(said, "unit_assert: uroce7: util/test_assert.c:"));
	CHECK(strstr(said, ": broken rule: three == 4\n"));
	aborted(broken_hot);
	CHECK(strstr(said, "unit_assert: util/test_assert.c:"));
	CHECK(strstr(said, ": broken rule: three > 3\n"));
	aborted(broken_rules);
	CHECK(strstr(said, ": broken rule: never is it three\n"));
	aborted(broken_rules_hot);
	CHECK(strstr(said, ": broken rule: never is it three\n"));
	return 0;
}
