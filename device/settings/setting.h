/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Settings: writable files of the tree. Each shows a value of a device; a write stores it.
 * A write arrives as a message whose reply is the write's result (UROCE_TUN_SETTING);
 * programs only read the file itself.
 *
 * Control lock held, unless a comment says otherwise.
 */
#ifndef UR_DEVICE_SETTINGS_SETTING_H
#define UR_DEVICE_SETTINGS_SETTING_H

#include <errno.h>
#include <stdlib.h>
#include "device/session.h"

enum ur_setting_root {
	UR_SETTING_IB,	/* sys/class/infiniband/DEV/ */
	UR_SETTING_NET, /* sys/class/net/IF/ */
	UR_SETTING_CM,	/* sys/kernel/config/rdma_cm/DEV/, if it exists */
};

struct ur_setting {
	enum ur_setting_root root;
	const char *path; /* below the root */
	/* in `uroce link set` and uroce.conf(5); NULL: not available there */
	const char *name;
	/* argument of show and store, where they serve several files */
	u32 arg;
	/* Writes the file's whole text. */
	void (*show)(const struct ur_device *dev, u32 arg, char *buf,
		     size_t size);
	/* Stores the written text, which has no newline at its end. Returns 0 or -errno. */
	int (*store)(struct ur_device *dev, u32 arg, const char *text);
};

/* Parses a number from min to max, decimal, octal or hexadecimal as in C. Returns 0 or
 * -EINVAL. Any thread. */
static inline int ur_setting_number(const char *text, u32 min, u32 max,
				    u32 *value)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 0);
	if (end == text || *end || errno || *text == '-' || v < min || v > max)
		return -EINVAL;
	*value = (u32)v;
	return 0;
}

/* Maximum bytes of a file's text, with the NUL. */
#define UR_SETTING_TEXT 8192

struct ur_settings {
	const struct ur_setting *list;
	u32 n;
};
/* The settings of a subject. */
extern const struct ur_settings ur_settings_class, /* setting_class.c */
	ur_settings_cm,				   /* setting_cm.c */
	ur_settings_cc,				   /* setting_cc.c */
	ur_settings_roce,			   /* setting_roce.c */
	ur_settings_record;			   /* setting_record.c */

/* The calls that a daemon makes for its devices. */
extern const struct ur_setting_ops ur_setting_ops;

/* Stores text in the setting at path, relative to the run directory, or "set/DEV/NAME", and
 * updates its file. Returns 0, -ENOENT (no such setting) or the error of the setting. */
int ur_setting_store(struct ur_daemon *daemon, const char *path,
		     const char *text);
/* Calls the callback for each setting of the device that has a name. */
void ur_settings_for_each(struct ur_device *dev,
			  void (*each)(void *ctx, const char *name,
				       const char *text),
			  void *ctx);
/* Updates the files of the device's settings in *of, after their values changed by other
 * means. */
void ur_setting_refresh(struct ur_device *dev, const struct ur_settings *of);

/* Handles OPEN of a setting, whose path followed the message. Returns 0, -EACCES or
 * -ENOENT. */
int ur_setting_open(struct ur_session *s);
/* Makes (wanted) or removes the directory of rdma_cm's configfs whose path followed the
 * message. Returns 0, -EACCES, -ENODEV (no such device), -EEXIST, -ENOENT, or -EPERM (no
 * such directory may be made). */
int ur_setting_directory(struct ur_session *s, bool wanted);
/* Serves writes until the client hangs up. Returns the reason, -EPIPE if the client did.
 * Lock not held. */
int ur_setting_serve(struct ur_session *s);

#endif
