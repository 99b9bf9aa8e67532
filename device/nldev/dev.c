// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Read requests about devices and ports. */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdio.h>
#include <string.h>
#include "device/nldev/nldev.h"
#include "device/port.h"
#include "device/tree/sysfs.h"
#include "device/uverbs/query.h"
#include "kernel-abi/uroce-abi.h"

#define NODE_CA	     1 /* enum rdma_node_type */
#define UVERBS_ABI   UROCE_UVERBS_ABI_VERSION
#define RDMA_CM_ABI  4
#define NAME_BY_USER 1 /* enum rdma_nl_name_assign_type */
#define NETNS_SHARED 1

void ur_nl_put_handle(struct ur_nl_msg *m, const struct ur_device *dev)
{
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, dev->nl_index);
	ur_nl_put_text(m, RDMA_NLDEV_ATTR_DEV_NAME, dev->name);
}

static void put_device(struct ur_nl_msg *m, const struct ur_device *dev)
{
	char fw[32];

	ur_nl_put_handle(m, dev);
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	ur_nl_put_u64(m, RDMA_NLDEV_ATTR_CAP_FLAGS, ur_device_cap_flags());
	ur_like_fw(dev->daemon->like, fw, sizeof(fw));
	ur_nl_put_text(m, RDMA_NLDEV_ATTR_FW_VERSION, fw);
	ur_nl_put_u64(m, RDMA_NLDEV_ATTR_NODE_GUID, dev->node_guid);
	ur_nl_put_u64(m, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, dev->node_guid);
	ur_nl_put_u8(m, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, NODE_CA);
	ur_nl_put_u8(m, RDMA_NLDEV_ATTR_DEV_DIM, 0);
	ur_nl_put_u8(m, UR_NLDEV_ATTR_NAME_ASSIGN, NAME_BY_USER);
	ur_nl_put_text(m, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
}

static void put_port(struct ur_nl_msg *m, struct ur_device *dev)
{
	struct ib_uverbs_query_port_resp port = {0};

	ur_fill_port(dev, &port);
	ur_nl_put_handle(m, dev);
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	ur_nl_put_u8(m, RDMA_NLDEV_ATTR_PORT_STATE, port.state);
	ur_nl_put_u8(m, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, port.phys_state);
	if (!dev->present)
		return;
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_NDEV_INDEX, dev->ifindex);
	ur_nl_put_text(m, RDMA_NLDEV_ATTR_NDEV_NAME, dev->netdev);
}

int ur_nl_get(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	return ur_nl_answer_device(r, m, RDMA_NLDEV_CMD_GET, put_device);
}

int ur_nl_get_dump(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	ur_nl_dump_devices(r, m, RDMA_NLDEV_CMD_GET, put_device);
	return 0;
}

/* Returns whether the request names an existing port. */
static bool port_is_valid(const struct ur_nl_request *r)
{
	return ur_nl_has(&r->attrs, RDMA_NLDEV_ATTR_PORT_INDEX) &&
	       ur_nl_u32(&r->attrs, RDMA_NLDEV_ATTR_PORT_INDEX) == 1;
}

int ur_nl_port_get(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	struct ur_device *dev = ur_nl_device(r);

	if (!dev || !port_is_valid(r))
		return -EINVAL;
	/* The kernel, too, replies with this command instead of PORT_GET. */
	ur_nl_answer(r, m, RDMA_NLDEV_CMD_GET, 0);
	put_port(m, dev);
	ur_nl_end(m);
	return 0;
}

int ur_nl_port_dump(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	struct ur_device *dev = ur_nl_device(r);

	if (!dev)
		return -EINVAL;
	if (r->at++)
		return 0;
	ur_nl_answer(r, m, RDMA_NLDEV_CMD_PORT_GET, NLM_F_MULTI);
	put_port(m, dev);
	ur_nl_end(m);
	return 0;
}

int ur_nl_sys_get(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	ur_nl_answer(r, m, RDMA_NLDEV_CMD_SYS_GET, 0);
	ur_nl_put_u8(m, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, NETNS_SHARED);
	ur_nl_put_u8(m, UR_NLDEV_ATTR_PRIVILEGED_QKEY, 0);
	ur_nl_put_u8(m, UR_NLDEV_ATTR_MONITOR_MODE, 1);
	/* No page is pinned, so memory survives fork() in the parent. */
	ur_nl_put_u8(m, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
	ur_nl_end(m);
	return 0;
}

static void put_chardev(struct ur_nl_msg *m, u64 rdev, u64 abi,
			const char *name)
{
	ur_nl_put_u64(m, RDMA_NLDEV_ATTR_CHARDEV, rdev);
	ur_nl_put_u64(m, RDMA_NLDEV_ATTR_CHARDEV_ABI, abi);
	ur_nl_put_text(m, RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
}

static int put_uverbs(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	const struct ur_device *dev = ur_nl_device(r);
	char name[24];

	if (!dev)
		return -EINVAL;
	snprintf(name, sizeof(name), "uverbs%u", dev->uverbs);
	ur_nl_put_u32(m, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, UROCE_DRIVER_ID);
	put_chardev(m, dev->rdev, UVERBS_ABI, name);
	return 0;
}

int ur_nl_chardev_get(struct ur_nl_request *r, struct ur_nl_msg *m)
{
	const char *type;

	if (!ur_nl_has(&r->attrs, RDMA_NLDEV_ATTR_CHARDEV_TYPE))
		return -EINVAL;
	type = ur_nl_text(&r->attrs, RDMA_NLDEV_ATTR_CHARDEV_TYPE);
	ur_nl_answer(r, m, RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	if (!strcmp(type, "uverbs")) {
		int err = put_uverbs(r, m);

		if (err)
			return err;
	} else if (!strcmp(type, "rdma_cm") &&
		   r->nl->daemon->file_ops[UROCE_TUN_RDMA_CM]) {
		put_chardev(m, ur_sysfs_rdma_cm_rdev(), RDMA_CM_ABI, type);
	} else {
		return -EOPNOTSUPP;
	}
	ur_nl_end(m);
	return 0;
}
