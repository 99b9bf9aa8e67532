// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The keeper: makes the fabric, serves, ends all processes in it. */
#include <errno.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/fabric/cables.h"
#include "cli/fabric/host_files.h"
#include "cli/fabric/keeper.h"
#include "cli/fabric/rights.h"
#include "cli/namespace.h"
#include "cli/fabric/netlink.h"

#define SWITCH_NAME "switch"

/* Returns the traits to apply to new links, which already have their MTU. */
static uint32_t traits_of(const struct ur_fabric_link *link)
{
	return (link->rate || link->queue || link->delay_ns ? UR_FABRIC_RATE
							    : 0) |
	       (link->loss || link->mark ? UR_FABRIC_LOSS : 0);
}

static int set_links(struct ur_fabric_keeper *keeper, unsigned int host,
		     struct ur_fabric_error *error)
{
	const struct ur_fabric_link *want = &keeper->plan.link;
	unsigned int cards = host ? keeper->plan.devices : 1;
	uint32_t traits = traits_of(want);
	int err = 0;

	for (unsigned int card = 0; card < cards && !err; card++) {
		keeper->hosts[host].links[card].mtu = want->mtu;
		if (traits && (host || keeper->plan.racks > 1))
			err = ur_fabric_keeper_link(keeper, host, card, want,
						    traits, error);
	}
	return err;
}

static int make_cables(struct ur_fabric_keeper *keeper, unsigned int host,
		       struct ur_fabric_error *error)
{
	int net = keeper->hosts[host].ns[UR_FABRIC_NS_NET], err = 0;

	for (unsigned int card = 0; card < keeper->plan.devices && !err; card++)
		err = ur_fabric_cable(keeper->rtnl, &keeper->plan, host, card,
				      net, error);
	return err ? err : set_links(keeper, host, error);
}

/* Runs each step for all hosts before the next step, so that hosts work in parallel. */
static int make_hosts(struct ur_fabric_keeper *keeper,
		      struct ur_fabric_error *error)
{
	int (*const steps[])(struct ur_fabric_keeper *, unsigned int,
			     struct ur_fabric_error *) = {
		ur_fabric_host_fork, ur_fabric_host_meet, make_cables,
		ur_fabric_host_go, ur_fabric_host_await};
	int err = 0;

	for (size_t step = 0; step < sizeof(steps) / sizeof(*steps); step++)
		for (unsigned int host = 1; host <= keeper->plan.hosts && !err;
		     host++)
			err = steps[step](keeper, host, error);
	return err;
}

static int make_all(struct ur_fabric_keeper *keeper,
		    struct ur_fabric_error *error)
{
	int err = keeper->own_user ? ur_namespace_map(keeper->uid, keeper->gid)
				   : 0;

	if (!err && sethostname(SWITCH_NAME, strlen(SWITCH_NAME)))
		err = -errno;
	if (err)
		return ur_fabric_refused(err, error);
	err = ur_fabric_files(&keeper->paths, &keeper->plan, error);
	if (err)
		return ur_fabric_refused(err, error);
	err = ur_fabric_own_namespaces(keeper->hosts[0].ns);
	if (err)
		return ur_fabric_fail(error, err, "namespaces");
	keeper->rtnl = ur_nlmsg_open(NETLINK_ROUTE);
	if (keeper->rtnl < 0)
		return ur_fabric_fail(error, keeper->rtnl, "netlink");
	err = ur_fabric_switches(keeper->rtnl, &keeper->plan, error);
	if (!err)
		err = set_links(keeper, 0, error);
	return err ? err : make_hosts(keeper, error);
}

/* Kills all other processes of the PID namespace. */
static void end_all(void)
{
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

_Noreturn void ur_fabric_keep(struct ur_fabric_keeper *keeper)
{
	struct ur_fabric_error error = {0};
	bool guarded = true;

	if (make_all(keeper, &error))
		dprintf(keeper->report, "%s\n", error.text);
	/* The requester may have exited meanwhile. */
	else if (dprintf(keeper->report, "ready\n") > 0) {
		close(keeper->report);
		guarded = ur_fabric_serve(keeper);
	}
	end_all();
	if (!guarded) {
		umount2(keeper->paths.run, MNT_DETACH);
		ur_fabric_dir_clear(&keeper->paths, keeper->dir);
	}
	_exit(0);
}
