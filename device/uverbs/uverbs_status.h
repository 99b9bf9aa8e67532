/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lists of the objects of uverbs files. */
#ifndef UR_DEVICE_UVERBS_UVERBS_STATUS_H
#define UR_DEVICE_UVERBS_UVERBS_STATUS_H

#include "device/listing.h"

struct ur_obj_qp;

ur_listing_next ur_status_next_pd, ur_status_next_qp, ur_status_next_cq,
	ur_status_next_mr;
/* Makes one step: sets *qp to the next queue pair, or NULL if this step found none. Returns
 * false at the end. */
bool ur_status_next_obj_qp(struct ur_listing *w, struct ur_obj_qp **qp);

#endif
