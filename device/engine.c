// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The engine's life: what control creates and destroys, the GID table, the
 * multicast groups, user contexts. The thread's turn is in turn.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "device/engine_impl.h"
#include "device/loop.h"
#include "device/turn.h"
#include "device/user.h"
#include "device/wire.h"

#define TX_DESCS 1024u

/* ---- options ---- */

static void default_options(struct ur_engine_options *o)
{
	o->spin_us = 100;
	o->hold = true;
	o->tx_bytes = 256u << 10;
	o->gso = true;
	o->gro = true;
	o->shared = true;
	o->loop = true;
	o->coalesce = true;
	o->credits = true;
	o->ooo = true;
	o->fast = true;
}

static int set_option(struct ur_engine_options *o, const char *name, u32 v)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{"hold", &o->hold},	  {"gso", &o->gso},
		{"gro", &o->gro},	  {"shared", &o->shared},
		{"loop", &o->loop},	  {"coalesce", &o->coalesce},
		{"credits", &o->credits}, {"ooo", &o->ooo},
		{"cc", &o->cc},		  {"fast", &o->fast},
	};

	for (size_t i = 0; i < UR_ARRAY_SIZE(flags); i++) {
		if (!strcmp(name, flags[i].name)) {
			*flags[i].flag = v != 0;
			return 0;
		}
	}
	if (!strcmp(name, "spin_us"))
		o->spin_us = v;
	else if (!strcmp(name, "slice_us"))
		o->slice_us = v;
	else if (!strcmp(name, "tx_bytes") && v >= 16384 && v <= 16u << 20)
		o->tx_bytes = v;
	else
		return -EINVAL;
	return 0;
}

/* "name=value,..." */
static int parse_options(struct ur_engine_options *o, const char *text)
{
	char name[32];
	unsigned int v;
	int used;

	default_options(o);
	while (text && *text) {
		if (sscanf(text, "%31[a-z_]=%u%n", name, &v, &used) != 2 ||
		    set_option(o, name, v)) {
			fprintf(stderr,
				"uroced: engine option not understood: "
				"%s\n",
				text);
			return -EINVAL;
		}
		text += used;
		if (*text == ',')
			text++;
	}
	return 0;
}

/* ---- life ---- */

static const struct ur_host_ops host_ops = {
	.sq_next = ur_sq_next,
	.sq_retire = ur_sq_retire,
	.rq_next = ur_rq_next,
	.rq_count = ur_rq_count,
	.rq_want_kick = ur_rq_want_kick,
	.cq_push = ur_cq_push,
	.qp_event = ur_host_qp_event,
	.srq_event = ur_host_srq_event,
	.gsi_rx = ur_engine_tell_gsi,
};

static int create_port(struct ur_engine *e)
{
	struct ur_port_config port = {
		.seed = e->config.seed,
		.mtu_bytes = e->config.mtu_bytes,
		.max_qp = e->config.max_qp,
		.max_mr = e->config.max_mr,
		.first_qpn = 17,
		.node_guid = e->config.node_guid,
		.cc.enable = e->opt.cc,
		.ooo = e->opt.ooo,
		.loop = e->opt.loop,
		.credits = e->opt.credits,
		.coalesce = e->opt.coalesce,
		.fast = e->opt.fast,
		.ops = &host_ops,
		.ctx = e,
	};

	e->port = ur_port_create(&port);
	return e->port ? 0 : -ENOMEM;
}

static void called(struct ur_watch *watch, u32 events)
{
	/* edge triggered and never read: the mailbox says what there is */
}

static void free_engine(struct ur_engine *e)
{
	ur_wire_destroy(e);
	if (e->port)
		ur_port_destroy(e->port);
	free(e->tx.buf);
	free(e->tx.desc);
	if (e->call_fd >= 0)
		close(e->call_fd);
	if (e->epoll_fd >= 0)
		close(e->epoll_fd);
	ur_mailbox_fini(&e->mailbox);
	free(e);
}

int ur_engine_create(const struct ur_engine_config *config,
		     struct ur_engine **engine)
{
	struct ur_engine *e = calloc(1, sizeof(*e));
	int ret;

