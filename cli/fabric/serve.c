// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Serves commands in the keeper, and reaps orphans. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/fabric/keeper.h"
#include "util/os/peer_user.h"
#include "util/os/scm.h"

/* How long the keeper waits for a connected command. All commands are the user's own: a
 * stopped one delays other commands, but no device. */
#define PATIENCE_S 1

/* Returns 0, or -errno with an error text if there is no such link. */
static int check_link(const struct ur_fabric_keeper *keeper,
		      const struct ur_fabric_request *request,
		      struct ur_fabric_error *error)
{
	const struct ur_fabric_plan *plan = &keeper->plan;

	if (request->host > plan->hosts)
		return ur_fabric_fail(error, -ENODEV, "no such host");
	if (!request->host && plan->racks < 2)
		return ur_fabric_fail(error, 0,
				      "one switch has no link to another; 'up "
				      "--racks 2' makes two");
	if (request->card >= (request->host ? plan->devices : 1))
		return ur_fabric_fail(error, -ENODEV, "no such card");
	return 0;
}

static int change_link(struct ur_fabric_keeper *keeper,
		       const struct ur_fabric_request *request,
		       struct ur_fabric_answer *answer)
{
	int err = check_link(keeper, request, &answer->error);
	struct ur_fabric_link link;

	if (err)
		return err;
	link = keeper->hosts[request->host].links[request->card];
	ur_fabric_link_take(&link, &request->link, request->traits);
	if (!ur_fabric_link_check(&link))
		return ur_fabric_fail(&answer->error, -ERANGE, "the link");
	/* Without a rate there is no queue. */
	if (request->traits & UR_FABRIC_RATE && !link.rate &&
	    !(request->traits & UR_FABRIC_QUEUE))
		link.queue = 0;
	err = ur_fabric_keeper_link(keeper, request->host, request->card, &link,
				    request->traits, &answer->error);
	answer->link = keeper->hosts[request->host].links[request->card];
	return err;
}

static int look_at(const struct ur_fabric_keeper *keeper,
		   const struct ur_fabric_request *request,
		   struct ur_fabric_answer *answer)
{
	int err = check_link(keeper, request, &answer->error);

	if (err)
		return err;
	answer->link = keeper->hosts[request->host].links[request->card];
	answer->alive = keeper->hosts[request->host].device > 0;
	return 0;
}

/* Returns whether the fabric goes on. */
static bool answer_one(struct ur_fabric_keeper *keeper, int sock,
		       const struct ur_fabric_request *request)
{
	struct ur_fabric_answer answer = {.plan = keeper->plan};
	const int *fds = NULL;
	bool more = true;

	switch (request->op) {
	case UR_FABRIC_PLAN:
		break;
	case UR_FABRIC_SHOW:
		answer.err = look_at(keeper, request, &answer);
		break;
	case UR_FABRIC_JOIN:
		if (request->host <= keeper->plan.hosts)
			fds = keeper->hosts[request->host].ns;
		else
			answer.err = -ENODEV;
		break;
	case UR_FABRIC_LINK:
		answer.err = change_link(keeper, request, &answer);
		break;
	case UR_FABRIC_END:
		more = false;
		break;
	default:
		answer.err = -EOPNOTSUPP;
	}
	/* The requester may have exited. */
	(void)ur_scm_send_one(sock, &answer, sizeof(answer), fds,
			      fds ? UR_FABRIC_NS_COUNT : 0, 0);
	return more;
}

/* Returns whether the fabric goes on. */
static bool serve_one(struct ur_fabric_keeper *keeper)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};
	struct ur_fabric_request request;
	bool more = true;
	int sock;

	sock = accept4(keeper->sock, NULL, NULL, SOCK_CLOEXEC);
	if (sock < 0)
		return true;
	if (ur_peer_is_own_user(sock) &&
	    !setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience,
			sizeof(patience)) &&
	    !setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience,
			sizeof(patience)))
		while (more &&
		       recv(sock, &request, sizeof(request), 0) ==
			       sizeof(request) &&
		       request.protocol == UR_FABRIC_PROTOCOL)
			more = answer_one(keeper, sock, &request);
	close(sock);
	return more;
}

static void reap(struct ur_fabric_keeper *keeper)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (unsigned int i = 1; i <= keeper->plan.hosts; i++)
			if (keeper->hosts[i].device == pid)
				keeper->hosts[i].device = 0;
}

bool ur_fabric_serve(struct ur_fabric_keeper *keeper)
{
	struct signalfd_siginfo info;
	struct pollfd p[3];
	bool more = true;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	p[0] = (struct pollfd){.fd = keeper->sock, .events = POLLIN};
	p[1] = (struct pollfd){.fd = keeper->life, .events = POLLIN};
	p[2] = (struct pollfd){
		.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
		.events = POLLIN};
	reap(keeper);
	while (more) {
		if (poll(p, 3, -1) < 0 && errno != EINTR)
			break;
		if (p[1].revents)
			return false;
		while (read(p[2].fd, &info, sizeof(info)) == sizeof(info))
			if (info.ssi_signo == SIGTERM)
				more = false;
		reap(keeper);
		if (more && p[0].revents)
			more = serve_one(keeper);
	}
	return true;
}
