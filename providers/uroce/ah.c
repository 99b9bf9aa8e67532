// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address handles. The device resolves the neighbour. */
#include "guest.h"
#include "uroce.h"

struct ibv_ah *uroce_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	UR_RESP(ib_uverbs_create_ah_resp, struct uroce_create_ah_resp drv)
	resp = {0};
	struct uroce_ah *ah;
	int err;

	/* RoCE has no address without a GID. */
	if (!attr->is_global) {
		errno = EINVAL;
		return NULL;
	}
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	err = UR_GUEST_TRY(
		pd->context, pd,
		ibv_cmd_create_ah(pd, &ah->ibv, attr, &resp, sizeof(resp)));
	if (err) {
		free(ah);
		errno = err;
		return NULL;
	}
	ah->ah = resp.drv.ah;
	err = ur_guest_create_ah(ur_to_ctx(pd->context), ah, pd);
	if (err) {
		ibv_cmd_destroy_ah(&ah->ibv);
		free(ah);
		errno = err;
		return NULL;
	}
	ah->pd = ur_pd_get(pd);
	return &ah->ibv;
}

int uroce_destroy_ah(struct ibv_ah *ibah)
{
	struct uroce_ah *ah = ur_to_ah(ibah);
	int err = ur_guest_forgive(ur_to_ctx(ibah->context),
				   ibv_cmd_destroy_ah(ibah));

	if (err)
		return err;
	if (ah->guest &&
	    ur_guest_has_still(ur_to_ctx(ibah->context), ah->guest))
		ur_to_ctx(ibah->context)->door->destroy_ah(ah->guest);
	ur_pd_put(ah->pd);
	free(ah);
	return 0;
}
