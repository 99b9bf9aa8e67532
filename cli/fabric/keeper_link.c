// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Changes a link at both ends, in the keeper. */
#include <errno.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/fabric/cables.h"
#include "cli/fabric/keeper.h"
#include "cli/fabric/netlink.h"

/* Opens rtnetlink in a host's network namespace. Returns it or -errno. */
static int open_rtnl_of(const struct ur_fabric_keeper *keeper,
			unsigned int host)
{
	int sock;

	if (setns(keeper->hosts[host].ns[UR_FABRIC_NS_NET], CLONE_NEWNET))
		return -errno;
	sock = ur_nlmsg_open(NETLINK_ROUTE);
	/* The keeper must not go on in a host's namespace. */
	if (setns(keeper->hosts[0].ns[UR_FABRIC_NS_NET], CLONE_NEWNET))
		abort();
	return sock;
}

int ur_fabric_keeper_link(struct ur_fabric_keeper *keeper, unsigned int host,
			  unsigned int card, const struct ur_fabric_link *link,
			  uint32_t traits, struct ur_fabric_error *error)
{
	struct ur_fabric_link *now = &keeper->hosts[host].links[card];
	struct ur_fabric_error ignored = {0};
	struct ur_fabric_ends ends = {
		.sock = {keeper->rtnl, keeper->rtnl},
		.index = {ur_fabric_port_index(host, card),
			  host ? ur_fabric_netdev_index(card)
			       : ur_fabric_port_index(0, 1)}};
	char port[IFNAMSIZ];
	int err;

	ur_fabric_port_name(host, card, port);
	ends.port = port;
	if (host) {
		ends.sock[1] = open_rtnl_of(keeper, host);
		if (ends.sock[1] < 0)
			return ur_fabric_fail(error, ends.sock[1], "netlink");
	}
	err = ur_fabric_link_apply(&ends, link, traits, error);
	if (err)
		(void)ur_fabric_link_apply(&ends, now, traits, &ignored);
	else
		*now = *link;
	if (host)
		close(ends.sock[1]);
	return err;
}
