/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The objects of the device process: one daemon, its devices (one for each
 * netdev), and the sessions of its clients. All of it is under the control lock
 * (engine/ground/loop.h). */
#ifndef UR_DEVICE_DEVICE_H
#define UR_DEVICE_DEVICE_H

#include <limits.h>
#include <net/if.h>
#include "engine/engine.h"
#include "device/gid_table.h"
#include "device/groups.h"
#include "device/like.h"
#include "engine/ground/log.h"
#include "engine/ground/loop.h"
#include "device/numbers.h"
#include "device/options.h"
#include "device/quota.h"
#include "device/settings/traffic_class.h"
#include "util/list.h"

struct nl_sock;
struct ur_daemon;
struct ur_device;
struct ur_device_record;

/* The calls that the connection manager gets; it sets ur_daemon.cm_ops. gsi_rx
 * gets the MADs of its class. */
struct ur_cm_ops {
	void (*gsi_rx)(struct ur_device *dev, const struct ur_rx_meta *meta,
		       const u8 *mad, u32 len);
	void (*qp_event)(struct ur_device *dev, u32 qpn, enum ur_event ev);
	/* The device goes away, and can still send now: the peers get a
	 * message. */
	void (*device_gone)(struct ur_device *dev);
};

/* The calls that umad gets; it sets ur_daemon.umad_ops. */
struct ur_umad_ops {
	/* Returns the number of the first device's node: none of a real one. */
	u32 (*first)(const struct ur_daemon *daemon);
	/* Makes what sysfs has of umad without any device; adds and removes
	 * the node of a device and its files in sysfs. Return 0 or -errno. */
	int (*node_init)(const struct ur_daemon *daemon);
	int (*node_add)(struct ur_device *dev);
	void (*node_del)(struct ur_device *dev);
	/* Gets the MADs, of 256 bytes, that the connection manager does not. */
	void (*rx)(struct ur_device *dev, const struct ur_rx_meta *meta,
		   u32 src_qpn, const u8 *mad);
};

struct ur_file_ops;
struct ur_device_file;

/* The calls that a device makes to its open files. */
struct ur_device_file_ops {
	/* An event that belongs to no object. */
	void (*event)(struct ur_device_file *file, u64 element, u32 type);
	/* dev->tclass is another now. NULL: the file has no queue pairs. */
	void (*class_changed)(struct ur_device_file *file);
};

/*
 * The head of every file that is open on a device, of whatever kind: uverbs or
 * umad. To get one kind alone, check ops as ur_ufile_of() does: a place in a
 * list does not show what contains the entry.
 */
struct ur_device_file {
	struct ur_list node;		      /* of the device */
	const struct ur_device_file_ops *ops; /* one for each kind */
};

/* The files of a device's settings (device/settings/), in the order of its life. */
struct ur_setting_ops {
	/* Makes them, in all places, or below the netdev alone. 0 or -errno. */
	int (*add)(struct ur_device *dev);
	int (*add_netdev)(struct ur_device *dev);
	/* Gives a new device what the configuration file asks for. */
	void (*configure)(struct ur_device *dev);
	/* Removes those below dev->netdev, or all that do not go with the
	 * device's own directory. */
	void (*del_netdev)(struct ur_device *dev);
	void (*del)(struct ur_device *dev);
};

#define UR_FILE_KINDS 8

struct ur_daemon {
	struct ur_loop *loop;
	char run_dir[PATH_MAX];
	char **argv; /* NULL: not known */
	int listen_fd, lock_fd, spare_fd;
	bool on_demand;
	bool roce_v1;	   /* GIDs of that type too */
	bool raw_ethernet; /* raw packet queue pairs */
	bool cm_v1;	   /* rdma_cm takes those where there are any */
	bool only;	   /* the host's own devices are not in the tree */
	u32 speed_mbps;	   /* that ports say; 0: their netdevs' */
	const struct ur_like *like;
	struct ur_limits limits; /* of each device */
	bool peermem; /* their files about GPUs' memory are, all the same */
	bool by_user; /* users do not reach each other inside a device */
	const char *engine_options;
	u32 engines;				 /* of each device; 0: one */
	bool user_engines;			 /* no two users share one */
	const struct ur_daemon_options *options; /* NULL: none */
	/* By enum uroce_tun_kind; NULL: the file cannot be opened. */
	const struct ur_file_ops *file_ops[UR_FILE_KINDS];
	const struct ur_setting_ops *setting_ops;

