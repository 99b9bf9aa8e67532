// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Connections, their threads and the messages on them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "device/client_memory.h"
#include "device/client_rights.h"
#include "device/control.h"
#include "device/hold.h"
#include "device/memory.h"
#include "device/nldev/nldev.h"
#include "device/open_file.h"
#include "device/reaper.h"
#include "device/report/record.h"
#include "device/serve.h"
#include "device/settings/setting.h"
#include "device/tree/sysfs.h"
#include "device/tunnel.h"
#include "engine/ground/keep.h"
#include "util/assert.h"
#include "util/os/scm.h"
#include "util/os/thread.h"
#include "util/text.h"

#define THREAD_STACK (512 * 1024)

static struct ur_quota connections = {
	.what = "connections", .max = UR_MAX_SESSIONS, .everyone = true};

static void read_comm(struct ur_session *s)
{
	char path[48];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)s->pid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (!fgets(s->comm, sizeof(s->comm), f))
		s->comm[0] = 0;
	s->comm[strcspn(s->comm, "\n")] = 0;
	ur_text_clean(s->comm, false);
	fclose(f);
}

static void send_answer(struct ur_session *s, s64 ret)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_DONE, .ret = ret};

	if (ur_daemon_send_done(s->sock, &msg, s->outs,
				ret < 0 ? 0 : s->outs_len))
		shutdown(s->sock, SHUT_RDWR);
}

/*
 * Closes the descriptors that the client sent for the command, and fds (may be NULL), which
 * came with it. Done before the reply, so that a slow close() delays only the client.
 */
static void give_back(struct ur_session *s, int *fds)
{
	struct ur_loop *loop = s->daemon->loop;
	bool any = s->n_shown || s->shown_fds;

	for (int i = 0; fds && i < UROCE_TUN_MAX_FDS; i++)
		any |= fds[i] >= 0;
	if (!any)
		return;
	ur_loop_lock(loop);
	s->giving = true;
	ur_loop_unlock(loop);
	ur_session_give_back(s);
	if (fds)
		ur_scm_close(fds, UROCE_TUN_MAX_FDS);
	ur_loop_lock(loop);
	s->giving = false;
	if (s->shown_fds)
		ur_quota_give_fds(s->uid, s->shown_fds);
	s->shown_fds = 0;
	ur_loop_unlock(loop);
}

/* Returns the features of both sides. Feature bits exist since version 4. */
static u64 features(const struct uroce_tun_open *open)
{
	if (open->version < 4)
		return open->version == 3 ? UROCE_TUN_F_CACHED_REPLY : 0;
	return open->features & UROCE_TUN_F_ALL;
}

/* Returns whether the kind needs no access to the client's memory. */
static bool is_bare(u32 kind)
{
	return kind == UROCE_TUN_NETLINK || kind == UROCE_TUN_SETTING;
}

/* held: copies of the file's descriptors, since the file may end before they are sent. */
static int open_file(struct ur_session *s, const struct uroce_tun_msg *msg,
		     struct uroce_tun_msg *reply, int *held)
{
	int shown[UROCE_TUN_MAX_FDS] = {-1, -1}, err;

	s->features = features(&msg->open);
	reply->opened.features = s->features;
	err = msg->open.cookie || !msg->name[0]
		      ? ur_open_file_join(s, msg, reply, shown)
		      : ur_open_file_new(s, msg, reply, shown);
	if (err)
		return err;
	err = ur_session_hold_fds(s, shown, UROCE_TUN_MAX_FDS, held);
	if (err) {
		ur_open_file_leave(s);
		s->open = NULL;
	}
	return err;
}

static void do_open(struct ur_session *s, const struct uroce_tun_msg *msg,
		    int *fds)
{
	struct uroce_tun_msg reply = {.op = UROCE_TUN_DONE};
	struct ur_loop *loop = s->daemon->loop;
	int held[UROCE_TUN_MAX_FDS] = {-1, -1}, err = 0;

	/* A front-end of version 1 sends no windows. */
	if (!msg->open.version || msg->open.version > UROCE_TUN_VERSION)
		err = -EPROTO;
	else if (s->open)
		err = -EBUSY;
	else if (!s->mem && !is_bare(msg->kind))
		err = fds[0] == -ENFILE
			      ? -ENFILE
			      : ur_client_memory_take(
					s, msg, features(&msg->open), fds);
	ur_loop_lock(loop);
	if (!err && msg->kind == UROCE_TUN_SETTING)
		err = ur_setting_open(s);
	if (!err && !is_bare(msg->kind))
		err = open_file(s, msg, &reply, held);
	if (!err)
		s->kind = msg->kind;
	ur_loop_unlock(loop);
	reply.ret = err;
	if (err)
		ur_debug("session %llu: open %s: %s", (unsigned long long)s->id,
			 msg->name, strerror(-err));
	give_back(s, fds);
	if (ur_daemon_send(s->sock, &reply, held,
			   (held[0] >= 0) + (held[1] >= 0)))
		shutdown(s->sock, SHUT_RDWR);
	ur_session_let_go_fds(s, held, UROCE_TUN_MAX_FDS);
}

