// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counters objects: made to be attached to flows. Without flow steering
 * nothing can be attached to one, so reading has nothing to read.
 */
#include <errno.h>
#include "device/uverbs/objects.h"
#include "device/uverbs/uverbs_cmd.h"

int ur_m_create_counters(struct ur_cmd *cmd)
{
	return -EOPNOTSUPP;
}

int ur_m_read_counters(struct ur_cmd *cmd)
{
	return -EOPNOTSUPP;
}
