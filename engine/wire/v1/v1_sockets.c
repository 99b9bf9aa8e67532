// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include "engine/wire/v1/neigh.h"
#include "engine/wire/v1/v1_sockets.h"
#include "engine/wire/wire.h"
#include "transport/wire_format.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif
#ifndef SO_LOCK_FILTER
#define SO_LOCK_FILTER 44
#endif

/* The index of the loopback interface, in each network namespace. */
#define LOOPBACK 1u
#define HIGHEST	 7 /* priority that takes a privilege */

/* Behind the GRH, bytes 5 to 7 of the BTH are the number of the queue pair. */
static int steer(int fd, const struct ur_v1_numbers *n)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, UR_GRH_BYTES + 4),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, UR_QPN_MASK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UR_QPN_MULTICAST, 3, 0),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 24 - n->bits),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n->prefix, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_fprog prog = {UR_ARRAY_SIZE(code), code};
	int one = 1;

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog,
			  sizeof(prog)) < 0 ||
			       setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &one,
					  sizeof(one)) < 0
		       ? -errno
		       : 0;
}

static int prepare_rx(int fd, u32 ifindex, const struct ur_v1_numbers *numbers)
{
	int one = 1, err = steer(fd, numbers);

	if (err)
		return err;
	ur_wire_rx_buffer(fd);
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	return ur_wire_bind(fd, ifindex, UR_ROCE_V1_ETHERTYPE);
}

static int prepare(int fd[UR_V1_SOCKETS], u32 ifindex,
		   const struct ur_v1_numbers *numbers)
{
	int high = HIGHEST;
	int err = prepare_rx(fd[UR_V1_RX], ifindex, numbers);

	if (!err)
		err = prepare_rx(fd[UR_V1_LO_RX], LOOPBACK, numbers);
	if (!err)
		err = ur_wire_bind(fd[UR_V1_TX], ifindex, 0);
	if (!err)
		err = ur_wire_bind(fd[UR_V1_TX_HIGH], ifindex, 0);
	if (!err)
		err = ur_wire_bind(fd[UR_V1_LO_TX], LOOPBACK, 0);
	for (u32 i = UR_V1_TX; i < UR_V1_NEIGH; i++)
		ur_wire_tx_buffer(fd[i]);
	/* Without the right the priority stays 0. */
	setsockopt(fd[UR_V1_TX_HIGH], SOL_SOCKET, SO_PRIORITY, &high,
		   sizeof(high));
	return err;
}

int ur_v1_open(u32 ifindex, const struct ur_v1_numbers *numbers,
	       int fd[UR_V1_SOCKETS])
{
	int err = 0;

	for (u32 i = 0; i < UR_V1_NEIGH; i++) {
		/* On the loopback interface the source address is ours to write. */
		int type = i == UR_V1_LO_TX ? SOCK_RAW : SOCK_DGRAM;

		fd[i] = socket(AF_PACKET, type | SOCK_CLOEXEC | SOCK_NONBLOCK,
			       0);
		if (fd[i] < 0 && !err)
			err = -errno;
	}
	fd[UR_V1_NEIGH] = err ? -1 : ur_neigh_socket();
	if (!err && fd[UR_V1_NEIGH] < 0)
		err = fd[UR_V1_NEIGH];
	if (!err)
		err = prepare(fd, ifindex, numbers);
	if (err)
		ur_v1_close(fd);
	return err;
}

void ur_v1_move(const int fd[UR_V1_SOCKETS], u32 ifindex)
{
	ur_wire_bind(fd[UR_V1_RX], ifindex, UR_ROCE_V1_ETHERTYPE);
	ur_wire_bind(fd[UR_V1_TX], ifindex, 0);
	ur_wire_bind(fd[UR_V1_TX_HIGH], ifindex, 0);
}

void ur_v1_close(int fd[UR_V1_SOCKETS])
{
	for (u32 i = 0; i < UR_V1_SOCKETS; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
		fd[i] = -1;
	}
}
