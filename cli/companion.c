// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Starts the RDMA programs that come with uroce. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/companion.h"
#include "cli/environment.h"
#include "util/os/preload.h"

static int find_program(const char *name, char path[PATH_MAX])
{
	static const char *const beside[] = {"", "/../libexec/uroce", NULL};
	int err = ur_own_file(name, beside, UROCE_LIBEXECDIR, path, PATH_MAX);

	if (err)
		ur_complain("%s is neither beside this program nor in %s", name,
			    UROCE_LIBEXECDIR);
	return err;
}

int ur_companion_start(struct ur_companion *companion, const char *const argv[],
		       const char *run_dir)
{
	char path[PATH_MAX];
	int fds[2], err;

	err = find_program(argv[0], path);
	if (err)
		return err;
	if (pipe(fds)) {
		err = -errno;
		ur_complain("pipe: %s", strerror(-err));
		return err;
	}
	companion->said = fdopen(fds[0], "r");
	companion->pid = companion->said ? fork() : -1;
	if (companion->pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		if (!run_dir || !ur_environment_set(run_dir))
			execv(path, (char *const *)argv);
		_exit(UR_EXIT_CANNOT_RUN);
	}
	err = companion->pid < 0 ? -errno : 0;
	close(fds[1]);
	if (err && companion->said)
		fclose(companion->said);
	else if (err)
		close(fds[0]);
	return err;
}

int ur_companion_wait(struct ur_companion *companion)
{
	int status;

	fclose(companion->said);
	if (waitpid(companion->pid, &status, 0) == companion->pid &&
	    WIFEXITED(status) && WEXITSTATUS(status) == UR_EXIT_CANNOT_RUN)
		return -ENOEXEC;
	return 0;
}

int ur_companion_become(const char *const argv[], const char *run_dir)
{
	char path[PATH_MAX];

	if (find_program(argv[0], path) ||
	    (run_dir && ur_environment_set(run_dir)))
		return UR_EXIT_FAILED;
	execv(path, (char *const *)argv);
	ur_complain("cannot run %s: %s", path, strerror(errno));
	return UR_EXIT_FAILED;
}
