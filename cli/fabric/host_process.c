// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A host is made by its own first process, which leaves the keeper's namespaces, makes the
 * host's mounts, sends the keeper its namespaces, waits for the cables, sets up its
 * interfaces and executes uroced.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/fabric/cables.h"
#include "cli/fabric/host_files.h"
#include "cli/fabric/keeper.h"
#include "cli/fabric/rights.h"
#include "cli/launch.h"
#include "util/os/scm.h"

#define NAMESPACES    (CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC)
#define READY_WAIT_MS 60000

int ur_fabric_own_namespaces(int ns[UR_FABRIC_NS_COUNT])
{
	static const char *const names[UR_FABRIC_NS_COUNT] = {
		"user", "pid", "mnt", "uts", "ipc", "net"};
	char path[32];

	for (int i = 0; i < UR_FABRIC_NS_COUNT; i++) {
		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		ns[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (ns[i] < 0)
			return -errno;
	}
	return 0;
}

/* Sends the namespaces, or the error, to the keeper. */
static int send_namespaces(int talk, int err,
			   const struct ur_fabric_error *error)
{
	struct ur_fabric_answer answer = {.err = err, .error = *error};
	int ns[UR_FABRIC_NS_COUNT];

	if (!err && ur_fabric_own_namespaces(ns))
		return -errno;
	return ur_scm_send_one(talk, &answer, sizeof(answer), ns,
			       err ? 0 : UR_FABRIC_NS_COUNT, 0);
}

static _Noreturn void become_device(const struct ur_fabric_keeper *keeper,
				    unsigned int host, int ready)
{
	char *argv[2 * UR_FABRIC_DEVICES_MAX + 8];
	char netdev[UR_FABRIC_DEVICES_MAX][IFNAMSIZ];
	char run[PATH_MAX], log[PATH_MAX], number[16];
	int fd, n = 0;

	ur_fabric_host_run(&keeper->paths, host, run, sizeof(run));
	ur_fabric_host_log(&keeper->paths, host, log, sizeof(log));
	snprintf(number, sizeof(number), "%d", ready);
	argv[n++] = (char *)"uroced";
	argv[n++] = (char *)"--run-dir";
	argv[n++] = run;
	argv[n++] = (char *)"--ready-fd";
	argv[n++] = number;
	for (unsigned int card = 0; card < keeper->plan.devices; card++) {
		ur_fabric_netdev_name(card, netdev[card]);
		argv[n++] = (char *)"--netdev";
		argv[n++] = netdev[card];
	}
	argv[n] = NULL;
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0) {
		dup2(fd, 1);
		dup2(fd, 2);
	}
	fcntl(ready, F_SETFD, 0);
	signal(SIGPIPE, SIG_DFL);
	ur_launch_exec(argv);
}

static _Noreturn void live(struct ur_fabric_keeper *keeper, unsigned int host,
			   int talk, int ready)
{
	struct ur_fabric_error error = {0};
	char name[UR_FABRIC_NAME_MAX], go;
	sigset_t none;
	int err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	ur_fabric_host_name(host, name, sizeof(name));
	err = unshare(NAMESPACES) || sethostname(name, strlen(name)) ? -errno
								     : 0;
	if (err)
		ur_fabric_fail(&error, err, "%s's namespaces", name);
	else
		err = ur_fabric_host_mounts(&keeper->paths, name, &error);
	if (send_namespaces(talk, err, &error) || err ||
	    read(talk, &go, 1) != 1)
		_exit(1);
	err = ur_fabric_host_net(&keeper->plan, host, &error);
	if (!err) {
		err = ur_fabric_rights();
		if (err)
			ur_fabric_fail(&error, err, "%s's rights", name);
	}
	if (!err)
		become_device(keeper, host, ready);
	dprintf(ready, "%s\n", error.text);
	_exit(1);
}

int ur_fabric_host_fork(struct ur_fabric_keeper *keeper, unsigned int host,
			struct ur_fabric_error *error)
{
	struct ur_fabric_host *h = &keeper->hosts[host];
	int talk[2], ready[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, talk))
		return ur_fabric_fail(error, -errno, "a socket");
	if (pipe2(ready, O_CLOEXEC)) {
		close(talk[0]);
		close(talk[1]);
		return ur_fabric_fail(error, -errno, "a pipe");
	}
	h->device = fork();
	if (h->device == 0) {
		close(talk[0]);
		close(ready[0]);
		live(keeper, host, talk[1], ready[1]);
	}
	close(talk[1]);
	close(ready[1]);
	h->talk = talk[0];
	h->ready = ready[0];
	return h->device < 0 ? ur_fabric_fail(error, -errno, "fork") : 0;
}

int ur_fabric_host_meet(struct ur_fabric_keeper *keeper, unsigned int host,
			struct ur_fabric_error *error)
{
	struct ur_fabric_host *h = &keeper->hosts[host];
	struct ur_fabric_answer answer;

	if (ur_scm_recv_one(h->talk, &answer, sizeof(answer), h->ns,
			    UR_FABRIC_NS_COUNT, NULL) != sizeof(answer))
		return ur_fabric_fail(error, 0,
				      "node%u ended while it was "
				      "made",
				      host);
	if (answer.err) {
		*error = answer.error;
		return answer.err;
	}
	if (h->ns[UR_FABRIC_NS_COUNT - 1] < 0)
		return ur_fabric_fail(error, -EMFILE, "node%u's namespaces",
				      host);
	/* Shared by all hosts: uses the switch's descriptors. */
	for (int i = UR_FABRIC_NS_USER; i <= UR_FABRIC_NS_PID; i++) {
		close(h->ns[i]);
		h->ns[i] = keeper->hosts[0].ns[i];
	}
	return 0;
}

int ur_fabric_host_go(struct ur_fabric_keeper *keeper, unsigned int host,
		      struct ur_fabric_error *error)
{
	struct ur_fabric_host *h = &keeper->hosts[host];
	int err = send(h->talk, "g", 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;

	close(h->talk);
	return err ? ur_fabric_fail(error, err, "node%u", host) : 0;
}

/* Makes the error text from the end of the device's log. */
static int fail_by_log(struct ur_fabric_keeper *keeper, unsigned int host,
		       struct ur_fabric_error *error)
{
	char text[300] = "", path[PATH_MAX];
	ssize_t n = -1;
	int fd;

	ur_fabric_host_log(&keeper->paths, host, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n > 0)
		text[strcspn(text, "\n")] = '\0';
	return ur_fabric_fail(error, 0, "the device of node%u: %s", host,
			      *text ? text : "it ended without a word");
}

int ur_fabric_host_await(struct ur_fabric_keeper *keeper, unsigned int host,
			 struct ur_fabric_error *error)
{
	struct ur_fabric_host *h = &keeper->hosts[host];
	struct pollfd p = {.fd = h->ready, .events = POLLIN};
	char text[sizeof(error->text)] = "";
	ssize_t n = 0;

	if (poll(&p, 1, READY_WAIT_MS) > 0)
		n = read(h->ready, text, sizeof(text) - 1);
	else
		snprintf(text, sizeof(text),
			 "the device of node%u does not "
			 "come up",
			 host);
	close(h->ready);
	if (!strncmp(text, "ready", 5))
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return n <= 0 && !*text ? fail_by_log(keeper, host, error)
				: ur_fabric_fail(error, 0, "%s", text);
}
