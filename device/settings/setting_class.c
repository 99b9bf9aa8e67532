// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * tc/1/traffic_class and ttl: the administrator's values for the IP headers of RC queue
 * pairs. They apply to new queue pairs when they are connected, and to connected ones at
 * once.
 */
#include <stdio.h>
#include "device/settings/setting.h"

static void show_tclass(const struct ur_device *dev, u32 arg, char *buf,
			size_t size)
{
	ur_tclass_show(&dev->tclass, buf, size);
}

static int store_tclass(struct ur_device *dev, u32 arg, const char *text)
{
	int err = ur_tclass_store(&dev->tclass, text);

	if (!err)
		ur_device_class_changed(dev);
	return err;
}

static void show_ttl(const struct ur_device *dev, u32 arg, char *buf,
		     size_t size)
{
	snprintf(buf, size, "%u\n", dev->tclass.ttl);
}

static int store_ttl(struct ur_device *dev, u32 arg, const char *text)
{
	u32 v;
	int err = ur_setting_number(text, 0, 255, &v);

	if (err)
		return err;
	dev->tclass.ttl = (u8)v;
	ur_device_class_changed(dev);
	/* The setting has two files. */
	ur_setting_refresh(dev, &ur_settings_class);
	return 0;
}

static const struct ur_setting list[] = {
	{UR_SETTING_IB, "tc/1/traffic_class", "tclass", 0, show_tclass,
	 store_tclass},
	{UR_SETTING_IB, "ttl/1/ttl", "ttl", 0, show_ttl, store_ttl},
	{UR_SETTING_IB, "tc/1/ttl", NULL, 0, show_ttl, store_ttl},
};

const struct ur_settings ur_settings_class = {list, UR_ARRAY_SIZE(list)};
