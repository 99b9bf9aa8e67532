// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The memory for requests ahead of a gap. */
#include "transport/internal.h"

#include <errno.h>
#include <stdlib.h>

int ur_ooo_pool_create(struct ur_ooo_pool *pool)
{
	pool->slot = malloc(UR_OOO_SLOTS * sizeof(*pool->slot));
	if (!pool->slot)
		return -ENOMEM;
	pool->free = UR_OOO_NONE;
	pool->used = 0;
	return 0;
}

void ur_ooo_pool_destroy(struct ur_ooo_pool *pool)
{
	free(pool->slot);
}

int ur_ooo_create(struct ur_qp *qp)
{
	qp->resp.ooo = malloc(sizeof(*qp->resp.ooo));
	if (!qp->resp.ooo)
		return -ENOMEM;
	qp->resp.ooo->count = 0;
	memset(qp->resp.ooo->slot, 0xff, sizeof(qp->resp.ooo->slot));
	return 0;
}

void ur_ooo_destroy(struct ur_qp *qp)
{
	ur_ooo_drop_all(qp);
	free(qp->resp.ooo);
	qp->resp.ooo = NULL;
}
