/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends and receives messages of the tunnel, with their descriptors, over a seqpacket
 * socket. */
#ifndef UR_DEVICE_TUNNEL_H
#define UR_DEVICE_TUNNEL_H

#include "kernel-abi/uroce-tunnel.h"
#include "util/bytes.h"

/* Sends a message with nfds descriptors, which stay the caller's. Blocks.
 * Returns 0, -EPIPE (the peer is gone) or another -errno. */
int ur_daemon_send(int sock, struct uroce_tun_msg *msg, const int *fds,
		   unsigned int nfds);

/* Sends a message without descriptors, with len bytes behind it. */
int ur_daemon_send_done(int sock, struct uroce_tun_msg *msg, const void *outs,
			u32 len);

/* Receives a message. Blocks. fds: UROCE_TUN_MAX_FDS entries; gets descriptors
 * (close-on-exec, the caller's), then -1. If a descriptor came but this process has no room
 * for it, the first entry is -ENFILE: to the client, our table is the system's. Returns 0,
 * -EPIPE (end of the connection), -EPROTO (not a message of the tunnel) or another -errno. */
int ur_daemon_recv(int sock, struct uroce_tun_msg *msg, int *fds);

/* Does the same for a message that at most room bytes may follow: *len bytes, in bytes. */
int ur_daemon_recv_more(int sock, struct uroce_tun_msg *msg, int *fds,
			void *bytes, u32 room, u32 *len);

/* Sends len bytes alone, as one message. */
int ur_daemon_send_bytes(int sock, const void *bytes, u32 len);

#endif
