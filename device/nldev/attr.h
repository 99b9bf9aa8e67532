/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The attributes of a request. A request with an attribute that does not fit its type is
 * refused. Attributes point into our copy of the request. */
#ifndef UR_DEVICE_NLDEV_ATTR_H
#define UR_DEVICE_NLDEV_ATTR_H

#include <netlink/attr.h>
#include <rdma/rdma_netlink.h>
#include "util/bytes.h"

/* Numbers of <rdma/rdma_netlink.h> that older headers lack, as of Linux 7.1. */
#define UR_NLDEV_ATTR_PRIVILEGED_QKEY 96
#define UR_NLDEV_ATTR_DRIVER_DETAILS  97
#define UR_NLDEV_ATTR_NAME_ASSIGN     101
#define UR_NLDEV_ATTR_EVENT_TYPE      102
#define UR_NLDEV_ATTR_MONITOR_MODE    103
#define UR_NLDEV_ATTR_MAX	      118
#define UR_NLDEV_CMD_RES_SRQ_GET_RAW  25
#define UR_NLDEV_CMD_MONITOR	      28
#define UR_NLDEV_CMD_MAX	      31
#define UR_NL_GROUP_NOTIFY	      4

struct ur_nl_attrs {
	const struct nlattr *at[UR_NLDEV_ATTR_MAX]; /* NULL: not there */
	/* of a refused request: the reason, and the offset of the attribute */
	const char *why;
	u32 where; /* offset in the message */
};

/*
 * Parses the attributes of a whole message. strict: as the kernel parses requests that
 * change state, it refuses unknown attributes, integers of the wrong size and trailing
 * bytes. The last one of duplicates wins. Returns 0 or -EINVAL.
 */
int ur_nl_parse(struct ur_nl_attrs *attrs, const struct nlmsghdr *nlh,
		bool strict);

static inline bool ur_nl_has(const struct ur_nl_attrs *attrs, u32 type)
{
	return attrs->at[type];
}

/* Return the value of an attribute that is there; a text ends with a NUL. */
static inline u8 ur_nl_u8(const struct ur_nl_attrs *attrs, u32 type)
{
	return nla_get_u8(attrs->at[type]);
}

static inline u32 ur_nl_u32(const struct ur_nl_attrs *attrs, u32 type)
{
	return nla_get_u32(attrs->at[type]);
}

static inline const char *ur_nl_text(const struct ur_nl_attrs *attrs, u32 type)
{
	return nla_data(attrs->at[type]);
}

#endif
