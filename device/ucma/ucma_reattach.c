// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Restores files and ids of an earlier uroced, which was killed, before the first datagram
 * is handled: peers find their connections, and listeners listen. Events for a program wait
 * in its file. The program's front-end notices the kill at its next command or event; then
 * it sends the file's descriptor and continues.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/quota.h"
#include "device/tree/sysfs.h"
#include "device/ucma/ucma_journal.h"
#include "device/ucma/ucma_neigh.h"
#include "util/assert.h"

/* ---- ids ---- */

static void copy_back(struct ucma_id *id, const struct ucma_record *r)
{
	id->state = r->state;
	id->uid = r->uid;
	id->events_reported = r->events_reported;
	id->sgid_index = r->sgid_index;
	id->flow_label = r->flow_label;
	id->seq = r->seq;
	id->qp_num = r->qp_num;
	id->qkey = r->qkey;
	id->remote_qpn = r->remote_qpn;
	id->remote_psn = r->remote_psn;
	id->ece.vendor_id = r->ece_vendor;
	id->ece.attr_mod = r->ece_mod;
	id->backlog = r->backlog;
	memcpy(id->sgid, r->sgid, 16);
	memcpy(id->dgid, r->dgid, 16);
	id->src.ib = r->src;
	id->dst.ib = r->dst;
	id->tos = r->tos;
	id->timeout = r->timeout;
	id->hop_limit = r->hop_limit;
	id->path_mtu = r->path_mtu;
	id->responder_resources = r->responder_resources;
	id->initiator_depth = r->initiator_depth;
	id->retry_count = r->retry_count;
	id->rnr_retry_count = r->rnr_retry_count;
	id->ack_timeout = r->ack_timeout;
	id->reuse_addr = r->reuse_addr;
	id->af_only = r->af_only;
	id->af_only_set = r->af_only_set;
	id->tos_set = r->tos_set;
	id->timeout_set = r->timeout_set;
	id->resolve_until = r->resolve_until;
	id->had_source = r->had_source;
	id->had_device = r->had_device;
	id->lost = r->lost;
	id->has_path = r->has_path;
	id->srq = r->srq;
	id->connected_once = r->connected_once;
}

static struct ur_device *device_on(struct ur_daemon *daemon, u32 ifindex)
{
	ur_list_each(struct ur_device, dev, &daemon->devices, node) {
		if (dev->ifindex == ifindex)
			return dev;
	}
	return NULL;
}

/* The address may have another index, if it was removed and added meanwhile. Without the
 * address MADs are lost (on_send() of ucma_cm.c). */
static void find_address(struct ucma_id *id)
{
	int index =
		ur_gid_find(id->dev, id->sgid,
			    id->dev->cm_v1 ? UR_GID_ROCE_V1 : UR_GID_ROCE_V2);

	if (index >= 0)
		id->sgid_index = (u32)index;
}

/* As when a device is removed: the program can still read events and destroy the id. */
static void lose(struct ucma_id *id)
{
	id->lost = true;
	id->has_path = false;
	ucma_event_simple(id, UCMA_EVENT_DEVICE_REMOVAL, 0);
}

static bool restore_cm(struct ucma_id *id, const struct ucma_record *r)
{
	struct ur_cm_saved saved = r->cm;

	if (r->state == UCMA_LISTEN)
		return !ucma_begin_listen(id);
	saved.path.port = id->dev ? id->dev->index : 0;
	saved.path.sgid_index = id->sgid_index;
	/* The program has not seen the REP, and the rest of its contents is lost, unless it was
	 * sent ahead; the peer will repeat it. */
	if (r->pending & ~id->pending & 1u << UCMA_EVENT_CONNECT_RESPONSE &&
	    saved.state == UR_CM_REP_RCVD_STATE) {
		saved.state = UR_CM_REQ_SENT_STATE;
		saved.remote_id = 0;
	}
	id->cm = ur_cm_id_restore(ucma_of(id->file)->cm, id, &saved);
	return id->cm;
}

static struct ucma_event *remake(struct ucma_id *id,
				 const struct ucma_record *r, u32 type)
{
	if (type == UCMA_EVENT_ESTABLISHED && id->qp_type == UR_QPT_UD)
		return ucma_resolved_event(id);
	return ucma_event_new(id, type, r->status);
}

/* The program may have read the event that was sent ahead; its next command says so. Until then no
 * datagram is sent for the event: poll() would show an event that is not there. */
static bool restore_ahead(struct ucma_id *id, u32 type)
{
	const struct rdma_ucm_event_resp *ahead =
		ucma_journal_ahead_of(id->file);
	struct ucma_event *event;

	if (!ahead || ahead->id != id->number || ahead->event != type)
		return false;
	event = ucma_event_new(id, type, 0);
	if (!event)
		return false;
	event->resp = *ahead;
	ucma_event_note(event);
	id->file->ahead = event;
	id->file->ahead_token = false;
	return true;
}