	struct ur_list watchers; /* struct ur_device_watcher */
	struct ur_list devices;	 /* struct ur_device */
	struct ur_list gone;	 /* those taken away that still have clients */
	struct ur_list sessions; /* struct ur_session */
	struct ur_list files;	 /* struct ur_open_file */
	struct ur_list holds;	 /* hold.c */
	u32 n_sessions;
	u64 next_session, next_file;
	u32 next_nl_index;
	const char *group; /* who may connect; NULL: everybody */
	struct ur_loop_timer idle, accept_again;

	struct nl_sock *nl_events, *nl_query;
	void (*nl_changed)(struct ur_daemon *daemon);
	struct ur_list xrcds;  /* obj_xrcd.c */
	struct ur_list faults; /* fault.c */
	struct ur_list whys;   /* why.c */
	u32 n_whys;
	u64 last_why;
	const struct ur_cm_ops *cm_ops;	    /* NULL without */
	void *cm;			    /* its own */
	const struct ur_umad_ops *umad_ops; /* NULL without */
	void *umad;			    /* its own */
};

/* Congestion control as an administrator sets it, cc.c; the units are in
 * the names, as are those of mlx5's files. */
enum ur_cc_value {
	UR_CC_CNP_US,
	UR_CC_TIME_RESET_US,
	UR_CC_BYTE_RESET_64,
	UR_CC_THRESHOLD,
	UR_CC_AI_MBPS,
	UR_CC_HAI_MBPS,
	UR_CC_MIN_MBPS,
	UR_CC_DCE_TCP_G,
	UR_CC_DCE_TCP_RTT_US,
	UR_CC_INITIAL_ALPHA,
	UR_CC_MIN_DEC_PCT,
	UR_CC_GD,
	UR_CC_FIRST_MBPS,
	UR_CC_MONITOR_US,
	UR_CC_CLAMP,
	UR_CC_CLAMP_TIME,
	UR_CC_MAX_MBPS,
	UR_CC_CNP_DSCP,
	UR_CC_CNP_PRIO,
	UR_CC_ECN,
	UR_CC_VALUES,
};

struct ur_cc_values {
	u32 value[UR_CC_VALUES];
	u8 np, rp; /* by priority */
};

/* The counters as their files show them, sysfs_counters.c. */
struct ur_shown_counters {
	u64 value[UR_CNT_COUNT];
	bool known;
	bool asked; /* the engine reports when it wakes */
	struct ur_loop_timer timer;
};

struct ur_device {
	struct ur_list node; /* of the daemon's devices, or of gone */
	struct ur_daemon *daemon;
	char name[UR_DEVICE_NAME_MAX]; /* uroce0 */
	u32 index;		       /* the lowest that was free */
	u32 nl_index;		       /* of RDMA netlink; never again */
	u32 uverbs;		       /* the N of uverbsN */
	u32 umad;		       /* the N of umadN */
	u64 rdev;

	char netdev[IF_NAMESIZE];    /* as programs see it, see netdev.c */
	char link_name[IF_NAMESIZE]; /* as the kernel named it last */
	u32 ifindex;
	u32 follows; /* that index; 0: whatever gets the name netdev */
	u8 mac[6];
	bool present, up, gone;
	u32 faults_down;	     /* rules that keep the port down */
	struct ur_loop_call release; /* once gone, after its last file */
	struct ur_loop_after after;  /* and then, without the lock */
	bool ethernet;
	bool virtual_pair; /* veth, netkit */
	bool roce_v1;	   /* asked for, and the netdev is Ethernet */
	u32 netdev_mtu;
	u32 mtu_bytes;	/* active MTU of the port */
	u32 speed_mbps; /* 0: unknown */
	int numa_node;	/* that was asked for; -1: the netdev's */
	u64 node_guid;

