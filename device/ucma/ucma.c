// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files of the kind rdma_cm, and the table of the commands written to them.
 * Commands are copied in whole, handled under the control lock, and their
 * responses copied out; a handler never touches client memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/tree/sysfs.h"
#include "device/client_rights.h"
#include "device/kept_events.h"
#include "device/open_file.h"
#include "device/ucma/ucma.h"
#include "util/assert.h"
#include "util/os/event_pair.h"

#define IN_MAX	512
#define OPT_MAX 1024

struct ucma_command {
	ucma_handler *fn;
	u16 in;	    /* full size of the request */
	u16 in_min; /* what the first releases of the ABI had */
	u16 out_min;
	int response; /* offset of the response pointer, -1: none */
};

#define RESPONSE(type) offsetof(struct type, response)
/* Up to, and without, what later releases added. */
#define QUERY_ROUTE_MIN offsetof(struct rdma_ucm_query_route_resp, ibdev_index)
#define CONNECT_MIN	offsetof(struct rdma_ucm_connect, ece)
#define ACCEPT_MIN	offsetof(struct rdma_ucm_accept, ece)
#define EVENT_MIN                                          \
	(offsetof(struct ucma_abi_write_cm_event, param) + \
	 sizeof(((struct ucma_abi_write_cm_event *)0)->param.arg))

_Static_assert(sizeof(struct rdma_ucm_connect) <= IN_MAX &&
		       sizeof(struct rdma_ucm_accept) <= IN_MAX &&
		       sizeof(struct rdma_ucm_join_mcast) <= IN_MAX &&
		       sizeof(struct ucma_abi_write_cm_event) <= IN_MAX,
	       "the longest requests fit");

#define COMMAND(handler, type, min, out, resp)                               \
	{                                                                    \
		.fn = (handler), .in = sizeof(struct type), .in_min = (min), \
		.out_min = (out), .response = (resp)                         \
	}
#define PLAIN(handler, type) COMMAND(handler, type, sizeof(struct type), 0, -1)
#define WITH_RESPONSE(handler, type, out) \
	COMMAND(handler, type, sizeof(struct type), out, RESPONSE(type))

static const struct ucma_command commands[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] =
		WITH_RESPONSE(ucma_create_id, rdma_ucm_create_id, 4),
	[RDMA_USER_CM_CMD_DESTROY_ID] =
		WITH_RESPONSE(ucma_destroy_id, rdma_ucm_destroy_id, 4),
	[RDMA_USER_CM_CMD_BIND_IP] = PLAIN(ucma_bind_ip, rdma_ucm_bind_ip),
	[RDMA_USER_CM_CMD_RESOLVE_IP] =
		PLAIN(ucma_resolve_ip, rdma_ucm_resolve_ip),
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] =
		PLAIN(ucma_resolve_route, rdma_ucm_resolve_route),
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = WITH_RESPONSE(
		ucma_query_route, rdma_ucm_query, QUERY_ROUTE_MIN),
	[RDMA_USER_CM_CMD_CONNECT] =
		COMMAND(ucma_connect, rdma_ucm_connect, CONNECT_MIN, 0, -1),
	[RDMA_USER_CM_CMD_LISTEN] = PLAIN(ucma_listen, rdma_ucm_listen),
	[RDMA_USER_CM_CMD_ACCEPT] =
		COMMAND(ucma_accept, rdma_ucm_accept, ACCEPT_MIN, 0, -1),
	[RDMA_USER_CM_CMD_REJECT] = PLAIN(ucma_reject, rdma_ucm_reject),
	[RDMA_USER_CM_CMD_DISCONNECT] =
		PLAIN(ucma_disconnect, rdma_ucm_disconnect),
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] =
		WITH_RESPONSE(ucma_init_qp_attr, rdma_ucm_init_qp_attr,
			      sizeof(struct ib_uverbs_qp_attr)),
	[RDMA_USER_CM_CMD_SET_OPTION] =
		PLAIN(ucma_set_option, rdma_ucm_set_option),
	[RDMA_USER_CM_CMD_NOTIFY] = PLAIN(ucma_notify, rdma_ucm_notify),
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] =
		WITH_RESPONSE(ucma_join_ip_mcast, rdma_ucm_join_ip_mcast, 4),
	[RDMA_USER_CM_CMD_LEAVE_MCAST] =
		WITH_RESPONSE(ucma_leave_mcast, rdma_ucm_destroy_id, 4),
	[RDMA_USER_CM_CMD_MIGRATE_ID] =
		WITH_RESPONSE(ucma_migrate_id, rdma_ucm_migrate_id, 4),
	[RDMA_USER_CM_CMD_QUERY] = WITH_RESPONSE(ucma_query, rdma_ucm_query, 8),
	[RDMA_USER_CM_CMD_BIND] = PLAIN(ucma_bind, rdma_ucm_bind),
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] =
		PLAIN(ucma_resolve_addr, rdma_ucm_resolve_addr),
	[RDMA_USER_CM_CMD_JOIN_MCAST] =
		WITH_RESPONSE(ucma_join_mcast, rdma_ucm_join_mcast, 4),
	[UCMA_CMD_RESOLVE_IB_SERVICE] =
		PLAIN(ucma_resolve_ib_service, ucma_abi_resolve_ib_service),
	[UCMA_CMD_WRITE_CM_EVENT] = COMMAND(
		ucma_write_cm_event, ucma_abi_write_cm_event, EVENT_MIN, 0, -1),
};

