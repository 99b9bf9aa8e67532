// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Bridges and veth pairs, by rtnetlink. */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/fabric/cables.h"
#include "cli/namespace.h"
#include "cli/fabric/netlink.h"

#define LO_INDEX     1u /* of every network namespace */
#define BRIDGE_INDEX 10u
#define NETDEV_INDEX 100u
#define PORT_INDEX   1000u

#define NEW_LINK (NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL)

unsigned int ur_fabric_port_index(unsigned int host, unsigned int card)
{
	return PORT_INDEX + host * UR_FABRIC_DEVICES_MAX + card;
}

unsigned int ur_fabric_netdev_index(unsigned int card)
{
	return NETDEV_INDEX + card;
}

/* Forwards frames at once: no spanning tree, no multicast snooping. */
static int add_bridge(int sock, unsigned int rack)
{
	const struct ifinfomsg link = {.ifi_index = (int)(BRIDGE_INDEX + rack)};
	uint8_t snooping = 0;
	struct ur_nl_msg nl = {0};
	u32 info, data;
	char name[IFNAMSIZ];
	int err;

	snprintf(name, sizeof(name), "rack%u", rack % 10 + 1);
	ur_nlmsg_begin(&nl, RTM_NEWLINK, NEW_LINK, &link, sizeof(link));
	ur_nl_put_text(&nl, IFLA_IFNAME, name);
	info = ur_nlmsg_nest(&nl, IFLA_LINKINFO);
	ur_nl_put(&nl, IFLA_INFO_KIND, "bridge", strlen("bridge"));
	data = ur_nlmsg_nest(&nl, IFLA_INFO_DATA);
	ur_nl_put(&nl, IFLA_BR_MCAST_SNOOPING, &snooping, sizeof(snooping));
	ur_nl_nest_end(&nl, data);
	ur_nl_nest_end(&nl, info);
	err = ur_nlmsg_ask(sock, &nl);
	return err ? err : ur_nlmsg_up(sock, BRIDGE_INDEX + rack, 1);
}

/* Puts the far end of the cable into a nested attribute. */
static void put_far_end(struct ur_nl_msg *nl, unsigned int index,
			const char *name, const uint8_t mac[6], uint32_t mtu,
			int netns)
{
	struct ifinfomsg end = {.ifi_index = (int)index};
	u32 peer = ur_nlmsg_nest(nl, VETH_INFO_PEER);

	ur_nl_put_raw(nl, &end, sizeof(end));
	ur_nl_put_text(nl, IFLA_IFNAME, name);
	ur_nl_put_u32(nl, IFLA_MTU, mtu);
	if (mac)
		ur_nl_put(nl, IFLA_ADDRESS, mac, 6);
	if (netns >= 0)
		ur_nl_put_u32(nl, IFLA_NET_NS_FD, (uint32_t)netns);
	ur_nl_nest_end(nl, peer);
}

/* begin_cable(), put_far_end(), end_cable() make one. */
static u32 begin_cable(struct ur_nl_msg *nl, unsigned int index,
		       const char *name, uint32_t mtu, u32 *info)
{
	const struct ifinfomsg link = {.ifi_index = (int)index};

	ur_nlmsg_begin(nl, RTM_NEWLINK, NEW_LINK, &link, sizeof(link));
	ur_nl_put_text(nl, IFLA_IFNAME, name);
	ur_nl_put_u32(nl, IFLA_MTU, mtu);
	*info = ur_nlmsg_nest(nl, IFLA_LINKINFO);
	ur_nl_put(nl, IFLA_INFO_KIND, "veth", strlen("veth"));
	return ur_nlmsg_nest(nl, IFLA_INFO_DATA);
}

static int end_cable(int sock, struct ur_nl_msg *nl, u32 data, u32 info)
{
	ur_nl_nest_end(nl, data);
	ur_nl_nest_end(nl, info);
	return ur_nlmsg_ask(sock, nl);
}

/* Adds the interface to a rack's switch and sets it up. */
static int plug_in(int sock, unsigned int index, unsigned int rack)
{
	const struct ifinfomsg link = {.ifi_index = (int)index};
	int err = ur_nlmsg_set_link(sock, &link, IFLA_MASTER,
				    BRIDGE_INDEX + rack);

	return err ? err : ur_nlmsg_up(sock, index, 1);
}

