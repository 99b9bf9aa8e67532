// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The attributes of a request, checked. */
#include <errno.h>
#include <string.h>
#include "device/nldev/attr.h"

enum attr_kind { UNKNOWN, U8, U32, U64, TEXT, NESTED };

/* The attributes that the kernel accepts in requests; max: of a text, without
 * the NUL. */
static const struct {
	u8 kind, max;
} policy[UR_NLDEV_ATTR_MAX] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = {U32},
	[RDMA_NLDEV_ATTR_DEV_NAME] = {TEXT, 64},
	[RDMA_NLDEV_ATTR_PORT_INDEX] = {U32},
	[RDMA_NLDEV_ATTR_NDEV_INDEX] = {U32},
	[RDMA_NLDEV_ATTR_NDEV_NAME] = {TEXT, 16},
	[RDMA_NLDEV_ATTR_LINK_TYPE] = {TEXT, 16},
	[RDMA_NLDEV_NET_NS_FD] = {U32},
	[RDMA_NLDEV_ATTR_DEV_DIM] = {U8},
	[RDMA_NLDEV_ATTR_CHARDEV_TYPE] = {TEXT, 128},
	[RDMA_NLDEV_ATTR_RES_LQPN] = {U32},
	[RDMA_NLDEV_ATTR_RES_PDN] = {U32},
	[RDMA_NLDEV_ATTR_RES_CQN] = {U32},
	[RDMA_NLDEV_ATTR_RES_MRN] = {U32},
	[RDMA_NLDEV_ATTR_RES_CM_IDN] = {U32},
	[RDMA_NLDEV_ATTR_RES_CTXN] = {U32},
	[RDMA_NLDEV_ATTR_RES_SRQN] = {U32},
	[RDMA_NLDEV_ATTR_RES_TYPE] = {U8},
	[RDMA_NLDEV_ATTR_RES_PID] = {U32},
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = {U8},
	[UR_NLDEV_ATTR_PRIVILEGED_QKEY] = {U8},
	[UR_NLDEV_ATTR_DRIVER_DETAILS] = {U8},
	[RDMA_NLDEV_ATTR_STAT_MODE] = {U32},
	[RDMA_NLDEV_ATTR_STAT_RES] = {U32},
	[RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK] = {U32},
	[RDMA_NLDEV_ATTR_STAT_COUNTER_ID] = {U32},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS] = {NESTED},
};

/* enum attr_kind of integers, in bytes. */
static const u8 int_bytes[] = {[U8] = 1, [U32] = 4, [U64] = 8};

static bool text_fits(const u8 *data, u32 len, u32 max)
{
	u32 room = ur_min_u32(len, max + 1);

	return room && memchr(data, 0, room);
}

static bool valid(u32 type, bool strict, const u8 *data, u32 len)
{
	u32 kind = policy[type].kind;

	switch (kind) {
	case U8:
	case U32:
	case U64:
		return strict ? len == int_bytes[kind] : len >= int_bytes[kind];
	case TEXT:
		return text_fits(data, len, policy[type].max);
	case NESTED:
		return !len || len >= NLA_HDRLEN;
	default:
		return !strict;
	}
}

static int refuse_attr(struct ur_nl_attrs *attrs, u32 where, const char *why)
{
	attrs->why = why;
	attrs->where = where;
	return -EINVAL;
}

int ur_nl_parse(struct ur_nl_attrs *attrs, const struct nlmsghdr *nlh,
		bool strict)
{
	const u8 *begin = (const u8 *)nlh;
	u32 at = NLMSG_HDRLEN, end = nlh->nlmsg_len;
	struct nlattr a;

	memset(attrs, 0, sizeof(*attrs));
	while (end - at >= NLA_HDRLEN) {
		u32 type;

		memcpy(&a, begin + at, sizeof(a));
		if (a.nla_len < NLA_HDRLEN || a.nla_len > end - at)
			break;
		type = a.nla_type & NLA_TYPE_MASK;
		if (type >= UR_NLDEV_ATTR_MAX) {
			if (strict)
				return refuse_attr(attrs, at,
						   "Unknown attribute type");
		} else if (!valid(type, strict, begin + at + NLA_HDRLEN,
				  a.nla_len - (u32)NLA_HDRLEN)) {
			return refuse_attr(
				attrs, at,
				"Attribute failed policy validation");
		} else if (policy[type].kind != UNKNOWN) {
			attrs->at[type].data = begin + at + NLA_HDRLEN;
			attrs->at[type].len = a.nla_len - (u32)NLA_HDRLEN;
		}
		/* The padding of the last one may be missing. */
		if ((u32)NLA_ALIGN(a.nla_len) > end - at)
			at = end;
		else
			at += NLA_ALIGN(a.nla_len);
	}
	if (strict && at != end)
		return refuse_attr(attrs, at, "bytes leftover after parsing");
	return 0;
}

u8 ur_nl_u8(const struct ur_nl_attrs *attrs, u32 type)
{
	return attrs->at[type].data[0];
}

u32 ur_nl_u32(const struct ur_nl_attrs *attrs, u32 type)
{
	u32 v;

	memcpy(&v, attrs->at[type].data, sizeof(v));
	return v;
}

const char *ur_nl_text(const struct ur_nl_attrs *attrs, u32 type)
{
	return (const char *)attrs->at[type].data;
}
