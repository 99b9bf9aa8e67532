// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sends the rdma_cm commands over the tunnel. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/ping_cm.h"
#include "kernel-abi/uroce-tunnel.h"
#include "util/os/clock.h"

/* enum rdma_cm_event_type, which only librdmacm's headers have. */
enum {
	EVENT_ADDR_RESOLVED = 0,
	EVENT_ROUTE_RESOLVED = 2,
	EVENT_UNREACHABLE = 7,
};

#define QPT_UD 4 /* enum ib_qp_type */

/* The kernel queries a neighbour once a second. */
#define RESOLVE_MS 2000

/* No service can listen there, so the reply is an immediate refusal. */
#define SERVICE_PORT 0

int ur_ping_cm_open(struct ur_ping_cm *cm, const char *run_dir)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_RDMA_CM,
				    .open.version = UROCE_TUN_VERSION,
				    .open.self = (uintptr_t)&msg,
				    .name = "rdma_cm"};
	int err;

	cm->events = -1;
	cm->sock = ur_client_connect(run_dir);
	if (cm->sock < 0)
		return cm->sock;
	cm->mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (cm->mem < 0)
		err = -errno;
	else
		err = ur_client_ask(cm->sock, &msg, cm->mem, &cm->events);
	if (err)
		ur_ping_cm_close(cm);
	return err;
}

void ur_ping_cm_close(struct ur_ping_cm *cm)
{
	if (cm->events >= 0)
		close(cm->events);
	if (cm->mem >= 0)
		close(cm->mem);
	if (cm->sock >= 0)
		close(cm->sock);
	cm->events = cm->mem = cm->sock = -1;
}

/* Writes one command, after filling in its header. */
static int command(struct ur_ping_cm *cm, uint32_t number, void *cmd,
		   size_t len, size_t out)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
				    .call.arg = (uintptr_t)cmd,
				    .call.len = len};
	struct rdma_ucm_cmd_hdr *hdr = cmd;
	int fd;

	hdr->cmd = number;
	hdr->in = (uint16_t)(len - sizeof(*hdr));
	hdr->out = (uint16_t)out;
	return ur_client_ask(cm->sock, &msg, -1, &fd);
}

static int create_id(struct ur_ping_cm *cm, uint32_t *ret_id)
{
	struct rdma_ucm_create_id_resp resp = {0};
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_create_id c;
	} cmd = {.c = {.uid = 1,
		       .response = (uintptr_t)&resp,
		       .ps = RDMA_PS_UDP,
		       .qp_type = QPT_UD}};
	int err = command(cm, RDMA_USER_CM_CMD_CREATE_ID, &cmd, sizeof(cmd),
			  sizeof(resp));

	*ret_id = *(volatile uint32_t *)&resp.id;
	return err;
}

static void destroy_id(struct ur_ping_cm *cm, uint32_t id)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_destroy_id c;
	} cmd = {.c = {.response = (uintptr_t)&resp, .id = id}};

	command(cm, RDMA_USER_CM_CMD_DESTROY_ID, &cmd, sizeof(cmd),
		sizeof(resp));
}

static int resolve_addr(struct ur_ping_cm *cm, uint32_t id,
			const struct sockaddr *peer, socklen_t size, int ms)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_resolve_addr c;
	} cmd = {.c = {.id = id,
		       .timeout_ms = (uint32_t)ms,
		       .dst_size = (uint16_t)size}};

	memcpy(&cmd.c.dst_addr, peer, size);
	return command(cm, RDMA_USER_CM_CMD_RESOLVE_ADDR, &cmd, sizeof(cmd), 0);
}

static int resolve_route(struct ur_ping_cm *cm, uint32_t id, int ms)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_resolve_route c;
	} cmd = {.c = {.id = id, .timeout_ms = (uint32_t)ms}};

	return command(cm, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &cmd, sizeof(cmd),
		       0);
}

static int connect_id(struct ur_ping_cm *cm, uint32_t id)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_connect c;
	} cmd = {.c = {.id = id, .conn_param = {.valid = 1}}};

	return command(cm, RDMA_USER_CM_CMD_CONNECT, &cmd, sizeof(cmd), 0);
}

/* Return: the event's number with its status, or -errno. */
static int next_event(struct ur_ping_cm *cm, int ms, int *ret_status)
{
	struct rdma_ucm_event_resp resp = {0};
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_get_event c;
	} cmd = {.c = {.response = (uintptr_t)&resp}};
	struct pollfd pfd = {.fd = cm->events, .events = POLLIN};
	char token;
	int err;

	do {
		if (poll(&pfd, 1, ms) != 1)
			return -ETIMEDOUT;
		if (read(cm->events, &token, 1) != 1)
			return -EIO;
		err = command(cm, RDMA_USER_CM_CMD_GET_EVENT, &cmd, sizeof(cmd),
			      sizeof(resp));
	} while (err == -EAGAIN);
	if (err)
		return err;
	/* The device wrote the memory, unseen by the compiler. */
	*ret_status = *(volatile int *)&resp.status;
	return (int)*(volatile uint32_t *)&resp.event;
}

static int expect(struct ur_ping_cm *cm, int want, int ms)
{
	int status = 0, event = next_event(cm, ms, &status);

	if (event < 0 || event == want)
		return event < 0 ? event : 0;
	return status < 0 ? status : -EHOSTUNREACH;
}

static int converse(struct ur_ping_cm *cm, uint32_t id,
		    const struct sockaddr *peer, socklen_t size, int ms,
		    enum ur_ping_step *step, double *us)
{
	int err, status = 0;
	uint64_t start;

	*step = UR_PING_ADDRESS;
	err = resolve_addr(cm, id, peer, size, RESOLVE_MS);
	if (!err)
		err = expect(cm, EVENT_ADDR_RESOLVED, RESOLVE_MS + 1000);
	if (err)
		return err;
	*step = UR_PING_ROUTE;
	err = resolve_route(cm, id, RESOLVE_MS);
	if (!err)
		err = expect(cm, EVENT_ROUTE_RESOLVED, RESOLVE_MS + 1000);
	if (err)
		return err;
	*step = UR_PING_ANSWER;
	start = ur_clock_ns(CLOCK_MONOTONIC);
	err = connect_id(cm, id);
	if (err)
		return err;
	err = next_event(cm, ms, &status);
	*us = (double)(ur_clock_ns(CLOCK_MONOTONIC) - start) / 1e3;
	if (err < 0)
		return err;
	if (err == EVENT_UNREACHABLE && status == -ETIMEDOUT)
		return -ETIMEDOUT;
	return 0; /* refused, or even accepted */
}

int ur_ping_cm_ask(struct ur_ping_cm *cm, const struct sockaddr *peer,
		   socklen_t size, int timeout_ms, enum ur_ping_step *ret_step,
		   double *ret_us)
{
	struct sockaddr_storage to = {0};
	uint32_t id;
	int err;

	*ret_step = UR_PING_ADDRESS;
	memcpy(&to, peer, size);
	/* sin_port and sin6_port have the same offset. */
	((struct sockaddr_in *)&to)->sin_port = htons(SERVICE_PORT);
	err = create_id(cm, &id);
	if (err)
		return err;
	err = converse(cm, id, (struct sockaddr *)&to, size, timeout_ms,
		       ret_step, ret_us);
	destroy_id(cm, id);
	return err;
}
