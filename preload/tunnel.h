/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One message of kernel-abi/uroce-tunnel.h over one socket. Uses raw system
 * calls throughout: a command is no cancellation point, as the kernel's ioctl()
 * is none, and enters none of our wrappers. Errors are -errno.
 */
#ifndef UR_PRELOAD_TUNNEL_H
#define UR_PRELOAD_TUNNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel-abi/uroce-tunnel.h"

/* Connects to the device of the run directory. Returns a socket or -errno. */
int ur_tunnel_connect(void);

/* Does the same, and proves to the device the right to administer its network,
 * if the calling thread has it. */
int ur_tunnel_connect_with_rights(void);

/* Moves @fd to a high number, away from those that programs expect, and closes
 * @fd on success. Returns the new number, or -errno with @fd still open. */
int ur_tunnel_raise(int fd);

/**
 * ur_tunnel_send() - one message
 * @fd: descriptor to attach, or -1
 * Return: 0, -EBADF when @fd is not open, -EIO when the device is gone.
 */
int ur_tunnel_send(int sock, struct uroce_tun_msg *msg, int fd);

/* Does the same with @nfds descriptors, UROCE_TUN_MAX_FDS at most. */
int ur_tunnel_send_fds(int sock, struct uroce_tun_msg *msg, const int *fds,
		       unsigned int nfds);

/**
 * ur_tunnel_send_call() - one message, with memory of the caller behind it
 * @mem: where msg->arg points; @len bytes of it, or as much as may be sent
 *
 * The kernel finds out whether the memory is there; where it is not, the
 * message goes alone, without what it says of outputs, and the device finds
 * out.
 * Return: 0, or -EIO when the device is gone.
 */
int ur_tunnel_send_call(int sock, struct uroce_tun_msg *msg, const void *mem,
			size_t len);

/**
 * ur_tunnel_recv() - one message
 * @ret_fds: UROCE_TUN_MAX_FDS numbers, -1 where there is none; close-on-exec.
 *	The first is -EMFILE where descriptors came and the process has no room
 * Return: 0, or -EIO when the device is gone or makes no sense.
 */
int ur_tunnel_recv(int sock, struct uroce_tun_msg *msg, int *ret_fds);

/* Receives the first reply of a connection. @sent: the result of sending the
 * first message. A rejected client gets the reason even if its message was
 * not sent. Does not wait for a reply that nobody will send. Returns 0 or
 * -errno. */
int ur_tunnel_recv_first(int sock, struct uroce_tun_msg *msg, int *ret_fds,
			 int sent);

/* Closes the descriptors that are left, and sets all to -1. */
void ur_tunnel_close_fds(int *fds);

/* Does the same as ur_tunnel_recv(), and puts the *@ret_len bytes behind the
 * message into @outs, which has UROCE_TUN_WINDOW. */
int ur_tunnel_recv_done(int sock, struct uroce_tun_msg *msg, int *ret_fds,
			void *outs, size_t *ret_len);

/* Opens the descriptors for OPEN by which the device reaches our memory.
 * Returns their number: 0 in a process that may not open its own memory (not
 * dumpable), or without /proc: then the device asks for it by messages; or
 * -errno where there is no room. */
int ur_memory_open(int fds[UROCE_TUN_MAX_FDS]);
/* Sends an OPEN for the node; or, with "", for the file with that cookie or of the descriptor @fd,
 * as UROCE_TUN_OPEN says. The device looks for *@msg in our memory, so it must stay until the
 * reply. Returns 0 or -errno. */
int ur_tunnel_send_open(int sock, struct uroce_tun_msg *msg, uint32_t kind,
			const char *node, uint64_t cookie, uint64_t fd);

/* Answer GET_MEMORY and PUT_MEMORY. The kernel checks whether the memory
 * exists. Return 0, or -EIO when the device is gone or the message is
 * malformed. */
int ur_tunnel_get_memory(int sock, const struct uroce_tun_msg *msg);
int ur_tunnel_put_memory(int sock, const struct uroce_tun_msg *msg);

/* Ends sending on @sock, and waits, at most a second, until the device has
 * closed what was open over it. No other process may have @sock. */
void ur_tunnel_end(int sock);

/* sync.c: makes the device update the counter files, and waits. */
void ur_tunnel_sync(void);

#endif
