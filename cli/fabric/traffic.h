/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Implements the traits of a link: rate and queue by tbf, delay by netem, loss and marks by
 * nftables (filter.h). A trait that the kernel does not support is refused.
 */
#ifndef UR_CLI_FABRIC_TRAFFIC_H
#define UR_CLI_FABRIC_TRAFFIC_H

#include "cli/fabric/error.h"
#include "cli/fabric/plan.h"

/* A link's two interfaces. */
struct ur_fabric_ends {
	const char *port; /* name of end [0], the switch's */
	int sock[2];	  /* rtnetlink, in the namespace of each end */
	unsigned int index[2];
};

/**
 * ur_fabric_link_apply() - apply traits to a link, in place of the former ones
 * @ends: the link
 * @traits: those that may have changed
 *
 * After an error some traits may have changed; applying the old values undoes that.
 *
 * Return: 0 or -errno; -EOPNOTSUPP: not supported by the kernel.
 */
int ur_fabric_link_apply(const struct ur_fabric_ends *ends,
			 const struct ur_fabric_link *link, uint32_t traits,
			 struct ur_fabric_error *error);

#endif
