// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * device/roce_enable: whether a device does RoCE. When it is off, the device has no GIDs
 * and leaves UDP port 4791 to others. Existing queue pairs lose their paths as if the
 * addresses were removed, new ones cannot be brought up (EOPNOTSUPP, as with mlx5), and raw
 * Ethernet continues.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "device/settings/setting.h"

static void show_roce(const struct ur_device *dev, u32 arg, char *buf,
		      size_t size)
{
	snprintf(buf, size, "%u\n", !dev->roce_off);
}

static int store(struct ur_device *dev, u32 arg, const char *text)
{
	bool on = !strcmp(text, "1") || !strcmp(text, "on");

	if (!on && strcmp(text, "0") && strcmp(text, "off"))
		return -EINVAL;
	if (on == !dev->roce_off)
		return 0;
	dev->roce_off = !on;
	ur_log("%s: RoCE is switched %s", dev->name, on ? "on" : "off");
	ur_device_sync_gids(dev);
	if (!on)
		ur_engine_forget_addrs(dev->engine);
	return 0;
}

static const struct ur_setting list[] = {
	{UR_SETTING_IB, "device/roce_enable", "roce_enable", 0, show_roce,
	 store},
};

const struct ur_settings ur_settings_roce = {list, UR_ARRAY_SIZE(list)};
