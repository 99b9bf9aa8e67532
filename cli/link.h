/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* `uroce link set`. */
#ifndef UR_CLI_LINK_H
#define UR_CLI_LINK_H

#include "cli/command.h"

/* "DEVICE" shows its settings, "DEVICE NAME VALUE" changes one. Returns an exit
 * code. */
int ur_link_set(struct ur_options *options);

#endif
