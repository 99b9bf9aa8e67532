// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Adds and removes devices of a running daemon at a client's request. */
#include <errno.h>
#include <stdio.h>
#include "device/administrator.h"
#include "device/link.h"
#include "device/spec.h"
#include "util/assert.h"

static int add_device(struct ur_session *s, const char *words, char *ret_name)
{
	struct ur_device_spec spec;
	int err;

	ur_assert(ur_loop_mine(s->daemon->loop));
	err = ur_device_spec_read(words, &spec);
	if (!err)
		err = ur_device_create(s->daemon, spec.netdev,
				       *spec.name ? spec.name : NULL,
				       spec.node);
	if (err)
		return err;
	/* The last device is the newest. */
	snprintf(ret_name, UROCE_TUN_NAME_MAX, "%s",
		 ur_list_entry(s->daemon->devices.prev, struct ur_device, node)
			 ->name);
	ur_log("%s: added on %s by process %d (%s)", ret_name, spec.netdev,
	       (int)s->pid, s->comm);
	return 0;
}

static int del(struct ur_session *s, const char *name, char *ret_name)
{
	struct ur_device *dev = ur_device_by_name(s->daemon, name);

	ur_assert(ur_loop_mine(s->daemon->loop));
	if (!dev)
		return -ENODEV;
	snprintf(ret_name, UROCE_TUN_NAME_MAX, "%s", name);
	ur_log("%s: removed by process %d (%s)", name, (int)s->pid, s->comm);
	ur_device_remove(dev);
	return 0;
}

int ur_link_command(struct ur_session *s, const struct uroce_tun_msg *msg,
		    char *ret_name)
{
	if (!ur_is_administrator(s))
		return -EPERM;
	switch (msg->link.what) {
	case UROCE_TUN_LINK_ADD:
		return add_device(s, msg->name, ret_name);
	case UROCE_TUN_LINK_DEL:
		return del(s, msg->name, ret_name);
	default:
		return -EINVAL;
	}
}
