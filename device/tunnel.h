/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One message of the tunnel, with its descriptors, over a seqpacket socket. */
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

/* Receives a message. Blocks. fds has UROCE_TUN_MAX_FDS entries, filled with
 * msg->nfds descriptors (close-on-exec, the caller's) and -1. Where a
 * descriptor came and this process has no room for it, the first is -ENFILE: to
 * the client the device's table is that of the system. Returns 0, -EPIPE (end
 * of the connection), -EPROTO (not a message of the tunnel) or another
 * -errno. */
int ur_daemon_recv(int sock, struct uroce_tun_msg *msg, int *fds);

/* Does the same for a message that may have memory of the client behind it:
 * *len bytes, UROCE_TUN_WINDOW at most, in window. */
int ur_daemon_recv_call(int sock, struct uroce_tun_msg *msg, int *fds,
			u8 *window, u32 *len);

/* Does the same for one that may have at most room bytes behind it, in bytes. */
int ur_daemon_recv_memory(int sock, struct uroce_tun_msg *msg, int *fds,
			  void *bytes, u32 room, u32 *len);

/* Sends len bytes alone, as one message. */
int ur_daemon_send_bytes(int sock, const void *bytes, u32 len);

/* Closes those of the descriptors that nobody took, and sets all to -1. */
void ur_daemon_close_fds(int *fds);

#endif
