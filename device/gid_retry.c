// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Addresses whose port 4791 somebody else holds: asked for again each second,
 * with a socket that is closed at once, so that a device takes its place when
 * the other one goes (another user's device that ends when unused, say).
 */
#include <unistd.h>
#include "device/device.h"
#include "device/wire/wire.h"

#define ROCE_PORT 4791 /* IANA: roce */
#define RETRY_NS  1000000000ull

static bool port_is_free(const struct ur_device *dev, const u8 gid[16])
{
	union ur_sockaddr sa;
	socklen_t len = ur_sockaddr_of(&sa, gid, ROCE_PORT, dev->ifindex);
	int fd = socket(sa.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret;

	if (fd < 0)
		return false;
	ret = bind(fd, &sa.sa, len);
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