	struct ur_gid_table gids;
	struct ur_engine *engine;
	struct ur_list files;		  /* struct ur_device_file, all kinds */
	struct ur_numbers pdns, xrcdns;	  /* of domains */
	struct ur_quota dm_bytes;	  /* device memory handed out */
	struct ur_quota lent, lent_small; /* slots of engines in programs */
	/* By type (enum uverbs_default_objects). */
	struct ur_quota objects[32];
	u32 object_numbers[32]; /* the next ones */
	struct ur_groups groups;
	/* rdma_cm takes GIDs of v1; its type of service; there is a directory
	 * in configfs. */
	bool cm_v1;
	u8 cm_tos;
	bool cm_files;
	bool roce_off; /* no GIDs; only raw Ethernet */
	struct ur_shown_counters counters;
	struct ur_cc_values cc;
	struct ur_tclass tclass; /* the administrator's, of RC queue pairs */
	struct ur_device_record *record; /* record.c; NULL: off */
};

/* Makes the lists of a daemon that is otherwise zero but for like, NULL: uroce's own,
 * and its limits. The caller sets the rest. */
void ur_daemon_init(struct ur_daemon *daemon);
/* Makes a device on a netdev. name NULL: uroceN, or what daemon->like says, with the
 * lowest free N. numa_node -1: that of the netdev's own device, else 0.
 * Returns 0, -ENODEV (no such netdev), -EEXIST (the netdev has a device, or the name is
 * taken), -EINVAL (not a name for a device), -EMLINK (too many devices) or
 * another -errno. */
int ur_device_create(struct ur_daemon *daemon, const char *netdev,
		     const char *name, int numa_node);
/*
 * Unregisters a device, as the kernel does when a card is pulled out. Its names
 * and addresses are free at once, the files of its clients hang up (which they
 * see as IBV_EVENT_DEVICE_FATAL, then EIO), and rdma_cm ids get DEVICE_REMOVAL.
 * The device is freed when its last file is closed.
 */
void ur_device_remove(struct ur_device *dev);
/* Renames the device: programs that look for it find the new name. Returns 0,
 * -EINVAL, -EEXIST, or -errno where the files of that name cannot be made; then
 * it keeps the old one. */
int ur_device_rename(struct ur_device *dev, const char *name);
/* dev->netdev is another name now: calls the watchers. */
void ur_device_netdev_renamed(struct ur_device *dev);
/* A file of dev was closed and taken off its list. Frees a device that is gone
 * after its last one. */
void ur_device_file_closed(struct ur_device *dev);
/* Ends all devices while threads still work on open files: sends the peers a
 * message, stops the engines and closes their ports. The daemon must exit
 * soon. */
void ur_device_abandon_all(struct ur_daemon *daemon);
/* Frees all devices. No file is open and the loop runs no more. */
void ur_device_destroy_all(struct ur_daemon *daemon);
/* Return the device with that uverbs number, name or netdev, or NULL. */
struct ur_device *ur_device_by_uverbs(struct ur_daemon *daemon, u32 n);
struct ur_device *ur_device_by_name(struct ur_daemon *daemon, const char *name);
struct ur_device *ur_device_by_netdev(struct ur_daemon *daemon,
				      const char *netdev);
/* Returns the device that follows the netdev with that index, or NULL. */
struct ur_device *ur_device_by_ifindex(struct ur_daemon *daemon, u32 ifindex);
/* Makes the GID table follow the addresses of the netdev. */
void ur_device_sync_gids(struct ur_device *dev);
/* Returns whether the port's state is ACTIVE. */
bool ur_device_port_active(const struct ur_device *dev);
/* Sends an event that belongs to no object to every open file of the device.
 * element: the port number; type: enum ibv_event_type. */
void ur_device_event(struct ur_device *dev, u64 element, u32 type);
/* Applies dev->tclass, which has changed, to the connected queue pairs of every
 * open file of the device. Control lock held. */
void ur_device_class_changed(struct ur_device *dev);

#endif
