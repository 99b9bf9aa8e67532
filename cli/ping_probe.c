// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Probes with plain UDP and ICMP. */
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/ping_probe.h"
#include "cli/port.h"

#define PROBE_MS 500

/* traceroute's first port, normally closed. */
#define CLOSED_PORT 33434
#define UDP_HEADER  8

static struct sockaddr *with_port(struct ur_peer *peer, uint16_t port)
{
	((struct sockaddr_in *)&peer->addr)->sin_port = htons(port);
	return (struct sockaddr *)&peer->addr;
}

int ur_probe_port(struct ur_peer *peer)
{
	int fd = socket(peer->addr.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd pfd = {.fd = fd};
	socklen_t len = sizeof(int);
	int err = 0;

	if (connect(fd, with_port(peer, UR_ROCE_PORT), peer->size) ||
	    send(fd, "", 1, 0) < 0)
		err = errno;
	/* An ICMP error becomes the socket's. */
	else if (poll(&pfd, 1, PROBE_MS) == 1)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	close(fd);
	return err;
}

static int open_echo(bool v4)
{
	int family = v4 ? AF_INET : AF_INET6;
	int protocol = v4 ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	int fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, protocol);

	/* A user without the capability may have this, in the groups of
	 * net.ipv4.ping_group_range. */
	return fd >= 0 ? fd
		       : socket(family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
}

static bool is_reply(const uint8_t *buf, ssize_t n, bool v4)
{
	/* A raw IPv4 socket returns the IP header, too. */
	if (v4 && n > 20 && buf[0] >> 4 == 4)
		buf += (buf[0] & 15) * 4;
	return n > 0 && buf[0] == (v4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY);
}

static uint16_t checksum(const uint8_t *buf, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += (uint32_t)buf[i] << (i & 1 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static void dont_fragment(const struct ur_peer *peer, int fd)
{
	bool v4 = peer->addr.ss_family == AF_INET;
	int dont = v4 ? IP_PMTUDISC_PROBE : IPV6_PMTUDISC_PROBE;

	setsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6,
		   v4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER, &dont,
		   sizeof(dont));
}

/* Sends a datagram to a closed port, which the host reports by ICMP. */
static bool probe_closed_port(struct ur_peer *peer, size_t bytes)
{
	int fd = socket(peer->addr.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd pfd = {.fd = fd};
	char *buf = calloc(1, bytes);
	bool refused = false;
	int err = 0;
	socklen_t len = sizeof(err);

	if (fd >= 0 && buf) {
		dont_fragment(peer, fd);
		if (!connect(fd, with_port(peer, CLOSED_PORT), peer->size) &&
		    send(fd, buf, bytes, 0) == (ssize_t)bytes &&
		    poll(&pfd, 1, PROBE_MS) == 1)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
		refused = err == ECONNREFUSED;
	}
	free(buf);
	if (fd >= 0)
		close(fd);
	return refused;
}

/* Sends an ICMP echo of that many bytes. */
static bool probe_echo(struct ur_peer *peer, size_t bytes)
{
	bool v4 = peer->addr.ss_family == AF_INET, answered = false;
	int fd = open_echo(v4);
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	struct icmphdr *echo;
	uint8_t *buf;

	if (fd < 0)
		return false;
	dont_fragment(peer, fd);
	buf = calloc(1, bytes + 60);
	if (buf) {
		echo = (struct icmphdr *)buf;
		echo->type = v4 ? ICMP_ECHO : ICMP6_ECHO_REQUEST;
		echo->un.echo.id = htons((uint16_t)getpid());
		echo->un.echo.sequence = htons((uint16_t)bytes);
		if (v4) /* the kernel computes ICMPv6's */
			echo->checksum = checksum(buf, bytes);
		if (!connect(fd, with_port(peer, 0), peer->size) &&
		    send(fd, buf, bytes, 0) == (ssize_t)bytes)
			while (!answered && poll(&pfd, 1, PROBE_MS) == 1)
				answered = is_reply(
					buf, recv(fd, buf, bytes + 60, 0), v4);
	}
	free(buf);
	close(fd);
	return answered;
}

bool ur_probe_fits(struct ur_peer *peer, size_t bytes)
{
	/* An echo needs a privilege or a setting here; a datagram may be blocked by the
	 * peer's firewall. Either suffices. */
	return probe_echo(peer, bytes) ||
	       probe_closed_port(peer, bytes - UDP_HEADER);
}
