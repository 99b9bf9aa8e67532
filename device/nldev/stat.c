// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `rdma statistic`: the counters of a port. Binding counters to queue pairs is not
 * supported: each queue pair has its own counters (`uroce stat`), which this protocol
 * cannot express.
 */
#include <errno.h>
#include "device/nldev/nldev.h"

static const char *const names[] = {
#define X(name) #name,
	UR_COUNTERS(X)
#undef X
};

/* Returns the device if the request names its port 1, else NULL. */
static struct ur_device *port_of(const struct ur_nl_request *r)
{
	struct ur_device *dev = ur_nl_device(r);

	if (!dev || !ur_nl_has(&r->attrs, RDMA_NLDEV_ATTR_PORT_INDEX) ||
	    ur_nl_u32(&r->attrs, RDMA_NLDEV_ATTR_PORT_INDEX) != 1)
		return NULL;
	return dev;
}

/* Begins a message about the port. */
static void begin(struct ur_nl_request *r, struct ur_nl_msg *m,
		  const struct ur_device *dev)
{
	ur_nl_answer(r, m, r->op, 0);
	ur_nl_put_handle(m, dev);
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
}

/* Returns whether the counter is listed. Counters by priority are only in sysfs: cards
 * report them differently, and tools read messages of one page. */
static bool is_listed(u32 i)
{
	return i != UR_CNT_port_xmit_data && i != UR_CNT_port_rcv_data &&
	       i < UR_CNT_TX_PRIO(0);
}

/* Puts the counters of hw_counters/ in sysfs: their values, or indices if values is NULL. */
static void put_counters(struct ur_nl_msg *m, const u64 *values)
{
	u32 table, entry;

	table = ur_nl_nest(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED);
	for (u32 i = 0; i < UR_CNT_COUNT; i++) {
		if (!is_listed(i))
			continue;
		entry = ur_nl_nest(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY |
					      NLA_F_NESTED);
		ur_nl_put_text(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
			       names[i]);
		if (values)
			ur_nl_put_u64(
				m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE,
				values[i]);
		else
			ur_nl_put_u32(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX,
				      i);
		ur_nl_nest_end(m, entry);
	}
	ur_nl_nest_end(m, table);
}

static int get_port(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	struct ur_device *dev = port_of(r);
	u64 cnt[UR_CNT_COUNT];

	if (!dev)
		return -EINVAL;
	ur_engine_counters(dev->engine, cnt, NULL);
	begin(r, m, dev);
	put_counters(m, cnt);
	ur_nl_end(m);
	return 0;
}

static int get_mode(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	struct ur_device *dev = port_of(r);

	/* A request for a bound counter: there are none. */
	if (ur_nl_has(&r->attrs, RDMA_NLDEV_ATTR_STAT_COUNTER_ID))
		return dev ? -ENOENT : -EINVAL;
	if (!dev || !ur_nl_has(&r->attrs, RDMA_NLDEV_ATTR_STAT_MODE))
		return -EINVAL;
	begin(r, m, dev);
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_NONE);
	ur_nl_end(m);
	return 0;
}

static u32 resource(const struct ur_nl_request *r)
{
	return ur_nl_has(&r->attrs, RDMA_NLDEV_ATTR_STAT_RES)
		       ? ur_nl_u32(&r->attrs, RDMA_NLDEV_ATTR_STAT_RES)
		       : 0;
}

int ur_nl_stat_get(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	switch (resource(r)) {
	case 0:
		return get_port(r, m);
	case RDMA_NLDEV_ATTR_RES_QP:
		return get_mode(r, m);
	case RDMA_NLDEV_ATTR_RES_MR:
		return ur_nl_res_get(r, m);
	default:
		return -EINVAL;
	}
}

int ur_nl_stat_dump(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	switch (resource(r)) {
	case RDMA_NLDEV_ATTR_RES_QP: /* none */
		return ur_nl_device(r) ? 0 : -EINVAL;
	case RDMA_NLDEV_ATTR_RES_MR:
		return ur_nl_res_dump(r, m);
	default:
		return -EINVAL;
	}
}

int ur_nl_stat_set(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	struct ur_device *dev = port_of(r);
	const struct nlattr *optional =
		r->attrs.at[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS];

	if (!dev)
		return -EINVAL;
	if (ur_nl_has(&r->attrs, RDMA_NLDEV_ATTR_STAT_MODE)) {
		if (resource(r) != RDMA_NLDEV_ATTR_RES_QP)
			return -EINVAL;
		r->why = "each queue pair has its own counters: uroce stat";
		return -EOPNOTSUPP;
	}
	/* No counter can be switched on or off. */
	if (!optional || nla_len(optional))
		return -EINVAL;
	begin(r, m, dev);
	ur_nl_end(m);
	return 0;
}

int ur_nl_stat_del(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	if (!port_of(r) || resource(r) != RDMA_NLDEV_ATTR_RES_QP)
		return -EINVAL;
	return -EOPNOTSUPP;
}

int ur_nl_stat_status(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	struct ur_device *dev = port_of(r);

	if (!dev)
		return -EINVAL;
	begin(r, m, dev);
	put_counters(m, NULL);
	ur_nl_end(m);
	return 0;
}
