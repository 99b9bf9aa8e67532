// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Private ABI 59: rdma-core 59 to 63. With 62 two operations came in the middle
 * of the table and the number stayed; a public function that came with them
 * shows which it is. */
#include <dlfcn.h>

#include "uroce.h"

static __attribute__((constructor)) void register_driver(void)
{
	bool b = dlvsym(RTLD_DEFAULT, "ibv_query_port_speed", "IBVERBS_1.16");

	verbs_register_driver_59(
		ur_provider_init(b ? UR_PABI_59B : UR_PABI_59A));
}