/* The value of SET_OPTION lies behind a pointer of its own. */
static int fetch_option(struct ur_session *s,
			const struct rdma_ucm_set_option *set, u8 *value)
{
	if (set->optlen > OPT_MAX)
		return -EINVAL;
	return ur_session_read(s, set->optval, value, set->optlen);
}

/* Returns whether the command is a question, QUERY or INIT_QP_ATTR, that leaves
 * the replies sent ahead as they are. For datagrams INIT_QP_ATTR chooses a key,
 * but no such reply has it. */
static bool is_query(const struct ucma_command *c)
{
	return c->fn == ucma_query || c->fn == ucma_init_qp_attr;
}

static s64 run(struct ucma_file *file, const struct ucma_command *c, u64 addr,
	       const struct rdma_ucm_cmd_hdr *hdr)
{
	struct ur_session *s = file->session;
	struct ur_loop *loop = file->daemon->loop;
	struct ucma_cmd cmd = {.file = file, .out_bytes = hdr->out};
	u8 in[IN_MAX] __attribute__((aligned(8))) = {0};
	u8 option[OPT_MAX] __attribute__((aligned(8))) = {0};
	u64 response = 0;
	u32 excess;
	int err;

	cmd.in = in;
	cmd.in_bytes = hdr->in < c->in ? hdr->in : c->in;
	if (cmd.in_bytes < c->in_min)
		return -EINVAL;
	if (c->response >= 0 && hdr->out < c->out_min)
		return -ENOSPC;
	err = ur_session_read(s, addr, in, cmd.in_bytes);
	if (err)
		return err;
	if (c->fn == ucma_set_option) {
		err = fetch_option(s, (const void *)in, option);
		if (err)
			return err;
		cmd.opt = option;
	}
	if (c->response >= 0)
		memcpy(&response, in + c->response, sizeof(response));
	ur_loop_lock(loop);
	ucma_cm_touch(ucma_of(file));
	file->saw_removed_id = false;
	file->is_query = is_query(c);
	err = c->fn(&cmd);
	/* Changed nothing: who has the right may have the port. Nothing of what
	 * was looked at is sure to be there after the question. */
	if (err == -EACCES &&
	    ur_client_may_bind(s, ucma_first_free_port(ucma_of(file)))) {
		file->low_ports = true;
		err = c->fn(&cmd);
		file->low_ports = false;
	}
	if (!err && file->is_query)
		ucma_cache_learn(file, hdr, in);
	file->is_query = false;
	if (err && file->saw_removed_id)
		err = -EIO;
	ucma_cm_kick(ucma_of(file));
	excess = ucma_tokens_excess(file);
	ur_loop_unlock(loop);
	ucma_tokens_withdraw(file->visible, excess);
	ucma_tokens_withdraw(cmd.moved_from, cmd.moved_tokens);
	if (err || c->response < 0)
		return err;
	if (cmd.out_len > hdr->out)
		cmd.out_len = hdr->out;
	return ur_session_write(s, response, cmd.out, cmd.out_len);
}

