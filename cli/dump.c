/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uroce dump: the RoCE packets of an interface, a decoded line each, or a file
 * for Wireshark. A burst that leaves in one piece (UDP_SEGMENT) is taken apart
 * into the packets that it is on the wire; tcpdump shows it as one.
 *
 * What two programs on the same device send each other is no packet.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/pcapng.h"
#include "cli/port.h"
#include "cli/status.h"
#include "transport/dump.h"

#define ETHERTYPE_ROCE1 0x8915
#define ETH_BYTES	14
#define BURST_MAX	(64 << 10)

/* In <linux/virtio_net.h> since 6.2 only. */
#define GSO_UDP_L4 5

struct dump {
	int fd;
	FILE *file; /* NULL: text */
	bool json;
	uint64_t left; /* packets still to show */
};

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	stopped = 1;
}

/* Ethernet, then RoCEv1, or UDP to our port behind IPv4 or IPv6 without
 * options: as much as the kernel can tell. */
static int attach_filter(int fd)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETHERTYPE_ROCE1, 6, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 5),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 36),
		BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 56),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UR_ROCE_PORT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog prog = {.len = sizeof(code) / sizeof(*code),
				  .filter = code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog,
			  sizeof(prog));
}

static int open_socket(const char *netdev)
{
	struct sockaddr_ll sll = {.sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL)};
	int on = 1, size = 16 << 20, fd;

	if (netdev) {
		sll.sll_ifindex = (int)if_nametoindex(netdev);
		if (!sll.sll_ifindex)
			return -ENODEV;
	}
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (attach_filter(fd) ||
	    setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&sll, sizeof(sll))) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void show_text(const struct dump *dump, uint64_t ns, bool out,
		      const uint8_t *packet, size_t len)
{
	bool v1 = ur_get_be16(packet + 12) == ETHERTYPE_ROCE1;
	time_t seconds = (time_t)(ns / 1000000000u);
	char text[UR_DUMP_BYTES], clock[16];
	enum ur_frame_error error;
	struct ur_frame frame;
	struct tm tm;

	error = ur_frame_parse(&frame, v1, packet + ETH_BYTES, len - ETH_BYTES);
	ur_frame_dump(text, sizeof(text), &frame, error);
	if (dump->json) {
		/* The decoded line holds no character that JSON would mind. */
		printf("{\"ns\":%" PRIu64 ",\"direction\":\"%s\",\"verdict\":"
		       "\"%s\",\"packet\":\"%s\"}\n",
		       ns, out ? "out" : "in", ur_frame_error_name(error),
		       text);
	} else {
		localtime_r(&seconds, &tm);
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
		printf("%s.%06" PRIu64 " %s %s\n", clock, ns / 1000 % 1000000,
		       out ? "->" : "<-", text);
	}
}

static void show(struct dump *dump, uint64_t ns, bool out,
		 const uint8_t *packet, size_t len)
{
	if (!dump->left || len <= ETH_BYTES)
		return;
	dump->left--;
	if (dump->file)
		ur_pcapng_packet(dump->file, ns, packet, len);
	else
		show_text(dump, ns, out, packet, len);
}

/* The packets of a burst: headers as the kernel or the card will make them. */
static void split(struct dump *dump, uint64_t ns, bool out,
		  const uint8_t *burst, size_t len, size_t segment)
{
	bool v4 = ur_get_be16(burst + 12) == ETH_P_IP;
	size_t ip_bytes = v4 ? 20 : 40, head = ETH_BYTES + ip_bytes + 8;
	uint8_t packet[BURST_MAX];
	uint16_t id = v4 ? ur_get_be16(burst + ETH_BYTES + 4) : 0;

	for (size_t at = head; at < len; at += segment, id++) {
		size_t n = len - at < segment ? len - at : segment;
		uint8_t *ip = packet + ETH_BYTES;

		memcpy(packet, burst, head);
		memcpy(packet + head, burst + at, n);
		if (v4) {
			ur_put_be16(ip + 2, (uint16_t)(ip_bytes + 8 + n));
			ur_put_be16(ip + 4, id);
			ur_put_be16(ip + 10, 0);
			ur_put_be16(ip + 10, ur_frame_ipv4_checksum(ip));
		} else {
			ur_put_be16(ip + 4, (uint16_t)(8 + n));
		}
		ur_put_be16(ip + ip_bytes + 4, (uint16_t)(8 + n));
		show(dump, ns, out, packet, head + n);
	}
}

static int receive(struct dump *dump)
{
	static uint8_t buf[sizeof(struct virtio_net_hdr) + BURST_MAX + 64];
	struct virtio_net_hdr *vnet = (void *)buf;
	const uint8_t *packet = buf + sizeof(*vnet);
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	bool out;
	ssize_t n;

	n = recvfrom(dump->fd, buf, sizeof(buf), 0, (struct sockaddr *)&from,
		     &size);
	if (n < 0)
		return errno == EINTR || errno == ENETDOWN ? 0 : -errno;
	n -= (ssize_t)sizeof(*vnet);
	out = from.sll_pkttype == PACKET_OUTGOING;
	/* The loopback interface shows everything twice. */
	if (n <= ETH_BYTES + 48 || (out && from.sll_hatype == ARPHRD_LOOPBACK))
		return 0;
	if ((vnet->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) == GSO_UDP_L4 &&
	    vnet->gso_size)
		split(dump, now_ns(), out, packet, (size_t)n, vnet->gso_size);
	else
		show(dump, now_ns(), out, packet, (size_t)n);
	if (dump->file)
		fflush(dump->file);
	return 0;
}

/* COUNT and FILE, in any order. */
static int parse(struct dump *dump, const struct ur_options *options)
{
	char *end;

	dump->left = UINT64_MAX;
	for (int i = 0; i < options->rest_count; i++) {
		const char *word = options->rest[i];
		uint64_t n = strtoull(word, &end, 10);

		if (*word && !*end) {
			dump->left = n;
			continue;
		}
		if (dump->file)
			return -EINVAL;
		dump->file = strcmp(word, "-") ? fopen(word, "we") : stdout;
		if (!dump->file) {
			ur_complain("%s: %s", word, strerror(errno));
			return -errno;
		}
	}
	return 0;
}

int ur_cmd_dump(struct ur_options *options)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct dump dump = {.json = options->json};
	int err;

	if (options->netdevs > 1 || parse(&dump, options)) {
		ur_complain("dump: [--netdev IF] [COUNT] [FILE]");
		return UR_EXIT_USAGE;
	}
	dump.fd = open_socket(options->netdevs ? options->netdev[0] : NULL);
	if (dump.fd < 0) {
		ur_complain("cannot look at %s: %s%s",
			    options->netdevs ? options->netdev[0]
					     : "the interfaces",
			    strerror(-dump.fd),
			    dump.fd == -EPERM ? "; it takes root, or "
						"CAP_NET_RAW"
					      : "");
		return UR_EXIT_FAILED;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (dump.file)
		ur_pcapng_begin(dump.file);
	err = 0;
	while (!stopped && !err && dump.left)
		err = receive(&dump);
	if (err)
		ur_complain("%s", strerror(-err));
	if (dump.file && fclose(dump.file))
		err = -errno;
	close(dump.fd);
	return err ? UR_EXIT_FAILED : 0;
}
