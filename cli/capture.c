// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Captures packets by an AF_PACKET socket. A burst that is sent in one piece (UDP_SEGMENT)
 * is split into the packets on the wire; tcpdump shows it as one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/capture.h"
#include "cli/port.h"
#include "transport/frame.h"
#include "util/os/clock.h"

#define BURST_MAX (64 << 10)

/* In <linux/virtio_net.h> since 6.2 only. */
#define GSO_UDP_L4 5

struct capture {
	ur_capture_fn fn;
	void *arg;
	bool more;
};

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	stopped = 1;
}

/* Passes RoCEv1, and UDP to our port over IPv4 or IPv6 without options: all that a kernel
 * filter can check. */
static int attach_filter(int fd)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UR_ROCE_V1_ETHERTYPE, 6, 0),
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
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&sll, sizeof(sll))) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

static void pass_packet(struct capture *capture,
			const struct ur_capture_meta *meta,
			const uint8_t *packet, size_t len)
{
	if (capture->more && len > UR_CAPTURE_ETH)
		capture->more = capture->fn(capture->arg, meta, packet, len);
}

/* Splits a burst into packets, with headers as the kernel or the card makes them. */
static void split(struct capture *capture, const struct ur_capture_meta *meta,
		  const uint8_t *burst, size_t len, size_t segment)
{
	bool v4 = ur_get_be16(burst + 12) == ETH_P_IP;
	size_t ip_bytes = v4 ? 20 : 40, head = UR_CAPTURE_ETH + ip_bytes + 8;
	uint8_t packet[BURST_MAX];
	uint16_t id = v4 ? ur_get_be16(burst + UR_CAPTURE_ETH + 4) : 0;

	for (size_t at = head; at < len; at += segment, id++) {
		size_t n = len - at < segment ? len - at : segment;
		uint8_t *ip = packet + UR_CAPTURE_ETH;

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
		pass_packet(capture, meta, packet, head + n);
	}
}

/* Returns the priority of the VLAN tag, which the kernel has stripped; -1: no tag. */
static int priority_of(struct msghdr *msg)
{
	struct tpacket_auxdata aux;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c;
	     c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_PACKET ||
		    c->cmsg_type != PACKET_AUXDATA ||
		    c->cmsg_len < CMSG_LEN(sizeof(aux)))
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (aux.tp_status & TP_STATUS_VLAN_VALID)
			return aux.tp_vlan_tci >> 13;
	}
	return -1;
}

static int receive(int fd, struct capture *capture)
{
	static uint8_t buf[sizeof(struct virtio_net_hdr) + BURST_MAX + 64];
	struct virtio_net_hdr *vnet = (void *)buf;
	const uint8_t *packet = buf + sizeof(*vnet);
	char control[256] __attribute__((aligned(8)));
	struct sockaddr_ll from;
	struct iovec iov = {.iov_base = buf, .iov_len = sizeof(buf)};
	struct msghdr msg = {.msg_name = &from,
			     .msg_namelen = sizeof(from),
			     .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct ur_capture_meta meta;
	ssize_t n;

	n = recvmsg(fd, &msg, 0);
	if (n < 0)
		return errno == EINTR || errno == ENETDOWN ? 0 : -errno;
	n -= (ssize_t)sizeof(*vnet);
	meta.out = from.sll_pkttype == PACKET_OUTGOING;
	/* The loopback interface shows everything twice. */
	if (n <= UR_CAPTURE_ETH + 48 ||
	    (meta.out && from.sll_hatype == ARPHRD_LOOPBACK))
		return 0;
	meta.ns = ur_clock_ns(CLOCK_REALTIME);
	meta.priority = priority_of(&msg);
	if ((vnet->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) == GSO_UDP_L4 &&
	    vnet->gso_size)
		split(capture, &meta, packet, (size_t)n, vnet->gso_size);
	else
		pass_packet(capture, &meta, packet, (size_t)n);
	return 0;
}

int ur_capture_open(const struct ur_options *options)
{
	const char *netdev = options->netdevs ? options->netdev[0] : NULL;
	int fd = open_socket(netdev);

	if (fd < 0)
		ur_complain("cannot look at %s: %s%s",
			    netdev ? netdev : "the interfaces", strerror(-fd),
			    fd == -EPERM ? "; it takes root, or CAP_NET_RAW"
					 : "");
	return fd;
}

int ur_capture_run(int fd, ur_capture_fn fn, void *arg)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct capture capture = {.fn = fn, .arg = arg, .more = true};
	int err = 0;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!stopped && !err && capture.more)
		err = receive(fd, &capture);
	if (err)
		ur_complain("%s", strerror(-err));
	return err;
}
