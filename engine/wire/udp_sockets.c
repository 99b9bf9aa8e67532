// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Common functions of the UDP wire's sockets. */
#include <errno.h>
#include <linux/filter.h>
#include <netinet/udp.h>
#include <unistd.h>
#include "engine/wire/wire_udp.h"
#include "transport/frame.h"
#include "util/os/high_fd.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

socklen_t ur_udp_sockaddr(const struct ur_wire_udp *w, union ur_sockaddr *sa,
			  const u8 gid[16], u16 port)
{
	return ur_sockaddr_of(sa, gid, port, w->wire.engine->config.ifindex);
}

int ur_udp_set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno
								      : 0;
}

int ur_udp_open(bool v4)
{
	int fd = ur_high_fd(socket(v4 ? AF_INET : AF_INET6,
				   SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
				   0));

	if (fd < 0)
		return -errno;
	if (!v4)
		ur_udp_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	return fd;
}

/* Returns the cookie of the socket's network namespace; 0: not known. */
static u64 network_of(int fd)
{
	u64 cookie = 0;
	socklen_t len = sizeof(cookie);

	return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len) < 0
		       ? 0
		       : cookie;
}

bool ur_udp_is_away(const struct ur_wire_udp *w, int fd)
{
	int granted = w->granted[w->granted[1].fd >= 0].fd;
	u64 there = granted < 0 ? 0 : network_of(granted);

	return there && network_of(fd) != there;
}

/* ---- receiving ---- */

struct ur_udp_addr *ur_udp_find_in(const struct ur_list *addrs,
				   const u8 gid[16])
{
	ur_list_for_each(it, addrs) {
		struct ur_udp_addr *a =
			ur_list_entry(it, struct ur_udp_addr, node);

		if (!memcmp(a->gid, gid, 16))
			return a;
	}
	return NULL;
}

void ur_udp_set_rx(const struct ur_wire_udp *w, int fd, bool v4)
{
	ur_wire_rx_buffer(fd);
	if (w->wire.engine->opt.gro)
		ur_udp_set(fd, IPPROTO_UDP, UDP_GRO, 1);
	if (v4) {
		ur_udp_set(fd, IPPROTO_IP, IP_RECVTOS, 1);
		ur_udp_set(fd, IPPROTO_IP, IP_RECVTTL, 1);
	} else {
		ur_udp_set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		ur_udp_set(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
		ur_udp_set(fd, IPPROTO_IPV6, IPV6_FLOWINFO, 1);
		/* zero UDP checksums are what RoCE senders use */
		ur_udp_set(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	}
}

static int join_group(const struct ur_wire_udp *w, int fd, const u8 *gid)
{
	struct ip_mreqn m4 = {
		.imr_ifindex = (int)w->wire.engine->config.ifindex,
	};
	struct ipv6_mreq m6 = {
		.ipv6mr_interface = w->wire.engine->config.ifindex,
	};
	int err;

	if (ur_gid_is_v4(gid)) {
		memcpy(&m4.imr_multiaddr, gid + 12, 4);
		err = setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &m4,
				 sizeof(m4));
	} else {
		memcpy(&m6.ipv6mr_multiaddr, gid, 16);
		err = setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &m6,
				 sizeof(m6));
	}
	return err < 0 ? -errno : 0;
}

int ur_udp_open_group(const struct ur_wire_udp *w, const u8 gid[16])
{
	union ur_sockaddr sa;
	socklen_t len = ur_udp_sockaddr(w, &sa, gid, UR_ROCE_V2_UDP_PORT);
	bool v4 = ur_gid_is_v4(gid);
	int fd = ur_udp_open(v4), err;

	if (fd < 0)
		return fd;
	ur_udp_set_rx(w, fd, v4);
	ur_udp_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (ur_udp_is_away(w, fd))
		err = -EOPNOTSUPP;
	else
		err = bind(fd, &sa.sa, len) < 0 ? -errno
						: join_group(w, fd, gid);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int ur_udp_let_wakes_in(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			 UR_UDP_BYTES + UR_UDP_WAKE_BYTES, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog prog = {UR_ARRAY_SIZE(code), code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog,
			  sizeof(prog)) < 0
		       ? -errno
		       : 0;
}
