// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Requests to netlink families, and common rtnetlink requests. */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/fabric/netlink.h"

/* Appends size zero bytes. Returns them, or NULL without room. */
static void *take_room(struct ur_nl *nl, size_t size)
{
	void *at = nl->room + nl->len;

	size = NLMSG_ALIGN(size);
	if (nl->overflow || size > sizeof(nl->room) - nl->len) {
		nl->overflow = 1;
		return NULL;
	}
	memset(at, 0, size);
	nl->len += size;
	return at;
}

void *ur_nlmsg_begin(struct ur_nl *nl, unsigned short type,
		     unsigned short flags, size_t body)
{
	static char nowhere[256];
	struct nlmsghdr *head = take_room(nl, NLMSG_LENGTH(body));

	if (!head)
		return nowhere;
	head->nlmsg_type = type;
	head->nlmsg_flags = flags | NLM_F_REQUEST;
	head->nlmsg_len = (unsigned int)NLMSG_LENGTH(body);
	nl->last = head;
	nl->acks += !!(flags & NLM_F_ACK);
	return NLMSG_DATA(head);
}

void ur_nlmsg_put(struct ur_nl *nl, unsigned short type, const void *data,
		  size_t size)
{
	struct rtattr *a = take_room(nl, RTA_LENGTH(size));

	if (!a)
		return;
	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(a), data, size);
	nl->last->nlmsg_len =
		(unsigned int)(nl->room + nl->len - (char *)nl->last);
}

void ur_nlmsg_extend(struct ur_nl *nl, const void *data, size_t size)
{
	void *at = take_room(nl, size);

	if (!at)
		return;
	memcpy(at, data, size);
	nl->last->nlmsg_len =
		(unsigned int)(nl->room + nl->len - (char *)nl->last);
}

void ur_nlmsg_put_text(struct ur_nl *nl, unsigned short type, const char *text)
{
	ur_nlmsg_put(nl, type, text, strlen(text) + 1);
}

void ur_nlmsg_put_u32(struct ur_nl *nl, unsigned short type, uint32_t value)
{
	ur_nlmsg_put(nl, type, &value, sizeof(value));
}

size_t ur_nlmsg_nest(struct ur_nl *nl, unsigned short type)
{
	size_t mark = nl->len;

	ur_nlmsg_put(nl, type | NLA_F_NESTED, NULL, 0);
	return mark;
}

void ur_nlmsg_end(struct ur_nl *nl, size_t mark)
{
	struct rtattr *a = (struct rtattr *)(nl->room + mark);

	if (!nl->overflow)
		a->rta_len = (unsigned short)(nl->len - mark);
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
	char room[UR_NL_ROOM + 4096] __attribute__((aligned(NLMSG_ALIGNTO)));
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

int ur_nlmsg_ask(int sock, struct ur_nl *nl)
{
	int left = nl->acks, n = 0;
	bool fits = !nl->overflow;
	size_t len = nl->len;

	nl->len = 0;
	nl->overflow = nl->acks = 0;
	if (!fits)
		return -EMSGSIZE;
	if (send(sock, nl->room, len, 0) < 0)
		return -errno;
	while (left > 0 && (n = take_acks(sock)) > 0)
		left -= n;
	return n < 0 ? n : 0;
}

int ur_nlmsg_up(int sock, unsigned int ifindex, int up)
{
	struct ur_nl nl = {0};
	struct ifinfomsg *link =
		ur_nlmsg_begin(&nl, RTM_NEWLINK, NLM_F_ACK, sizeof(*link));

	if (!ifindex)
		return -ENODEV;
	link->ifi_index = (int)ifindex;
	link->ifi_change = IFF_UP;
	link->ifi_flags = up ? IFF_UP : 0;
	return ur_nlmsg_ask(sock, &nl);
}

int ur_nlmsg_address(int sock, unsigned int ifindex, int family,
		     const void *address, int prefix_len)
{
	size_t size = family == AF_INET ? 4 : 16;
	struct ur_nl nl = {0};
	struct ifaddrmsg *m = ur_nlmsg_begin(
		&nl, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
		sizeof(*m));

	m->ifa_family = (unsigned char)family;
	m->ifa_prefixlen = (unsigned char)prefix_len;
	m->ifa_index = ifindex;
	ur_nlmsg_put(&nl, IFA_LOCAL, address, size);
	ur_nlmsg_put(&nl, IFA_ADDRESS, address, size);
	return ur_nlmsg_ask(sock, &nl);
}
