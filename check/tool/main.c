// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rdma-check: replaces itself by the program, with librdma-check.so in front of
 * its libibverbs and librdmacm. Needs neither our device nor a daemon. Signals,
 * status and death are the program's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/tool/option_table.h"
#include "util/os/elf.h"
#include "util/os/preload.h"
#include "util/os/standard_fds.h"

#define LIBRARY "librdma-check.so"

#define EXIT_USAGE	 2
#define EXIT_NOT_CHECKED 125
#define EXIT_CANNOT_RUN	 126
#define EXIT_NOT_FOUND	 127

static void list(void)
{
	static const char *const ids[][2] = {
#define UR_CHECK_ID(symbol, id, title, spec, advice) {id, title},
#include "check/ids.def"
#undef UR_CHECK_ID
	};

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		printf("%-11s %s\n", ids[i][0], ids[i][1]);
}

/* Refuses a program that would run unchecked: silence would look like
 * success. */
static int look_at(const char *program)
{
	const char *why = NULL;
	char path[2 * PATH_MAX];

	switch (ur_elf_kind(program, path, sizeof(path))) {
	case UR_ELF_DYNAMIC:
	case UR_ELF_OTHER:
		return 0;
	case UR_ELF_STATIC:
		why = "is statically linked: no library can be put in front of "
		      "its own; link it dynamically";
		break;
	case UR_ELF_PRIVILEGED:
		why = "runs with more rights than you have, and then the dynamic "
		      "linker lets no library in: run rdma-check as the user that "
		      "it needs, as in 'sudo rdma-check -- ...'";
		break;
	case UR_ELF_FOREIGN:
		why = "is not for this machine's 64 bits: the library does not "
		      "fit into it";
		break;
	case UR_ELF_MUSL:
		why = "is of another C library, musl: the library does not fit "
		      "into it";
		break;
	case UR_ELF_DENIED:
		fprintf(stderr, "rdma-check: cannot run %s: %s\n", program,
			strerror(EACCES));
		return EXIT_CANNOT_RUN;
	case UR_ELF_MISSING:
		fprintf(stderr, "rdma-check: cannot run %s: %s\n", program,
			strerror(ENOENT));
		return EXIT_NOT_FOUND;
	}
	fprintf(stderr, "rdma-check: %s %s\n", path, why);
	return EXIT_NOT_CHECKED;
}

static int complain(const char *file, int err)
{
	fprintf(stderr, "rdma-check: %s: %s\n", file, strerror(-err));
	return err;
}

/* Checks the files early: the program may go on without them, and nobody would
 * know why they are empty. */
static int try_files(const struct check_options *options)
{
	int fd;

	if (options->mute && access(options->mute, R_OK))
		return complain(options->mute, -errno);
	if (!options->json)
		return 0;
	fd = open(options->json, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
		  0666);
	if (fd < 0)
		return complain(options->json, -errno);
	close(fd);
	return 0;
}

static int add_library(void)
{
	static const char *const beside[] = {"/../lib", "/../lib/rdma-check",
					     "/../lib64/rdma-check", NULL};
	char path[PATH_MAX];
	int err = ur_own_file(LIBRARY, beside, RDMA_CHECK_LIBDIR, path,
			      sizeof(path));

	if (err) {
		fprintf(stderr,
			"rdma-check: %s is not where it was installed: %s\n",
			path, strerror(-err));
		return err;
	}
	err = ur_preload_add(path);
	if (err == -EINVAL)
		fprintf(stderr,
			"rdma-check: the dynamic linker takes no space or colon "
			"in LD_PRELOAD: move %s\n",
			path);
	return err;
}

static int set_environment(const struct check_options *options)
{
	char pid[16];
	int err;

	if (try_files(options) || add_library())
		return -1;
	/* Only this process reports that there was no device. */
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	err = ur_setenv_file("RDMA_CHECK_JSON", options->json);
	if (!err)
		err = ur_setenv_file("RDMA_CHECK_MUTE", options->mute);
	if (!err && (setenv("RDMA_CHECK", options->stop ? "stop" : "warn", 1) ||
		     setenv("RDMA_CHECK_PID", pid, 1)))
		err = -errno;
	return err ? complain("the environment", err) : 0;
}

int main(int argc, char **argv)
{
	struct check_options options;
	int err;

	ur_open_standard_fds();
	if (check_options_parse(&options, argc, argv))
		return EXIT_USAGE;
	if (options.help)
		check_help();
	else if (options.version)
		puts("rdma-check " UROCE_VERSION);
	else if (options.list)
		list();
	else if (options.words)
		check_words();
	if (options.help || options.version || options.list || options.words)
		return fflush(stdout) ? 1 : 0;
	if (!*options.program) {
		fputs("rdma-check: which program? See 'rdma-check --help'\n",
		      stderr);
		return EXIT_USAGE;
	}
	err = look_at(*options.program);
	if (err)
		return err;
	if (set_environment(&options))
		return EXIT_NOT_CHECKED;
	execvp(*options.program, options.program);
	err = errno;
	fprintf(stderr, "rdma-check: cannot run %s: %s\n", *options.program,
		strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}