	if (!e)
		return -ENOMEM;
	e->config = *config;
	snprintf(e->netdev, sizeof(e->netdev), "%s",
		 config->netdev ? config->netdev : "");
	e->config.netdev = e->netdev;
	ur_list_init(&e->ectxs);
	ur_list_init(&e->kicks);
	ur_list_init(&e->moderated);
	ur_list_init(&e->joins);
	e->call_fd = -1;
	e->call_watch.fn = called;
	e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	ret = ur_mailbox_init(&e->mailbox);
	if (ret || e->epoll_fd < 0) {
		ret = ret ? ret : -errno;
		goto err;
	}
	ret = parse_options(&e->opt, config->options);
	if (ret)
		goto err;
	e->call_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->call_fd < 0) {
		ret = -errno;
		goto err;
	}
	ret = ur_engine_watch(e, e->call_fd, EPOLLIN | EPOLLET, &e->call_watch);
	if (ret)
		goto err;
	ret = -ENOMEM;
	e->tx.cap = e->opt.tx_bytes;
	e->tx.max_desc = TX_DESCS;
	if (posix_memalign((void **)&e->tx.buf, 4096, e->tx.cap))
		goto err;
	e->tx.desc = calloc(e->tx.max_desc, sizeof(*e->tx.desc));
	if (!e->tx.desc)
		goto err;
	ret = create_port(e);
	if (ret)
		goto err;
	ret = ur_wire_udp_create(e, &e->wire);
	if (!ret && config->roce_v1)
		ret = ur_wire_v1_create(e, &e->wire_v1);
	if (ret)
		goto err;
	ret = -pthread_create(&e->thread, NULL, ur_turn_thread, e);
	if (ret)
		goto err;
	*engine = e;
	return 0;
err:
	free_engine(e);
	return ret;
}

static int stop(struct ur_engine *engine, void *arg)
{
	engine->stop = true;
	return 0;
}

void ur_engine_stop(struct ur_engine *engine)
{
	if (engine->stop)
		return;
	ur_engine_call(engine, stop, NULL);
	pthread_join(engine->thread, NULL);
}

void ur_engine_destroy(struct ur_engine *engine)
{
	ur_engine_stop(engine);
	free_engine(engine);
}

int ur_engine_watch(struct ur_engine *engine, int fd, u32 events,
		    struct ur_watch *watch)
{
	struct epoll_event ev = {.events = events, .data.ptr = watch};

