// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Serves a setting that a client has open for writing: each message is a write. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include "device/settings/setting.h"

/* A page: the kernel's limit of a write to sysfs. */
#define WRITE_MAX 4096

/* Returns whether the message is the front-end's UROCE_TUN_DRAIN. */
static bool is_drain(const char *data, size_t len)
{
	struct uroce_tun_msg msg;

	if (len != sizeof(msg))
		return false;
	memcpy(&msg, data, sizeof(msg));
	return msg.op == UROCE_TUN_DRAIN && msg.kind == UROCE_TUN_SETTING;
}

static s64 store(struct ur_session *s, char *data, size_t len)
{
	int err;

	if (memchr(data, 0, len))
		return -EINVAL;
	data[len] = '\0';
	ur_loop_lock(s->daemon->loop);
	err = ur_setting_store(s->daemon, (const char *)s->window, data);
	ur_loop_unlock(s->daemon->loop);
	return err ? err : (s64)len;
}

int ur_setting_serve(struct ur_session *s)
{
	struct uroce_tun_msg reply;
	char data[WRITE_MAX + 1];
	ssize_t n;

	for (;;) {
		n = recv(s->sock, data, WRITE_MAX, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno != ECONNRESET ? -errno : -EPIPE;
		reply = (struct uroce_tun_msg){.op = UROCE_TUN_DONE,
					       .kind = UROCE_TUN_SETTING};
		if (is_drain(data, (size_t)n))
			reply.op = UROCE_TUN_DRAIN;
		else
			reply.ret = store(s, data, (size_t)n);
		/* A writer without the front-end reads no replies; replies without room are
		 * dropped. */
		if (send(s->sock, &reply, sizeof(reply),
			 MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
		    errno != EAGAIN)
			return -EPIPE;
	}
}
