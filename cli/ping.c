/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uroce ping: asks another RoCE device's connection manager for an answer, and
 * where there is none looks which step fails: our own address and GID, our
 * firewall, the peer's host, its port 4791, the MTU on the way.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/icmp6.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/launch.h"
#include "cli/ping_cm.h"
#include "cli/port.h"
#include "cli/status.h"

#define TIMEOUT_MS 2000
#define PROBE_MS   500

struct peer {
	struct sockaddr_storage addr;
	socklen_t size;
	char text[INET6_ADDRSTRLEN + 16];
};

static int find_peer(const char *name, struct peer *peer)
{
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *list;
	int err = getaddrinfo(name, NULL, &hints, &list);

	if (err) {
		ur_complain("%s: %s", name, gai_strerror(err));
		return -ENOENT;
	}
	memcpy(&peer->addr, list->ai_addr, list->ai_addrlen);
	peer->size = list->ai_addrlen;
	getnameinfo(list->ai_addr, list->ai_addrlen, peer->text,
		    sizeof(peer->text), NULL, 0, NI_NUMERICHOST);
	freeaddrinfo(list);
	return 0;
}

static struct sockaddr *with_port(struct peer *peer, uint16_t port)
{
	((struct sockaddr_in *)&peer->addr)->sin_port = htons(port);
	return (struct sockaddr *)&peer->addr;
}

