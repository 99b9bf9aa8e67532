/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sets the environment that a program needs to use the device. */
#ifndef UR_CLI_ENVIRONMENT_H
#define UR_CLI_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

struct ur_options;

/* Puts the absolute name of the preload library into path. Returns 0 or -errno. */
int ur_environment_library(char *path, size_t size);

/**
 * ur_environment_set() - set UROCE_RUN_DIR and LD_PRELOAD for this process's children
 *
 * Prints errors on stderr. Return: 0 or -errno.
 */
int ur_environment_set(const char *run_dir);

/* Returns whether we bring a program of that name, which ur_environment_set() adds to PATH. */
bool ur_environment_has_tool(const char *name);

/**
 * ur_environment_check() - apply --check, --check-json and --check-mute
 *
 * Puts the checking library in front of all others in LD_PRELOAD. Does nothing without
 * --check. Prints errors on stderr. Return: 0 or -errno.
 */
int ur_environment_check(const struct ur_options *options);

/**
 * ur_environment_adverse() - set UROCE_ADVERSE from --adverse, if that was given
 *
 * Prints errors on stderr. Return: 0 or -errno.
 */
int ur_environment_adverse(const struct ur_options *options);

/* Sets UROCE_ENGINE from --engine, if that was given. Returns 0 or -errno. */
int ur_environment_engine(const struct ur_options *options);

#endif
