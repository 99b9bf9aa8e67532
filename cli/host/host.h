/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* uroce enable and disable --host: the device for every dynamic program. */
#ifndef UR_CLI_HOST_HOST_H
#define UR_CLI_HOST_HOST_H

struct ur_options;

/* Both print what they did and return the command's exit status. */
int ur_host_enable(const struct ur_options *options);
int ur_host_disable(const struct ur_options *options);

#endif
