// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Makes a network namespace with interfaces. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/namespace.h"
#include "cli/netns.h"

#define NAME_MAX_BYTES 32 /* with the NUL, as in uroced */

/* Gives an active MTU of 4096, as on machines with many cards. */
#define NETDEV_MTU 9000

/* 198.18.0.0/15 is for tests of network devices (RFC 2544); each has a /24. */
#define ADDRESS(i) (198u << 24 | 18u << 16 | (unsigned int)(i) << 8 | 1)
#define PREFIX_LEN 24

int ur_netns_name(struct ur_options *options)
{
	static char names[UR_NETDEVS_MAX][NAME_MAX_BYTES + 12];
	static char netdevs[UR_NETDEVS_MAX][IFNAMSIZ];
	const char *base = options->name[0] ? options->name[0] : "uroce0";
	size_t len = strlen(base);
	unsigned long first;

	if (options->netdevs) {
		ur_complain("run: --devices brings interfaces of its own: "
			    "not with --netdev");
		return -EINVAL;
	}
	while (len && isdigit((unsigned char)base[len - 1]))
		len--;
	first = strtoul(base + len, NULL, 10);
	if (len > NAME_MAX_BYTES || strlen(base + len) > 6) {
		ur_complain("run: %s cannot be the name of a device", base);
		return -EINVAL;
	}
	for (int i = 0; i < options->devices; i++) {
		snprintf(names[i], sizeof(names[i]), "%.*s%lu", (int)len, base,
			 first + (unsigned int)i);
		snprintf(netdevs[i], sizeof(netdevs[i]), "card%d", i);
		/* With --like uroced chooses the names. */
		if (!options->like || options->name[0])
			options->name[i] = names[i];
		options->netdev[i] = netdevs[i];
	}
	options->netdevs = options->devices;
	return 0;
}

/* Root needs no user namespace; any other user gets one, with the same uid. */
static int leave_network(void)
{
	if (unshare(CLONE_NEWNET) == 0)
		return 0;
	return errno == EPERM ? ur_namespace_own(CLONE_NEWNET) : -errno;
}

/* ---- rtnetlink, by libnl: its errors are -NLE_*, nl_geterror() ---- */

static int set_up(struct nl_sock *sock, const char *name)
{
	struct rtnl_link *link, *up;
	/* Reads the link first, since a change sets all flags. */
	int err = rtnl_link_get_kernel(sock, 0, name, &link);

	if (err)
		return err;
	up = rtnl_link_alloc();
	rtnl_link_set_flags(up, IFF_UP);
	err = rtnl_link_change(sock, link, up, 0);
	rtnl_link_put(up);
	rtnl_link_put(link);
	return err;
}

/* Adds a veth pair with both ends here: up, with a carrier, and without listeners. Every
 * kernel for containers has veth, but not every one has `dummy`. */
static int add_cable(struct nl_sock *sock, const char *name, const char *far)
{
	struct rtnl_link *link = rtnl_link_veth_alloc(), *peer;
	int err;

	if (!link)
		return -NLE_NOMEM;
	peer = rtnl_link_veth_get_peer(link);
	rtnl_link_set_name(link, name);
	rtnl_link_set_mtu(link, NETDEV_MTU);
	rtnl_link_set_name(peer, far);
	rtnl_link_set_mtu(peer, NETDEV_MTU);
	err = rtnl_link_add(sock, link, NLM_F_CREATE | NLM_F_EXCL);
	rtnl_link_put(peer);
	rtnl_link_veth_release(link);
	if (!err)
		err = set_up(sock, far);
	return err ? err : set_up(sock, name);
}

static int add_address(struct nl_sock *sock, const char *name,
		       unsigned int address)
{
	unsigned int wire = htonl(address);
	struct nl_addr *local = nl_addr_build(AF_INET, &wire, sizeof(wire));
	struct rtnl_addr *a = rtnl_addr_alloc();
	int err = -NLE_NOMEM;

	if (local && a) {
		nl_addr_set_prefixlen(local, PREFIX_LEN);
		rtnl_addr_set_ifindex(a, (int)if_nametoindex(name));
		err = rtnl_addr_set_local(a, local);
		if (!err)
			err = rtnl_addr_add(sock, a, NLM_F_EXCL);
	}
	rtnl_addr_put(a);
	nl_addr_put(local);
	return err;
}

static int add_card(struct nl_sock *sock, const char *name, int i)
{
	char far[IFNAMSIZ];
	int err;

	snprintf(far, sizeof(far), "far%d", i);
	err = add_cable(sock, name, far);
	return err ? err : add_address(sock, name, ADDRESS(i));
}

static int add_cards(const struct ur_options *options)
{
	struct nl_sock *sock = nl_socket_alloc();
	int err = sock ? nl_connect(sock, NETLINK_ROUTE) : -NLE_NOMEM;

	if (!err)
		err = set_up(sock, "lo");
	for (int i = 0; i < options->netdevs && !err; i++)
		err = add_card(sock, options->netdev[i], i);
	nl_socket_free(sock);
	return err;
}

int ur_netns_make(const struct ur_options *options)
{
	int err = leave_network();

	if (err) {
		ur_complain("--devices takes a network namespace: root may "
			    "make one, others where the system lets them have "
			    "user namespaces (sysctl user.max_user_namespaces, "
			    "kernel.unprivileged_userns_clone, "
			    "kernel.apparmor_restrict_unprivileged_userns): %s",
			    strerror(-err));
		return err;
	}
	/* No duplicates are possible: without detection link-local addresses are usable,
	 * and GIDs, at once; otherwise a second later. */
	ur_namespace_write("/proc/sys/net/ipv6/conf/default/accept_dad", "0");
	err = add_cards(options);
	if (err)
		ur_complain("--devices: cannot make network interfaces (veth): "
			    "%s",
			    nl_geterror(err));
	return err;
}
