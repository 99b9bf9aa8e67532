/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* uroce run: a program with the device present. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/launch.h"
#include "cli/status.h"

static volatile pid_t child;

/*
 * The terminal sends its signals to the whole group, so the program has had
 * those; what somebody sent to us alone is passed on.
 */
static void forward(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	if (info->si_code != SI_KERNEL && child > 0)
		kill(child, sig);
	errno = saved;
}

static const int forwarded[] = {SIGHUP,	 SIGINT,  SIGQUIT, SIGTERM,
				SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

#define FORWARDED (sizeof(forwarded) / sizeof(*forwarded))

static _Noreturn void exec_program(char **argv)
{
	int err;

	execvp(argv[0], argv);
	err = errno;
	ur_complain("cannot run %s: %s", argv[0], strerror(err));
	_exit(err == ENOENT ? UR_EXIT_NOT_FOUND : UR_EXIT_CANNOT_RUN);
}

static int run_program(char **argv)
{
	struct sigaction action = {.sa_sigaction = forward,
				   .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction old[FORWARDED];
	sigset_t block, before;
	int status;
	pid_t pid;

	sigemptyset(&block);
	for (size_t i = 0; i < FORWARDED; i++)
		sigaddset(&block, forwarded[i]);
	/* Held back until there is somebody to pass them to. */
	sigprocmask(SIG_BLOCK, &block, &before);
	for (size_t i = 0; i < FORWARDED; i++) {
		sigaction(forwarded[i], NULL, &old[i]);
		/* What is ignored (nohup) stays ignored, for both. */
		if (old[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL);
	}
	pid = fork();
	if (pid == 0) {
		for (size_t i = 0; i < FORWARDED; i++)
			sigaction(forwarded[i], &old[i], NULL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		exec_program(argv);
	}
	if (pid < 0) {
		ur_complain("cannot fork: %s", strerror(errno));
		return UR_EXIT_CANNOT_RUN;
	}
	child = pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return UR_EXIT_CANNOT_RUN;
	child = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

int ur_cmd_run(struct ur_options *options)
{
	int sock, ret;

	if (options->rest_count < 1) {
		ur_complain("run: what? usage: uroce run [--netdev IF] "
			    "[--run-dir DIR] -- PROGRAM ARGUMENT...");
		return UR_EXIT_USAGE;
	}
	sock = ur_launch(options);
	if (sock < 0)
		return UR_EXIT_NO_DEVICE;
	if (ur_status_check_netdevs(sock, options) ||
	    ur_environment_set(options->run_dir)) {
		close(sock);
		return UR_EXIT_NO_DEVICE;
	}
	/* The open connection keeps an on-demand device for as long. */
	ret = run_program(options->rest);
	close(sock);
	return ret;
}
