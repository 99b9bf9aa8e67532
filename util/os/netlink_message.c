// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Builds netlink messages. */
#include <string.h>
#include "util/os/netlink_message.h"
#include "util/assert.h"

/* Reserves len bytes, padded with zeros to a multiple of four. */
static u8 *room(struct ur_nl_msg *m, u32 len)
{
	u32 padded = NLMSG_ALIGN(len);
	u32 max = m->large ? UR_NL_LARGE : UR_NL_BYTES;
	u8 *to = m->buf + m->len;

	ur_assert(m->len <= max);
	if (m->full || len > max || padded > max - m->len) {
		m->full = true;
		return NULL;
	}
	if (padded > len)
		memset(to + len, 0, padded - len);
	m->len += padded;
	return to;
}

void ur_nl_begin(struct ur_nl_msg *m, u16 type, u16 flags, u32 seq, u32 port)
{
	struct nlmsghdr nlh = {.nlmsg_len = NLMSG_HDRLEN,
			       .nlmsg_type = type,
			       .nlmsg_flags = flags,
			       .nlmsg_seq = seq,
			       .nlmsg_pid = port};

	m->begin = m->len;
	ur_nl_put_raw(m, &nlh, sizeof(nlh));
}

void ur_nl_end(struct ur_nl_msg *m)
{
	u32 len = m->len - m->begin;

	ur_assert(m->begin <= m->len);
	if (!m->full)
		memcpy(m->buf + m->begin, &len, sizeof(len));
}

void ur_nl_put_raw(struct ur_nl_msg *m, const void *data, u32 len)
{
	u8 *to = room(m, len);

	if (to)
		memcpy(to, data, len);
}

void ur_nl_put(struct ur_nl_msg *m, u16 type, const void *data, u32 len)
{
	struct nlattr a = {.nla_len = (u16)(NLA_HDRLEN + len),
			   .nla_type = type};
	u8 *to = room(m, NLA_HDRLEN + len);

	if (!to)
		return;
	memcpy(to, &a, sizeof(a));
	if (len)
		memcpy(to + NLA_HDRLEN, data, len);
}

void ur_nl_put_u8(struct ur_nl_msg *m, u16 type, u8 v)
{
	ur_nl_put(m, type, &v, sizeof(v));
}

void ur_nl_put_u32(struct ur_nl_msg *m, u16 type, u32 v)
{
	ur_nl_put(m, type, &v, sizeof(v));
}

void ur_nl_put_u64(struct ur_nl_msg *m, u16 type, u64 v)
{
	ur_nl_put(m, type, &v, sizeof(v));
}

void ur_nl_put_text(struct ur_nl_msg *m, u16 type, const char *text)
{
	ur_nl_put(m, type, text, (u32)strlen(text) + 1);
}

u32 ur_nl_nest(struct ur_nl_msg *m, u16 type)
{
	u32 nest = m->len;

	ur_nl_put(m, type, NULL, 0);
	return nest;
}

void ur_nl_nest_end(struct ur_nl_msg *m, u32 nest)
{
	u16 len = (u16)(m->len - nest);

	ur_assert(nest <= m->len && m->len - nest <= UINT16_MAX);
	if (!m->full)
		memcpy(m->buf + nest, &len, sizeof(len));
}

void ur_nl_cut(struct ur_nl_msg *m, u32 len)
{
	ur_assert(len <= m->len);
	m->len = len;
	m->full = false;
}
