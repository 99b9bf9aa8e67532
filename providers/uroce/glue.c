// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What libibverbs loads, once for each of its private ABIs: UR_GLUE is its
 * number, that of the first rdma-core that has it.
 */
#include <dlfcn.h>

#include "uroce.h"

#define REGISTER_OF(nn) verbs_register_driver_##nn
#define REGISTER(nn)	REGISTER_OF(nn)
#define PABI_OF(nn)	UR_PABI_##nn
#define PABI(nn)	PABI_OF(nn)

static enum ur_pabi choose_pabi(void)
{
#if UR_GLUE == 59
	/* Two operations came in the middle of the table with 62 and the number
	 * stayed; a public function that came with them tells. */
	return dlvsym(RTLD_DEFAULT, "ibv_query_port_speed", "IBVERBS_1.16")
		       ? UR_PABI_59B
		       : UR_PABI_59A;
#else
	return PABI(UR_GLUE);
#endif
}

static __attribute__((constructor)) void register_driver(void)
{
	REGISTER(UR_GLUE)(ur_provider_init(choose_pabi()));
}
