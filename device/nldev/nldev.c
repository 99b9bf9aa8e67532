// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A socket: receives requests, sends answers and acknowledgements. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include "device/administrator.h"
#include "device/nldev/nldev.h"

/* Commands for drivers that dump raw objects, which ours does not. */
static int not_raw(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	return -EINVAL;
}

static const struct nl_command {
	ur_nl_handler *doit, *dump;
	bool admin, strict;
} commands[UR_NLDEV_CMD_MAX] = {
	[RDMA_NLDEV_CMD_GET] = {ur_nl_get, ur_nl_get_dump},
	[RDMA_NLDEV_CMD_SET] = {ur_nl_set, NULL, true, true},
	[RDMA_NLDEV_CMD_NEWLINK] = {ur_nl_newlink, NULL, true, true},
	[RDMA_NLDEV_CMD_DELLINK] = {ur_nl_dellink, NULL, true, true},
	[RDMA_NLDEV_CMD_PORT_GET] = {ur_nl_port_get, ur_nl_port_dump},
	[RDMA_NLDEV_CMD_SYS_GET] = {ur_nl_sys_get},
	[RDMA_NLDEV_CMD_SYS_SET] = {ur_nl_sys_set, NULL, true, true},
	[RDMA_NLDEV_CMD_RES_GET] = {ur_nl_summary, ur_nl_summary_dump},
	[RDMA_NLDEV_CMD_RES_QP_GET] = {ur_nl_res_get, ur_nl_res_dump},
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = {ur_nl_res_get, ur_nl_res_dump},
	[RDMA_NLDEV_CMD_RES_CQ_GET] = {ur_nl_res_get, ur_nl_res_dump},
	[RDMA_NLDEV_CMD_RES_MR_GET] = {ur_nl_res_get, ur_nl_res_dump},
	[RDMA_NLDEV_CMD_RES_PD_GET] = {ur_nl_res_get, ur_nl_res_dump},
	[RDMA_NLDEV_CMD_RES_CTX_GET] = {ur_nl_res_get, ur_nl_res_dump},
	[RDMA_NLDEV_CMD_RES_SRQ_GET] = {ur_nl_res_get, ur_nl_res_dump},
	[RDMA_NLDEV_CMD_RES_QP_GET_RAW] = {not_raw, not_raw, true},
	[RDMA_NLDEV_CMD_RES_CQ_GET_RAW] = {not_raw, not_raw, true},
	[RDMA_NLDEV_CMD_RES_MR_GET_RAW] = {not_raw, not_raw, true},
	[UR_NLDEV_CMD_RES_SRQ_GET_RAW] = {not_raw, not_raw, true},
	[RDMA_NLDEV_CMD_GET_CHARDEV] = {ur_nl_chardev_get},
	[RDMA_NLDEV_CMD_STAT_SET] = {ur_nl_stat_set, NULL, true, true},
	[RDMA_NLDEV_CMD_STAT_GET] = {ur_nl_stat_get, ur_nl_stat_dump},
	[RDMA_NLDEV_CMD_STAT_DEL] = {ur_nl_stat_del, NULL, true, true},
	[RDMA_NLDEV_CMD_STAT_GET_STATUS] = {ur_nl_stat_status},
};

/* Returns whether the client may change shared state, where the kernel requires
 * CAP_NET_ADMIN. */
static bool is_admin(const struct ur_nl_request *r)
{
	return ur_is_administrator(r->nl->session);
}

void ur_nl_answer(struct ur_nl_request *r, struct ur_nl_msg *m, u32 op,
		  u16 flags)
{
	ur_nl_begin(m, (u16)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op), flags,
		    r->nlh->nlmsg_seq, r->nl->port);
}

struct ur_device *ur_nl_device(const struct ur_nl_request *r)
{
	u32 index;

	if (!ur_nl_has(&r->attrs, RDMA_NLDEV_ATTR_DEV_INDEX))
		return NULL;
	index = ur_nl_u32(&r->attrs, RDMA_NLDEV_ATTR_DEV_INDEX);
	ur_list_each(struct ur_device, dev, &r->nl->daemon->devices, node) {
		if (dev->nl_index == index)
			return dev;
	}
	return NULL;
}

