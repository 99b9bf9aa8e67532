// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Addresses whose port 4791 somebody else holds: asked for again each second,
 * with a socket that is closed at once, so that a device takes its place when
 * the other one goes (another user's device that ends when unused, say).
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/device.h"

#define ROCE_PORT 4791 /* IANA: roce */
#define RETRY_NS  1000000000ull

static bool port_is_free(const struct ur_device *dev, const u8 gid[16])
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
				  .sin6_port = htons(ROCE_PORT)};
	struct sockaddr_in v4 = {.sin_family = AF_INET,
				 .sin_port = htons(ROCE_PORT)};
	bool is_v4 = ur_gid_is_v4(gid);
	int fd = socket(is_v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC,
			0);
	int ret;

	if (fd < 0)
		return false;
	if (is_v4) {
		memcpy(&v4.sin_addr, gid + 12, 4);
		ret = bind(fd, (struct sockaddr *)&v4, sizeof(v4));
	} else {
		memcpy(&v6.sin6_addr, gid, 16);
		v6.sin6_scope_id = dev->ifindex;
		ret = bind(fd, (struct sockaddr *)&v6, sizeof(v6));
	}
	close(fd);
	return ret == 0;
}

static void retry(void *arg)
{
	struct ur_device *dev = arg;
	bool freed = false;

	for (int i = 0; i < UR_GID_MAX; i++) {
		struct ur_gid *g = &dev->gids.entry[i];

		if (g->refused &&
		    (g->type == UR_GID_ROCE_V1 || port_is_free(dev, g->gid))) {
			g->refused = false;
			freed = true;
		}
	}
	if (freed)
		ur_device_sync_gids(dev);
	else
		ur_gid_retry_later(dev);
}

void ur_gid_retry_later(struct ur_device *dev)
{
	dev->gids.retry.fn = retry;
	dev->gids.retry.arg = dev;
	for (int i = 0; i < UR_GID_MAX; i++) {
		if (!dev->gids.entry[i].refused)
			continue;
		ur_loop_timer_set(dev->daemon->loop, &dev->gids.retry,
				  ur_loop_now() + RETRY_NS);
		return;
	}
	ur_loop_timer_clear(dev->daemon->loop, &dev->gids.retry);
}
