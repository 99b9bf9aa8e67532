/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rights of an ordinary user in a fabric, and the reason if none can be made. */
#ifndef UR_CLI_FABRIC_RIGHTS_H
#define UR_CLI_FABRIC_RIGHTS_H

#include "cli/fabric/error.h"

/**
 * ur_fabric_refused() - explain why namespaces are refused, and what to type
 * @err: -errno of clone(2), or of the first action that needed a right in them
 * Return: @err.
 */
int ur_fabric_refused(int err, struct ur_fabric_error *error);

/**
 * ur_fabric_rights() - give network administration rights to the program that this process
 * executes
 *
 * These are CAP_NET_ADMIN, CAP_NET_RAW, CAP_NET_BIND_SERVICE, and CAP_SYS_ADMIN with
 * CAP_SYS_CHROOT, to join other hosts, in the fabric's user namespace. The uid stays. Root's
 * rights do not change.
 *
 * Return: 0 or -errno.
 */
int ur_fabric_rights(void);

#endif
