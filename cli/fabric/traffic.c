// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The traits of a link: queueing disciplines, MTU, carrier. */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "cli/fabric/filter.h"
#include "cli/fabric/traffic.h"
#include "cli/fabric/netlink.h"

#define NEW_QDISC (NLM_F_CREATE | NLM_F_EXCL)
#define QUEUEING  (UR_FABRIC_RATE | UR_FABRIC_QUEUE | UR_FABRIC_DELAY)

#define NETEM_HANDLE 0x10000u
#define NETEM_INSIDE 0x10001u /* the class that netem has */
#define TBF_HANDLE   0x20000u
/* Maximum number of packets in flight with a delay. */
#define NETEM_LIMIT 100000u

#define GSO_SEGMENTS_MAX \
	65535u	       /* the kernel's, for an interface (gso_max_segs) */
#define FRAME_MORE 64u /* beyond the MTU: Ethernet, VLAN, and reserve */

/* Fractions of a second's bytes: of a burst, and of the queue. */
#define BURST_PER_SECOND 1000u
#define QUEUE_PER_SECOND 100u
#define QUEUE_MIN	 65536u

static void begin_qdisc(struct ur_nl_msg *nl, u16 type, u16 flags,
			unsigned int ifindex, uint32_t parent, uint32_t handle)
{
	const struct tcmsg m = {.tcm_family = AF_UNSPEC,
				.tcm_ifindex = (int)ifindex,
				.tcm_parent = parent,
				.tcm_handle = handle};

	ur_nlmsg_begin(nl, type, flags | NLM_F_ACK, &m, sizeof(m));
}

/* Removes our disciplines, which restores the interface's default. */
static void drop_qdiscs(const struct ur_fabric_ends *ends, int end)
{
	struct ur_nl_msg nl = {0};

	begin_qdisc(&nl, RTM_DELQDISC, 0, ends->index[end], TC_H_ROOT, 0);
	/* Fails if there is none, which is fine. */
	(void)ur_nlmsg_ask(ends->sock[end], &nl);
}

static int add_netem(const struct ur_fabric_ends *ends, int end,
		     const struct ur_fabric_link *link)
{
	struct tc_netem_qopt opt = {.limit = NETEM_LIMIT};
	int64_t delay = (int64_t)link->delay_ns;
	struct ur_nl_msg nl = {0};
	u32 options;

	begin_qdisc(&nl, RTM_NEWQDISC, NEW_QDISC, ends->index[end], TC_H_ROOT,
		    NETEM_HANDLE);
	ur_nl_put_text(&nl, TCA_KIND, "netem");
	options = ur_nlmsg_nest(&nl, TCA_OPTIONS);
	ur_nl_put_raw(&nl, &opt, sizeof(opt));
	ur_nl_put(&nl, TCA_NETEM_LATENCY64, &delay, sizeof(delay));
	ur_nl_nest_end(&nl, options);
	return ur_nlmsg_ask(ends->sock[end], &nl);
}

static uint32_t at_most(uint64_t value)
{
	return value < INT32_MAX ? (uint32_t)value : INT32_MAX;
}

static int add_tbf(const struct ur_fabric_ends *ends, int end,
		   const struct ur_fabric_link *link)
{
	uint64_t bytes = link->rate / 8, queue = bytes / QUEUE_PER_SECOND;
	uint32_t burst = at_most(bytes / BURST_PER_SECOND);
	struct tc_tbf_qopt opt = {.rate.linklayer = TC_LINKLAYER_ETHERNET};
	struct ur_nl_msg nl = {0};
	u32 options;

	/* A burst smaller than a packet would let nothing pass. */
	if (burst < 2 * (link->mtu + FRAME_MORE))
		burst = 2 * (link->mtu + FRAME_MORE);
	if (queue < QUEUE_MIN)
		queue = QUEUE_MIN;
	opt.limit = link->queue ? link->queue : at_most(queue);
	opt.rate.rate = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	begin_qdisc(&nl, RTM_NEWQDISC, NEW_QDISC, ends->index[end],
		    link->delay_ns ? NETEM_INSIDE : TC_H_ROOT, TBF_HANDLE);
	ur_nl_put_text(&nl, TCA_KIND, "tbf");
	options = ur_nlmsg_nest(&nl, TCA_OPTIONS);
	ur_nl_put(&nl, TCA_TBF_PARMS, &opt, sizeof(opt));
	if (bytes >= UINT32_MAX)
		ur_nl_put(&nl, TCA_TBF_RATE64, &bytes, sizeof(bytes));
	ur_nl_put_u32(&nl, TCA_TBF_BURST, burst);
	ur_nl_nest_end(&nl, options);
	return ur_nlmsg_ask(ends->sock[end], &nl);
}

