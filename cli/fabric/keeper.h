/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The two processes of a fabric. The keeper is the first process of a PID namespace and
 * holds the other namespaces by descriptors: when it ends for any reason, the kernel ends
 * all processes in the fabric, and removes networks, mounts and the devices' run
 * directories, which are in memory. The guardian, a child of 'uroce fabric up', waits for
 * the keeper and then removes the directory. If the guardian dies, the keeper ends and
 * removes the directory itself.
 */
#ifndef UR_CLI_FABRIC_KEEPER_H
#define UR_CLI_FABRIC_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/fabric/directory.h"
#include "cli/fabric/traffic.h"

/* The keeper's state of a host. */
struct ur_fabric_host {
	int ns[UR_FABRIC_NS_COUNT]; /* USER and PID are shared by all hosts */
	pid_t device;		    /* 0: it has ended */
	int talk;  /* socket to the host's first process during setup */
	int ready; /* gets "ready" or an error text */
	struct ur_fabric_link links[UR_FABRIC_DEVICES_MAX];
};

struct ur_fabric_keeper {
	struct ur_fabric_dir paths;
	struct ur_fabric_plan plan;
	unsigned int uid, gid;
	bool own_user; /* in a user namespace of its own */
	int dir;       /* locked */
	int sock;      /* listening */
	int life;      /* reads end of file when the guardian is dead */
	int report;    /* to 'uroce fabric up': "ready" or an error text */
	int rtnl;      /* rtnetlink, of the switch */
	/* [0] is the switch: its namespaces are the keeper's. */
	struct ur_fabric_host hosts[UR_FABRIC_HOSTS_MAX + 1];
};

/**
 * ur_fabric_start() - start the guardian and the keeper
 * @paths, @dir: locked; they take the lock over
 * Return: 0 when every host's device serves; else -errno after a line on stderr, with
 * everything removed.
 */
int ur_fabric_start(const struct ur_fabric_dir *paths, int dir,
		    const struct ur_fabric_plan *plan);

/* The main function of the keeper, in the new namespaces. Never returns. */
_Noreturn void ur_fabric_keep(struct ur_fabric_keeper *keeper);

/* Serves commands until the fabric is to end. Returns whether the guardian lives, and so
 * removes the directory. */
bool ur_fabric_serve(struct ur_fabric_keeper *keeper);

/* Changes a link, also in links[]. Returns 0, or -errno with the link as before. */
int ur_fabric_keeper_link(struct ur_fabric_keeper *keeper, unsigned int host,
			  unsigned int card, const struct ur_fabric_link *link,
			  uint32_t traits, struct ur_fabric_error *error);

/**
 * ur_fabric_host_fork() - start the first process of a host, which becomes its device
 * @host: its namespaces come to keeper->hosts[host] by ur_fabric_host_meet()
 * Return: 0 or -errno.
 */
int ur_fabric_host_fork(struct ur_fabric_keeper *keeper, unsigned int host,
			struct ur_fabric_error *error);
int ur_fabric_host_meet(struct ur_fabric_keeper *keeper, unsigned int host,
			struct ur_fabric_error *error);

/* Lets the host's first process continue, once its cables exist. */
int ur_fabric_host_go(struct ur_fabric_keeper *keeper, unsigned int host,
		      struct ur_fabric_error *error);

/* Waits until the host's device serves. Returns 0 or -errno. */
int ur_fabric_host_await(struct ur_fabric_keeper *keeper, unsigned int host,
			 struct ur_fabric_error *error);

/* Opens the calling process's namespaces into ns[]. Returns 0 or -errno. */
int ur_fabric_own_namespaces(int ns[UR_FABRIC_NS_COUNT]);

#endif
