// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce fabric up: reads what the fabric is to be, and has it made. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/fabric/fabric.h"
#include "cli/fabric/keeper.h"
#include "cli/fabric/link_words.h"

#define HOSTS_DEFAULT 2
#define MTU_DEFAULT   1500

static int read_hosts(const struct ur_options *options, uint32_t *hosts)
{
	char *end;
	long n;

	*hosts = HOSTS_DEFAULT;
	if (!options->rest_count)
		return 0;
	if (options->rest_count > 1)
		return ur_too_many("fabric", options->rest[1]);
	n = strtol(options->rest[0], &end, 10);
	if (*end || end == options->rest[0] || n < 1 ||
	    n > UR_FABRIC_HOSTS_MAX) {
		ur_complain("fabric up %s: not a number of hosts from 1 to %d",
			    options->rest[0], UR_FABRIC_HOSTS_MAX);
		return UR_EXIT_USAGE;
	}
	*hosts = (uint32_t)n;
	return 0;
}

static int read_plan(const struct ur_options *options,
		     struct ur_fabric_plan *plan)
{
	char loss[] = "loss", *words[] = {loss, NULL, NULL};
	uint32_t traits = 0;
	int ret = read_hosts(options, &plan->hosts);

	if (ret)
		return ret;
	plan->devices = options->devices ? (uint32_t)options->devices : 1;
	plan->racks = options->racks ? (uint32_t)options->racks : 1;
	plan->link.mtu = options->mtu ? (uint32_t)options->mtu : MTU_DEFAULT;
	if (plan->devices > UR_FABRIC_DEVICES_MAX) {
		ur_complain("fabric up: --devices %d: a host has %d at most",
			    options->devices, UR_FABRIC_DEVICES_MAX);
		return UR_EXIT_USAGE;
	}
	if (plan->racks > plan->hosts) {
		ur_complain("fabric up: two racks are for two hosts or more");
		return UR_EXIT_USAGE;
	}
	words[1] = (char *)(uintptr_t)options->loss;
	if ((options->link &&
	     ur_fabric_link_spec(options->link, &plan->link, &traits)) ||
	    (options->loss &&
	     ur_fabric_link_words(words, &plan->link, &traits)))
		return UR_EXIT_USAGE;
	return 0;
}

static void print_made(const struct ur_fabric_dir *paths,
		       const struct ur_fabric_plan *plan)
{
	char link[200];

	ur_fabric_link_print(&plan->link, link, sizeof(link));
	printf("fabric %s: node1%s%.0u, %u device%s each, links %s\n",
	       paths->name, plan->hosts > 1 ? " to node" : "",
	       plan->hosts > 1 ? plan->hosts : 0, plan->devices,
	       plan->devices > 1 ? "s" : "", link);
}

int ur_fabric_up(struct ur_options *options)
{
	struct ur_fabric_plan plan = {0};
	struct ur_fabric_dir paths;
	int dir, ret = read_plan(options, &plan);

	if (ret || ur_fabric_dir_find(options, &paths))
		return UR_EXIT_USAGE;
	dir = ur_fabric_dir_take(&paths);
	if (dir < 0 || ur_fabric_start(&paths, dir, &plan))
		return UR_EXIT_FAILED;
	if (!options->quiet)
		print_made(&paths, &plan);
	return 0;
}
