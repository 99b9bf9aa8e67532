// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Parses and checks the attributes of a request. */
#include <errno.h>
#include <string.h>
#include "device/nldev/attr.h"

enum attr_kind { UNKNOWN, U8, U32, U64, TEXT, NESTED };

/* The attributes that the kernel accepts in requests. max: length of a text without the
 * NUL. */
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

/* Sizes of integers in bytes, by enum attr_kind. */
static const u8 int_bytes[] = {[U8] = 1, [U32] = 4, [U64] = 8};

static bool text_fits(const u8 *data, u32 len, u32 max)
{
	u32 room = ur_min_u32(len, max + 1);

	return room && memchr(data, 0, room);
}

static bool valid(const struct nlattr *a, bool strict)
{
	u32 type = (u32)nla_type(a), len = (u32)nla_len(a);
	u32 kind = policy[type].kind;

	switch (kind) {
	case U8:
	case U32:
	case U64:
		return strict ? len == int_bytes[kind] : len >= int_bytes[kind];
	case TEXT:
		return text_fits(nla_data(a), len, policy[type].max);
	case NESTED:
		return !len || len >= NLA_HDRLEN;
	default:
		return !strict;
	}
}

static int refuse_attr(struct ur_nl_attrs *attrs, const void *nlh,
		       const struct nlattr *a, const char *why)
{
	attrs->why = why;
	attrs->where = (u32)((const u8 *)a - (const u8 *)nlh);
	return -EINVAL;
}

int ur_nl_parse(struct ur_nl_attrs *attrs, const struct nlmsghdr *nlh,
		bool strict)
{
	struct nlattr *a = (struct nlattr *)((const u8 *)nlh + NLMSG_HDRLEN);
	int left = (int)nlh->nlmsg_len - (int)NLMSG_HDRLEN;

	memset(attrs, 0, sizeof(*attrs));
	/* left becomes negative if the last padding is missing, which not every nla_ok()
	 * handles. */
	for (; left > 0 && nla_ok(a, left); a = nla_next(a, &left)) {
		u32 type = (u32)nla_type(a);

		if (type >= UR_NLDEV_ATTR_MAX) {
			if (strict)
				return refuse_attr(attrs, nlh, a,
						   "Unknown attribute type");
		} else if (!valid(a, strict)) {
			return refuse_attr(
				attrs, nlh, a,
				"Attribute failed policy validation");
		} else if (policy[type].kind != UNKNOWN) {
			attrs->at[type] = a;
		}
	}
	if (strict && left > 0)
		return refuse_attr(attrs, nlh, a,
				   "bytes leftover after parsing");
	return 0;
}
