/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's messages, on stderr. */
#ifndef UR_ENGINE_GROUND_LOG_H
#define UR_ENGINE_GROUND_LOG_H

/* Writes one line to stderr. Any thread. */
void ur_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Does the same, but only with --verbose. */
void ur_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
extern int ur_log_verbose;

#endif
