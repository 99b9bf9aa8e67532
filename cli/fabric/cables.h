/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The switches, which are bridges in the keeper's network namespace, and the cables, which
 * are veth pairs from there into the hosts'. We choose the interface indices, so that
 * nothing is looked up by name.
 */
#ifndef UR_CLI_FABRIC_CABLES_H
#define UR_CLI_FABRIC_CABLES_H

#include "cli/fabric/error.h"
#include "cli/fabric/plan.h"

/* Return the interface index of a port of the switch, and of the interface in the host. */
unsigned int ur_fabric_port_index(unsigned int host, unsigned int card);
unsigned int ur_fabric_netdev_index(unsigned int card);

/* Makes the switches, with a link between them if there are two. sock: rtnetlink, in the
 * keeper's namespace. Returns 0 or -errno. */
int ur_fabric_switches(int sock, const struct ur_fabric_plan *plan,
		       struct ur_fabric_error *error);

/**
 * ur_fabric_cable() - make a cable from a host's switch to its card, up at the switch's end
 * @netns: the host's network namespace
 * Return: 0 or -errno.
 */
int ur_fabric_cable(int sock, const struct ur_fabric_plan *plan,
		    unsigned int host, unsigned int card, int netns,
		    struct ur_fabric_error *error);

/* Sets up the interfaces of a host and gives them their addresses; called in
 * its network namespace. Returns 0 or -errno. */
int ur_fabric_host_net(const struct ur_fabric_plan *plan, unsigned int host,
		       struct ur_fabric_error *error);

#endif
