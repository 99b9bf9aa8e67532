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
 * ur_netns_name() - fill in netdev[] and name[] of options->devices devices
 *
 * Names count up from the number at the end of name[0] (mlx5_2: mlx5_2, mlx5_3 ...), from 0
 * if it has none, and from uroce0 without a name. Prints errors on stderr. Return: 0 or
 * -errno.
 */
int ur_netns_name(struct ur_options *options);

/**
 * ur_netns_make() - put this process into a new network namespace with the interfaces of
 * options->netdev, up, each with an address
 *
 * Needs CAP_SYS_ADMIN and CAP_NET_ADMIN, or makes a user namespace that gives them. Prints
 * errors on stderr. Return: 0 or -errno.
 */
int ur_netns_make(const struct ur_options *options);

#endif
