/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Loss and marks on a link: rules of nftables at a port of the switch. */
#ifndef UR_CLI_FABRIC_FILTER_H
#define UR_CLI_FABRIC_FILTER_H

#include <stdint.h>

#include "cli/fabric/error.h"

/**
 * ur_fabric_filter() - drop and mark random packets at a port, in both directions
 * @port: the interface, in this thread's network namespace
 * @loss: packets of a million that are dropped
 * @mark: packets of a million that get CE, of those that are ECN capable
 *
 * Replaces the port's former rules. Both 0: removes them.
 *
 * Return: 0 or -errno; -EOPNOTSUPP: not supported by the kernel.
 */
int ur_fabric_filter(const char *port, uint32_t loss, uint32_t mark,
		     struct ur_fabric_error *error);

#endif
