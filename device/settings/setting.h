/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Files of the tree that can be written: each is a value of a device, shown by
 * the file and stored by a write. A write comes as a message, whose answer is
 * the write's result (UROCE_TUN_SETTING); the file itself is only read.
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
	UR_SETTING_CM,	/* sys/kernel/config/rdma_cm/DEV/, once it is made */
};

struct ur_setting {
	enum ur_setting_root root;
	const char *path; /* below the root */
	/* for `uroce link set` and uroce.conf(5); NULL: none of its own */
	const char *name;
	/* for show and store, if one function serves several files */
	u32 arg;
	/* Writes the file's whole text. */
	void (*show)(const struct ur_device *dev, u32 arg, char *buf,
		     size_t size);
	/* Takes what was written, without the newline at its end. Returns 0 or
	 * -errno. */
	int (*store)(struct ur_device *dev, u32 arg, const char *text);
};

/* Reads a number between min and max, decimal or as C writes others, from what
 * was written to a file. Returns 0 or -EINVAL. Any thread. */
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

/* The longest text of a file, with its NUL. */
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

/* Stores text in the file of that name, relative to the run directory, and
 * brings the file up to date; or in set/DEV/NAME. Returns 0, -ENOENT (no such setting) or what the
 * setting says. */
int ur_setting_store(struct ur_daemon *daemon, const char *path,
		     const char *text);
/* Calls the callback for each setting of the device that has a name. */
void ur_settings_tell(struct ur_device *dev,
		      void (*told)(void *ctx, const char *name,
				   const char *text),
		      void *ctx);
/* Brings a file up to date whose value changed in another way. */
void ur_setting_refresh(struct ur_device *dev, const struct ur_settings *of);

/* OPEN of a setting: its path came behind the message. Returns 0, -EACCES or
 * -ENOENT. */
int ur_setting_open(struct ur_session *s);
/* Makes the directory of rdma_cm's configfs whose path came behind the message,
 * or removes it. Returns 0, -EACCES, -ENODEV (no such device), -EEXIST, -ENOENT,
 * or -EPERM (no such directory may be made). */
int ur_setting_directory(struct ur_session *s, bool wanted);
/* Answers writes until the client hangs up. Lock not held. Returns why it
 * ended, -EPIPE where the client did. */
int ur_setting_serve(struct ur_session *s);

#endif
