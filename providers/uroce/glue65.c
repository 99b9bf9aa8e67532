// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Private ABI 65: rdma-core 65. */
#include "uroce.h"

static __attribute__((constructor)) void register_driver(void)
{
	verbs_register_driver_65(ur_provider_init(UR_PABI_65));
}
