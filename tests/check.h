/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The checks and cases of C tests. CHECK and CHECK_EQ: a failed one prints its
 * place and its case, and ends the process with status 1. SKIP ends it with 77,
 * which ctest reports as skipped with the reason.
 *
 * A program's main() names its cases:
 *
 *	int main(int argc, char **argv)
 *	{
 *		cases(&argc, argv);
 *		CASE(one());
 *		CASE(another(5));
 *		return cases_status();
 *	}
 *
 * Each runs in a process of its own, so that one that fails, or crashes, does
 * not keep the next from running. A STEP shares the program's process with what
 * went before and after it, and ends the program when it fails.
 *
 *	PROGRAM [ARGUMENT...] --list		names the cases
 *	PROGRAM [ARGUMENT...] --case TEXT	runs those whose name has TEXT in it,
 *						here, where a debugger is
 */
#ifndef UR_TESTS_CHECK_H
#define UR_TESTS_CHECK_H

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* One for the whole program, whichever files it is made of. */
struct ck {
	const char *wanted; /* of --case */
	bool list;
	const char *name; /* the case that runs */
	bool apart;	  /* in a process of its own */
	bool has_psn;	  /* it starts from this one */
	uint32_t psn;
	unsigned int ran, failed, skipped;
};

/* The caller of a function that checks: a failure in another file is reported
 * with the caller's place. */
struct ck_place {
	const char *file;
	int line;
};

__attribute__((weak)) struct ck ck;
__attribute__((weak)) _Thread_local struct ck_place ck_place;

static inline void ck_at(const char *file, int line)
{
	ck_place = (struct ck_place){file, line};
}

static inline void ck_psn(uint32_t psn)
{
	ck.has_psn = true;
	ck.psn = psn;
}

__attribute__((format(printf, 3, 4), noreturn)) static inline void
ck_fail(const char *file, int line, const char *fmt, ...)
{
	va_list args;

	if (ck_place.file && strcmp(ck_place.file, file))
		fprintf(stderr, "%s:%d: in ", ck_place.file, ck_place.line);
	fprintf(stderr, "%s:%d: ", file, line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	if (ck.name)
		fprintf(stderr, "; case %s", ck.name);
	if (ck.has_psn)
		fprintf(stderr, ", first PSN 0x%" PRIx32, ck.psn);
	fputc('\n', stderr);
	exit(1);
}

#define CHECK(cond)                                                     \
	do {                                                            \
		if (!(cond))                                            \
			ck_fail(__FILE__, __LINE__, "check failed: %s", \
				#cond);                                 \
	} while (0)

#define CHECK_EQ(a, b)                                                     \
	do {                                                               \
		uint64_t a_ = (uint64_t)(a), b_ = (uint64_t)(b);           \
		if (a_ != b_)                                              \
			ck_fail(__FILE__, __LINE__,                        \
				"%s is %" PRIu64 " (0x%" PRIx64            \
				"), not %" PRIu64 " (0x%" PRIx64 ") = %s", \
				#a, a_, a_, b_, b_, #b);                   \
	} while (0)

#define SKIP(reason)                             \
	do {                                     \
		printf("skipped: %s\n", reason); \
		exit(77);                        \
	} while (0)

/* Takes --list and --case out of the arguments. */
static inline void cases(int *argc, char **argv)
{
	int kept = 1;

	for (int i = 1; i < *argc; i++) {
		if (!strcmp(argv[i], "--list"))
			ck.list = true;
		else if (!strcmp(argv[i], "--case") && i + 1 < *argc)
			ck.wanted = argv[++i];
		else
			argv[kept++] = argv[i];
	}
	argv[kept] = NULL;
	*argc = kept;
}

/* How a case ended that had a process of its own. */
static inline void ck_ended(const char *name, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		ck.skipped++;
	} else if (status) {
		ck.failed++;
		if (WIFSIGNALED(status))
			fprintf(stderr, "case %s: signal %d (%s)\n", name,
				WTERMSIG(status), strsignal(WTERMSIG(status)));
		else
			fprintf(stderr, "case %s: status %d\n", name,
				WEXITSTATUS(status));
	}
}

/* Whether the case is to be run by the caller. */
static inline bool ck_begin(const char *name, bool apart)
{
	int status;
	pid_t pid;

	if (ck.list)
		puts(name);
	if (ck.list || (ck.wanted && !strstr(name, ck.wanted)))
		return false;
	ck.ran++;
	ck.name = name;
	ck.apart = apart && !ck.wanted;
	if (!ck.apart)
		return true;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return true;
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("a process for a case");
		exit(1);
	}
	ck_ended(name, status);
	ck.name = NULL;
	return false;
}

static inline void ck_end(void)
{
	if (ck.apart)
		exit(0);
	ck.name = NULL;
	ck.has_psn = false;
}

#define CK_RUN(call, name, apart)            \
	do {                                 \
		if (ck_begin(name, apart)) { \
			call;                \
			ck_end();            \
		}                            \
	} while (0)
#define CASE(call) CK_RUN(call, #call, true)
#define STEP(call) CK_RUN(call, #call, false)

/* Returns the status for main() to return. */
static inline int cases_status(void)
{
	if (ck.wanted && !ck.list && !ck.ran) {
		fprintf(stderr, "no case has %s in its name; see --list\n",
			ck.wanted);
		return 2;
	}
	if (ck.failed)
		fprintf(stderr, "%u of %u cases failed\n", ck.failed, ck.ran);
	return ck.failed ? 1 : ck.skipped ? 77 : 0;
}

#endif