static int add_uplink(int sock, const struct ur_fabric_plan *plan)
{
	unsigned int index[] = {ur_fabric_port_index(0, 0),
				ur_fabric_port_index(0, 1)};
	char name[2][IFNAMSIZ];
	struct ur_nl_msg nl = {0};
	u32 info, data;
	int err;

	ur_fabric_port_name(0, 0, name[0]);
	ur_fabric_port_name(0, 1, name[1]);
	data = begin_cable(&nl, index[0], name[0], plan->link.mtu, &info);
	put_far_end(&nl, index[1], name[1], NULL, plan->link.mtu, -1);
	err = end_cable(sock, &nl, data, info);
	if (!err)
		err = plug_in(sock, index[0], 0);
	return err ? err : plug_in(sock, index[1], 1);
}

int ur_fabric_switches(int sock, const struct ur_fabric_plan *plan,
		       struct ur_fabric_error *error)
{
	int err = ur_nlmsg_up(sock, LO_INDEX, 1);

	/* Bridged frames must bypass the IP filters. */
	ur_namespace_write("/proc/sys/net/bridge/bridge-nf-call-iptables", "0");
	ur_namespace_write("/proc/sys/net/bridge/bridge-nf-call-ip6tables",
			   "0");
	ur_namespace_write("/proc/sys/net/bridge/bridge-nf-call-arptables",
			   "0");
	/* The switch needs no addresses. */
	ur_namespace_write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	for (unsigned int rack = 0; rack < plan->racks && !err; rack++)
		err = add_bridge(sock, rack);
	if (err)
		return ur_fabric_fail(error, err,
				      "cannot make a switch (bridge)");
	if (plan->racks == 2)
		err = add_uplink(sock, plan);
	return err ? ur_fabric_fail(error, err,
				    "cannot make the link between switches "
				    "(veth)")
		   : 0;
}

int ur_fabric_cable(int sock, const struct ur_fabric_plan *plan,
		    unsigned int host, unsigned int card, int netns,
		    struct ur_fabric_error *error)
{
	/* Locally administered and the same in each fabric, and so are node GUIDs. */
	const uint8_t mac[6] = {0x02, 0x18, 0, 0, (uint8_t)card, (uint8_t)host};
	unsigned int index = ur_fabric_port_index(host, card);
	char port[IFNAMSIZ], netdev[IFNAMSIZ];
	struct ur_nl_msg nl = {0};
	u32 info, data;
	int err;

	ur_fabric_port_name(host, card, port);
	ur_fabric_netdev_name(card, netdev);
	data = begin_cable(&nl, index, port, plan->link.mtu, &info);
	put_far_end(&nl, ur_fabric_netdev_index(card), netdev, mac,
		    plan->link.mtu, netns);
	err = end_cable(sock, &nl, data, info);
	if (!err)
		err = plug_in(sock, index, ur_fabric_rack(plan, host));
	return err ? ur_fabric_fail(error, err,
				    "cannot make the cable of %s "
				    "(veth)",
				    port)
		   : 0;
}

static int set_netdev_up(int sock, unsigned int host, unsigned int card)
{
	unsigned int index = ur_fabric_netdev_index(card);
	uint8_t ipv4[4], ipv6[16];
	int err = ur_nlmsg_up(sock, index, 1);

	ur_fabric_ipv4(host, card, ipv4);
	ur_fabric_ipv6(host, card, ipv6);
	if (!err)
		err = ur_nlmsg_address(sock, index, AF_INET, ipv4, 24);
	if (err)
		return err;
	/* IPv6 may be missing or disabled; IPv4 suffices. */
	err = ur_nlmsg_address(sock, index, AF_INET6, ipv6, 64);
	return err == -EOPNOTSUPP || err == -EACCES ? 0 : err;
}

int ur_fabric_host_net(const struct ur_fabric_plan *plan, unsigned int host,
		       struct ur_fabric_error *error)
{
	int sock = ur_nlmsg_open(NETLINK_ROUTE), err = sock < 0 ? sock : 0;

	/* No duplicates are possible: skip the detection, so that addresses are GIDs at
	 * once. */
	ur_namespace_write("/proc/sys/net/ipv6/conf/default/accept_dad", "0");
	for (unsigned int card = 0; card < plan->devices && !err; card++) {
		char path[64], netdev[IFNAMSIZ];

		ur_fabric_netdev_name(card, netdev);
		snprintf(path, sizeof(path),
			 "/proc/sys/net/ipv6/conf/%s/accept_dad", netdev);
		ur_namespace_write(path, "0");
		err = set_netdev_up(sock, host, card);
	}
	if (!err)
		err = ur_nlmsg_up(sock, LO_INDEX, 1);
	if (sock >= 0)
		close(sock);
	return err ? ur_fabric_fail(error, err,
				    "cannot set up node%u's "
				    "interfaces",
				    host)
		   : 0;
}
