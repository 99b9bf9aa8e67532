// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Starts a program in a host and waits for it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/fabric/fabric.h"
#include "cli/fabric/rights.h"

/* Signals that we forward to the program. */
static const int passed[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
			     SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

/* The child: never returns. */
static _Noreturn void become_program(char **argv, const sigset_t *before)
{
	int err;

	/* The program ends with the waiting process, which is all its caller knows. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	err = ur_fabric_rights();
	if (err) {
		ur_complain("fabric: rights in the host: %s", strerror(-err));
		_exit(UR_EXIT_NO_DEVICE);
	}
	sigprocmask(SIG_SETMASK, before, NULL);
	execvp(argv[0], argv);
	_exit(ur_cannot_run(argv[0], errno));
}

/* Returns the exit status, or -1 while the program lives. */
static int look_after(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, WNOHANG | WUNTRACED) != pid)
		return -1;
	if (WIFSTOPPED(status)) {
		/* Stop with the program, so that a shell sees one job. */
		raise(SIGSTOP);
		kill(pid, SIGCONT);
		return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int ur_fabric_become(struct ur_fabric *fabric, unsigned int host, char **argv)
{
	sigset_t set, before;
	siginfo_t info;
	int ret = -1;
	pid_t pid;

	if (ur_fabric_join(fabric, host))
		return UR_EXIT_NO_DEVICE;
	ur_fabric_close(fabric);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		sigaddset(&set, passed[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become_program(argv, &before);
	if (pid < 0) {
		/* ENOMEM: the PID namespace has ended. */
		ur_complain("fabric: cannot start a program in the host: %s",
			    strerror(errno));
		return UR_EXIT_NO_DEVICE;
	}
	while (ret < 0) {
		if (sigwaitinfo(&set, &info) < 0)
			continue;
		if (info.si_signo == SIGCHLD)
			ret = look_after(pid);
		else if (info.si_code != SI_KERNEL)
			/* Except signals of the terminal, which both get. */
			kill(pid, info.si_signo);
	}
	return ret;
}

pid_t ur_fabric_spawn(struct ur_fabric *fabric, unsigned int host, char **argv,
		      int out)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		ur_complain("fabric: %s", strerror(errno));
		return -errno;
	}
	if (pid)
		return pid;
	if (out >= 0) {
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
	}
	/* Each of several concurrent programs needs its own connection. */
	ur_fabric_close(fabric);
	fabric->sock = ur_fabric_ask_open(&fabric->paths);
	_exit(fabric->sock < 0 ? UR_EXIT_NO_DEVICE
			       : ur_fabric_become(fabric, host, argv));
}
