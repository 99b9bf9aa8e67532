/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "promote.h"

struct ur_promotion *ur_promote(void *addr, size_t length,
				struct uroce_reg_mr_req *req)
{
	return NULL;
}

void ur_promotion_put(struct ur_promotion *promotion)
{
}
