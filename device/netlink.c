// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two sockets: one receives notifications, the other queries the present state. The
 * contents of a notification are ignored; any, even an overrun, leads to a fresh dump, so a
 * lost message does no harm.
 */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/nexthop.h>
#include <netlink/route/route.h>
#include <stdio.h>
#include <sys/epoll.h>
#include "device/netlink.h"
#include "device/cc.h"

/* RFC 2863 operational states; <linux/if.h> and <net/if.h> do not mix. */
#define OPER_UNKNOWN 0
#define OPER_UP	     6

static int ignore(struct nl_msg *msg, void *arg)
{
	return NL_SKIP;
}

static void on_event(void *arg, u32 events)
{
	struct ur_daemon *daemon = arg;

	/* Limited: a storm of changes must not hold the lock. */
	for (int i = 0; i < 64; i++)
		if (nl_recvmsgs_default(daemon->nl_events) < 0)
			break;
	daemon->nl_changed(daemon);
}

static int nl_errno(int err)
{
	switch (-err) {
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_NODEV:
	case NLE_OBJ_NOTFOUND:
		return -ENODEV;
	case NLE_PERM:
		return -EPERM;
	default:
		return -EIO;
	}
}

int ur_netlink_open(struct ur_daemon *daemon,
		    void (*changed)(struct ur_daemon *daemon))
{
	struct nl_sock *ev = nl_socket_alloc(), *q = nl_socket_alloc();
	int err = -NLE_NOMEM;

	if (!ev || !q)
		goto err;
	nl_socket_disable_seq_check(ev);
	nl_socket_modify_cb(ev, NL_CB_VALID, NL_CB_CUSTOM, ignore, NULL);
	err = nl_connect(ev, NETLINK_ROUTE);
	if (!err)
		err = nl_socket_add_memberships(ev, RTNLGRP_LINK,
						RTNLGRP_IPV4_IFADDR,
						RTNLGRP_IPV6_IFADDR, 0);
	if (!err)
		err = nl_socket_set_nonblocking(ev);
	if (!err)
		err = nl_connect(q, NETLINK_ROUTE);
	if (err)
		goto err;
	daemon->nl_events = ev;
	daemon->nl_query = q;
	daemon->nl_changed = changed;
	return ur_loop_add(daemon->loop, nl_socket_get_fd(ev), EPOLLIN,
			   on_event, daemon);
err:
	nl_socket_free(ev);
	nl_socket_free(q);
	return nl_errno(err);
}

void ur_netlink_close(struct ur_daemon *daemon)
{
	if (!daemon->nl_events)
		return;
	ur_loop_del(daemon->loop, nl_socket_get_fd(daemon->nl_events));
	nl_socket_free(daemon->nl_events);
	nl_socket_free(daemon->nl_query);
	daemon->nl_events = NULL;
}

static bool default_route(struct ur_daemon *daemon, int family,
			  char name[IF_NAMESIZE])
{
	struct nl_cache *cache;
	u32 best = UINT32_MAX;
	bool found = false;

	if (rtnl_route_alloc_cache(daemon->nl_query, family, 0, &cache) < 0)
		return false;
	for (struct nl_object *o = nl_cache_get_first(cache); o;
	     o = nl_cache_get_next(o)) {
		struct rtnl_route *r = (struct rtnl_route *)o;
		struct nl_addr *dst = rtnl_route_get_dst(r);
		struct rtnl_nexthop *nh;

		if (rtnl_route_get_table(r) != RT_TABLE_MAIN ||
		    rtnl_route_get_type(r) != RTN_UNICAST ||
		    (dst && nl_addr_get_prefixlen(dst)) ||
		    rtnl_route_get_priority(r) >= best ||
		    !rtnl_route_get_nnexthops(r))
			continue;
		nh = rtnl_route_nexthop_n(r, 0);
		if (!if_indextoname((u32)rtnl_route_nh_get_ifindex(nh), name))
			continue;
		best = rtnl_route_get_priority(r);
		found = true;
	}
	nl_cache_free(cache);
	return found;
}

void ur_netlink_default_netdev(struct ur_daemon *daemon, char name[IF_NAMESIZE])
{
	if (default_route(daemon, AF_INET, name) ||
	    default_route(daemon, AF_INET6, name))
		return;
	snprintf(name, IF_NAMESIZE, "lo");
}

static u32 read_speed(const char *netdev)
{
	char path[64 + IF_NAMESIZE];
	long mbps = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/speed", netdev);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%ld", &mbps) != 1 || mbps < 0)
		mbps = 0;
	fclose(f);
	return (u32)mbps;
}

