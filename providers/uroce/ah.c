// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address handles. The device resolves the neighbour. */
#include "ectx.h"
#include "uroce.h"

struct ibv_ah *uroce_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	UR_RESP(ib_uverbs_create_ah_resp, struct uroce_create_ah_resp drv)
	resp = {0};
	struct uroce_ah *ah;
	int err;

	/* RoCE has no address without a GID. */
	if (!attr->is_global)
		return ur_fail(NULL, EINVAL);
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	err = UR_ECTX_TRY(
		pd->context, pd,
		ibv_cmd_create_ah(pd, &ah->ibv, attr, &resp, sizeof(resp)));
	if (err)
		return ur_fail(ah, err);
	ah->ah = resp.drv.ah;
	err = ur_ectx_create_ah(ur_to_ctx(pd->context), ah, pd);
	if (err) {
		ibv_cmd_destroy_ah(&ah->ibv);
		return ur_fail(ah, err);
	}
	ah->pd = ur_pd_get(pd);
	return &ah->ibv;
}

int uroce_destroy_ah(struct ibv_ah *ibah)
{
	struct uroce_ah *ah = ur_to_ah(ibah);
	int err = ur_ectx_forgive(ur_to_ctx(ibah->context),
				  ibv_cmd_destroy_ah(ibah));

	if (err)
		return err;
	if (ah->engine &&
	    ur_ectx_has_still(ur_to_ctx(ibah->context), ah->engine))
		ur_engine_tell(ah->engine, UROCE_CALL_DESTROY_AH, 0);
	ur_pd_put(ah->pd);
	free(ah);
	return 0;
}
