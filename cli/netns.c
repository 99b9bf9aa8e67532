// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A network namespace with interfaces in it, made by rtnetlink alone. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/namespace.h"
#include "cli/netns.h"

#define NAME_MAX_BYTES 32 /* with the NUL, as uroced has it */

/* Gives an active MTU of 4096, as on the machines that have many. */
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
		options->name[i] = names[i];
		options->netdev[i] = netdevs[i];
	}
	options->netdevs = options->devices;
	return 0;
}

/* Root does without a user namespace; anybody else is himself in one. */
static int leave_network(void)
{
	if (unshare(CLONE_NEWNET) == 0)
		return 0;
	return errno == EPERM ? ur_namespace_own(CLONE_NEWNET) : -errno;
}

struct request {
	struct nlmsghdr head;
	char room[256];
};

/* Returns where its data are. */
static void *put_attr(struct request *r, unsigned short type, const void *data,
		      size_t size)
{
	struct rtattr *a =
		(struct rtattr *)((char *)r + NLMSG_ALIGN(r->head.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(a), data, size);
	r->head.nlmsg_len =
		NLMSG_ALIGN(r->head.nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

/* Makes outer enclose the attributes that were put since. */
static void nest(struct request *r, struct rtattr *outer)
{
	outer->rta_len =
		(unsigned short)((char *)r + r->head.nlmsg_len - (char *)outer);
}

/* @body: the fixed part behind the header. */
static void *begin(struct request *r, unsigned short type, size_t body)
{
	memset(r, 0, sizeof(*r));
	r->head.nlmsg_type = type;
	r->head.nlmsg_flags =
		NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
	r->head.nlmsg_len = (unsigned int)NLMSG_LENGTH(body);
	return NLMSG_DATA(&r->head);
}

static int ask_kernel(int sock, struct request *r)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char more[4096];
	} answer;
	ssize_t n;

	if (send(sock, r, r->head.nlmsg_len, 0) < 0)
		return -errno;
	n = recv(sock, &answer, sizeof(answer), 0);
	if (n < 0)
		return -errno;
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(answer.err)) ||
	    answer.head.nlmsg_type != NLMSG_ERROR)
		return -EIO;
	return answer.err.error;
}

static int set_up(int sock, unsigned int ifindex)
{
	struct request r;
	struct ifinfomsg *link = begin(&r, RTM_NEWLINK, sizeof(*link));

	r.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	link->ifi_index = (int)ifindex;
	link->ifi_flags = link->ifi_change = IFF_UP;
	return ask_kernel(sock, &r);
}

/* Adds a cable with both ends here: up, with a carrier, and without listeners.
 * Every kernel that can do containers has veth, but not every one has
 * `dummy`. */
static int add_cable(int sock, const char *name, const char *far)
{
	static const struct ifinfomsg none;
	unsigned int mtu = NETDEV_MTU;
	struct rtattr *info, *data, *peer;
	struct request r;
	int err;

	begin(&r, RTM_NEWLINK, sizeof(struct ifinfomsg));
	put_attr(&r, IFLA_IFNAME, name, strlen(name) + 1);
	put_attr(&r, IFLA_MTU, &mtu, sizeof(mtu));
	info = put_attr(&r, IFLA_LINKINFO, NULL, 0);
	put_attr(&r, IFLA_INFO_KIND, "veth", strlen("veth"));
	data = put_attr(&r, IFLA_INFO_DATA, NULL, 0);
	peer = put_attr(&r, VETH_INFO_PEER, &none, sizeof(none));
	put_attr(&r, IFLA_IFNAME, far, strlen(far) + 1);
	put_attr(&r, IFLA_MTU, &mtu, sizeof(mtu));
	nest(&r, peer);
	nest(&r, data);
	nest(&r, info);
	err = ask_kernel(sock, &r);
	if (!err)
		err = set_up(sock, if_nametoindex(far));
	return err ? err : set_up(sock, if_nametoindex(name));
}

static int add_address(int sock, unsigned int ifindex, unsigned int address)
{
	struct request r;
	struct ifaddrmsg *m = begin(&r, RTM_NEWADDR, sizeof(*m));
	unsigned int wire = htonl(address);

	m->ifa_family = AF_INET;
	m->ifa_prefixlen = PREFIX_LEN;
	m->ifa_index = ifindex;
	put_attr(&r, IFA_LOCAL, &wire, sizeof(wire));
	put_attr(&r, IFA_ADDRESS, &wire, sizeof(wire));
	return ask_kernel(sock, &r);
}

static int add_card(int sock, const char *name, int i)
{
	char far[IFNAMSIZ];
	int err;

	snprintf(far, sizeof(far), "far%d", i);
	err = add_cable(sock, name, far);
	return err ? err : add_address(sock, if_nametoindex(name), ADDRESS(i));
}

int ur_netns_make(const struct ur_options *options)
{
	int err = leave_network(), sock;

	if (err) {
		ur_complain("--devices takes a network namespace: root may "
			    "make one, others where the system lets them have "
			    "user namespaces (sysctl user.max_user_namespaces, "
			    "kernel.unprivileged_userns_clone, "
			    "kernel.apparmor_restrict_unprivileged_userns): %s",
			    strerror(-err));
		return err;
	}
	/* Nobody else is there to have the addresses: link-local ones are
	 * usable, and GIDs, at once. Where this cannot be set, they are a
	 * second later. */
	ur_namespace_write("/proc/sys/net/ipv6/conf/default/accept_dad", "0");
	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	err = sock < 0 ? -errno : set_up(sock, if_nametoindex("lo"));
	for (int i = 0; i < options->netdevs && !err; i++)
		err = add_card(sock, options->netdev[i], i);
	if (err)
		ur_complain("--devices: cannot make network interfaces (veth): "
			    "%s",
			    strerror(-err));
	if (sock >= 0)
		close(sock);
	return err;
}
