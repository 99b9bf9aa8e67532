/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Address handles and address vectors: ah_table.c, engine_addr.c. */
#ifndef UR_ENGINE_CORE_AH_H
#define UR_ENGINE_CORE_AH_H

#include "engine/core/ectx.h"
#include "transport/transport.h"

struct ur_eah {
	struct ur_ectx *ectx;
	struct ur_av *av;
	u32 pd;
	u32 number;
};

/* Copies the traffic class and the hop limit of path to av. */
void ur_av_set_class(struct ur_av *av, const struct ur_epath *path);
/* Sets the ECN bits of the address vector of a queue pair of that type, or of an address handle,
 * by the engine's settings. ur_qp_set_ecn() may change them for the peer. Call it after each change
 * of the traffic class. */
void ur_av_set_ecn(const struct ur_engine *engine, struct ur_av *av,
		   enum ur_qp_type type);
/* Makes the address vector of a path in *av. The caller owns its one reference.
 * lqpn and rqpn select the UDP source port if the path has no flow label and
 * queue pairs do not share ports (config.one_path). Returns 0 or -ENOMEM. */
int ur_av_make(struct ur_engine *engine, const struct ur_epath *path, u32 lqpn,
	       u32 rqpn, struct ur_av **av);
/* Does the same, but returns -ENETUNREACH and the like if there is no route. */
int ur_av_create(struct ur_engine *engine, const struct ur_epath *path,
		 u32 lqpn, u32 rqpn, struct ur_av **av);
/* Returns the address vector of an address handle that a WQE names, or NULL if
 * the context has no such handle in protection domain pd. Takes no reference. */
struct ur_av *ur_ah_lookup(struct ur_ectx *ectx, u32 number, u32 pd);

#endif