/* What UDP itself says about the peer's port: 0, or the errno it answers. */
static int probe_port(struct peer *peer)
{
	int fd = socket(peer->addr.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd pfd = {.fd = fd};
	socklen_t len = sizeof(int);
	int err = 0;

	if (connect(fd, with_port(peer, UR_ROCE_PORT), peer->size) ||
	    send(fd, "", 1, 0) < 0)
		err = errno;
	/* An ICMP error comes back as the socket's. */
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

	/* Without the capability: for groups of net.ipv4.ping_group_range. */
	return fd >= 0 ? fd
		       : socket(family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
}

static bool is_reply(const uint8_t *buf, ssize_t n, bool v4)
{
	/* A raw IPv4 socket gives the IP header as well. */
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

/* An ICMP echo of that many bytes, not to be cut on the way. Return: 1
 * answered, 0 not, -1 we may not ask. */
static int probe_echo(struct peer *peer, size_t bytes)
{
	bool v4 = peer->addr.ss_family == AF_INET;
	int dont = v4 ? IP_PMTUDISC_PROBE : IPV6_PMTUDISC_PROBE;
	int fd = open_echo(v4), ret = 0;
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	struct icmphdr *echo;
	uint8_t *buf;

	if (fd < 0)
		return -1;
	setsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6,
		   v4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER, &dont,
		   sizeof(dont));
	buf = calloc(1, bytes + 60);
	if (buf) {
		echo = (struct icmphdr *)buf;
		echo->type = v4 ? ICMP_ECHO : ICMP6_ECHO_REQUEST;
		echo->un.echo.id = htons((uint16_t)getpid());
		echo->un.echo.sequence = htons((uint16_t)bytes);
		if (v4) /* ICMPv6's is the kernel's to make */
			echo->checksum = checksum(buf, bytes);
		if (!connect(fd, with_port(peer, 0), peer->size) &&
		    send(fd, buf, bytes, 0) == (ssize_t)bytes)
			while (!ret && poll(&pfd, 1, PROBE_MS) == 1)
				ret = is_reply(
					buf, recv(fd, buf, bytes + 60, 0), v4);
	}
	free(buf);
	close(fd);
	return ret;
}

static void explain_local(const struct peer *peer, int err)
{
	if (err == -ENODEV || err == -EADDRNOTAVAIL)
		ur_complain("%s is reached from an address that is no GID of "
			    "the device: 'ip route get %s' says which, 'uroce "
			    "link' what there is; start the device with that "
			    "--netdev",
			    peer->text, peer->text);
	else if (err == -ETIMEDOUT || err == -EHOSTUNREACH)
		ur_complain("no neighbour answers for %s: it is down, or on "
			    "another network ('ip neigh')",
			    peer->text);
	else if (err == -ENETUNREACH)
		ur_complain("there is no route to %s ('ip route')", peer->text);
	else
		ur_complain("%s cannot be resolved: %s", peer->text,
			    strerror(-err));
}

static void explain_silence(struct peer *peer)
{
	int err = probe_port(peer);
	int echo;

	if (err == EPERM || err == EACCES) {
		ur_complain("this machine's firewall refuses UDP to port %d of "
			    "%s: 'nft list ruleset'; allow udp dport %d",
			    UR_ROCE_PORT, peer->text, UR_ROCE_PORT);
		return;
	}
	if (err == ECONNREFUSED) {
		ur_complain("%s answers, but nothing has its UDP port %d: no "
			    "RoCE device serves that address there; 'uroce "
			    "link' on that machine shows its GIDs",
			    peer->text, UR_ROCE_PORT);
		return;
	}
	echo = probe_echo(peer, 64);
	if (echo > 0)
		ur_complain("%s answers, its UDP port %d does not: filtered by "
			    "a firewall (there or on the way: 'nft list "
			    "ruleset', allow udp dport %d), or what has the "
			    "port does not speak RoCE",
			    peer->text, UR_ROCE_PORT, UR_ROCE_PORT);
	else if (echo < 0)
		ur_complain("%s does not answer: down, not a RoCE device, or "
			    "UDP port %d filtered by a firewall ('nft list "
			    "ruleset' there)",
			    peer->text, UR_ROCE_PORT);
	else
		ur_complain("%s answers neither RoCE nor an echo: down, or "
			    "everything filtered",
			    peer->text);
}

/* Small packets cross; do those of the device's active MTU? */
static int check_mtu(const struct ur_options *options, struct peer *peer)
{
	struct json_object *status, *devices;
	int64_t mtu = 0;
	size_t count;

	status = ur_status_get(options, "");
	if (!status)
		return 0;
	devices = ur_json_array(status, "devices", &count);
	for (size_t i = 0; i < count; i++) {
		int64_t one = ur_json_number(
			json_object_array_get_idx(devices, i), "active_mtu");

		if (!mtu || one < mtu)
			mtu = one;
	}
	json_object_put(status);
	/* BTH, the longest extended header and the ICRC beside the payload,
	 * where the echo has 8 bytes of its own. */
	if (probe_echo(peer, 64) != 1 ||
	    probe_echo(peer, (size_t)mtu + 12 + 28 + 4) != 0)
		return 0;
	ur_complain(
		"small packets reach %s, those of %lld bytes do not: an MTU "
		"on the way is smaller than this interface's; lower it "
		"('ip link set IF mtu'), or use a path MTU below %lld in "
		"the program",
		peer->text, (long long)mtu, (long long)mtu);
	return -EMSGSIZE;
}

static int ping(const struct ur_options *options, struct peer *peer, int count)
{
	struct json_object *out = json_object_new_array();
	enum ur_ping_step step = UR_PING_ADDRESS;
	int answers = 0, err = 0;
	struct ur_ping_cm cm;

	err = ur_ping_cm_open(&cm, options->run_dir);
	if (err) {
		ur_complain("the device's connection manager: %s",
			    strerror(-err));
		json_object_put(out);
		return UR_EXIT_FAILED;
	}
	for (int i = 0; i < count; i++) {
		double us = 0;

		err = ur_ping_cm_ask(&cm, (struct sockaddr *)&peer->addr,
				     peer->size, TIMEOUT_MS, &step, &us);
		if (err && step != UR_PING_ANSWER)
			break;
		answers += !err;
		if (options->json)
			json_object_array_add(
				out, err ? NULL : json_object_new_double(us));
		else if (err)
			printf("%s: no answer\n", peer->text);
		else
			printf("%s: answer in %.0f us\n", peer->text, us);
	}
	ur_ping_cm_close(&cm);
	if (options->json)
		ur_json_print(out);
	json_object_put(out);
	if (step != UR_PING_ANSWER)
		explain_local(peer, err);
	else if (!answers)
		explain_silence(peer);
	else
		return check_mtu(options, peer) ? UR_EXIT_FAILED : 0;
	return UR_EXIT_FAILED;
}

int ur_cmd_ping(struct ur_options *options)
{
	int count = options->rest_count > 1 ? atoi(options->rest[1]) : 3;
	struct peer peer = {0};
	int sock, ret;

	if (options->rest_count < 1 || count < 1) {
		ur_complain("ping: an address, and perhaps how often");
		return UR_EXIT_USAGE;
	}
	if (find_peer(options->rest[0], &peer))
		return UR_EXIT_FAILED;
	sock = ur_launch(options);
	if (sock < 0)
		return UR_EXIT_FAILED;
	ret = ping(options, &peer, count);
	close(sock);
	return ret;
}
