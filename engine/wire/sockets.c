// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Common functions of the wires' sockets: addresses, buffers, sending. */
#include <errno.h>
#include <linux/if_packet.h>
#include "engine/wire/wire.h"
#include "transport/frame.h"

u32 ur_wire_put(int fd, struct mmsghdr *msg, u32 n, int *refused)
{
	u32 done = 0;

	*refused = 0;
	while (done < n) {
		int sent = sendmmsg(fd, msg + done, n - done, 0);

		if (sent > 0) {
			done += (u32)sent;
		} else if (sent < 0 && errno != EINTR) {
			if (errno != EAGAIN && errno != EWOULDBLOCK &&
			    errno != ENOBUFS && errno != ENOMEM)
				*refused = errno;
			break;
		}
	}
	return done;
}

socklen_t ur_sockaddr_of(union ur_sockaddr *sa, const u8 gid[16], u16 port,
			 u32 ifindex)
{
	memset(sa, 0, sizeof(*sa));
	if (ur_gid_is_v4(gid)) {
		sa->v4.sin_family = AF_INET;
		sa->v4.sin_port = htons(port);
		memcpy(&sa->v4.sin_addr, gid + 12, 4);
		return sizeof(sa->v4);
	}
	sa->v6.sin6_family = AF_INET6;
	sa->v6.sin6_port = htons(port);
	memcpy(&sa->v6.sin6_addr, gid, 16);
	/* Link-local, and multicast of interface (1) and link (2) scope. */
	if ((gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80) ||
	    (gid[0] == 0xff && ((gid[1] & 0x0f) == 1 || (gid[1] & 0x0f) == 2)))
		sa->v6.sin6_scope_id = ifindex;
	return sizeof(sa->v6);
}

static void set_buffer(int fd, int forced, int plain, int bytes)
{
	if (setsockopt(fd, SOL_SOCKET, forced, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, plain, &bytes, sizeof(bytes));
}

void ur_wire_rx_buffer(int fd)
{
	set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, 32 << 20);
}

void ur_wire_tx_buffer(int fd)
{
	set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, 8 << 20);
}

int ur_wire_bind(int fd, u32 ifindex, u16 type)
{
	const struct sockaddr_ll sa = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(type),
		.sll_ifindex = (int)ifindex,
	};

	return bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0 ? -errno
								      : 0;
}
