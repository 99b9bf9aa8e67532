// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counters objects. They attach to flows, which there are none of. */
#include "uroce.h"

struct ibv_counters *uroce_create_counters(struct ibv_context *context,
					   struct ibv_counters_init_attr *attr)
{
	struct verbs_counters *counters = calloc(1, sizeof(*counters));
	int err;

	if (!counters)
		return NULL;
	err = ibv_cmd_create_counters(context, attr, counters, NULL);
	if (err) {
		free(counters);
		errno = err;
		return NULL;
	}
	return &counters->counters;
}

int uroce_destroy_counters(struct ibv_counters *ibcounters)
{
	struct verbs_counters *counters =
		ur_container_of(ibcounters, struct verbs_counters, counters);
	int err = ibv_cmd_destroy_counters(counters);

	if (!err)
		free(counters);
	return err;
}

int uroce_read_counters(struct ibv_counters *ibcounters, uint64_t *values,
			uint32_t count, uint32_t flags)
{
	return ibv_cmd_read_counters(
		ur_container_of(ibcounters, struct verbs_counters, counters),
		values, count, flags, NULL);
}
