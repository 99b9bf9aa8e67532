/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One message of the tunnel, with its descriptors, over a seqpacket socket. */
#ifndef UR_DEVICE_TUNNEL_H
#define UR_DEVICE_TUNNEL_H

#include "kernel-abi/uroce-tunnel.h"
#include "util/bytes.h"

/* Blocks. fds stay the caller's. 0 or -errno (-EPIPE: the peer is gone). */
int ur_daemon_send(int sock, struct uroce_tun_msg *msg, const int *fds,
		   unsigned int nfds);

/* The same without descriptors, with len bytes behind it. */
int ur_daemon_send_done(int sock, struct uroce_tun_msg *msg, const void *outs,
			u32 len);

/* Blocks. fds: UROCE_TUN_MAX_FDS entries, filled with msg->nfds descriptors
 * (close-on-exec, the caller's) and -1. Where one came and this process has no
 * room for it, the first is -ENFILE: to the client the device's table is the
 * system's. -EPIPE: end of the connection; -EPROTO: not a message of ours. */
int ur_daemon_recv(int sock, struct uroce_tun_msg *msg, int *fds);

/* The same for one that may have memory of the caller behind it: *len bytes,
 * UROCE_TUN_WINDOW at most. */
int ur_daemon_recv_call(int sock, struct uroce_tun_msg *msg, int *fds,
			u8 *window, u32 *len);

/* Close those of them that nobody took; all are -1 then. */
void ur_daemon_close_fds(int *fds);

#endif
