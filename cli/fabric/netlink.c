// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Requests to netlink families, and common rtnetlink requests. */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/fabric/netlink.h"

void ur_nlmsg_begin(struct ur_nl_msg *m, u16 type, u16 flags, const void *body,
		    size_t size)
{
	if (m->len)
		ur_nl_end(m);
	ur_nl_begin(m, type, flags | NLM_F_REQUEST, 0, 0);
	ur_nl_put_raw(m, body, (u32)size);
}

u32 ur_nlmsg_nest(struct ur_nl_msg *m, u16 type)
{
	return ur_nl_nest(m, type | NLA_F_NESTED);
}

int ur_nlmsg_open(int family)
{
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, family);

	return sock < 0 ? -errno : sock;
}

/* Receives the acknowledgements of one datagram. Returns their number, or the first -errno. */
static int take_acks(int sock)
{
	/* An error includes the request. */
	char room[UR_NL_LARGE + 4096] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *head = (struct nlmsghdr *)room;
	const struct nlmsgerr *answer;
	int count = 0;
	ssize_t n;

	do
		n = recv(sock, room, sizeof(room), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	for (unsigned int left = (unsigned int)n; NLMSG_OK(head, left);
	     head = NLMSG_NEXT(head, left)) {
		answer = NLMSG_DATA(head);
		if (head->nlmsg_type != NLMSG_ERROR ||
		    head->nlmsg_len < NLMSG_LENGTH(sizeof(*answer)))
			return -EIO;
		if (answer->error)
			return answer->error;
		count++;
	}
	return count ? count : -EIO;
}

/* Returns how many of the messages ask for an acknowledgement. */
static int count_acks(const struct ur_nl_msg *m)
{
	const struct nlmsghdr *head = (const struct nlmsghdr *)m->buf;
	int count = 0;

	for (u32 left = m->len; NLMSG_OK(head, left);
	     head = NLMSG_NEXT(head, left))
		count += !!(head->nlmsg_flags & NLM_F_ACK);
	return count;
}

int ur_nlmsg_ask(int sock, struct ur_nl_msg *m)
{
	int left, n = 0;

	ur_nl_end(m);
	if (m->full)
		return -EMSGSIZE;
	if (send(sock, m->buf, m->len, 0) < 0)
		return -errno;
	left = count_acks(m);
	while (left > 0 && (n = take_acks(sock)) > 0)
		left -= n;
	return n < 0 ? n : 0;
}

int ur_nlmsg_set_link(int sock, const struct ifinfomsg *link, u16 attr,
		      u32 value)
{
	struct ur_nl_msg m = {0};

	ur_nlmsg_begin(&m, RTM_NEWLINK, NLM_F_ACK, link, sizeof(*link));
	if (attr)
		ur_nl_put_u32(&m, attr, value);
	return ur_nlmsg_ask(sock, &m);
}

int ur_nlmsg_up(int sock, unsigned int ifindex, int up)
{
	const struct ifinfomsg link = {.ifi_index = (int)ifindex,
				       .ifi_change = IFF_UP,
				       .ifi_flags = up ? IFF_UP : 0};

	return ifindex ? ur_nlmsg_set_link(sock, &link, 0, 0) : -ENODEV;
}

int ur_nlmsg_address(int sock, unsigned int ifindex, int family,
		     const void *address, int prefix_len)
{
	const struct ifaddrmsg a = {.ifa_family = (unsigned char)family,
				    .ifa_prefixlen = (unsigned char)prefix_len,
				    .ifa_index = ifindex};
	u32 size = family == AF_INET ? 4 : 16;
	struct ur_nl_msg m = {0};

	ur_nlmsg_begin(&m, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
		       &a, sizeof(a));
	ur_nl_put(&m, IFA_LOCAL, address, size);
	ur_nl_put(&m, IFA_ADDRESS, address, size);
	return ur_nlmsg_ask(sock, &m);
}
