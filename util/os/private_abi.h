/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The private ABI that a libibverbs offers to providers: the NN of the names of their
 * plugins, and of verbs_register_driver_NN() (rdma-core, Documentation/versioning.md). */
#ifndef UR_UTIL_OS_PRIVATE_ABI_H
#define UR_UTIL_OS_PRIVATE_ABI_H

/* Those for which there is a plugin, for messages. */
#define UR_PRIVATE_ABIS "34, 57, 59, 64 and 65"

/* Returns the number that the libibverbs at @handle (dlopen()) has, or 0 where it is
 * none, or is older than rdma-core 26. Any thread. */
int ur_private_abi(void *handle);

#endif
