// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * However a process ends, engines and providers in it learn of that first, so that
 * what was posted leaves; of the end of a vfork() child they do not.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel-abi/uroce-forks.h"
#include "tests/check.h"
#include "tests/unit/preload/cases.h"

static void by_exit(void)
{
	exit(0);
}

static void by_quick_exit(void)
{
	quick_exit(0);
}

static void by__exit(void)
{
	_exit(0);
}

static void by__Exit(void)
{
	_Exit(0);
}

static void by_exec(void)
{
	execl("/bin/true", "true", NULL);
	_exit(1);
}

static int line[2];

static void tell_first(void)
{
	CHECK(write(line[1], "1", 1) == 1);
}

static void tell_second(void)
{
	CHECK(write(line[1], "2", 1) == 1);
}

/* Ends a child in which two libraries have asked for it. told gets what they wrote. */
static void end_told(void (*end)(void), char told[8])
{
	int status;
	pid_t pid;

	CHECK(!pipe2(line, O_CLOEXEC));
	pid = fork();
	if (pid == 0) {
		uroce_forks.tell_end(tell_first);
		uroce_forks.tell_end(tell_second);
		end();
		_exit(1);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	close(line[1]);
	told[read(line[0], told, 7)] = '\0';
	close(line[0]);
}

/* Each library that has asked for it is told of the end, once. */
static void each_is_told(void (*end)(void))
{
	char told[8];

	end_told(end, told);
	CHECK(!strcmp(told, "12"));
}

/* Ends a vfork() child, which has the libraries' memory, and then the process past the front-end. */
static void by_vfork(void)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(write(line[1], "3", 1) == 1);
	syscall(SYS_exit_group, 0);
}

void test_ends(void)
{
	char told[8];

	CHECK(&uroce_forks && uroce_forks.version == UROCE_FORKS_VERSION);
	each_is_told(by_exit);
	each_is_told(by_quick_exit);
	each_is_told(by__exit);
	each_is_told(by__Exit);
	each_is_told(by_exec);
	end_told(by_vfork, told);
	CHECK(!strcmp(told, "3"));
}
