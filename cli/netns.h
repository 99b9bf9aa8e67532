/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Several devices at once, as on servers with a card for each GPU. Each is on an interface
 * of its own, in a network namespace that only the device process is in, and that ends with
 * it. Programs stay in theirs: on one host devices are reached through the device process,
 * not through the network.
 */
#ifndef UR_CLI_NETNS_H
#define UR_CLI_NETNS_H

#include "cli/command.h"

/**
 * ur_netns_name() - fills in netdev[] and name[] of options->devices devices
 *
 * They count up from the number at the end of name[0] (mlx5_2: mlx5_2, mlx5_3
 * ...), from 0 where it has none, from uroce0 where no name was given. Prints
 * errors on stderr. Return: 0 or -errno.
 */
int ur_netns_name(struct ur_options *options);

/**
 * ur_netns_make() - puts this process into a new network namespace that has the
 * interfaces of options->netdev, up, each with an address
 *
 * Takes CAP_SYS_ADMIN and CAP_NET_ADMIN, or a user namespace that gives them.
 * Says on stderr what is wrong. Return: 0 or -errno.
 */
int ur_netns_make(const struct ur_options *options);

#endif
