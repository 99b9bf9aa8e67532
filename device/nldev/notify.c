// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* `rdma monitor`: devices come and go. */
#include <sys/socket.h>
#include "device/nldev/nldev.h"

static void put(struct ur_nl_msg *m, const struct ur_device *dev,
		enum ur_nl_event event)
{
	ur_nl_begin(m,
		    (u16)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, UR_NLDEV_CMD_MONITOR),
		    0, 0, 0);
	ur_nl_put_handle(m, dev);
	if (event == UR_NL_NETDEV_ATTACH || event == UR_NL_NETDEV_DETACH)
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	if (event == UR_NL_NETDEV_ATTACH) {
		ur_nl_put_u32(m, RDMA_NLDEV_ATTR_NDEV_INDEX, dev->ifindex);
		ur_nl_put_text(m, RDMA_NLDEV_ATTR_NDEV_NAME, dev->netdev);
	}
	ur_nl_put_u8(m, UR_NLDEV_ATTR_EVENT_TYPE, (u8)event);
	ur_nl_end(m);
}

void ur_nldev_notify(const struct ur_device *dev, enum ur_nl_event event)
{
	struct ur_nl_msg m = {0};

	put(&m, dev, event);
	ur_list_for_each(it, &dev->daemon->sessions) {
		struct ur_session *s =
			ur_list_entry(it, struct ur_session, node);

		if (s->nl && s->nl->groups & 1ull << (UR_NL_GROUP_NOTIFY - 1) &&
		    send(s->sock, m.buf, m.len, MSG_DONTWAIT | MSG_NOSIGNAL) <
			    0)
			ur_debug("session %llu: misses an event of %s",
				 (unsigned long long)s->id, dev->name);
	}
}