static s64 ucma_write(void *opaque, u64 addr, u64 len)
{
	struct ucma_file *file = opaque;
	struct rdma_ucm_cmd_hdr hdr;
	s64 ret;

	if (len < sizeof(hdr))
		return -EINVAL;
	if (ur_session_read(file->session, addr, &hdr, sizeof(hdr)))
		return -EFAULT;
	if (hdr.cmd == RDMA_USER_CM_CMD_GET_EVENT) {
		ret = ucma_get_event(file, addr + sizeof(hdr), len, &hdr);
		return ret ? ret : (s64)len;
	}
	if (hdr.in + sizeof(hdr) > len)
		return -EINVAL;
	if (hdr.cmd >= UR_ARRAY_SIZE(commands))
		return -EINVAL;
	addr += sizeof(hdr);
	if (!commands[hdr.cmd].fn)
		ret = -ENOSYS;
	else
		ret = run(file, &commands[hdr.cmd], addr, &hdr);
	return ret ? ret : (s64)len;
}

static int ucma_open(struct ur_session *s, const char *name, void **opened,
		     int *shown, u64 *rdev)
{
	struct ur_ucma *ucma = s->daemon->cm;
	struct ucma_file *file;
	int pair[2], err;

	ur_assert(ur_loop_mine(s->daemon->loop));
	if (ur_memory_take(s->uid, UR_KIB_FILE))
		return -ENOMEM;
	err = ur_quota_take_fds(s->uid, UR_FDS_UCMA);
	if (err)
		goto err_give;
	file = calloc(1, sizeof(*file));
	if (!file) {
		err = -ENOMEM;
		goto err_fds;
	}
	err = ur_event_pair(pair);
	if (err)
		goto err_free;
	err = ur_file_id(pair[1], &file->shown);
	if (err)
		goto err_close;
	file->user = s->uid;
	file->session = s;
	file->daemon = s->daemon;
	file->sock = pair[0];
	file->visible = pair[1];
	ur_list_init(&file->ids);
	ur_list_init(&file->mcasts);
	ur_list_init(&file->events);
	ur_list_add_tail(&ucma->files, &file->node);
	*opened = file;
	file->kept = ur_kept_events_add(s, file->sock);
	file->page = -1;
	if (s->features & UROCE_TUN_F_CACHED_REPLY)
		ucma_cache_open(file);
	shown[0] = file->visible;
	shown[1] = file->page;
	*rdev = ur_sysfs_rdma_cm_rdev();
	return 0;

err_close:
	close(pair[0]);
	close(pair[1]);
err_free:
	free(file);
err_fds:
	ur_quota_give_fds(s->uid, UR_FDS_UCMA);
err_give:
	ur_memory_give(s->uid, UR_KIB_FILE);
	return err;
}

/* Closes the rest without the lock: the client has the page, and can make the
 * unmapping wait. */
static void close_rest(struct ur_loop_after *after)
{
	struct ucma_file *file =
		ur_container_of(after, struct ucma_file, after);

	close(file->sock);
	close(file->visible);
	ucma_cache_close(file);
	free(file);
}

/* The time of one step of a file's end with the lock held: each id may be a
 * packet. */
#define END_NS 200000u

static bool end_one(struct ucma_file *file)
{
	if (!ur_list_empty(&file->mcasts))
		ucma_mcast_free(
			ur_list_first(&file->mcasts, struct ucma_mcast, node));
	else if (!ur_list_empty(&file->ids))
		ucma_id_free(ur_list_first(&file->ids, struct ucma_id, node));
	else
		return false;
	return true;
}

