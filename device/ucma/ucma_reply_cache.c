// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Replies that are sent together with the event after which librdmacm asks for them. Each
 * saves two messages and two process switches. A reply is valid until a word of a page
 * shared with the client changes. The word changes with every command about the id except
 * these queries, and with every message of its peer. So the client gets the reply that the
 * device would send at that moment.
 *
 * The client's first query shows how much room it has for a reply. Until then the size of
 * the ABI's structure is assumed.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/memfd.h"
#include "device/ucma/ucma_journal.h"
#include "util/assert.h"

#define REPLY(q)    (1u << UCMA_REPLY_##q)
#define REPLY_STATE (REPLY(INIT) | REPLY(RTR) | REPLY(RTS))

static const u8 likely_after[] = {
	[UCMA_EVENT_ADDR_RESOLVED] = REPLY(ADDR) | REPLY(GID),
	[UCMA_EVENT_ROUTE_RESOLVED] = REPLY(PATH) | REPLY(INIT),
	[UCMA_EVENT_CONNECT_REQUEST] =
		REPLY(ADDR) | REPLY(GID) | REPLY(PATH) | REPLY_STATE,
	[UCMA_EVENT_CONNECT_RESPONSE] = REPLY_STATE,
};

#define ADDR_BYTES sizeof(struct rdma_ucm_query_addr_resp)
#define ATTR_BYTES sizeof(struct ib_uverbs_qp_attr)

/* arg: the option, or the enum ibv_qp_state. */
static const struct {
	u32 cmd, arg;
	u16 room;
} questions[UCMA_REPLY_KINDS] = {
	[UCMA_REPLY_ADDR] = {RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_ADDR,
			     ADDR_BYTES},
	[UCMA_REPLY_GID] = {RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_GID,
			    ADDR_BYTES},
	[UCMA_REPLY_PATH] = {RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_PATH,
			     0},
	[UCMA_REPLY_INIT] = {RDMA_USER_CM_CMD_INIT_QP_ATTR, UR_QP_INIT,
			     ATTR_BYTES},
	[UCMA_REPLY_RTR] = {RDMA_USER_CM_CMD_INIT_QP_ATTR, UR_QP_RTR,
			    ATTR_BYTES},
	[UCMA_REPLY_RTS] = {RDMA_USER_CM_CMD_INIT_QP_ATTR, UR_QP_RTS,
			    ATTR_BYTES},
};

/* From here on all CREATE_IDs of a kind are alike. */
#define CREATE_TAIL offsetof(struct rdma_ucm_create_id, ps)

/* A WRITE of one of these commands. */
struct written {
	struct rdma_ucm_cmd_hdr hdr;
	union {
		struct rdma_ucm_query query;
		struct rdma_ucm_init_qp_attr attr;
	};
};

_Static_assert(sizeof(struct written) ==
		       sizeof(((struct uroce_tun_cached_reply *)0)->question),
	       "both questions have that size");
_Static_assert(offsetof(struct rdma_ucm_query, option) ==
		       offsetof(struct rdma_ucm_init_qp_attr, qp_state),
	       "and one form");

