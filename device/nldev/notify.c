// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* `rdma monitor`: events about added and removed devices. */
#include <sys/socket.h>
#include "device/nldev/nldev.h"
#include "device/watcher.h"

/* enum rdma_nl_notify_event_type of rdma/rdma_netlink.h */
enum ur_nl_event {
	UR_NL_REGISTER,
	UR_NL_UNREGISTER,
	UR_NL_NETDEV_ATTACH,
	UR_NL_NETDEV_DETACH,
	UR_NL_RENAME,
	UR_NL_NETDEV_RENAME,
};

static void put_device(struct ur_nl_msg *m, const struct ur_device *dev,
		       enum ur_nl_event event)
{
	ur_nl_begin(m,
		    (u16)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, UR_NLDEV_CMD_MONITOR),
		    0, 0, 0);
	ur_nl_put_handle(m, dev);
	if (event == UR_NL_NETDEV_ATTACH || event == UR_NL_NETDEV_DETACH ||
	    event == UR_NL_NETDEV_RENAME)
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	if (event == UR_NL_NETDEV_ATTACH || event == UR_NL_NETDEV_RENAME) {
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_NDEV_INDEX, dev->ifindex);
		ur_nl_put_text(m, RDMA_NLDEV_ATTR_NDEV_NAME, dev->netdev);
	}
	ur_nl_put_u8(m, UR_NLDEV_ATTR_EVENT_TYPE, (u8)event);
	ur_nl_end(m);
}

static void send_event(const struct ur_device *dev, enum ur_nl_event event)
{
	struct ur_nl_msg m = {0};

	put_device(&m, dev, event);
	ur_list_each(struct ur_session, s, &dev->daemon->sessions, node) {
		if (s->nl && s->nl->groups & 1ull << (UR_NL_GROUP_NOTIFY - 1) &&
		    send(s->sock, m.buf, m.len, MSG_DONTWAIT | MSG_NOSIGNAL) <
			    0)
			ur_debug("session %llu: misses an event of %s",
				 (unsigned long long)s->id, dev->name);
	}
}

static void changed(struct ur_device *dev, enum ur_device_change change)
{
	switch (change) {
	case UR_DEVICE_ADDED:
		send_event(dev, UR_NL_REGISTER);
		send_event(dev, UR_NL_NETDEV_ATTACH);
		break;
	case UR_DEVICE_RENAMED:
		send_event(dev, UR_NL_RENAME);
		break;
	case UR_DEVICE_NETDEV_RENAMED:
		send_event(dev, UR_NL_NETDEV_RENAME);
		break;
	case UR_DEVICE_LEAVES:
		send_event(dev, UR_NL_UNREGISTER);
		break;
	case UR_DEVICE_GONE:
		break;
	}
}

void ur_nldev_watch(struct ur_daemon *daemon)
{
	static struct ur_device_watcher watcher = {.changed = changed};

	ur_device_watch(daemon, &watcher);
}