int ur_nl_answer_device(struct ur_nl_request *r, struct ur_nl_msg *m, u32 op,
			void (*put)(struct ur_nl_msg *m,
				    const struct ur_device *dev))
{
	const struct ur_device *dev = ur_nl_device(r);

	if (!dev)
		return -EINVAL;
	ur_nl_answer(r, m, op, 0);
	put(m, dev);
	ur_nl_end(m);
	return 0;
}

void ur_nl_dump_devices(struct ur_nl_request *r, struct ur_nl_msg *m, u32 op,
			void (*put)(struct ur_nl_msg *m,
				    const struct ur_device *dev))
{
	u32 i = 0;

	ur_list_for_each(it, &r->nl->daemon->devices) {
		u32 before = m->len;

		if (i++ < r->at)
			continue;
		ur_nl_answer(r, m, op, NLM_F_MULTI);
		put(m, ur_list_entry(it, struct ur_device, node));
		ur_nl_end(m);
		if (m->full) {
			ur_nl_cut(m, before);
			return;
		}
		r->at++;
	}
}

/* ---- sending: without the lock, so that only the client waits ---- */

static int send_out(struct ur_nldev *nl, const struct ur_nl_msg *m)
{
	ssize_t n;

	do
		n = send(nl->session->sock, m->buf, m->len, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* Puts the reason and the offset, as NLMSGERR_ATTR_*. */
static void put_reason(const struct ur_nl_request *r, struct ur_nl_msg *m)
{
	if (r->why)
		ur_nl_put_text(m, NLMSGERR_ATTR_MSG, r->why);
	if (r->why && r->attrs.where)
		ur_nl_put_u32(m, NLMSGERR_ATTR_OFFS, r->attrs.where);
}

/* Sends an acknowledgement, with as much of the request as the client wants. */
static int acknowledge(const struct ur_nl_request *r, int err)
{
	const struct nlmsghdr *nlh = r->nlh;
	bool whole = err && !r->nl->cap_ack;
	bool reason = err && r->nl->ext_ack && r->why;
	struct ur_nl_msg m = {0};
	u32 len = whole ? nlh->nlmsg_len : NLMSG_HDRLEN;

	if (len > UR_NL_BYTES / 2) {
		len = NLMSG_HDRLEN;
		whole = false;
	}
	ur_nl_begin(&m, NLMSG_ERROR,
		    (u16)((whole ? 0 : NLM_F_CAPPED) |
			  (reason ? NLM_F_ACK_TLVS : 0)),
		    nlh->nlmsg_seq, r->nl->port);
	ur_nl_put_raw(&m, &err, sizeof(err));
	ur_nl_put_raw(&m, nlh, len);
	if (reason)
		put_reason(r, &m);
	ur_nl_end(&m);
	return send_out(r->nl, &m);
}

/* ---- requests ---- */

static int run(struct ur_nl_request *r, ur_nl_handler *handler,
	       struct ur_nl_msg *m)
{
	struct ur_loop *loop = r->nl->daemon->loop;
	int err;

	m->len = 0;
	m->full = false;
	ur_loop_lock(loop);
	err = handler(r, m);
	ur_loop_unlock(loop);
	if (!err && m->full)
		err = -EMSGSIZE;
	return err;
}

/* The end message of a dump has its result. */
static int dump(struct ur_nl_request *r, ur_nl_handler *handler)
{
	struct ur_nl_msg m = {0};
	int err, sent;

	for (;;) {
		err = run(r, handler, &m);
		if (err || (!m.len && !r->more))
			break;
		sent = m.len ? send_out(r->nl, &m) : 0;
		if (sent)
			return sent;
	}
	ur_nl_cut(&m, 0);
	ur_nl_begin(&m, NLMSG_DONE, NLM_F_MULTI, r->nlh->nlmsg_seq,
		    r->nl->port);
	ur_nl_put_raw(&m, &err, sizeof(err));
	ur_nl_end(&m);
	return send_out(r->nl, &m);
}

static const struct nl_command *find_command(const struct nlmsghdr *nlh,
					     u32 *op)
{
	*op = RDMA_NL_GET_OP(nlh->nlmsg_type);
	if (RDMA_NL_GET_CLIENT(nlh->nlmsg_type) != RDMA_NL_NLDEV ||
	    *op >= UR_NLDEV_CMD_MAX)
		return NULL;
	return &commands[*op];
}

/* Answers a request. *dumped: it was a dump, which needs no acknowledgement. */
static int answer(struct ur_nl_request *r, bool *dumped)
{
	const struct nl_command *c = find_command(r->nlh, &r->op);
	struct ur_nl_msg m = {0};
	int err;

	*dumped = false;
	if (!c || (!c->doit && !c->dump))
		return -EINVAL;
	if (c->admin && !is_admin(r))
		return -EPERM;
	err = ur_nl_parse(&r->attrs, r->nlh, c->strict);
	if (err) {
		r->why = r->attrs.why;
		return err;
	}
	if (r->nlh->nlmsg_flags & NLM_F_DUMP && c->dump) {
		*dumped = true;
		return dump(r, c->dump);
	}
	if (r->nlh->nlmsg_flags & NLM_F_DUMP || !c->doit)
		return -EINVAL;
	while (!(err = run(r, c->doit, &m)) && !m.len && r->more)
		; /* others have the lock in between */
	if (!err && m.len)
		err = send_out(r->nl, &m);
	return err;
}

/* Handles one message. Returns an error if the connection is broken. */
static int serve_one(struct ur_nldev *nl, const struct nlmsghdr *nlh)
{
	struct ur_nl_request r = {.nl = nl, .nlh = nlh};
	bool dumped = false;
	int err = 0;

	/* Messages without NLM_F_REQUEST, and control messages, are ignored. */
	if (nlh->nlmsg_flags & NLM_F_REQUEST &&
	    nlh->nlmsg_type >= NLMSG_MIN_TYPE)
		err = answer(&r, &dumped);
	if (dumped)
		return err;
	if (err == -EPIPE || err == -ECONNRESET)
		return err;
	return err || nlh->nlmsg_flags & NLM_F_ACK ? acknowledge(&r, err) : 0;
}

static int serve_all(struct ur_nldev *nl, u8 *buf, u32 len)
{
	struct nlmsghdr nlh;
	u32 at = 0;
	int err = 0;

	while (!err && len - at >= NLMSG_HDRLEN) {
		memcpy(&nlh, buf + at, sizeof(nlh));
		if (nlh.nlmsg_len < NLMSG_HDRLEN || nlh.nlmsg_len > len - at)
			return 0;
		err = serve_one(nl, (const struct nlmsghdr *)(buf + at));
		if ((u32)NLMSG_ALIGN(nlh.nlmsg_len) > len - at)
			break;
		at += NLMSG_ALIGN(nlh.nlmsg_len);
	}
	return err;
}

static bool bind_to(struct ur_nldev *nl, const u8 *buf, u32 len)
{
	struct uroce_tun_msg msg;

	if (len != sizeof(msg))
		return false;
	memcpy(&msg, buf, sizeof(msg));
	if (msg.op != UROCE_TUN_BIND)
		return false;
	ur_loop_lock(nl->daemon->loop);
	nl->port = (u32)msg.bind.port;
	nl->groups = msg.bind.groups;
	ur_loop_unlock(nl->daemon->loop);
	nl->ext_ack = msg.bind.flags & UROCE_TUN_NL_EXT_ACK;
	nl->cap_ack = msg.bind.flags & UROCE_TUN_NL_CAP_ACK;
	return true;
}

/* Larger than any request. */
#define REQUEST_BYTES 8192

int ur_nldev_serve(struct ur_session *s)
{
	u8 buf[REQUEST_BYTES] __attribute__((aligned(8)));
	struct ur_nldev nl = {.session = s, .daemon = s->daemon};
	ssize_t n;
	int err = 0;

	ur_loop_lock(s->daemon->loop);
	s->nl = &nl;
	ur_loop_unlock(s->daemon->loop);
	while (!err) {
		n = recv(s->sock, buf, sizeof(buf), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			err = n < 0 ? -errno : -EPIPE;
		else if (!bind_to(&nl, buf, (u32)n))
			err = serve_all(&nl, buf, (u32)n);
	}
	ur_loop_lock(s->daemon->loop);
	s->nl = NULL;
	ur_loop_unlock(s->daemon->loop);
	return err;
}
