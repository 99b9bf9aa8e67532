// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* record: off, on, or the size of the device's flight recorder in KiB. */
#include <stdio.h>
#include <string.h>
#include "device/report/record.h"
#include "device/settings/setting.h"

static void show_record(const struct ur_device *dev, u32 arg, char *buf,
			size_t size)
{
	u32 kib = ur_record_kib(dev);

	if (kib)
		snprintf(buf, size, "%u\n", kib);
	else
		snprintf(buf, size, "off\n");
}

static int parse(const char *text, u32 *kib)
{
	int err;

	if (!strcmp(text, "off") || !strcmp(text, "0")) {
		*kib = 0;
		return 0;
	}
	if (!strcmp(text, "on")) {
		*kib = UR_RECORDER_KIB;
		return 0;
	}
	err = ur_setting_number(text, UR_RECORDER_MIN_KIB, UR_RECORDER_MAX_KIB,
				kib);
	if (!err)
		*kib = ur_roundup_pow2(*kib);
	return err;
}

static int store(struct ur_device *dev, u32 arg, const char *text)
{
	u32 kib;
	int err = parse(text, &kib);

	return err ? err : ur_record_set(dev, kib);
}

static const struct ur_setting list[] = {
	{UR_SETTING_IB, "uroce/record", "record", 0, show_record, store},
};

const struct ur_settings ur_settings_record = {list, UR_ARRAY_SIZE(list)};
