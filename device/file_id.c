// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Identifies the file of a descriptor. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "device/file_id.h"

#ifndef SO_COOKIE
#define SO_COOKIE 57 /* since Linux 4.12 */
#endif

/* Adds a socket's cookie, unique per socket. Without it (before 4.12, and under qemu-user)
 * dev and ino have to suffice. */
static void add_cookie(int fd, struct ur_file_id *id)
{
	socklen_t len = sizeof(id->cookie);

	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &id->cookie, &len) < 0)
		id->cookie = 0;
}

static void add_handle(int fd, struct ur_file_id *id)
{
	union {
		struct file_handle head;
		u8 room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} h = {.head.handle_bytes = MAX_HANDLE_SZ};
	int mount;

	if (syscall(SYS_name_to_handle_at, fd, "", &h.head, &mount,
		    AT_EMPTY_PATH) < 0)
		return;
	id->handle_bytes = h.head.handle_bytes;
	id->handle_type = h.head.handle_type;
	memcpy(id->handle, h.head.f_handle,
	       ur_min_u32(h.head.handle_bytes, sizeof(id->handle)));
}

int ur_file_id(int fd, struct ur_file_id *id)
{
	struct statx st;

	memset(id, 0, sizeof(*id));
	/* DONT_SYNC: these fields never change, so no file server is asked. A raw system
	 * call: in tests the front-end, which has a statx() of its own, is in this process. */
	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		    STATX_TYPE | STATX_INO, &st) < 0)
		return -errno;
	id->dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	id->ino = st.stx_ino;
	if (S_ISSOCK(st.stx_mode))
		add_cookie(fd, id);
	else
		add_handle(fd, id);
	return 0;
}

bool ur_file_id_same(const struct ur_file_id *a, const struct ur_file_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->cookie == b->cookie &&
	       a->handle_bytes == b->handle_bytes &&
	       a->handle_type == b->handle_type &&
	       !memcmp(a->handle, b->handle, sizeof(a->handle));
}
