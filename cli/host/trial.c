// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tests a library before every program gets it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/host/trial.h"

#define LIMIT_MS 10000
#define MESSAGE	 4096

static int refuse(char *why, const char *path, const char *text)
{
	snprintf(why, UR_TRIAL_WHY_MAX, "%.400s %s", path, text);
	return -EPERM;
}

static int check_one(const char *root, const char *path, char *why)
{
	char name[2 * PATH_MAX];
	struct stat st;
	mode_t read;

	snprintf(name, sizeof(name), "%s%s", root, path);
	if (lstat(name, &st))
		return refuse(why, path, strerror(errno));
	if (S_ISLNK(st.st_mode))
		return refuse(why, path, "is a link");
	if (st.st_uid)
		return refuse(why, path, "is not root's");
	if ((st.st_mode & S_IWOTH) || ((st.st_mode & S_IWGRP) && st.st_gid))
		return refuse(why, path, "is written by others than root");
	read = S_ISDIR(st.st_mode) ? S_IXOTH : S_IROTH;
	if (!(st.st_mode & read))
		return refuse(why, path, "is not open to every user");
	return 0;
}

/* Checks that the program headers are at the end of the file. */
static int check_table(const char *root, const char *library, char *why)
{
	char name[2 * PATH_MAX];
	ElfW(Ehdr) head;
	struct stat st;
	ssize_t n = -1;
	int fd;

	snprintf(name, sizeof(name), "%s%s", root, library);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st))
		n = read(fd, &head, sizeof(head));
	if (fd >= 0)
		close(fd);
	if (n < (ssize_t)sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return refuse(why, library, "is no library, or not whole");
	if (head.e_phoff + (uint64_t)head.e_phnum * head.e_phentsize !=
	    (uint64_t)st.st_size)
		return refuse(why, library,
			      "is not whole, or not as packages and 'cmake "
			      "--install' leave it: were its end missing, no "
			      "program would start");
	return 0;
}

int ur_trial_place(const char *root, const char *library, char *why)
{
	char path[PATH_MAX], name[2 * PATH_MAX];
	int err = 0;

	if (strpbrk(library, " :\t\n#"))
		return refuse(why, library,
			      "has a character that ld.so takes for the end");
	snprintf(path, sizeof(path), "%s", library);
	for (char *slash = strchr(path + 1, '/'); slash && !err;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		err = check_one(root, path, why);
		snprintf(name, sizeof(name), "%s%s/CMakeCache.txt", root, path);
		*slash = '/';
		if (!err && !access(name, F_OK))
			return refuse(why, library,
				      "is in a build tree: install it");
	}
	if (!err)
		err = check_one(root, library, why);
	return err ? err : check_table(root, library, why);
}

static void become(const char *root, char *const argv[], char *const envp[],
		   int out)
{
	int in = open("/dev/null", O_RDONLY);

	if ((*root && chroot(root)) || chdir("/"))
		_exit(126);
	dup2(in >= 0 ? in : out, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execve("/bin/true", argv, envp);
	execve("/usr/bin/true", argv, envp);
	_exit(127);
}

/* Reads its output until it ends, up to a time limit. */
static void listen_to(int fd, pid_t pid, char *said)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t len = 0;
	ssize_t n;

	while (len < MESSAGE - 1) {
		if (poll(&p, 1, LIMIT_MS) <= 0) {
			kill(pid, SIGKILL);
			break;
		}
		n = read(fd, said + len, MESSAGE - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	said[len] = '\0';
}

/* Returns the wait status of true(1), or -errno. */
static int run(const char *root, char *const envp[], char *said)
{
	char *argv[] = {(char *)"true", NULL};
	int ends[2], status;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		become(root, argv, envp, ends[1]);
	close(ends[1]);
	if (pid > 0)
		listen_to(ends[0], pid, said);
	close(ends[0]);
	if (pid < 0)
		return -EAGAIN;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status;
}

static int fail(char *why, int status, const char *said)
{
	if (*said)
		snprintf(why, UR_TRIAL_WHY_MAX, "true(1) says: %.*s",
			 (int)strcspn(said, "\n"), said);
	else if (status < 0)
		snprintf(why, UR_TRIAL_WHY_MAX, "true(1): %s",
			 strerror(-status));
	else if (WIFSIGNALED(status))
		snprintf(why, UR_TRIAL_WHY_MAX, "true(1) ends by signal %d",
			 WTERMSIG(status));
	else
		snprintf(why, UR_TRIAL_WHY_MAX, "true(1) ends with status %d",
			 WEXITSTATUS(status));
	return -ENOEXEC;
}

int ur_trial_run(const char *root, const char *library, char *why)
{
	char preload[PATH_MAX + 16] = "A=1", said[MESSAGE];
	char *envp[] = {(char *)"LC_ALL=C", preload, NULL, NULL};
	int status;

	if (library)
		snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library);
	status = run(root, envp, said);
	if (status || *said)
		return fail(why, status, said);
	if (!library)
		return 0;
	/* ld.so(8): lists the libraries that would be loaded. */
	envp[2] = (char *)"LD_TRACE_LOADED_OBJECTS=1";
	status = run(root, envp, said);
	if (status || !strstr(said, library)) {
		snprintf(why, UR_TRIAL_WHY_MAX,
			 "the dynamic linker of true(1) does not load it");
		return -ENOEXEC;
	}
	return 0;
}