void ucma_cache_open(struct ucma_file *file)
{
	void *map;
	int fd = ur_memfd("rdma_cm");

	if (fd < 0)
		return;
	if (ftruncate(fd, UROCE_TUN_PAGE_BYTES))
		goto err_close;
	map = mmap(NULL, UROCE_TUN_PAGE_BYTES, PROT_READ | PROT_WRITE,
		   MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		goto err_close;
	/* The client can only read. */
	if (fcntl(fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE |
			  F_SEAL_SEAL)) {
		munmap(map, UROCE_TUN_PAGE_BYTES);
		goto err_close;
	}
	file->page = fd;
	file->generations = map;
	for (u32 q = 0; q < UCMA_REPLY_KINDS; q++)
		file->reply_room[q] = questions[q].room;
	return;
err_close:
	close(fd);
}

void ucma_cache_close(struct ucma_file *file)
{
	if (!file->generations)
		return;
	munmap(file->generations, UROCE_TUN_PAGE_BYTES);
	close(file->page);
}

void ucma_cache_void(struct ucma_id *id)
{
	u32 *word;

	ucma_journal_touch(id);
	if (!id->file->generations)
		return;
	word = &id->file->generations[id->number % UROCE_TUN_PAGE_SLOTS];
	/* Pairs with the client's acquire. */
	__atomic_store_n(word, *word + 1, __ATOMIC_RELEASE);
}

void ucma_cache_learn(struct ucma_file *file,
		      const struct rdma_ucm_cmd_hdr *hdr, const void *in)
{
	const struct rdma_ucm_query *query = in;

	if (hdr->in != sizeof(*query))
		return;
	for (u32 q = 0; q < UCMA_REPLY_KINDS; q++)
		if (questions[q].cmd == hdr->cmd &&
		    questions[q].arg == query->option)
			file->reply_room[q] = hdr->out;
}

static void cache_reply(struct ucma_file *file, enum ucma_reply_kind q,
			const struct ucma_id *id, u8 *outs, u32 *outs_len)
{
	struct written w = {
		.hdr = {.cmd = questions[q].cmd,
			.in = sizeof(w.query),
			.out = file->reply_room[q]},
		.query = {.id = id->number, .option = questions[q].arg}};
	struct uroce_tun_cached_reply cached = {.slot = id->number %
							UROCE_TUN_PAGE_SLOTS};
	struct ucma_cmd cmd = {.file = file,
			       .in = &w.query,
			       .in_bytes = sizeof(w.query),
			       .out_bytes = w.hdr.out};
	bool query = w.hdr.cmd == RDMA_USER_CM_CMD_QUERY;
	int err;

	file->is_query = true;
	err = query ? ucma_query(&cmd) : ucma_init_qp_attr(&cmd);
	file->is_query = false;
	if (err)
		return;
	cached.change = file->generations[cached.slot];
	memcpy(cached.question, &w, sizeof(w));
	ur_outs_cache_reply(outs, outs_len, &cached, cmd.out,
			    ur_min_u32(cmd.out_len, cmd.out_bytes));
}

void ucma_cache_spare(struct ucma_file *file)
{
	struct rdma_ucm_cmd_hdr hdr = {
		.cmd = RDMA_USER_CM_CMD_CREATE_ID,
		.in = sizeof(struct rdma_ucm_create_id),
		.out = sizeof(struct rdma_ucm_create_id_resp)};
	struct uroce_tun_cached_reply cached = {.slot = UROCE_TUN_SPARE};
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_create_id in = {0};
	struct ur_session *s = file->session;
	const struct ucma_id *spare;

	ur_assert(ur_loop_mine(file->daemon->loop));
	if (!(s->features & UROCE_TUN_F_SPARE) || !file->spare_ps)
		return;
	spare = ucma_spare_offer(file);
	if (!spare)
		return;
	in.ps = spare->ps;
	in.qp_type = spare->qp_type;
	cached.change = resp.id = spare->number;
	memcpy(cached.question, &hdr, sizeof(hdr));
	memcpy(cached.question + sizeof(hdr), (u8 *)&in + CREATE_TAIL,
	       sizeof(in) - CREATE_TAIL);
	file->knows_spare = ur_outs_cache_reply(s->outs, &s->outs_len, &cached,
						&resp, sizeof(resp));
}

void ucma_cache_replies(struct ucma_file *file, u32 event, struct ucma_id *id,
			u8 *outs, u32 *outs_len)
{
	/* For datagrams INIT_QP_ATTR may choose a Q_Key, a change, so it cannot be answered
	 * ahead. */
	u32 not = id->qp_type == UR_QPT_UD ? REPLY_STATE : 0;

	if (!file->generations || id->file != file || id->lost ||
	    event >= UR_ARRAY_SIZE(likely_after))
		return;
	for (u32 q = 0; q < UCMA_REPLY_KINDS; q++)
		if (likely_after[event] & ~not &1u << q && file->reply_room[q])
			cache_reply(file, q, id, outs, outs_len);
}

/*
 * ---- events ----
 *
 * The first event of a file is sent ahead of its GET_EVENT: with the reply to the command that
 * made it, or else in its datagram. Only the client knows whether its program has read it. The
 * next command says so, and an event that was not read is the first of the queue again. Until then
 * the journal has the event.
 *
 * One event is ahead at a time, and one at most between two commands: by the number of commands
 * the client knows which datagrams still contain the first event.
 */

/* Returns the event that may be sent ahead, or NULL. */
static struct ucma_event *first_of(const struct ucma_file *file)
{
	struct ucma_event *event;

	if (!(file->session->features & UROCE_TUN_F_AHEAD) ||
	    !file->generations || file->ahead || !file->n_events ||
	    file->ahead_at == file->answers)
		return NULL;
	event = ur_list_first(&file->events, struct ucma_event, node);
	return event->child || ucma_event_bit(event) ? event : NULL;
}

/* Sends an event ahead among outs. Returns false without room. */
static bool give(struct ucma_file *file, struct ucma_event *event, u8 *outs,
		 u32 *outs_len)
{
	struct rdma_ucm_cmd_hdr hdr = {.cmd = RDMA_USER_CM_CMD_GET_EVENT,
				       .in = sizeof(struct rdma_ucm_get_event),
				       .out = file->event_room};
	struct uroce_tun_cached_reply cached = {.slot = UROCE_TUN_AHEAD};
	struct ucma_id *id = event->child ? event->child : event->id;
	u32 word = id->number % UROCE_TUN_PAGE_SLOTS;

	if (!hdr.out)
		hdr.out = sizeof(event->resp);
	cached.change = file->generations[word];
	memcpy(cached.question, &hdr, sizeof(hdr));
	memcpy(cached.question + UROCE_TUN_AHEAD_SLOT, &word, sizeof(word));
	if (!ur_outs_cache_reply(outs, outs_len, &cached, &event->resp,
				 ur_min_u32(hdr.out, sizeof(event->resp))))
		return false;
	/* The program knows the id of a request once it has read the event. */
	id->unreported = false;
	ucma_cache_replies(file, event->resp.event, id, outs, outs_len);
	id->unreported = event->child;
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

bool ucma_ahead_may_push(const struct ucma_file *file)
{
	return !file->in_command && !file->tokens && file->n_events == 1 &&
	       first_of(file);
}

void ucma_ahead_push(struct ucma_file *file)
{
	struct {
		struct uroce_tun_event head;
		u8 outs[UROCE_TUN_WINDOW];
	} m = {.head.answers = file->answers};
	struct ucma_event *event =
		ucma_ahead_may_push(file) ? first_of(file) : NULL;
	u32 len = 0;

	if (event && give(file, event, m.outs, &len)) {
		if (send(file->sock, &m, sizeof(m.head) + len,
			 MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
			file->tokens++;
		else
			ucma_ahead_end(file, false);
	}
	ucma_tokens_send(file);
}

void ucma_ahead_end(struct ucma_file *file, bool taken)
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
	/* The program may take one event after the other without a GET_EVENT, and the socket had no room for
	 * more datagrams. */
	ucma_tokens_send(file);
	ucma_event_delivered(event);
	ucma_journal_flush(ucma_of(file));
	ucma_event_free(event);
}