/* Makes unread events again. */
static void restore_events(struct ucma_id *id, const struct ucma_record *r)
{
	u32 not = 1u << UCMA_EVENT_CONNECT_RESPONSE |
		  1u << UCMA_EVENT_CONNECT_REQUEST;

	for (u32 left = r->pending; left; left &= left - 1) {
		u32 type = (u32)__builtin_ctz(left);
		struct ucma_event *event;

		if (restore_ahead(id, type) || not >> type & 1)
			continue;
		event = remake(id, r, type);
		if (event)
			ucma_event_post(event);
	}
}

/* The front-end may have given this spare id to the program; its next command says so. It has
 * forgotten a spare id that it did not use, and gets this one again. */
static void restore_spare(struct ucma_file *file, struct ucma_id *id)
{
	file->spare = id;
	file->spare_ps = id->ps;
	file->spare_qp_type = id->qp_type;
}

/* Returns the request that was sent ahead and whose id has that number, or NULL. */
static const struct rdma_ucm_event_resp *
request_ahead(const struct ucma_file *file, u32 number)
{
	const struct rdma_ucm_event_resp *ahead = ucma_journal_ahead_of(file);

	return ahead && ahead->event == UCMA_EVENT_CONNECT_REQUEST &&
			       ahead->id == number
		       ? ahead
		       : NULL;
}

/* As restore_ahead(), once the listener of the request is there. */
static bool restore_request(struct ucma_id *child)
{
	struct ucma_file *file = child->file;
	const struct rdma_ucm_event_resp *ahead =
		request_ahead(file, child->number);

	ur_list_each(struct ucma_id, id, &file->ids, node) {
		if (!ahead || id->state != UCMA_LISTEN || id->uid != ahead->uid)
			continue;
		file->ahead = ucma_event_new(id, UCMA_EVENT_CONNECT_REQUEST, 0);
		if (!file->ahead)
			return false;
		file->ahead->resp = *ahead;
		file->ahead->child = child;
		file->ahead_token = false;
		return true;
	}
	return false;
}

static void restore_requests(struct ur_ucma *ucma)
{
	for (u32 i = 0; i < UCMA_ID_MAX; i++) {
		struct ucma_id *id = ucma->ids.slot[i];

		if (id && id->unreported && id != id->file->spare &&
		    !restore_request(id))
			ucma_id_free(id);
	}
}

static bool restore_id(struct ucma_file *file, u32 number,
		       const struct ucma_record *r)
{
	struct ucma_id *id;

	/* The program has not read the request, unless it was sent ahead; the peer will repeat
	 * it. */
	if (r->unreported && r->state != UCMA_SPARE &&
	    !request_ahead(file, number))
		return false;
	id = ucma_id_new_at(file, r->ps, r->qp_type, number);
	if (!id)
		return false;
	copy_back(id, r);
	id->unreported = r->unreported;
	if (r->state == UCMA_SPARE)
		restore_spare(file, id);
	if (r->port)
		ucma_port_restore(id, r->port);
	if (r->ifindex)
		id->dev = device_on(file->daemon, r->ifindex);
	if (id->dev)
		find_address(id);
	restore_events(id, r);
	if (r->ifindex && !id->dev)
		lose(id);
	else if (r->has_cm && !restore_cm(id, r))
		lose(id);
	else if (id->dev && r->state == UCMA_ADDR_QUERY)
		ucma_hop_recover(id);
	return true;
}

/* ---- files ---- */

/* Makes a placeholder for the missing connection. */
static struct ur_session *make_absent(struct ur_daemon *daemon,
				      const struct ur_kept_channel *kept)
{
	struct ur_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->daemon = daemon;
	s->sock = s->answer = -1;
	s->pid = kept->pid;
	s->uid = kept->uid;
	s->kind = UROCE_TUN_RDMA_CM;
	return s;
}

/* The program has closed the channel or, most likely, ended. */
static void on_hang_up(void *arg, u32 events)
{
	struct ucma_file *file = arg;

	ur_assert(file->absent);
	ur_loop_del(file->daemon->loop, file->sock);
	ucma_close(file);
}

/* Takes kept over unless it returns NULL. */
static struct ucma_file *make_file(struct ur_daemon *daemon,
				   struct ur_kept_channel *kept)
{
	struct ucma_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->daemon = daemon;
	file->user = kept->uid;
	file->sock = kept->sock;
	file->visible = file->page = -1;
	file->kept = kept;
	ur_list_init(&file->ids);
	ur_list_init(&file->mcasts);
	ur_list_init(&file->events);
	ur_list_init(&file->due);
	file->session = file->absent = make_absent(daemon, kept);
	/* Only waits for hangup. */
	if (!file->absent || !ucma_journal_find_file(file) ||
	    ur_loop_add(daemon->loop, file->sock, 0, on_hang_up, file))
		goto err_free;
	if (ur_memory_take(file->user, UR_KIB_FILE))
		goto err_watch;
	if (ur_quota_take_fds(file->user, UR_FDS_UCMA))
		goto err_memory;
	ur_list_add_tail(&ucma_of(file)->files, &file->node);
	return file;
err_memory:
	ur_memory_give(file->user, UR_KIB_FILE);
err_watch:
	ur_loop_del(daemon->loop, file->sock);
err_free:
	free(file->absent);
	free(file);
	return NULL;
}

