// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The constructor of the plugin that libibverbs loads. It is compiled once for each
 * private ABI of the library; UR_GLUE is the number of that ABI, which is the
 * first rdma-core that has it.
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
	/* Release 62 inserted two operations into the table under the same
	 * number. A public function that came with them tells the two apart. */
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
