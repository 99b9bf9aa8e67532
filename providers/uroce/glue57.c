// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Private ABI 57: rdma-core 57 and 58. */
#include "uroce.h"

static __attribute__((constructor)) void register_driver(void)
{
	verbs_register_driver_57(ur_provider_init(UR_PABI_57));
}
