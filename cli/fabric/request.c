// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A command's connection to the keeper: sends a request and receives the reply. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/fabric/fabric.h"
#include "util/os/scm.h"
#include "util/text.h"

static int receive_answer(int sock, struct ur_fabric_answer *answer, int *fds)
{
	ssize_t n = ur_scm_recv_one(sock, answer, sizeof(*answer), fds,
				    fds ? UR_FABRIC_NS_COUNT : 0, NULL);

	if (n != sizeof(*answer))
		return n < 0 ? (int)n : -ECONNRESET;
	if (!fds || answer->err || fds[UR_FABRIC_NS_COUNT - 1] >= 0)
		return 0;
	ur_scm_close(fds, UR_FABRIC_NS_COUNT);
	return -EPROTO;
}

int ur_fabric_ask(int sock, const struct ur_fabric_request *request,
		  struct ur_fabric_answer *answer, int *fds)
{
	struct ur_fabric_request message = *request;
	int err = 0;

	message.protocol = UR_FABRIC_PROTOCOL;
	if (send(sock, &message, sizeof(message), MSG_NOSIGNAL) < 0)
		err = -errno;
	if (!err)
		err = receive_answer(sock, answer, fds);
	if (err) {
		ur_complain("the fabric does not answer: %s", strerror(-err));
		return err;
	}
	answer->error.text[sizeof(answer->error.text) - 1] = '\0';
	ur_text_clean(answer->error.text, false);
	if (answer->err)
		ur_complain("fabric: %s", *answer->error.text
						  ? answer->error.text
						  : strerror(-answer->err));
	return answer->err;
}

int ur_fabric_open(struct ur_fabric *fabric, const struct ur_options *options)
{
	struct ur_fabric_request request = {.op = UR_FABRIC_PLAN};
	struct ur_fabric_answer answer;

	if (ur_fabric_dir_find(options, &fabric->paths))
		return UR_EXIT_USAGE;
	fabric->sock = ur_fabric_ask_open(&fabric->paths);
	if (fabric->sock < 0)
		return UR_EXIT_FAILED;
	if (!ur_fabric_ask(fabric->sock, &request, &answer, NULL)) {
		fabric->plan = answer.plan;
		return 0;
	}
	ur_fabric_close(fabric);
	return UR_EXIT_FAILED;
}

void ur_fabric_close(struct ur_fabric *fabric)
{
	if (fabric->sock >= 0)
		close(fabric->sock);
	fabric->sock = -1;
}

int ur_fabric_find_host(const struct ur_fabric *fabric, const char *name)
{
	int host = ur_fabric_host_number(&fabric->plan, name);

	if (host < 0)
		ur_complain("fabric %s: no host %s: node1 to node%u, or switch",
			    fabric->paths.name, name, fabric->plan.hosts);
	return host;
}
