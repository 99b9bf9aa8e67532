// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The first event of a file is sent ahead of its GET_EVENT: with the reply to the command that
 * made it, or else in its datagram. Only the client knows whether its program has read it. The
 * next command tells, and an event that was not read is the first of the queue again. Until then
 * the journal has the event.
 *
 * One event is ahead at a time, and one at most between two commands: by the number of commands
 * the client knows which datagrams still contain the first event.
 */
#include <string.h>
#include <sys/socket.h>

#include "device/ucma/ucma_journal.h"
#include "util/assert.h"

/* Returns the event that may be sent ahead, or NULL. */
static struct ucma_event *first_of(const struct ucma_file *file)
{
	struct ucma_event *event;

	if (!(file->session->features & UROCE_TUN_F_AHEAD) ||
	    !file->generations || file->ahead || !file->n_events ||
	    file->ahead_at == file->answers)
		return NULL;
	event = ur_list_first(&file->events, struct ucma_event, node);
	return ucma_event_bit(event) ? event : NULL;
}

/* Sends an event ahead among outs. Returns false without room. */
static bool give(struct ucma_file *file, struct ucma_event *event, u8 *outs,
		 u32 *outs_len)
{
	struct rdma_ucm_cmd_hdr hdr = {.cmd = RDMA_USER_CM_CMD_GET_EVENT,
				       .in = sizeof(struct rdma_ucm_get_event),
				       .out = file->event_room};
	struct uroce_tun_cached_reply cached = {.slot = UROCE_TUN_AHEAD};
	u32 word = event->id->number % UROCE_TUN_PAGE_SLOTS;

	if (!hdr.out)
		hdr.out = sizeof(event->resp);
	cached.change = file->generations[word];
	memcpy(cached.question, &hdr, sizeof(hdr));
	memcpy(cached.question + UROCE_TUN_AHEAD_SLOT, &word, sizeof(word));
	if (!ur_outs_cache_reply(outs, outs_len, &cached, &event->resp,
				 ur_min_u32(hdr.out, sizeof(event->resp))))
		return false;
	ucma_cache_replies(file, event->resp.event, event->id, outs, outs_len);
	ucma_event_take_out(file, event);
	file->ahead = event;
	file->ahead_token = true;
	file->ahead_at = file->answers;
	ucma_journal_ahead(file, &event->resp);
	return true;
}

void ucma_ahead_answer(struct ucma_file *file)
{
	struct ur_session *s = file->session;
	struct ucma_event *event = first_of(file);

	ur_assert(ur_loop_mine(file->daemon->loop));
	/* The client takes a datagram for it. */
	if (event && file->tokens)
		give(file, event, s->outs, &s->outs_len);
}

bool ucma_ahead_may_say(const struct ucma_file *file)
{
	return !file->in_command && !file->tokens && file->n_events == 1 &&
	       first_of(file);
}

void ucma_ahead_say(struct ucma_file *file)
{
	struct {
		struct uroce_tun_event head;
		u8 outs[UROCE_TUN_WINDOW];
	} m = {.head.answers = file->answers};
	struct ucma_event *event =
		ucma_ahead_may_say(file) ? first_of(file) : NULL;
	u32 len = 0;

	if (event && give(file, event, m.outs, &len)) {
		if (send(file->sock, &m, sizeof(m.head) + len,
			 MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
			file->tokens++;
		else
			ucma_ahead_settle(file, false);
	}
	ucma_tokens_send(file);
}

void ucma_ahead_settle(struct ucma_file *file, bool taken)
{
	struct ucma_event *event = file->ahead;

	ur_assert(ur_loop_mine(file->daemon->loop));
	if (!event)
		return;
	file->ahead = NULL;
	if (!taken) {
		ur_list_add_head(&file->events, &event->node);
		file->n_events++;
		ucma_tokens_send(file);
		return;
	}
	if (file->ahead_token && file->tokens)
		file->tokens--;
	ucma_event_delivered(event);
	ucma_journal_flush(ucma_of(file));
	ucma_event_free(event);
}