/* One device at a time: each has some hundred files. */
static struct ur_device *next_device(struct ur_daemon *daemon, u32 *index)
{
	struct ur_device *next = NULL;

	ur_list_each(struct ur_device, d, &daemon->devices, node) {
		if (d->index >= *index && (!next || d->index < next->index))
			next = d;
	}
	if (next)
		*index = next->index + 1;
	return next;
}

static void do_sync(struct ur_session *s, const int *fds)
{
	struct ur_device *dev;
	u32 index = 0;
	int err = 0;

	if (fds[0] >= 0) {
		send_answer(s, ur_client_administers(s, fds[0]));
		return;
	}
	do {
		ur_loop_lock(s->daemon->loop);
		dev = next_device(s->daemon, &index);
		if (dev)
			err = ur_sysfs_counters(dev) ?: err;
		ur_loop_unlock(s->daemon->loop);
	} while (dev);
	send_answer(s, err);
}

/* Only an on-demand daemon needs holds. */
static void do_hold(struct ur_session *s)
{
	int err = 0;

	ur_loop_lock(s->daemon->loop);
	if (s->daemon->on_demand)
		err = ur_hold_add(s->daemon, s->pid, s->uid);
	ur_loop_unlock(s->daemon->loop);
	send_answer(s, err);
}

static int handle(struct ur_session *s, const struct uroce_tun_msg *msg,
		  int *fds)
{
	s64 ret;

	switch (msg->op) {
	case UROCE_TUN_OPEN:
		do_open(s, msg, fds);
		break;
	case UROCE_TUN_IOCTL:
	case UROCE_TUN_WRITE:
		__atomic_store_n(&s->commands, s->commands + 1,
				 __ATOMIC_RELAXED);
		ret = ur_open_file_command(s, msg);
		give_back(s, NULL);
		send_answer(s, ret);
		break;
	case UROCE_TUN_CLOSE_FD:
		if (!ur_session_note_closed(s, msg->closed.cookie))
			return -EPROTO;
		break;
	case UROCE_TUN_SYNC:
		do_sync(s, fds);
		break;
	case UROCE_TUN_DRAIN: /* an older front-end */
		send_answer(s, 0);
		break;
	case UROCE_TUN_HOLD:
		do_hold(s);
		break;
	default:
		if (!ur_control(s, msg))
			return -EPROTO;
	}
	ur_open_file_closed_fds(s);
	return 0;
}

static void end_session(struct ur_session *s)
{
	struct ur_daemon *daemon = s->daemon;

	ur_assert(daemon->n_sessions);
	daemon->n_sessions--;
	ur_assert(ur_list_empty(&s->node));
	ur_quota_give(&connections, s->uid, 1);
	ur_quota_give_fds(s->uid, UR_FDS_SESSION);
	ur_memory_give(s->uid, UR_KIB_SESSION);
	if (daemon->on_demand && ur_hold_unused(daemon))
		ur_loop_timer_set(daemon->loop, &daemon->idle,
				  ur_loop_now() + UR_IDLE_NS);
	ur_debug("session %llu: end", (unsigned long long)s->id);
	free(s);
}

static void finish(struct ur_session *s)
{
	struct ur_loop *loop = s->daemon->loop;

	ur_session_drop_answer(s);
	ur_loop_lock(loop);
	if (s->kind == UROCE_TUN_UVERBS || s->kind == UROCE_TUN_RDMA_CM)
		ur_record_client_ends(s);
	if (s->open)
		ur_open_file_leave(s);
	ur_user_mem_put(s->mem);
	ur_list_del(&s->node);
	ur_loop_unlock(loop);
	/* close() may block: unread messages may contain descriptors. */
	close(s->sock);
	ur_loop_lock(loop);
	end_session(s);
	ur_loop_unlock(loop);
}

static void take_known(struct ur_session *s, const struct uroce_tun_msg *msg)
{
	if (s->features & UROCE_TUN_F_KNOWN)
		memcpy(s->known, msg->known, sizeof(s->known));
	else
		s->known[0].kind = 0;
}

