// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Private ABI 64: rdma-core 64. */
#include "uroce.h"

static __attribute__((constructor)) void register_driver(void)
{
	verbs_register_driver_64(ur_provider_init(UR_PABI_64));
}
