/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The two processes of a fabric. The guardian, a child of 'uroce fabric up',
 * waits for the keeper and removes the directory then. The keeper is the first
 * process of a PID namespace and holds the other namespaces by descriptors: with
 * it all processes in the fabric end, whatever it dies of, and then the kernel
 * takes away networks, mounts and the devices' run directories, which are in
 * memory. A guardian that dies ends the keeper, which removes the directory
 * itself.
 */
#ifndef UR_CLI_FABRIC_KEEPER_H
#define UR_CLI_FABRIC_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/fabric/place.h"
#include "cli/fabric/traffic.h"

/* A host as the keeper knows it. */
struct ur_fabric_host {
	int ns[UR_FABRIC_NS_COUNT]; /* USER and PID are one for all hosts */
	pid_t device;		    /* 0: it ended */
	int talk;  /* to the host's first process, while it is being made */
	int ready; /* "ready", or what went wrong */
	struct ur_fabric_link links[UR_FABRIC_DEVICES_MAX];
};

struct ur_fabric_keeper {
	struct ur_fabric_place place;
	struct ur_fabric_plan plan;
	unsigned int uid, gid;
	bool own_user; /* in a user namespace of its own */
	int dir;       /* locked */
	int sock;      /* listening */
	int life;      /* reads end of file when the guardian is dead */
	int report;    /* for 'uroce fabric up': "ready" or what went wrong */
	int rtnl;      /* rtnetlink, of the switch */
	/* [0] is the switch: its namespaces are the keeper's. */
	struct ur_fabric_host hosts[UR_FABRIC_HOSTS_MAX + 1];
};

/**
 * ur_fabric_start() - the guardian and the keeper, as processes of their own
 * @place, @dir: locked; the lock goes over to them
 * Return: 0 when every host's device serves; else -errno after a line on stderr,
 * and nothing is left.
 */
int ur_fabric_start(const struct ur_fabric_place *place, int dir,
		    const struct ur_fabric_plan *plan);

/* The keeper's life, in the new namespaces: never returns. */
_Noreturn void ur_fabric_keep(struct ur_fabric_keeper *keeper);

/* Answers commands until the fabric is to end. Returns whether the guardian is
 * there to remove the directory. */
bool ur_fabric_serve(struct ur_fabric_keeper *keeper);

/* Makes a link what it shall be; links[] has it afterwards. Returns 0 or -errno,
 * and then the link is as before. */
int ur_fabric_keeper_link(struct ur_fabric_keeper *keeper, unsigned int host,
			  unsigned int card, const struct ur_fabric_link *link,
			  uint32_t traits, struct ur_fabric_error *error);

/**
 * ur_fabric_host_fork() - the first process of a host, which becomes its device
 * @host: its namespaces come to keeper->hosts[host] by ur_fabric_host_meet()
 * Return: 0 or -errno.
 */
int ur_fabric_host_fork(struct ur_fabric_keeper *keeper, unsigned int host,
			struct ur_fabric_error *error);
int ur_fabric_host_meet(struct ur_fabric_keeper *keeper, unsigned int host,
			struct ur_fabric_error *error);

/* Lets it go on, its cables being there. */
int ur_fabric_host_go(struct ur_fabric_keeper *keeper, unsigned int host,
		      struct ur_fabric_error *error);

/* Waits until its device serves. Returns 0 or -errno. */
int ur_fabric_host_await(struct ur_fabric_keeper *keeper, unsigned int host,
			 struct ur_fabric_error *error);

/* Opens the calling process's namespaces into ns[]. Returns 0 or -errno. */
int ur_fabric_own_namespaces(int ns[UR_FABRIC_NS_COUNT]);

#endif
