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

/* Puts the traffic class and the hop limit of path into av. */
void ur_av_set_class(struct ur_av *av, const struct ur_epath *path);
/* Gives the address vector of a queue pair of that type, or of an address handle, the ECN bits
 * that the settings say, and that its peer may change: ur_qp_set_ecn(). To be called whenever
 * its class has changed. */
void ur_av_set_ecn(const struct ur_engine *engine, struct ur_av *av,
		   enum ur_qp_type type);
/* Makes the address vector of a path in *av, with one reference, which is the
 * caller's. lqpn and rqpn choose the source port where the path has no flow
 * label and queue pairs do not share ports (config.one_path). Returns 0 or
 * -ENOMEM. */
int ur_av_make(struct ur_engine *engine, const struct ur_epath *path, u32 lqpn,
	       u32 rqpn, struct ur_av **av);
/* Does the same, but returns -ENETUNREACH and the like where there is no
 * way. */
int ur_av_create(struct ur_engine *engine, const struct ur_epath *path,
		 u32 lqpn, u32 rqpn, struct ur_av **av);
/* Returns the address vector of the address handle that a WQE names, or NULL
 * where the context has none with that number in protection domain pd. Takes no
 * reference. */
struct ur_av *ur_ah_lookup(struct ur_ectx *ectx, u32 number, u32 pd);

#endif
