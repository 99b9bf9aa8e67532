// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events are queued in their file until GET_EVENT. The file's socket has one datagram for
 * each, so that poll() and a blocking read work; if the socket is full, the remaining
 * datagrams follow as events are read. The next command withdraws the datagrams of removed
 * events, after it has released the lock: another receiver of the same socket can make that
 * wait.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "device/report/record.h"
#include "device/ucma/ucma_journal.h"
#include "util/assert.h"
#include "util/verbs_words.h"

#define CM_EVENT(number, name) \
	_Static_assert((int)UCMA_EVENT_##name == (number), #name);
/* clang-format off */
UR_RDMA_CM_EVENT_LIST(CM_EVENT)
UR_RDMA_CM_EVENT_LIST_NEWER(CM_EVENT)
/* clang-format on */

/* doc/record.md has the probes. */
#ifdef UROCE_PROBES
#include <sys/sdt.h>
#define UR_PROBE_CM(qpn, event, status) \
	STAP_PROBE3(uroce, cm_event, qpn, event, status)
#else
#define UR_PROBE_CM(qpn, event, status) ((void)0)
#endif

/* The response before ECE was added to it. */
#define EVENT_RESP_MIN offsetof(struct rdma_ucm_event_resp, reserved)

/* Returns how many datagrams the socket should have. */
static u32 tokens_due(const struct ucma_file *file)
{
	return file->n_events + (file->ahead && file->ahead_token);
}

void ucma_tokens_send(struct ucma_file *file)
{
	char token = 0;

	while (file->tokens < tokens_due(file)) {
		if (send(file->sock, &token, 1, MSG_DONTWAIT | MSG_NOSIGNAL) !=
		    1)
			return;
		file->tokens++;
	}
}

u32 ucma_tokens_excess(struct ucma_file *file)
{
	u32 due = tokens_due(file);
	u32 n = file->tokens > due ? file->tokens - due : 0;

	file->tokens -= n;
	return n;
}

void ucma_tokens_withdraw(int visible, u32 n)
{
	char token;

	/* If the client takes the datagram just now, it finds no event and takes the next
	 * one. */
	while (n--)
		recv(visible, &token, 1, MSG_DONTWAIT);
}

int ucma_event_reserve(struct ucma_id *id)
{
	id->spare = calloc(1, sizeof(*id->spare));
	return id->spare ? 0 : -ENOMEM;
}

void ucma_event_free(struct ucma_event *event)
{
	struct ucma_id *id = event->id;

	if (event->charged)
		ur_memory_give(event->user, UR_KIB_OBJECT);
	event->charged = false;
	if (id->spare)
		free(event);
	else
		id->spare = event;
}

struct ucma_event *ucma_event_new(struct ucma_id *id, u32 type, int status)
{
	struct ucma_event *event = calloc(1, sizeof(*event));

	/* If this event were lost, its program might wait for ever. */
	if (!event && id->spare) {
		event = id->spare;
		id->spare = NULL;
		memset(event, 0, sizeof(*event));
	}
	if (!event)
		return NULL;
	event->id = id;
	event->resp.uid = id->uid;
	event->resp.id = id->number;
	event->resp.event = type;
	event->resp.status = (u32)status;
	return event;
}

static void record_event(const struct ucma_event *event)
{
	const struct ucma_id *id = event->child ? event->child : event->id;
	const struct ur_session *s = id->file->session;

	UR_PROBE_CM(id->qp_num, event->resp.event, (int)event->resp.status);
	ur_record_cm(id->dev, id->qp_num, id->user, s ? s->pid : 0,
		     event->resp.event, (int)event->resp.status);
}

u32 ucma_event_bit(const struct ucma_event *event)
{
	return event->mcast || event->child ||
			       event->resp.event >= UCMA_EVENT_USER
		       ? 0
		       : 1u << event->resp.event;
}

void ucma_event_note(struct ucma_event *event)
{
	u32 bit = ucma_event_bit(event);

	if (!bit)
		return;
	event->id->pending |= bit;
	event->id->pending_status = (int)event->resp.status;
	ucma_journal_touch(event->id);
}

void ucma_event_post(struct ucma_event *event)
{
	struct ucma_file *file = event->id->file;

	/* The client cannot identify the id before it has set a uid. */
	if (!event->resp.uid && !event->child) {
		ucma_event_free(event);
		return;
	}
	record_event(event);
	ucma_event_note(event);
	ur_list_add_tail(&file->events, &event->node);
	file->n_events++;
	if (!ucma_ahead_may_push(file))
		ucma_tokens_send(file);
	else if (ur_list_empty(&file->due))
		ur_list_add_tail(&ucma_of(file)->due, &file->due);
}

void ucma_event_simple(struct ucma_id *id, u32 type, int status)
{
	struct ucma_event *event = ucma_event_new(id, type, status);

	if (event)
		ucma_event_post(event);
}

/* The number is not limited: the user is charged. */
int ucma_write_cm_event(struct ucma_cmd *cmd)
{
	const struct ucma_abi_write_cm_event *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);
	struct ucma_event *event;

	if (in->event != UCMA_EVENT_USER && in->event != UCMA_EVENT_INTERNAL)
		return -EINVAL;
	/* An id that was not accepted has no uid for its events. */
	if (!id || !id->uid)
		return -EINVAL;
	if (ur_memory_take(id->user, UR_KIB_OBJECT))
		return -ENOMEM;
	event = ucma_event_new(id, in->event, (int)in->status);
	if (!event) {
		ur_memory_give(id->user, UR_KIB_OBJECT);
		return -ENOMEM;
	}
	event->charged = true;
	event->user = id->user;
	memcpy(&event->resp.param, &in->param.arg, sizeof(in->param.arg));
	ucma_event_post(event);
	return 0;
}

