// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The commands of rdma_cm files, and their table. A command is copied in, handled under the
 * control lock, and its response copied out; a handler never touches client memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "device/client_rights.h"
#include "device/open_file.h"
#include "device/ucma/ucma_journal.h"
#include "device/ucma/ucma_neigh.h"

#define IN_MAX	512
#define OPT_MAX 1024

struct ucma_command {
	ucma_handler *fn;
	u16 in;	    /* full size of the request */
	u16 in_min; /* size in the first ABI */
	u16 out_min;
	int response; /* offset of the response pointer, -1: none */
};

#define RESPONSE(type) offsetof(struct type, response)
/* Sizes before later releases added fields. */
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

/* Copies the value of SET_OPTION, which has a pointer of its own. */
static int fetch_option(struct ur_session *s,
			const struct rdma_ucm_set_option *set, u8 *value)
{
	if (set->optlen > OPT_MAX)
		return -EINVAL;
	return ur_session_read(s, set->optval, value, set->optlen);
}

/* Returns whether the command, QUERY or INIT_QP_ATTR, leaves the replies sent ahead valid.
 * For datagrams INIT_QP_ATTR chooses a Q_Key, but no such reply contains it. */
static bool is_query(const struct ucma_command *c)
{
	return c->fn == ucma_query || c->fn == ucma_init_qp_attr;
}

static bool is_resolution(const struct ucma_command *c)
{
	return c->fn == ucma_resolve_ip || c->fn == ucma_resolve_addr ||
	       c->fn == ucma_resolve_route;
}

/* Returns whether the program is likely to wait for an event next. */
static bool is_last(const struct ucma_command *c)
{
	return c->fn == ucma_connect || c->fn == ucma_accept ||
	       c->fn == ucma_disconnect || c->fn == ucma_destroy_id;
}

/* A command as the client wrote it. */
struct copied {
	struct rdma_ucm_cmd_hdr hdr;
	const struct ucma_command *c; /* NULL: GET_EVENT */
	u64 len;		      /* of the WRITE */
	u64 response;
	u8 in[IN_MAX] __attribute__((aligned(8)));
	u8 option[OPT_MAX] __attribute__((aligned(8)));
	u32 in_bytes;
};

/* Copies the body of a command. Returns 0 or -errno. Lock not held, as for what follows. */
static int read_body(struct ucma_file *file, struct copied *w, u64 addr)
{
	const struct ucma_command *c = w->c;
	int err;

	if (!c->fn)
		return -ENOSYS;
	w->in_bytes = w->hdr.in < c->in ? w->hdr.in : c->in;
	if (w->in_bytes < c->in_min)
		return -EINVAL;
	if (c->response >= 0 && w->hdr.out < c->out_min)
		return -ENOSPC;
	err = ur_session_read(file->session, addr, w->in, w->in_bytes);
	if (!err && c->fn == ucma_set_option)
		err = fetch_option(file->session, (const void *)w->in,
				   w->option);
	if (!err && c->response >= 0)
		memcpy(&w->response, w->in + c->response, sizeof(w->response));
	return err;
}

static int read_command(struct ucma_file *file, struct copied *w, u64 addr)
{
	if (w->len < sizeof(w->hdr))
		return -EINVAL;
	if (ur_session_read(file->session, addr, &w->hdr, sizeof(w->hdr)))
		return -EFAULT;
	addr += sizeof(w->hdr);
	if (w->hdr.cmd == RDMA_USER_CM_CMD_GET_EVENT)
		return ucma_read_get_event(file, addr, w->len, &w->hdr,
					   &w->response);
	if (w->hdr.in + sizeof(w->hdr) > w->len ||
	    w->hdr.cmd >= UR_ARRAY_SIZE(commands))
		return -EINVAL;
	w->c = &commands[w->hdr.cmd];
	return read_body(file, w, addr);
}