static void *session_thread(void *arg)
{
	struct ur_session *s = arg;
	struct uroce_tun_msg msg;
	int fds[UROCE_TUN_MAX_FDS];
	bool call;
	int err;

	ur_loop_act_for(s->uid);
	for (;;) {
		err = ur_daemon_recv_more(s->sock, &msg, fds, s->window,
					  UROCE_TUN_WINDOW, &s->window_len);
		if (err)
			break;
		ur_session_drop_answer(s);
		call = msg.op == UROCE_TUN_IOCTL || msg.op == UROCE_TUN_WRITE;
		s->window_addr = call ? msg.call.arg : 0;
		s->outs_from = call ? msg.call.out_from : 0;
		s->outs_to = call ? msg.call.out_to : 0;
		s->outs_len = 0;
		/* Only the first OPEN, and a SYNC that proves a right, use their
		 * descriptors. */
		if (msg.op != UROCE_TUN_SYNC &&
		    (msg.op != UROCE_TUN_OPEN || s->mem))
			give_back(s, fds);
		if (call)
			take_known(s, &msg);
		err = handle(s, &msg, fds);
		give_back(s, fds);
		if (err)
			break;
		/* The client already has its reply and runs on. */
		if (call && s->features & UROCE_TUN_F_CPU)
			ur_follow(&s->follow, msg.cpu);
		if (s->kind == UROCE_TUN_NETLINK) {
			err = ur_nldev_serve(s);
			break;
		}
		if (s->kind == UROCE_TUN_SETTING) {
			err = ur_setting_serve(s);
			break;
		}
	}
	if (err != -EPIPE)
		ur_debug("session %llu: %s", (unsigned long long)s->id,
			 strerror(-err));
	finish(s);
	return NULL;
}

void ur_session_refuse(int sock, int err)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_DONE, .ret = -err};

	/* Does not block: nothing was sent before. */
	ur_daemon_send(sock, &msg, NULL, 0);
}

int ur_session_start(struct ur_daemon *daemon, int sock)
{
	struct ur_session *s;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	int sndbuf = 2 * UROCE_TUN_WINDOW;
	int err;

	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->daemon = daemon;
	s->answer = -1;
	s->sock = sock;
	s->id = ++daemon->next_session;
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0) {
		s->pid = cred.pid;
		s->uid = cred.uid;
	}
	err = -EMFILE;
	if (ur_quota_take(&connections, s->uid, 1))
		goto err_free;
	if (ur_quota_take_fds(s->uid, UR_FDS_SESSION))
		goto err_give;
	err = -ENOMEM;
	if (ur_memory_take(s->uid, UR_KIB_SESSION))
		goto err_fds;
	/* Bounds the memory of unread replies. */
	setsockopt(sock, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
	read_comm(s);
	ur_list_add_tail(&daemon->sessions, &s->node);
	daemon->n_sessions++;
	err = ur_thread_start(THREAD_STACK, session_thread, s);
	if (err) {
		ur_list_del(&s->node);
		daemon->n_sessions--;
		goto err_memory;
	}
	ur_loop_timer_clear(daemon->loop, &daemon->idle);
	return 0;
err_memory:
	ur_memory_give(s->uid, UR_KIB_SESSION);
err_fds:
	ur_quota_give_fds(s->uid, UR_FDS_SESSION);
err_give:
	ur_quota_give(&connections, s->uid, 1);
err_free:
	free(s);
	return err;
}

/* Hangs up all connections except those that stay for the next uroced. Returns the number
 * of the latter. */
static u32 hang_up_all(struct ur_daemon *daemon)
{
	u32 stay = 0;

	ur_list_each(struct ur_session, s, &daemon->sessions, node) {
		if (ur_keep_stays(s->pid, s->uid))
			stay++;
		else
			shutdown(s->sock, SHUT_RDWR);
	}
	return stay;
}

bool ur_session_stop_all(struct ur_daemon *daemon)
{
	struct timespec ms = {.tv_nsec = 1000000};
	u64 end = ur_loop_now() + UR_STOP_NS;

	while ((daemon->n_sessions > hang_up_all(daemon) || ur_reaping()) &&
	       ur_loop_now() < end) {
		ur_loop_unlock(daemon->loop);
		nanosleep(&ms, NULL);
		ur_loop_lock(daemon->loop);
	}
	ur_list_each(struct ur_session, s, &daemon->sessions, node) {
		if (s->open && s->giving && !ur_keep_stays(s->pid, s->uid)) {
			ur_open_file_leave(s);
			s->open = NULL;
		}
	}
	return !daemon->n_sessions && !ur_reaping();
}