void ucma_event_take_out(struct ucma_file *file, struct ucma_event *event)
{
	ur_assert(event->id || event->mcast);
	ur_list_del(&event->node);
	ur_assert(file->n_events);
	file->n_events--;
	if (file->taking == event)
		file->taking = NULL;
}

void ucma_events_purge(struct ucma_file *file, struct ucma_id *id,
		       struct ucma_mcast *mcast)
{
	struct ur_list doomed;

	ur_assert(ur_loop_mine(file->daemon->loop));
	ur_list_init(&doomed);
	if (!mcast && file->ahead &&
	    (file->ahead->id == id || file->ahead->child == id))
		ucma_ahead_end(file, false);
	ur_list_for_each_safe(n, &file->events) {
		struct ucma_event *event =
			ur_list_entry(n, struct ucma_event, node);

		if (mcast ? event->mcast != mcast
			  : event->id != id && event->child != id)
			continue;
		ucma_event_take_out(file, event);
		ur_list_add_tail(&doomed, &event->node);
	}
	/* An unread request is freed with its listener. Freeing a child calls this function
	 * again, hence the separate list. */
	while (!ur_list_empty(&doomed)) {
		struct ucma_event *event =
			ur_list_first(&doomed, struct ucma_event, node);

		ur_list_del(&event->node);
		if (event->child && event->child != id)
			ucma_id_free(event->child);
		ucma_event_free(event);
	}
}

void ucma_events_move(struct ucma_id *id, struct ucma_file *to)
{
	struct ucma_file *from = id->file;

	ur_assert(ur_loop_mine(to->daemon->loop));
	if (from->ahead && from->ahead->id == id)
		ucma_ahead_end(from, false);
	ur_list_for_each_safe(n, &from->events) {
		struct ucma_event *event =
			ur_list_entry(n, struct ucma_event, node);

		if (event->id != id)
			continue;
		ucma_event_take_out(from, event);
		ur_list_add_tail(&to->events, &event->node);
		to->n_events++;
		/* Ids of unread requests move with their listener. */
		if (event->child) {
			ur_list_del(&event->child->node);
			ur_list_add_tail(&to->ids, &event->child->node);
			ur_assert(event->child->file == from && from->n_ids);
			from->n_ids--;
			to->n_ids++;
			event->child->file = to;
		}
	}
	ucma_tokens_send(to);
}

void ucma_event_delivered(struct ucma_event *event)
{
	if (event->mcast) {
		event->mcast->events_reported++;
		event->mcast->pending = false;
		ucma_journal_touch_join(event->mcast);
		return;
	}
	event->id->events_reported++;
	event->id->pending &= ~ucma_event_bit(event);
	ucma_journal_touch(event->id);
	if (!event->child)
		return;
	event->child->unreported = false;
	ucma_journal_touch(event->child);
	if (event->child->cm)
		ur_cm_id_taken(event->child->cm);
}

/*
 * Copies the first event to the client. It stays queued until then; the copy may take as
 * long as the client's memory does, without the lock. No other command reads events of this
 * file, but an event may be removed with its id or moved to another file. written: bytes of
 * the command.
 */
static int deliver_first(struct ucma_file *file, u64 response, u32 len,
			 u64 written)
{
	struct rdma_ucm_event_resp resp;
	struct ucma_event *event;
	int err;

	if (!file->n_events)
		return -EAGAIN;
	event = ur_list_first(&file->events, struct ucma_event, node);
	resp = event->resp;
	file->taking = event;
	ur_loop_unlock(file->daemon->loop);
	err = ur_session_write(file->session, response, &resp, len);
	ur_loop_lock(file->daemon->loop);
	if (file->taking != event)
		return -EAGAIN;
	file->taking = NULL;
	if (err)
		return err;
	ucma_event_take_out(file, event);
	ucma_journal_answer(file, (s64)written, response, &resp, len);
	ucma_event_delivered(event);
	ucma_journal_flush(ucma_of(file));
	if (!event->mcast)
		ucma_cache_replies(file, event->resp.event,
				   event->child ? event->child : event->id,
				   file->session->outs,
				   &file->session->outs_len);
	ucma_event_free(event);
	ucma_ahead_answer(file);
	return 0;
}

int ucma_read_get_event(struct ucma_file *file, u64 addr, u64 len,
			const struct rdma_ucm_cmd_hdr *hdr, u64 *response)
{
	struct rdma_ucm_get_event cmd;
	int err;

	if (hdr->in < sizeof(cmd) || hdr->in + sizeof(*hdr) > len)
		return -EINVAL;
	if (hdr->out < EVENT_RESP_MIN)
		return -ENOSPC;
	err = ur_session_read(file->session, addr, &cmd, sizeof(cmd));
	if (!err)
		*response = cmd.response;
	return err;
}

int ucma_get_event(struct ucma_file *file, int err, u64 response, u64 len,
		   u16 room)
{
	u32 excess;

	if (!err)
		file->event_room = room;
	/* The front-end has taken a datagram out of the socket. On any error the socket
	 * gets one again for each queued event. */
	if (file->tokens)
		file->tokens--;
	if (!err)
		err = deliver_first(
			file, response,
			ur_min_u32(sizeof(struct rdma_ucm_event_resp), room),
			len);
	if (err)
		ucma_journal_answer(file, err, 0, NULL, 0);
	ucma_tokens_send(file);
	excess = ucma_tokens_excess(file);
	ur_loop_unlock(file->daemon->loop);
	ucma_tokens_withdraw(file->visible, excess);
	return err;
}