/* Returns whether there is more. */
static bool end_some(struct ucma_file *file)
{
	struct ur_ucma *ucma = ucma_of(file);
	u64 end = ur_loop_now() + END_NS;
	bool more;

	ucma_cm_touch(ucma);
	do
		more = end_one(file);
	while (more && ur_loop_now() < end);
	ucma_cm_kick(ucma);
	return more;
}

static void ucma_close(void *opaque)
{
	struct ucma_file *file = opaque;
	struct ur_loop *loop = file->daemon->loop;

	ur_assert(ur_loop_mine(loop));
	while (end_some(file))
		if (ur_loop_step_aside(loop))
			ur_loop_lock(loop);
	ur_list_del(&file->node);
	ur_kept_events_del(file->kept);
	ur_quota_give_fds(file->user, UR_FDS_UCMA);
	ur_memory_give(file->user, UR_KIB_FILE);
	ur_loop_after(loop, &file->after, close_rest);
}

static const struct ur_file_ops ucma_file_ops = {
	.open = ucma_open,
	.write = ucma_write,
	.close = ucma_close,
};

/* From here on the client can take its events and destroy it; all else is EIO,
 * as when the kernel's ucma closes an id. */
static void lose_device(struct ucma_id *id)
{
	ucma_cache_void(id);
	ucma_cm_drop(id);
	ucma_port_release(id);
	id->dev = NULL;
	id->has_path = false;
	id->lost = true;
	ucma_event_simple(id, UCMA_EVENT_DEVICE_REMOVAL, 0);
}

static void device_gone(struct ur_device *dev)
{
	struct ur_ucma *ucma = dev->daemon->cm;

	ucma_cm_touch(ucma);
	ucma_for_each_id(id, ucma)
		if (id->dev == dev)
			lose_device(id);
	ucma_cm_kick(ucma);
}

static const struct ur_cm_ops cm_ops = {
	.gsi_rx = ucma_cm_gsi_rx,
	.qp_event = ucma_cm_qp_event,
	.device_gone = device_gone,
};

int ur_ucma_init(struct ur_daemon *daemon)
{
	struct ur_ucma *ucma = calloc(1, sizeof(*ucma));
	u64 seed;

	if (!ucma)
		return -ENOMEM;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed) ||
	    getrandom(ucma->secret.key, sizeof(ucma->secret.key), 0) !=
		    sizeof(ucma->secret.key)) {
		free(ucma);
		return -EIO;
	}
	ucma->daemon = daemon;
	ucma->rng.state = seed;
	ucma->ids_quota =
		(struct ur_quota){.what = "rdma_cm ids", .max = UCMA_ID_MAX};
	ucma->mcasts_quota =
		(struct ur_quota){.what = "rdma_cm joins", .max = UCMA_ID_MAX};
	ur_list_init(&ucma->files);
	for (u32 i = 0; i < UCMA_PORT_BUCKETS; i++)
		ur_list_init(&ucma->ports[i]);
	ucma_ports_open(&ucma->sysctls);
	ucma->cm = ucma_cm_create(ucma, ucma_cm_event);
	if (!ucma->cm) {
		ucma_ports_close(&ucma->sysctls);
		free(ucma);
		return -ENOMEM;
	}
	daemon->cm = ucma;
	daemon->cm_ops = &cm_ops;
	daemon->file_ops[UROCE_TUN_RDMA_CM] = &ucma_file_ops;
	return 0;
}

void ur_ucma_fini(struct ur_daemon *daemon)
{
	struct ur_ucma *ucma = daemon->cm;

	if (!ucma)
		return;
	ur_loop_timer_clear(daemon->loop, &ucma->timer);
	daemon->file_ops[UROCE_TUN_RDMA_CM] = NULL;
	daemon->cm_ops = NULL;
	daemon->cm = NULL;
	ur_cm_destroy(ucma->cm);
	ucma_ports_close(&ucma->sysctls);
	free(ucma);
}
