// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counters objects. The device counts packets and bytes of the flows that name
 * the object; the program chooses the places in its array before the first
 * flow, and they are kept here. */
#include "providers/uroce/uroce.h"

#define DESCRIPTIONS (IBV_COUNTER_BYTES + 1)
/* Indices of an array that programs write out by hand. */
#define MAX_INDEX 64u

struct uroce_counters {
	struct verbs_counters vc;
	u32 count; /* of the array: behind the last index */
	struct {
		bool wanted;
		u32 index;
	} at[DESCRIPTIONS];
};

static struct uroce_counters *to_counters(struct ibv_counters *counters)
{
	return ur_container_of(counters, struct uroce_counters, vc.counters);
}

struct ibv_counters *uroce_create_counters(struct ibv_context *context,
					   struct ibv_counters_init_attr *attr)
{
	struct uroce_counters *c;
	int err;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	err = ibv_cmd_create_counters(context, attr, &c->vc, NULL);
	if (err) {
		free(c);
		errno = err;
		return NULL;
	}
	return &c->vc.counters;
}

int uroce_destroy_counters(struct ibv_counters *counters)
{
	struct uroce_counters *c = to_counters(counters);
	int err = ibv_cmd_destroy_counters(&c->vc);

	if (!err)
		free(c);
	return err;
}

/* Points of a flow that exists cannot be counted: the object belongs to what
 * the flow was made with. */
int uroce_attach_counters_point_flow(struct ibv_counters *counters,
				     struct ibv_counter_attach_attr *attr,
				     struct ibv_flow *flow)
{
	struct uroce_counters *c = to_counters(counters);

	if (attr->comp_mask || flow)
		return EOPNOTSUPP;
	if (attr->counter_desc > IBV_COUNTER_BYTES)
		return EOPNOTSUPP;
	if (attr->index >= MAX_INDEX)
		return EINVAL;
	for (u32 i = 0; i < DESCRIPTIONS; i++)
		if (c->at[i].wanted && i != attr->counter_desc &&
		    c->at[i].index == attr->index)
			return EBUSY;
	c->at[attr->counter_desc].wanted = true;
	c->at[attr->counter_desc].index = attr->index;
	if (c->count <= attr->index)
		c->count = attr->index + 1;
	return 0;
}

int uroce_read_counters(struct ibv_counters *counters, uint64_t *values,
			uint32_t count, uint32_t flags)
{
	struct uroce_counters *c = to_counters(counters);
	u64 counted[DESCRIPTIONS];
	int err;

	if (count < c->count)
		return EINVAL;
	err = ibv_cmd_read_counters(&c->vc, counted, DESCRIPTIONS, flags, NULL);
	for (u32 i = 0; !err && i < DESCRIPTIONS; i++)
		if (c->at[i].wanted)
			values[c->at[i].index] = counted[i];
	return err;
}
