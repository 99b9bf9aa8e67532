/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The private ABI between libibverbs and its providers: the NN in the names of plugins and of
 * verbs_register_driver_NN() (rdma-core, Documentation/versioning.md). */
#ifndef UR_UTIL_OS_PRIVATE_ABI_H
#define UR_UTIL_OS_PRIVATE_ABI_H

/* The ABIs with a plugin, for messages. */
#define UR_PRIVATE_ABIS "34, 57, 59, 64 and 65"

/* Returns the ABI of the libibverbs at @handle (dlopen()), or 0 where it is no
 * libibverbs, or older than rdma-core 26. Any thread. */
int ur_private_abi(void *handle);

#endif
