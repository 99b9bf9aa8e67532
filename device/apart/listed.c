// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Regions that uroced has named for a program that did not run: struct uroce_apart_context. */
#include <stdlib.h>
#include <unistd.h>
#include "device/apart/apart.h"

/* Returns the new object's number; 0: it cannot be registered. */
static u32 reg(struct ur_apart_client *c, const struct uroce_emr_init *init)
{
	struct uroce_call call = {
		.msg = {.op = UROCE_CALL_REG_MR, .mr.init = *init}};

	if (!ur_apart_mr_is_good(init) ||
	    ur_apart_make_room(c, UR_APART_LISTED_MR) ||
	    ur_apart_find_domain(c, &call.msg.mr.init.pdn) ||
	    c->ops->call(c->ctx, &call))
		return 0;
	return ur_apart_add(c, UR_APART_LISTED_MR, call.it);
}

void ur_apart_register_listed(struct ur_apart_client *c, int fd, u32 n)
{
	struct uroce_emr_init init;
	u32 number;

	c->listed =
		n <= UR_APART_OBJECTS ? calloc(n, sizeof(*c->listed)) : NULL;
	for (u32 i = 0; c->listed && i < n; i++) {
		if (pread(fd, &init, sizeof(init), (off_t)(i * sizeof(init))) !=
		    sizeof(init))
			return;
		number = reg(c, &init);
		if (number)
			c->listed[c->n_listed++] =
				(struct ur_apart_listed){init.key, number};
	}
}

u32 ur_apart_claim(struct ur_apart_client *c, u32 key)
{
	u32 number;

	for (u32 i = 0; i < c->n_listed; i++) {
		if (c->listed[i].key != key)
			continue;
		number = c->listed[i].number;
		ur_apart_find(c, UR_APART_LISTED_MR, number)->kind =
			UR_APART_MR;
		c->listed[i] = c->listed[--c->n_listed];
		return number;
	}
	return 0;
}

void ur_apart_claimed(struct ur_apart_client *c)
{
	while (c->n_listed) {
		struct ur_apart_object *o = ur_apart_find(
			c, UR_APART_LISTED_MR, c->listed[--c->n_listed].number);
		struct uroce_call call = {.msg.op = UROCE_CALL_DEREG_MR,
					  .it = o->it};

		/* A region that windows are bound to stays. */
		if (!c->ops->call(c->ctx, &call))
			ur_apart_del(c, o);
	}
	free(c->listed);
	c->listed = NULL;
}
