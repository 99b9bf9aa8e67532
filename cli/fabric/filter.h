/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Loss and marks on a link: rules of nftables at a port of the switch. */
#ifndef UR_CLI_FABRIC_FILTER_H
#define UR_CLI_FABRIC_FILTER_H

#include <stdint.h>

#include "cli/fabric/error.h"

/**
 * ur_fabric_filter() - drop and mark by chance what passes a port, both ways
 * @port: the interface, in this thread's network namespace
 * @loss: packets of a million that are dropped
 * @mark: packets of a million that get CE, of those that are ECN capable
 *
 * In place of what was there. Both 0: nothing is left of it.
 *
 * Return: 0 or -errno; -EOPNOTSUPP: the kernel has not what it takes.
 */
int ur_fabric_filter(const char *port, uint32_t loss, uint32_t mark,
		     struct ur_fabric_error *error);

#endif