static int refuse_delay(const struct ur_fabric_link *link, int err,
			struct ur_fabric_error *error)
{
	/* qdisc_create() of net/sched returns ENOENT if no module has it. */
	if (err != -ENOENT)
		return ur_fabric_fail(error, err, "delay (netem)");
	return ur_fabric_fail(
		error, -EOPNOTSUPP,
		"this kernel has no netem, so a link cannot delay (as root: "
		"modprobe sch_netem). Without it, 'uroce fabric run all -- "
		"uroce fault add delay=%llu' makes the devices delay their "
		"RoCE packets",
		(unsigned long long)(link->delay_ns + 999) / 1000);
}

static int queue_at(const struct ur_fabric_ends *ends, int end,
		    const struct ur_fabric_link *link,
		    struct ur_fabric_error *error)
{
	int err = 0;

	drop_qdiscs(ends, end);
	if (link->delay_ns)
		err = add_netem(ends, end, link);
	if (err)
		return refuse_delay(link, err, error);
	if (link->rate)
		err = add_tbf(ends, end, link);
	if (err == -ENOENT)
		return ur_fabric_fail(
			error, -EOPNOTSUPP,
			"this kernel has no tbf, so a link has no "
			"rate (as root: modprobe sch_tbf)");
	return err ? ur_fabric_fail(error, err, "rate (tbf)") : 0;
}

static int set_link(const struct ur_fabric_ends *ends, int end,
		    unsigned short attr, uint32_t value)
{
	const struct ifinfomsg link = {.ifi_index = (int)ends->index[end]};

	return ur_nlmsg_set_link(ends->sock[end], &link, attr, value);
}

static int apply_to(const struct ur_fabric_ends *ends, int end,
		    const struct ur_fabric_link *link, uint32_t traits,
		    struct ur_fabric_error *error)
{
	/* Loss and marks must hit single packets, not GSO trains. */
	uint32_t segments = link->loss || link->mark ? 1 : GSO_SEGMENTS_MAX;
	int err = 0;

	if (traits & UR_FABRIC_MTU)
		err = set_link(ends, end, IFLA_MTU, link->mtu);
	if (err)
		return ur_fabric_fail(error, err, "mtu %u", link->mtu);
	if (traits & (UR_FABRIC_LOSS | UR_FABRIC_MARK))
		err = set_link(ends, end, IFLA_GSO_MAX_SEGS, segments);
	if (err)
		return ur_fabric_fail(error, err, "gso_max_segs %u", segments);
	return traits & (QUEUEING | UR_FABRIC_MTU)
		       ? queue_at(ends, end, link, error)
		       : 0;
}

int ur_fabric_link_apply(const struct ur_fabric_ends *ends,
			 const struct ur_fabric_link *link, uint32_t traits,
			 struct ur_fabric_error *error)
{
	int err = 0;

	if (link->queue && !link->rate)
		return ur_fabric_fail(error, 0,
				      "a queue is one for a rate, and this "
				      "link has no rate");
	for (int end = 0; end < 2 && !err; end++)
		err = apply_to(ends, end, link, traits, error);
	if (!err && traits & (UR_FABRIC_LOSS | UR_FABRIC_MARK))
		err = ur_fabric_filter(ends->port, link->loss, link->mark,
				       error);
	if (!err && traits & UR_FABRIC_DOWN) {
		/* Only the switch's end: the host loses the carrier, but keeps its
		 * addresses. */
		err = ur_nlmsg_up(ends->sock[0], ends->index[0], !link->down);
		if (err)
			ur_fabric_fail(error, err, "%s",
				       link->down ? "down" : "up");
	}
	return err;
}
