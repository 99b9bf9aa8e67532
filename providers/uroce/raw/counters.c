// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counters objects. The engine of a flow counts its packets and bytes for the object that it names.
 * The program chooses the indices of its array before the first flow; they are kept here. */
#include "providers/uroce/apart.h"
#include "providers/uroce/ectx.h"

#define DESCRIPTIONS (IBV_COUNTER_BYTES + 1)
/* Indices of an array that programs write out by hand. */
#define MAX_INDEX 64u

struct ibv_counters *uroce_create_counters(struct ibv_context *context,
					   struct ibv_counters_init_attr *attr)
{
	struct uroce_counters *c;
	int err;

	if (attr->comp_mask)
		return ur_fail(NULL, EOPNOTSUPP);
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	err = UR_ECTX_TRY(context, NULL,
			  ibv_cmd_create_counters(context, attr, &c->vc, NULL));
	if (err)
		return ur_fail(c, err);
	c->recoveries = ur_to_ctx(context)->recoveries;
	return &c->vc.counters;
}

int uroce_destroy_counters(struct ibv_counters *counters)
{
	struct uroce_counters *c = ur_to_counters(counters);
	int err;

	/* The next uroced does not know its users. */
	if (__atomic_load_n(&c->flows, __ATOMIC_RELAXED))
		return EBUSY;
	err = ur_ectx_forgive(ur_to_ctx(counters->context),
			      ibv_cmd_destroy_counters(&c->vc));
	if (!err)
		free(c);
	return err;
}

/* The points of an existing flow cannot be counted: the flow names its counters
 * at creation. */
int uroce_attach_counters_point_flow(struct ibv_counters *counters,
				     struct ibv_counter_attach_attr *attr,
				     struct ibv_flow *flow)
{
	struct uroce_counters *c = ur_to_counters(counters);

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
	struct uroce_counters *c = ur_to_counters(counters);
	const __u64 *here[] = {&c->here.packets, &c->here.bytes};
	u64 counted[DESCRIPTIONS] = {0};
	int err;

	if (count < c->count)
		return EINVAL;
	err = ibv_cmd_read_counters(&c->vc, counted, DESCRIPTIONS, flags, NULL);
	if (err && c->flows)
		err = ur_ectx_forgive(ur_to_ctx(counters->context), err);
	if (!err && ur_to_ctx(counters->context)->engine_apart)
		ur_apart_update_counts(ur_to_ctx(counters->context)->engine,
				       &c->here);
	for (u32 i = 0; !err && i < DESCRIPTIONS; i++)
		if (c->at[i].wanted)
			values[c->at[i].index] =
				counted[i] +
				__atomic_load_n(here[i], __ATOMIC_RELAXED);
	return err;
}