/* Returns whether packets on a netdev of that kind reach a peer on this host. */
static bool is_virtual_pair(const char *kind)
{
	return kind && (!strcmp(kind, "veth") || !strcmp(kind, "netkit"));
}

static bool is_followed(const struct ur_device *dev, u32 ifindex)
{
	const struct ur_device *other =
		ur_device_by_ifindex(dev->daemon, ifindex);

	return other && other != dev;
}

/* Sets *link, the caller's. Returns 0 or -errno. */
static int get_link(struct ur_device *dev, struct rtnl_link **link)
{
	struct nl_sock *sk = dev->daemon->nl_query;
	int err;

	if (dev->follows) {
		err = rtnl_link_get_kernel(sk, (int)dev->follows, NULL, link);
		if (err >= 0 || nl_errno(err) != -ENODEV)
			return err < 0 ? nl_errno(err) : 0;
		dev->follows = 0;
	}
	err = rtnl_link_get_kernel(sk, 0, dev->netdev, link);
	if (err < 0)
		return nl_errno(err);
	if (!is_followed(dev, (u32)rtnl_link_get_ifindex(*link)))
		return 0;
	rtnl_link_put(*link);
	return -ENODEV;
}

int ur_netlink_link(struct ur_device *dev)
{
	struct rtnl_link *link;
	struct nl_addr *mac;
	int err = get_link(dev, &link);
	unsigned int flags;
	u8 oper;

	if (err)
		return err;
	flags = rtnl_link_get_flags(link);
	oper = rtnl_link_get_operstate(link);
	dev->ifindex = dev->follows = (u32)rtnl_link_get_ifindex(link);
	snprintf(dev->link_name, sizeof(dev->link_name), "%s",
		 rtnl_link_get_name(link) ? rtnl_link_get_name(link)
					  : dev->netdev);
	dev->netdev_mtu = rtnl_link_get_mtu(link);
	dev->up = (flags & IFF_UP) && (flags & IFF_RUNNING) &&
		  (oper == OPER_UP || oper == OPER_UNKNOWN);
	dev->ethernet = rtnl_link_get_arptype(link) == ARPHRD_ETHER;
	dev->virtual_pair = is_virtual_pair(rtnl_link_get_type(link));
	mac = rtnl_link_get_addr(link);
	memset(dev->mac, 0, sizeof(dev->mac));
	if (mac && nl_addr_get_len(mac) == sizeof(dev->mac))
		memcpy(dev->mac, nl_addr_get_binary_addr(mac),
		       sizeof(dev->mac));
	dev->speed_mbps = read_speed(dev->link_name);
	if (dev->engine)
		ur_device_cc_apply(dev);
	rtnl_link_put(link);
	return 0;
}

/* IPv4 first, then global IPv6, then link-local; host addresses last. */
static bool as_gid(struct rtnl_addr *a, struct ur_gid_addr *out)
{
	struct nl_addr *local = rtnl_addr_get_local(a);
	int family = rtnl_addr_get_family(a);
	const u8 *bin;

	if (!local)
		return false;
	bin = nl_addr_get_binary_addr(local);
	if (family == AF_INET && nl_addr_get_len(local) == 4) {
		ur_gid_from_v4(out->gid, bin);
		out->rank = 0;
		return true;
	}
	if (family != AF_INET6 || nl_addr_get_len(local) != 16)
		return false;
	/* The address must not be used before duplicate address detection ends. */
	if (rtnl_addr_get_flags(a) & (IFA_F_TENTATIVE | IFA_F_DADFAILED))
		return false;
	memcpy(out->gid, bin, 16);
	out->rank = bin[0] == 0xfe && (bin[1] & 0xc0) == 0x80 ? 2 : 1;
	return true;
}

u32 ur_netlink_addrs(struct ur_device *dev, struct ur_gid_addr *addr, u32 max)
{
	struct nl_cache *cache;
	u32 n = 0;

	if (rtnl_addr_alloc_cache(dev->daemon->nl_query, &cache) < 0)
		return 0;
	for (struct nl_object *o = nl_cache_get_first(cache); o && n < max;
	     o = nl_cache_get_next(o)) {
		struct rtnl_addr *a = (struct rtnl_addr *)o;

		if ((u32)rtnl_addr_get_ifindex(a) != dev->ifindex)
			continue;
		if (!as_gid(a, &addr[n]))
			continue;
		addr[n].type = UR_GID_ROCE_V2;
		addr[n].ifindex = dev->ifindex;
		addr[n].rank = addr[n].rank * 1024 + (int)n;
		n++;
	}
	nl_cache_free(cache);
	return n;
}
