// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include "engine/raw/raw_sockets.h"
#include "engine/wire/wire.h"

#define ETH_ALL 0x0003 /* ETH_P_ALL */
/* A type that matches no frame: below 1536 the field is a length, and the kernel gives
 * such frames two other types. */
#define ETH_NONE 0x05ff
/* The mark of a frame: bits of "uro", and below them the slot. */
#define MARK_BITS 11u
#define MARK	  (0x75726f00u & MARK_MASK)
#define MARK_MASK (~0u << MARK_BITS)

int ur_raw_receive(int fd, u32 ifindex, bool all)
{
	return ur_wire_bind(fd, ifindex, all ? ETH_ALL : ETH_NONE);
}

void ur_raw_move(int fd, u32 ifindex)
{
	ur_wire_bind(fd, ifindex, 0);
}

static int take_others(int fd, u32 slot)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 (u32)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 (u32)(SKF_AD_OFF + SKF_AD_MARK)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK | slot, 3, 0),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MARK_MASK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog prog = {UR_ARRAY_SIZE(code), code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog,
			  sizeof(prog)) < 0
		       ? -errno
		       : 0;
}

static int prepare_rx(int fd, u32 ifindex, u32 slot)
{
	int one = 1, err = take_others(fd, slot);

	if (err)
		return err;
	ur_wire_rx_buffer(fd);
	/* The kernel removes a VLAN tag from the frame, and reports it in auxdata. */
	setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one));
	return ur_raw_receive(fd, ifindex, false);
}

/* The mark takes Linux 5.17 or CAP_NET_ADMIN. Without it other engines do not receive the
 * socket's frames. */
static int prepare_tx(int fd, u32 ifindex, u32 slot)
{
	u32 mark = MARK | slot;

	ur_wire_tx_buffer(fd);
	setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
	return ur_wire_bind(fd, ifindex, 0);
}

int ur_raw_open(u32 ifindex, u32 slot, int fd[UR_RAW_SOCKETS])
{
	int err = 0;

	for (u32 i = 0; i < UR_RAW_SOCKETS; i++) {
		fd[i] = socket(AF_PACKET,
			       SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd[i] < 0 && !err)
			err = -errno;
	}
	if (!err)
		err = prepare_rx(fd[UR_RAW_RX], ifindex, slot);
	if (!err)
		err = prepare_tx(fd[UR_RAW_TX], ifindex, slot);
	for (u32 i = 0; err && i < UR_RAW_SOCKETS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return err;
}