/* Carries out the command. Lock held, and released. */
static int run(struct ucma_file *file, const struct copied *w)
{
	const struct ucma_command *c = w->c;
	struct ur_loop *loop = file->daemon->loop;
	struct ucma_cmd cmd = {.file = file,
			       .in = w->in,
			       .in_bytes = w->in_bytes,
			       .out_bytes = w->hdr.out,
			       .opt = w->option};
	u32 excess;
	int err;

	ucma_cm_touch(ucma_of(file));
	file->saw_removed_id = false;
	file->is_query = is_query(c);
	err = c->fn(&cmd);
	/* The command changed nothing, so repeat it once the client has proved the right to
	 * the port. Objects may be gone after the upcall. */
	if (err == -EACCES &&
	    ur_client_may_bind(file->session,
			       ucma_first_free_port(ucma_of(file)))) {
		file->low_ports = true;
		err = c->fn(&cmd);
		file->low_ports = false;
	}
	if (!err && file->is_query)
		ucma_cache_learn(file, &w->hdr, w->in);
	if (!err && (c->fn == ucma_connect || c->fn == ucma_destroy_id))
		ucma_cache_spare(file);
	file->is_query = false;
	if (err && file->saw_removed_id)
		err = -EIO;
	ucma_journal_answer(file, err ? err : (s64)w->len, w->response,
			    err || c->response < 0 ? NULL : cmd.out,
			    ur_min_u32(cmd.out_len, w->hdr.out));
	if (!err && is_last(c))
		ucma_ahead_answer(file);
	ucma_cm_kick(ucma_of(file));
	excess = ucma_tokens_excess(file);
	ur_loop_unlock(loop);
	ucma_tokens_withdraw(file->visible, excess);
	ucma_tokens_withdraw(cmd.moved_from, cmd.moved_tokens);
	/* The next hop was asked for when the lock was released. */
	if (!err && is_resolution(c)) {
		ur_loop_lock(loop);
		ucma_ahead_answer(file);
		ur_loop_unlock(loop);
	}
	if (err || c->response < 0)
		return err;
	return ur_session_write(file->session, w->response, cmd.out,
				ur_min_u32(cmd.out_len, w->hdr.out));
}

/* Returns whether an earlier uroced has carried out this command, but the client missed the
 * reply. */
static bool is_repeated(struct ucma_file *file)
{
	bool repeats = file->repeats;

	file->repeats = false;
	return repeats && !memcmp(ucma_journal_last(file)->question,
				  file->question, sizeof(file->question));
}

static s64 repeat_answer(struct ucma_file *file)
{
	const struct ucma_answer *last = ucma_journal_last(file);
	int err = 0;

	if (last->len)
		err = ur_session_write(file->session, last->addr, last->bytes,
				       last->len);
	return err ? err : last->ret;
}

static s64 ucma_write(void *opaque, u64 addr, u64 len)
{
	struct ucma_file *file = opaque;
	struct copied w = {.len = len};
	int err;

	memset(file->question, 0, sizeof(file->question));
	if (ur_session_read(file->session, addr, file->question,
			    ur_min_u64(len, sizeof(file->question))))
		ur_debug("an rdma_cm command that cannot be read");
	err = read_command(file, &w, addr);
	ur_loop_lock(file->daemon->loop);
	ucma_ahead_end(file, file->session->took_ahead);
	if (file->session->has_created)
		ucma_spare_take(file, &file->session->created);
	file->in_command = !is_repeated(file);
	if (!file->in_command) {
		ur_loop_unlock(file->daemon->loop);
		return repeat_answer(file);
	}
	if (w.hdr.cmd == RDMA_USER_CM_CMD_GET_EVENT && len >= sizeof(w.hdr)) {
		err = ucma_get_event(file, err, w.response, len, w.hdr.out);
	} else if (err) {
		ucma_journal_answer(file, err, 0, NULL, 0);
		ur_loop_unlock(file->daemon->loop);
	} else {
		err = run(file, &w);
	}
	return err ? err : (s64)len;
}

static const struct ur_file_ops ucma_file_ops = {
	.open = ucma_open,
	.reattach = ucma_reattach,
	.write = ucma_write,
	.close = ucma_close,
};

/* From now on the client can only read the id's events and destroy it; all other commands
 * fail with EIO, as when the kernel's ucma closes an id. */
static void lose_device(struct ucma_id *id)
{
	ucma_cache_void(id);
	ur_list_del(&id->waiting);
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
	.device_gone = device_gone,
};

static const struct ucma_hop_ops hop_ops = {
	.resolved = ucma_resolved,
	.resolved_all = ucma_cm_kick,
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
	ur_list_init(&ucma->touched);
	ur_list_init(&ucma->joins_touched);
	ur_list_init(&ucma->due);
	for (u32 i = 0; i < UCMA_PORT_BUCKETS; i++)
		ur_list_init(&ucma->ports[i]);
	ucma_ports_open(&ucma->sysctls);
	ucma->cm = ucma_cm_create(ucma, ucma_cm_event);
	ucma->hops = ucma_hops_create(ucma, &hop_ops);
	if (!ucma->cm || !ucma->hops) {
		free(ucma->hops);
		if (ucma->cm)
			ur_cm_destroy(ucma->cm);
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
	ucma_hops_destroy(ucma->hops);
	ur_cm_destroy(ucma->cm);
	ucma_journal_close(ucma);
	ucma_ports_close(&ucma->sysctls);
	free(ucma);
}
