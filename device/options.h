/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The options of uroced: the command line, and the configuration file that it may name
 * (uroce.conf(5)). The command line overrides the file. */
#ifndef UR_DEVICE_OPTIONS_H
#define UR_DEVICE_OPTIONS_H

#include <net/if.h>
#include <stdbool.h>

#define UR_MAX_NETDEVS	 32
#define UR_FAULT_OPTIONS 16
/* Bytes of a device's name, with the NUL. */
#define UR_DEVICE_NAME_MAX 32

/* Maximum number of settings in the configuration file, and bytes of one. */
#define UR_MAX_SETS 64
#define UR_SET_MAX  192

enum ur_isolation {
	UR_ISOLATION_UNSAID,
	UR_ISOLATION_ALL,  /* programs reach all queue pairs of the device */
	UR_ISOLATION_USER, /* programs reach those of the same user only */
};

enum ur_confine {
	UR_CONFINE_UNSAID, /* yes */
	UR_CONFINE_YES,
	UR_CONFINE_NO,
};

struct ur_daemon_options {
	char netdev[UR_MAX_NETDEVS][IF_NAMESIZE];
	/* The name of the device on each netdev, or of the default device where
	 * there is no netdev. Empty: uroceN. */
	char name[UR_MAX_NETDEVS][UR_DEVICE_NAME_MAX];
	int node[UR_MAX_NETDEVS]; /* NUMA node, by netdev; -1: not given */
	int n_netdevs;
	int last;	   /* the netdev that was given last */
	char run_dir[256]; /* empty: the default */
	char engine[256];
	char group[64]; /* who may connect; empty: everybody */
	const char *config;
	int on_demand;	  /* above 0: yes */
	int ready_fd;	  /* -1: none */
	int roce_v1;	  /* above 0: yes */
	int raw_ethernet; /* above 0: yes */
	int only;	  /* above 0: the host's own devices are hidden */
	int peermem;	  /* above 0: ur_daemon.peermem */
	int cm_mode;	  /* 1, 2; 0: not given */
	int user_share;	  /* percent; 0: not given */
	int speed;	  /* Mbit/s that ports report; 0: not given */
	int like;	  /* index in UR_LIKE_WORDS, from 1; 0: not given */
	/* value of the record setting of each device; NULL: off */
	const char *record;
	enum ur_isolation isolation;
	enum ur_confine confine;
	const char *fault[UR_FAULT_OPTIONS]; /* rules of device/fault.h */
	int n_faults;
	int verbose;
	int help; /* above 0: --help was given */
	/* "DEVICE NAME VALUE": settings (device/settings/setting.h), applied when the
	 * device is made. */
	char set[UR_MAX_SETS][UR_SET_MAX];
	int n_sets;
};

/* Fills *o from the command line and the file that it may name. Returns 0, -EINVAL after a
 * message on stderr (exit status 2), or 1 after printing --help. */
int ur_daemon_options_parse(int argc, char **argv, struct ur_daemon_options *o);

/* Reads the configuration file again, for SIGHUP, and adds its netdevs to o. Returns 0, or
 * -errno after a message. */
int ur_daemon_options_reread(struct ur_daemon_options *o);

#endif
