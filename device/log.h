/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the daemon says, on stderr. */
#ifndef UR_DEVICE_LOG_H
#define UR_DEVICE_LOG_H

/* One line on stderr; the second only with -v. */
void ur_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ur_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
extern int ur_log_verbose;

#endif