	return epoll_ctl(engine->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno
								       : 0;
}

void ur_engine_unwatch(struct ur_engine *engine, int fd)
{
	epoll_ctl(engine->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

/* ---- GIDs and groups ---- */

bool ur_engine_own_gid(struct ur_engine *engine, const u8 *gid)
{
	for (u32 i = 0; i < UR_ENGINE_GIDS; i++)
		if (engine->gids[i].used &&
		    !memcmp(engine->gids[i].gid, gid, 16))
			return true;
	return false;
}

struct gid_args {
	u32 index;
	const u8 *gid;
	enum ur_gid_type type;
};

static int set_gid(struct ur_engine *engine, void *arg)
{
	struct gid_args *a = arg;
	struct ur_egid *g = &engine->gids[a->index];
	struct ur_wire *wire;
	int ret;

	if (a->gid && g->used && g->type == a->type &&
	    !memcmp(g->gid, a->gid, 16))
		return 0;
	if (a->gid) {
		wire = ur_wire_of(engine, a->type == UR_GID_ROCE_V1);
		ret = wire ? wire->ops->addr_add(wire, a->gid) : -EOPNOTSUPP;
		if (ret)
			return ret;
	}
	if (g->used) {
		wire = ur_wire_of(engine, g->type == UR_GID_ROCE_V1);
		wire->ops->addr_del(wire, g->gid);
	}
	g->used = a->gid != NULL;
	if (g->used) {
		g->type = a->type;
		memcpy(g->gid, a->gid, 16);
	}
	return 0;
}

int ur_engine_set_gid(struct ur_engine *engine, u32 index, const u8 *gid,
		      enum ur_gid_type type)
{
	struct gid_args a = {index, gid, type};

	if (index >= UR_ENGINE_GIDS)
		return -EINVAL;
	return ur_engine_call(engine, set_gid, &a);
}

struct join {
	struct ur_list node;
	u8 gid[16];
	u32 count;
};

static struct join *find_join(struct ur_engine *engine, const u8 *gid)
{
	ur_list_for_each(it, &engine->joins) {
		struct join *j = ur_list_entry(it, struct join, node);

		if (!memcmp(j->gid, gid, 16))
			return j;
	}
	return NULL;
}

int ur_engine_join(struct ur_engine *engine, const u8 *gid)
{
	struct join *j = find_join(engine, gid);
	int ret;

	if (j) {
		j->count++;
		return 0;
	}
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	ret = ur_wire_join(engine, gid);
	if (ret) {
		free(j);
		return ret;
	}
	memcpy(j->gid, gid, 16);
	j->count = 1;
	ur_list_add_tail(&engine->joins, &j->node);
	return 0;
}

void ur_engine_leave(struct ur_engine *engine, const u8 *gid)
{
	struct join *j = find_join(engine, gid);

	if (!j || --j->count)
		return;
	ur_wire_leave(engine, gid);
	ur_list_del(&j->node);
	free(j);
}

static int set_mtu(struct ur_engine *engine, void *arg)
{
	ur_port_set_mtu(engine->port, *(u32 *)arg);
	return 0;
}

void ur_engine_set_mtu(struct ur_engine *engine, u32 mtu_bytes)
{
	ur_engine_call(engine, set_mtu, &mtu_bytes);
}

static int set_ifindex(struct ur_engine *engine, void *arg)
{
	engine->config.ifindex = *(u32 *)arg;
	return 0;
}

void ur_engine_set_ifindex(struct ur_engine *engine, u32 ifindex)
{
	ur_engine_call(engine, set_ifindex, &ifindex);
}

static int link_downed(struct ur_engine *engine, void *arg)
{
	ur_port_count(engine->port, UR_CNT_link_downed, 1);
	return 0;
}

void ur_engine_link_downed(struct ur_engine *engine)
{
	ur_engine_call(engine, link_downed, NULL);
}

void ur_engine_counters(struct ur_engine *engine, u64 *values)
{
	const u64 *live = ur_port_counters(engine->port);

	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		values[i] = __atomic_load_n(&live[i], __ATOMIC_RELAXED);
}

/* ---- management datagrams, events to control ---- */

struct gsi_args {
	const struct ur_epath *path;
	const u8 *mad;
};

static int send_gsi(struct ur_engine *engine, void *arg)
{
	struct gsi_args *a = arg;
	struct ur_av *av;
	int ret = ur_av_create(engine, a->path, 1, 1, &av);

	if (ret)
		return ret;
	ret = ur_gsi_send(engine->port, av, a->mad);
	ur_av_put(av);
	return ret;
}

int ur_engine_gsi_send(struct ur_engine *engine, const struct ur_epath *path,
		       const u8 *mad)
{
	struct gsi_args a = {path, mad};

	return ur_engine_call(engine, send_gsi, &a);
}

struct told {
	struct ur_engine *engine;
	struct ur_rx_meta meta;
	u32 qpn;
	enum ur_event ev;
	u32 len;
	u8 mad[256];
};

static void hear_gsi(void *arg)
{
	struct told *t = arg;
	const struct ur_engine_config *c = &t->engine->config;

	if (c->events && c->events->gsi_rx)
		c->events->gsi_rx(c->ctx, &t->meta, t->qpn, t->mad, t->len);
	free(t);
}

static void hear_event(void *arg)
{
	struct told *t = arg;
	const struct ur_engine_config *c = &t->engine->config;

	if (c->events && c->events->qp_event)
		c->events->qp_event(c->ctx, t->qpn, t->ev);
	free(t);
}

void ur_engine_tell_gsi(void *port_ctx, const struct ur_rx_meta *meta,
			u32 src_qpn, const u8 *mad, u32 len)
{
	struct ur_engine *engine = port_ctx;
	struct told *t = calloc(1, sizeof(*t));

	if (!t)
		return; /* a lost datagram, which its sender repeats */
	t->engine = engine;
	t->meta = *meta;
	t->qpn = src_qpn;
	t->len = ur_min_u32(len, sizeof(t->mad));
	memcpy(t->mad, mad, t->len);
	if (ur_loop_post(engine->config.loop, hear_gsi, t))
		free(t);
}

void ur_engine_tell_qp_event(struct ur_engine *engine, u32 qpn,
			     enum ur_event ev)
{
	struct told *t;

	if (!engine->config.events || !engine->config.events->qp_event)
		return;
	t = calloc(1, sizeof(*t));
	if (!t)
		return;
	t->engine = engine;
	t->qpn = qpn;
	t->ev = ev;
	if (ur_loop_post(engine->config.loop, hear_event, t))
		free(t);
}
