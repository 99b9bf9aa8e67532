// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The table of functions of liburoce-engine.so: creates, runs and ends engines. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/gpu/gpu.h"
#include "engine/ground/own_memory.h"
#include "engine/inproc/ops/process.h"
#include "util/os/clock.h"
#include "util/os/high_fd.h"

#define SPARE 16
/* Longest time in which a context's last requests are sent. */
#define DRAIN_NS 200000000u
/* The engine's thread stays awake for 100 us after work. */
#define OPTIONS "spin_us=100,hold=0"

extern const struct uroce_engine_ops uroce_engine_ops;

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

/* Makes own, whose page is wiped in a child of fork: the child has no engine thread, and the
 * packets go to the parent. */
static int mark_own(struct uroce_ectx *g)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	g->own = p;
	if (madvise(p, page, MADV_WIPEONFORK) < 0)
		return -errno;
	*g->own = 1;
	return 0;
}

/* Checks the limit of file sizes first: beyond it the kernel kills the process (SIGXFSZ). */
static int make_file(bool apart)
{
	struct rlimit limit;
	int fd, err;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 ||
	    limit.rlim_cur < UROCE_ECTX_FILE_BYTES)
		return -EOPNOTSUPP;
	fd = ur_high_fd(
		memfd_create("uroce-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (fd < 0)
		return -errno;
	/* Sealed, so that another process that has the file cannot remove its pages. */
	if (!ftruncate(fd, (off_t)UROCE_ECTX_FILE_BYTES) &&
	    (!apart || !fcntl(fd, F_ADD_SEALS,
			      F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Checks that the program has descriptors left: an engine needs more later, for addresses and
 * rings. Otherwise the program uses the device's engine, which takes none. */
static int look_for_descriptors(int some)
{
	int fd[SPARE], n = 0, err = 0;

	while (n < SPARE && !err) {
		fd[n] = fcntl(some, F_DUPFD_CLOEXEC, 0);
		if (fd[n] < 0)
			err = -errno;
		else
			n++;
	}
	while (n)
		close(fd[--n]);
	return err;
}

_Static_assert(UROCE_V1_FDS == UR_V1_SOCKETS, "the same descriptors");

/* file: the engine ends when this file is closed. v1: NULL, or the sockets of RoCEv1. */
static int make_engine(struct uroce_home *home, bool apart, bool isolated,
		       const struct uroce_engine_open *o, const int *v1,
		       int file)
{
	struct ur_engine_config config = {
		.kind = &ur_program_kind,
		.netdev = o->netdev,
		.ifindex = o->ifindex,
		.mtu_bytes = o->mtu_bytes,
		.max_qp = o->max_qp,
		.max_mr = o->max_mr,
		.node_guid = o->node_guid,
		.one_path = o->flags & UROCE_ENGINE_ONE_PATH,
		/* With apart only the engine's thread runs it, so it waits as one that nobody else drives. */
		.options = apart ? NULL : OPTIONS,
		.inproc = true,
		.apart = apart,
		.isolated = isolated,
		.roce_v1 = v1 && v1[0] >= 0,
		.grant = {.slot = o->slot,
			  .device = o->device,
			  .file = o->local_fd,
			  .out = {o->out_fd[0], o->out_fd[1]},
			  .port = (u16)o->port,
			  .counters = o->count_fd,
			  .settings = o->settings_fd,
			  .record = o->record_fd,
			  .relay = o->relay_fd,
			  .relay_words = o->relay_words_fd,
			  .outbox = o->outbox_fd,
			  .wake_fd = o->wake_fd,
			  .bell = o->bell_fd,
			  .off = o->flags,
			  .tx_bytes = o->tx_bytes},
		.slot_bits = o->slot_bits,
		.file = file,
	};

	for (u32 i = 0; i < UR_V1_SOCKETS; i++)
		config.grant.v1[i] = v1 ? v1[i] : -1;
	if (syscall(SYS_getrandom, &config.seed, sizeof(config.seed), 0) !=
		    sizeof(config.seed) ||
	    syscall(SYS_getrandom, config.secret, sizeof(config.secret), 0) !=
		    sizeof(config.secret))
		return -EIO;
	return ur_engine_create(&config, &home->engine);
}

static struct uroce_home *new_home(void)
{
	struct uroce_home *home = calloc(1, sizeof(*home));

	if (!home)
		return NULL;
	home->liveness = -1;
	pthread_mutex_init(&home->lock, NULL);
	pthread_mutex_init(&home->withdraws, NULL);
	return home;
}

/* Ends a home whose contexts have ended. */
static void end_home(struct uroce_home *home)
{
	if (home->engine)
		ur_engine_destroy(home->engine);
	if (home->liveness >= 0)
		close(home->liveness);
	pthread_mutex_destroy(&home->lock);
	pthread_mutex_destroy(&home->withdraws);
	free(home);
}

static void close_context(struct uroce_ectx *g)
{
	if (g->async)
		close(ur_easync_destroy(g->async));
	if (g->ectx)
		ur_ectx_destroy(g->ectx);
}

static void close_ectx(struct uroce_ectx *g)
{
	/* In a child of fork: the engine belongs to the parent. */
	if (g->own && !*g->own && g->ectx)
		return;
	ur_process_cross_poll_del(g);
	if (g->objects) {
		if (!g->apart)
			ur_engine_abandon(g->engine);
		return;
	}
	ur_process_fork_del(g);
	pthread_mutex_lock(&g->home->lock);
	close_context(g);
	pthread_mutex_unlock(&g->home->lock);
	if (!g->apart)
		end_home(g->home);
	ur_user_mem_put(g->mem);
	ur_user_mem_put(g->parents);
	if (g->fd >= 0)
		close(g->fd);
	if (g->own)
		munmap((void *)g->own, (size_t)sysconf(_SC_PAGESIZE));
	free(g);
}

/* Checks that the process is in the device's network namespace, since it sends by sockets of its
 * own. Not needed with an outbox. */
static int check_netns(int grant)
{
	int own = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	u64 here = 0, there = 1;
	socklen_t len = sizeof(here);

	if (own < 0)
		return -errno;
	if (getsockopt(own, SOL_SOCKET, SO_NETNS_COOKIE, &here, &len) < 0 ||
	    getsockopt(grant, SOL_SOCKET, SO_NETNS_COOKIE, &there, &len) < 0)
		here = ~there;
	close(own);
	return here == there ? 0 : -EOPNOTSUPP;
}

static int granted_socket(const struct uroce_engine_open *open)
{
	return open->out_fd[1] >= 0 ? open->out_fd[1] : open->out_fd[0];
}

static struct uroce_ectx *new_ectx(void)
{
	struct uroce_ectx *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->ops = &uroce_engine_ops;
	ur_list_init(&g->channels);
	ur_list_init(&g->node);
	g->fork.lock_fd = g->fd = -1;
	return g;
}

static int fill_home(struct uroce_home *home, bool apart, bool isolated,
		     const struct uroce_engine_open *open, const int *v1,
		     int file)
{
	int err = 0;

	if (open->relay_fd >= 0 && open->outbox_fd < 0)
		err = check_netns(granted_socket(open));
	return err ? err : make_engine(home, apart, isolated, open, v1, file);
}

/* Makes the engine's context; its file and memory exist. */
static int make_context(struct uroce_ectx *g, struct ur_ectx_info *info)
{
	int err;

	g->engine = g->home->engine;
	pthread_mutex_lock(&g->home->lock);
	err = ur_ectx_create(g->engine, g->fd, g->mem, g->realm, &g->ectx,
			     info);
	pthread_mutex_unlock(&g->home->lock);
	return err;
}

static void say(const struct uroce_ectx *g, const struct ur_ectx_info *ectx,
		struct uroce_ectx_info *info)
{
	*info = (struct uroce_ectx_info){
		.fd = g->fd,
		.own = g->own,
		.db_map_off = ectx->db_map_off,
		.db_map_len = ectx->db_map_len,
		.wake_fd = ectx->wake_fd,
	};
}

static bool is_known(const struct uroce_engine_open *open)
{
	return open->slot && open->slot < UR_SLOTS &&
	       open->slot_bits == ur_slot_bits(open->slot);
}

static int open_ectx(const struct uroce_engine_open *open, int file,
		     struct uroce_ectx **ret, struct uroce_ectx_info *info)
{
	struct ur_ectx_info ectx;
	struct uroce_ectx *g;
	int err;

	if (!is_known(open))
		return -EPROTO;
	g = new_ectx();
	if (!g)
		return -ENOMEM;
	g->home = new_home();
	if (!g->home) {
		free(g);
		return -ENOMEM;
	}
	ur_high_fds();
	err = mark_own(g);
	if (!err)
		err = ur_user_mem_own(&g->mem);
	if (!err)
		g->fd = err = make_file(false);
	if (err >= 0)
		err = fill_home(g->home, false, false, open, NULL, file);
	if (!err)
		err = make_context(g, &ectx);
	if (!err)
		err = look_for_descriptors(g->fd);
	if (!err)
		err = ur_process_fork_add(g);
	if (err) {
		close_ectx(g);
		return err;
	}
	ur_process_cross_poll_add(g);
	say(g, &ectx, info);
	*ret = g;
	return 0;
}

/* Called under the context's lock, like all functions that allocate. */
static int take_room(void *arg, u64 bytes)
{
	struct uroce_ectx *g = arg;
	const u64 room = g->ring_room + ur_engine_ring_room(g->home->engine);

	if (g->ring_bytes > room || bytes > room - g->ring_bytes)
		return -EDQUOT;
	g->ring_bytes += bytes;
	return 0;
}

/* Takes the client's mem file, and its maps file, without which the rights of its memory are unknown. */
static int take_memory(const struct uroce_ectx_client *client,
		       struct ur_user_mem **mem)
{
	int err;

	if (client->mem < 0) {
		*mem = ur_user_mem_unreached(client->pid);
		return *mem ? 0 : -ENOMEM;
	}
	err = ur_user_mem_create(client->mem, client->pid, mem);
	if (err)
		close(client->mem);
	if (err && client->maps >= 0)
		close(client->maps);
	if (err)
		return err;
	(*mem)->uid = geteuid();
	if (client->maps >= 0 && ur_user_mem_maps(*mem, client->maps, 0))
		close(client->maps);
	return 0;
}

static int make_home(const struct uroce_engine_open *open, const int *v1,
		     u32 isolated, int file, struct uroce_home **ret)
{
	struct uroce_home *home;
	int err;

	if (!is_known(open))
		return -EPROTO;
	home = new_home();
	if (!home)
		return -ENOMEM;
	err = fill_home(home, true, isolated, open, v1, file);
	if (err)
		end_home(home);
	else
		*ret = home;
	return err;
}

static int open_apart(struct uroce_home *home,
		      const struct uroce_ectx_client *client,
		      struct uroce_ectx **ret, struct uroce_ectx_info *info)
{
	struct ur_ectx_info ectx;
	struct uroce_ectx *g;
	int err;

	g = new_ectx();
	if (!g)
		return -ENOMEM;
	g->home = home;
	g->apart = true;
	g->ring_room = client->ring_bytes;
	g->realm = client->realm;
	err = take_memory(client, &g->mem);
	if (!err)
		g->fd = err = make_file(true);
	if (err >= 0)
		err = make_context(g, &ectx);
	if (!err && client->adverse)
		err = ur_ectx_set_adverse(g->ectx, client->adverse,
					  client->adverse_seed);
	if (err) {
		close_ectx(g);
		return err;
	}
	ur_ectx_set_room(g->ectx, take_room, g);
	say(g, &ectx, info);
	*ret = g;
	return 0;
}

static __u64 room(struct uroce_ectx *g)
{
	return ur_engine_ring_room(g->home->engine);
}

/* Yields the lock after each piece, and the processor, since a free mutex goes to who asks first. */
static int drain(struct uroce_ectx *g, struct uroce_call *call)
{
	u64 until = ur_clock_ns(CLOCK_MONOTONIC) + DRAIN_NS, run = 0;

	while (ur_ectx_drain(g->ectx, &run) &&
	       ur_clock_ns(CLOCK_MONOTONIC) < until) {
		pthread_mutex_unlock(&g->home->lock);
		sched_yield();
		pthread_mutex_lock(&g->home->lock);
	}
	return 0;
}

static int has_gid(struct uroce_ectx *g, struct uroce_call *call)
{
	const struct uroce_call_gid *gid = &call->msg.gid;

	return ur_engine_has_gid(g->engine, gid->index, gid->gid);
}

static int use_gid(struct uroce_ectx *g, struct uroce_call *call)
{
	const struct uroce_call_gid *gid = &call->msg.gid;
	int err, fd = -1;

	if (call->n_fds) {
		fd = ur_high_fd_copy(call->fds[0]);
		if (fd < 0)
			return fd;
	}
	err = ur_engine_use_gid(g->engine, gid->index, gid->gid, fd);
	if (err && fd >= 0)
		close(fd);
	return err;
}

static int has_gpu(__u64 addr, __u64 length)
{
	if (!length)
		return ur_gpu_is_there() ? 0 : -EFAULT;
	return ur_gpu_check(addr, length);
}

static int has_ring(struct uroce_ectx *g, struct uroce_call *call)
{
	return ur_engine_has_ring(g->engine, call->msg.value);
}

static int use_ring(struct uroce_ectx *g, struct uroce_call *call)
{
	const struct uroce_engine_ring *in = &call->msg.ring;
	const struct ur_granted_ring ring = {.peer = in->slot,
					     .grant_id = in->grant_id,
					     .relayed = in->relayed,
					     .same_user = in->same_user,
					     .words = call->fds[0],
					     .out = call->fds[1],
					     .in = call->fds[2]};

	return ur_engine_use_ring(g->engine, &ring);
}

static int use_async(struct uroce_ectx *g, int tx, int rx)
{
	int to = ur_high_fd_copy(tx), from = ur_high_fd_copy(rx), err;

	err = to < 0 ? to : from < 0 ? from : 0;
	if (!err)
		err = ur_easync_attach(g->ectx, to, from, &g->async);
	if (err && to >= 0)
		close(to);
	if (err && from >= 0)
		close(from);
	return err;
}

/* In another process the preload library has the channels that no queue uses. */
static void nothing_ends(void *ctx)
{
}

static int set_liveness(struct uroce_ectx *g, int liveness)
{
	int fd = ur_high_fd_copy(liveness), err;

	if (fd < 0)
		return fd;
	err = ur_engine_end_with(
		g->engine, fd,
		g->apart ? nothing_ends : ur_process_end_channels, g);
	if (err)
		close(fd);
	else
		g->home->liveness = fd;
	return err;
}

static int set_async(struct uroce_ectx *g, struct uroce_call *call)
{
	int err = 0;

	if (g->home->liveness < 0)
		err = set_liveness(g, call->n_fds < 3 ? -1 : call->fds[2]);
	if (!err && !g->async)
		err = use_async(g, call->fds[0], call->fds[1]);
	return err;
}

static const struct {
	ur_process_call *fn;
	bool withdraws; /* ctx->home->withdraws is held */
} calls[UROCE_CALL_OPS] = {
	[UROCE_CALL_HAS_GID] = {has_gid},
	[UROCE_CALL_USE_GID] = {use_gid},
	[UROCE_CALL_HAS_RING] = {has_ring},
	[UROCE_CALL_USE_RING] = {use_ring},
	[UROCE_CALL_SET_ASYNC] = {set_async},
	[UROCE_CALL_CREATE_CQ] = {ur_process_create_cq},
	[UROCE_CALL_MODIFY_CQ] = {ur_process_modify_cq},
	[UROCE_CALL_RESIZE_CQ] = {ur_process_resize_cq},
	[UROCE_CALL_DESTROY_CQ] = {ur_process_destroy_cq, true},
	[UROCE_CALL_CREATE_SRQ] = {ur_process_create_srq},
	[UROCE_CALL_RESIZE_SRQ] = {ur_process_resize_srq},
	[UROCE_CALL_LIMIT_SRQ] = {ur_process_limit_srq},
	[UROCE_CALL_QUERY_SRQ] = {ur_process_query_srq},
	[UROCE_CALL_DESTROY_SRQ] = {ur_process_destroy_srq, true},
	[UROCE_CALL_CREATE_AH] = {ur_process_create_ah},
	[UROCE_CALL_DESTROY_AH] = {ur_process_destroy_ah},
	[UROCE_CALL_CREATE_QP] = {ur_process_create_qp},
	[UROCE_CALL_OPEN_QP] = {ur_process_open_qp},
	[UROCE_CALL_MAY_MODIFY_QP] = {ur_process_may_modify_qp},
	[UROCE_CALL_MODIFY_QP] = {ur_process_modify_qp},
	[UROCE_CALL_QUERY_QP] = {ur_process_query_qp},
	[UROCE_CALL_MCAST] = {ur_process_mcast},
	[UROCE_CALL_DESTROY_QP] = {ur_process_destroy_qp, true},
#if UROCE_WITH_RAW_PACKET
	[UROCE_CALL_HAS_RAW] = {ur_process_has_raw},
	[UROCE_CALL_USE_RAW] = {ur_process_use_raw},
	[UROCE_CALL_MODIFY_WQ] = {ur_process_modify_wq},
	[UROCE_CALL_CREATE_FLOW] = {ur_process_create_flow},
	[UROCE_CALL_DESTROY_FLOW] = {ur_process_destroy_flow},
#endif
	[UROCE_CALL_REG_MR] = {ur_process_reg_mr},
	[UROCE_CALL_REREG_MR] = {ur_process_rereg_mr},
	[UROCE_CALL_DEREG_MR] = {ur_process_dereg_mr},
	[UROCE_CALL_ALLOC_MW] = {ur_process_alloc_mw},
	[UROCE_CALL_DEALLOC_MW] = {ur_process_dealloc_mw},
	[UROCE_CALL_SET_PARENT] = {ur_process_set_parent},
	[UROCE_CALL_DRAIN] = {drain},
};

static int call(struct uroce_ectx *g, struct uroce_call *c)
{
	const bool known = c->msg.op < UROCE_CALL_OPS && calls[c->msg.op].fn;
	int ret;

	c->out[0] = c->out[1] = -1;
	if (!known)
		return -EOPNOTSUPP;
	if (calls[c->msg.op].withdraws)
		pthread_mutex_lock(&g->home->withdraws);
	pthread_mutex_lock(&g->home->lock);
	ret = calls[c->msg.op].fn(g, c);
	if (!ret)
		g->objects += (u32)uroce_call_makes(c->msg.op);
	pthread_mutex_unlock(&g->home->lock);
	if (calls[c->msg.op].withdraws)
		pthread_mutex_unlock(&g->home->withdraws);
	return ret;
}

/* Runs the engine. Once the program has closed the engine's descriptors, it has no engine. */
static void drive(struct uroce_ectx *g, bool posted)
{
	if (*g->own && !ur_engine_drive(g->engine, posted))
		*g->own = 0;
}

static void posted(struct uroce_ectx *g)
{
	drive(g, true);
}

static void datagram(struct uroce_ectx *g)
{
	if (*g->own && !ur_engine_datagram(g->engine))
		*g->own = 0;
}

static void armed(struct uroce_ectx *g)
{
	if (*g->own)
		ur_engine_armed(g->engine);
}

static void poll(struct uroce_ectx *g)
{
	drive(g, false);
	ur_process_cross_poll(g);
}

__attribute__((visibility("default")))
const struct uroce_engine_ops uroce_engine_ops = {
	.version = UROCE_ENGINE_OPS_VERSION,
	.open = open_ectx,
	.make_home = make_home,
	.end_home = end_home,
	.open_apart = open_apart,
	.room = room,
	.close = close_ectx,
	.take_over = ur_process_take_over,
	.call = call,
	.has_gpu = has_gpu,
	.posted = posted,
	.datagram = datagram,
	.armed = armed,
	.poll = poll,
};
