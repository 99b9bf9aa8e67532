// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Private ABI 34: rdma-core 34 to 56. */
#include "uroce.h"

static __attribute__((constructor)) void register_driver(void)
{
	verbs_register_driver_34(ur_provider_init(UR_PABI_34));
}
