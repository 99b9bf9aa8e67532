// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rdma_cm's configfs: the GID type, and the default type of service. A directory with the
 * device's name makes the files appear; the values apply without it, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/administrator.h"
#include "device/settings/setting.h"
#include "device/tree/tree.h"

#define CM_DIR "sys/kernel/config/rdma_cm"

static void show_mode(const struct ur_device *dev, u32 arg, char *buf,
		      size_t size)
{
	snprintf(buf, size, "%s\n", dev->cm_v1 ? "IB/RoCE v1" : "RoCE v2");
}

static int store_mode(struct ur_device *dev, u32 arg, const char *text)
{
	bool v1 = !strcmp(text, "IB/RoCE v1");

	if (!v1 && strcmp(text, "RoCE v2"))
		return -EINVAL;
	if (v1 && !dev->roce_v1)
		return -EINVAL;
	dev->cm_v1 = v1;
	return 0;
}

static void show_tos(const struct ur_device *dev, u32 arg, char *buf,
		     size_t size)
{
	snprintf(buf, size, "%u\n", dev->cm_tos);
}

static int store_tos(struct ur_device *dev, u32 arg, const char *text)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 0);
	if (end == text || *end || errno || *text == '-')
		return -EINVAL;
	if (v > 255)
		return -ERANGE; /* as kstrtou8() */
	dev->cm_tos = (u8)v;
	return 0;
}

static const struct ur_setting list[] = {
	{UR_SETTING_CM, "ports/1/default_roce_mode", "cm-mode", 0, show_mode,
	 store_mode},
	{UR_SETTING_CM, "ports/1/default_roce_tos", "cm-tos", 0, show_tos,
	 store_tos},
};

const struct ur_settings ur_settings_cm = {list, UR_ARRAY_SIZE(list)};

static int make(struct ur_device *dev)
{
	int err;

	ur_tree_mkdir(dev->daemon, CM_DIR "/%s/ports/1", dev->name);
	err = ur_tree_error();
	if (!err) {
		dev->cm_files = true;
		ur_setting_refresh(dev, &ur_settings_cm);
	}
	return err;
}

int ur_setting_directory(struct ur_session *s, bool wanted)
{
	const char *path = (const char *)s->window;
	size_t len = strlen(CM_DIR "/");
	struct ur_device *dev;

	if (!ur_is_administrator(s))
		return -EACCES;
	if (!s->window_len || path[s->window_len - 1] ||
	    strncmp(path, CM_DIR "/", len))
		return -EPERM;
	dev = ur_device_by_name(s->daemon, path + len);
	if (!dev)
		return strchr(path + len, '/') ? -EPERM
		       : wanted		       ? -ENODEV
					       : -ENOENT;
	if (wanted)
		return dev->cm_files ? -EEXIST : make(dev);
	if (!dev->cm_files)
		return -ENOENT;
	dev->cm_files = false;
	ur_tree_drop_all(dev->daemon, CM_DIR "/%s", dev->name);
	return 0;
}