static void inherit_files(struct ur_daemon *daemon)
{
	struct ur_kept_channel *kept;
	bool has_ended;
	u32 at = 0;

	while ((kept = ur_kept_events_next(&at, &has_ended))) {
		int sock = kept->sock;

		if (!has_ended && make_file(daemon, kept))
			continue;
		ur_kept_events_del(kept);
		close(sock);
	}
}

static struct ucma_file *file_by_number(const struct ur_ucma *ucma, u32 number)
{
	ur_list_each(struct ucma_file, file, &ucma->files, node) {
		if (ucma_kept_number(file) == number)
			return file;
	}
	return NULL;
}

/* Joins the groups again, which the host left when the last uroced ended. An engine in a
 * program joins by itself. */
static void restore_joins(struct ur_ucma *ucma)
{
	for (u32 i = 0; i < UCMA_ID_MAX; i++) {
		const struct ucma_join_record *r = ucma_journal_join(ucma, i);
		struct ucma_id *id =
			r && r->id < UCMA_ID_MAX ? ucma->ids.slot[r->id] : NULL;

		if (r && (!id || !ucma_mcast_restore(id, i, r)))
			ucma_journal_drop_join(ucma, i);
	}
}

void ur_ucma_inherit(struct ur_daemon *daemon)
{
	struct ur_ucma *ucma = daemon->cm;
	u32 n = 0;

	ucma_journal_open(ucma);
	inherit_files(daemon);
	ucma_journal_recovery_done(ucma);
	ucma_cm_touch(ucma);
	for (u32 i = 0; i < UCMA_ID_MAX; i++) {
		const struct ucma_record *r = ucma_journal_id(ucma, i);
		struct ucma_file *file =
			r ? file_by_number(ucma, r->file) : NULL;

		if (file && restore_id(file, i, r))
			n++;
		else if (r)
			ucma_journal_drop(ucma, i);
	}
	restore_requests(ucma);
	restore_joins(ucma);
	ucma_cm_kick(ucma);
	if (n)
		ur_log("%u rdma_cm ids of an earlier uroced go on", n);
}

void ur_ucma_end_inherited(struct ur_daemon *daemon)
{
	struct ur_ucma *ucma = daemon->cm;

	if (!ucma)
		return;
	ur_list_for_each_safe(it, &ucma->files) {
		struct ucma_file *file =
			ur_list_entry(it, struct ucma_file, node);

		if (file->absent)
			on_hang_up(file, 0);
	}
}

/* ---- the program reconnects ---- */

static struct ucma_file *find_absent(const struct ur_session *s,
				     const struct ur_file_id *id)
{
	const struct ur_ucma *ucma = s->daemon->cm;

	ur_list_each(struct ucma_file, file, &ucma->files, node) {
		if (file->absent && ur_file_id_same(&file->shown, id) &&
		    file->kept->pid == s->pid && file->kept->uid == s->uid)
			return file;
	}
	return NULL;
}

/* Replaces the tokens in the socket: those of the earlier uroced may not match the events. */
static void send_anew(struct ucma_file *file)
{
	struct ur_loop *loop = file->daemon->loop;
	char token;

	/* May block: other processes share the socket. */
	ur_loop_unlock(loop);
	while (recv(file->visible, &token, 1, MSG_DONTWAIT) > 0)
		;
	ur_loop_lock(loop);
	file->tokens = 0;
	ucma_tokens_send(file);
}

int ucma_reattach(struct ur_session *s, const struct ur_file_id *id, int fd,
		  u32 answers, void **opened, int *shown, u64 *rdev)
{
	struct ucma_file *file = find_absent(s, id);
	int visible;

	ur_assert(ur_loop_mine(s->daemon->loop));
	if (!file)
		return -ENOENT;
	visible = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (visible < 0)
		return -errno;
	ur_loop_del(s->daemon->loop, file->sock);
	free(file->absent);
	file->absent = NULL;
	file->session = s;
	file->visible = visible;
	file->repeats = ucma_journal_last(file)->count == answers + 1;
	/* The client missed the event with the reply. */
	if (file->repeats)
		ucma_ahead_end(file, false);
	if (s->features & UROCE_TUN_F_CACHED_REPLY)
		ucma_cache_open(file);
	shown[0] = file->visible;
	shown[1] = file->page;
	*rdev = ur_sysfs_rdma_cm_rdev();
	*opened = file;
	send_anew(file);
	return 0;
}
