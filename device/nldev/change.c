// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The requests that change a device or the system, for administrators. */
#include <errno.h>
#include <string.h>
#include "device/nldev/nldev.h"

static void say(const struct ur_nl_request *r, const char *name,
		const char *what)
{
	ur_log("%s: %s by process %d (%s)", name, what,
	       (int)r->nl->session->pid, r->nl->session->comm);
}

/* Checks a switch that supports only one position, ours. */
static int only(u8 v, u8 ours)
{
	if (v > 1)
		return -EINVAL;
	return v == ours ? 0 : -EOPNOTSUPP;
}

static int rename_to(struct ur_nl_request *r, struct ur_device *dev)
{
	const char *name = ur_nl_text(&r->attrs, RDMA_NLDEV_ATTR_DEV_NAME);
	int err = *name ? ur_device_rename(dev, name) : -EINVAL;

	if (!err)
		say(r, name, "has its name");
	return err;
}

/* Makes the first change that the request has, in the kernel's order. */
int ur_nl_set(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	struct ur_device *dev = ur_nl_device(r);

	if (!dev)
		return -EINVAL;
	if (ur_nl_has(&r->attrs, RDMA_NLDEV_ATTR_DEV_NAME))
		return rename_to(r, dev);
	if (ur_nl_has(&r->attrs, RDMA_NLDEV_NET_NS_FD)) {
		r->why = "a uroce device stays in its daemon's namespace";
		return -EOPNOTSUPP;
	}
	if (ur_nl_has(&r->attrs, RDMA_NLDEV_ATTR_DEV_DIM))
		return only(ur_nl_u8(&r->attrs, RDMA_NLDEV_ATTR_DEV_DIM), 0);
	return 0;
}

static const char *text(const struct ur_nl_request *r, u32 type)
{
	return ur_nl_has(&r->attrs, type) ? ur_nl_text(&r->attrs, type) : NULL;
}

int ur_nl_newlink(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	const char *name = text(r, RDMA_NLDEV_ATTR_DEV_NAME);
	const char *type = text(r, RDMA_NLDEV_ATTR_LINK_TYPE);
	const char *netdev = text(r, RDMA_NLDEV_ATTR_NDEV_NAME);
	int err;

	if (!name || !type || !netdev || !*name)
		return -EINVAL;
	if (strlen(netdev) >= IF_NAMESIZE || !if_nametoindex(netdev))
		return -ENODEV;
	/* Scripts for Soft-RoCE request rxe. */
	if (strcmp(type, "rxe") != 0 && strcmp(type, "uroce") != 0) {
		r->why = "types here: rxe, uroce";
		return -EINVAL;
	}
	err = ur_device_create(r->nl->daemon, netdev, name, -1);
	if (!err)
		say(r, name, "added");
	return err;
}

int ur_nl_dellink(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	struct ur_device *dev = ur_nl_device(r);

	if (!dev)
		return -EINVAL;
	say(r, dev->name, "removed");
	ur_device_remove(dev);
	return 0;
}

int ur_nl_sys_set(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	if (ur_nl_has(&r->attrs, RDMA_NLDEV_SYS_ATTR_NETNS_MODE))
		return only(ur_nl_u8(&r->attrs, RDMA_NLDEV_SYS_ATTR_NETNS_MODE),
			    1);
	if (ur_nl_has(&r->attrs, UR_NLDEV_ATTR_PRIVILEGED_QKEY))
		return only(ur_nl_u8(&r->attrs, UR_NLDEV_ATTR_PRIVILEGED_QKEY),
			    0);
	return -EINVAL;
}
