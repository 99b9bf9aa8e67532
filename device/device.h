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
#include "transport/table.h"
#include "util/list.h"

struct nl_sock;
struct ur_daemon;
struct ur_device;
struct ur_device_record;

/* Callbacks of the connection manager, which sets ur_daemon.cm_ops. gsi_rx receives the
 * MADs of its class. */
struct ur_cm_ops {
	void (*gsi_rx)(struct ur_device *dev, const struct ur_rx_meta *meta,
		       const u8 *mad);
	/* The device is about to go and can still send: notifies the peers. */
	void (*device_gone)(struct ur_device *dev);
};

/* Callbacks of umad, which sets ur_daemon.umad_ops. */
struct ur_umad_ops {
	/* Returns the number of the first device's node, which no real device has. */
	u32 (*first)(const struct ur_daemon *daemon);
	/* node_init makes the part of sysfs that umad has without a device. node_add and
	 * node_del add and remove the node of a device and its sysfs files. Errors: tree/tree.h. */
	void (*node_init)(const struct ur_daemon *daemon);
	void (*node_add)(struct ur_device *dev);
	void (*node_del)(struct ur_device *dev);
	/* Receives MADs, 256 bytes each, of all classes but the connection manager's. */
	void (*rx)(struct ur_device *dev, const struct ur_rx_meta *meta,
		   u32 src_qpn, const u8 *mad);
};

struct ur_file_ops;
struct ur_device_file;

/* Callbacks of a device to its open files. */
struct ur_device_file_ops {
	/* Reports an event that belongs to no object. */
	void (*event)(struct ur_device_file *file, u64 element, u32 type);
	/* dev->tclass has changed. NULL: files of this kind have no queue pairs. */
	void (*class_changed)(struct ur_device_file *file);
};

/*
 * The head of every file that is open on a device, uverbs or umad. The list mixes both
 * kinds: check ops before a downcast, as ur_ufile_of() does.
 */
struct ur_device_file {
	struct ur_list node;		      /* of the device */
	const struct ur_device_file_ops *ops; /* one for each kind */
};

/* The files of a device's settings (device/settings/), in the order of its life. */
struct ur_setting_ops {
	/* Make the files: all of them, or those below the netdev. Return 0 or -errno. */
	int (*add)(struct ur_device *dev);
	int (*add_netdev)(struct ur_device *dev);
	/* Applies the settings of the configuration file to a new device. */
	void (*configure)(struct ur_device *dev);
	/* Remove the files below dev->netdev, or all files outside the device's own
	 * directory. */
	void (*del_netdev)(struct ur_device *dev);
	void (*del)(struct ur_device *dev);
};

#define UR_FILE_KINDS 8

struct ur_daemon {
	struct ur_loop *loop;
	char run_dir[PATH_MAX];
	char **argv; /* of main(); NULL: not known */
	int listen_fd, lock_fd, spare_fd;
	bool on_demand;
	bool roce_v1;	   /* devices have GIDs of RoCEv1 too */
	bool raw_ethernet; /* raw packet queue pairs */
	bool cm_v1;	   /* rdma_cm uses RoCEv1 GIDs where there are any */
	bool only;	   /* the host's own devices are not in the tree */
	u32 speed_mbps;	   /* speed that ports report; 0: their netdevs' */
	const struct ur_like *like;
	struct ur_limits limits; /* of each device */
	/* sysfs has the files of GPU peer memory even with `only` */
	bool peermem;
	/* queue pairs of different users cannot reach each other */
	bool by_user;
	const char *engine_options;
	bool engines_apart; /* no engine is in a program: the option guests */
	const struct ur_daemon_options *options; /* NULL: none */
	/* By enum uroce_tun_kind; NULL: files of this kind cannot be opened. */
	const struct ur_file_ops *file_ops[UR_FILE_KINDS];
	const struct ur_setting_ops *setting_ops;

	struct ur_list watchers; /* struct ur_device_watcher */
	struct ur_list devices;	 /* struct ur_device */
	struct ur_list gone;	 /* removed devices that still have clients */
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

/* Parameters of congestion control that an administrator sets (cc.c). Names and units are
 * those of mlx5's files. */
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
	u8 np, rp; /* bit mask of priorities */
};

/* The counter values that the sysfs files show now (sysfs_counters.c). */
struct ur_shown_counters {
	u64 value[UR_CNT_COUNT];
	bool known;
	bool asked; /* the engine reports when it wakes */
	struct ur_loop_timer timer;
};

struct ur_device {
	struct ur_list node; /* in the daemon's devices or gone */
	struct ur_daemon *daemon;
	char name[UR_DEVICE_NAME_MAX]; /* uroce0 */
	u32 index;		       /* the lowest that was free */
	u32 nl_index;		       /* of RDMA netlink; never reused */
	u32 uverbs;		       /* the N of uverbsN */
	u32 umad;		       /* the N of umadN */
	u64 rdev;

	char netdev[IF_NAMESIZE];    /* as programs see it, see netdev.c */
	char link_name[IF_NAMESIZE]; /* as the kernel named it last */
	u32 ifindex;
	u32 follows; /* ifindex; 0: the netdev that gets the name netdev */
	u8 mac[6];
	bool present, up, gone;
	u32 faults_down; /* rules that keep the port down */
	/* frees a gone device after its last file */
	struct ur_loop_call release;
	/* then frees what may block, without the lock */
	struct ur_loop_after after;
	bool ethernet;
	bool virtual_pair; /* veth, netkit */
	bool roce_v1;	   /* requested, and the netdev is Ethernet */
	u32 netdev_mtu;
	u32 mtu_bytes;	/* active MTU of the port */
	u32 speed_mbps; /* 0: unknown */
	int numa_node;	/* requested; -1: the netdev's */
	u64 node_guid;

	struct ur_gid_table gids;
	struct ur_engine *engine;
	/* struct ur_device_file, both kinds */
	struct ur_list files;
	struct ur_numbers pdns, xrcdns; /* of PDs and XRC domains */
	struct ur_table qps;		/* struct ur_qpc */
	struct ur_table keys;		/* regions and windows: their objects */
	struct ur_table srqs;		/* their objects */
	struct ur_secret secret;	/* draws their numbers */
	struct ur_quota dm_bytes;	/* device memory handed out */
	struct ur_quota granted,
		granted_small; /* slots of engines in programs */
	/* By type (enum uverbs_default_objects). */
	struct ur_quota objects[32];
	u32 object_numbers[32]; /* next number, by type */
	struct ur_groups groups;
	/* Settings of rdma_cm: uses RoCEv1 GIDs; default type of service; the directory in
	 * configfs exists. */
	bool cm_v1;
	u8 cm_tos;
	bool cm_files;
	bool roce_off; /* no GIDs; only raw Ethernet */
	struct ur_shown_counters counters;
	struct ur_cc_values cc;
	/* set by the administrator for RC queue pairs */
	struct ur_tclass tclass;
	struct ur_device_record *record; /* record.c; NULL: off */
};

/* Initializes the lists and limits of a daemon that is otherwise zero. daemon->like is set
 * before (NULL: uroce's own); the caller sets the rest afterwards. */
void ur_daemon_init(struct ur_daemon *daemon);
/* Creates a device on a netdev. name NULL: uroceN, or the prefix of daemon->like, with the
 * lowest free N. numa_node -1: the node of the netdev's hardware, else 0. Returns 0,
 * -ENODEV (no such netdev), -EEXIST (the netdev has a device, or the name is taken),
 * -EINVAL (not a name for a device), -EMLINK (too many devices) or another -errno. */
int ur_device_create(struct ur_daemon *daemon, const char *netdev,
		     const char *name, int numa_node);
/*
 * Unregisters a device, as the kernel does when a card is pulled out. Its names
 * and addresses are free at once, the files of its clients hang up (which they
 * see as IBV_EVENT_DEVICE_FATAL, then EIO), and rdma_cm ids get DEVICE_REMOVAL.
 * The device is freed when its last file is closed.
 */
void ur_device_remove(struct ur_device *dev);
/* Renames the device. Programs that open it later find it by the new name. Returns 0,
 * -EINVAL, -EEXIST, or -errno if the files of that name cannot be made; then it keeps the
 * old one. */
int ur_device_rename(struct ur_device *dev, const char *name);
/* Calls the watchers after dev->netdev has changed. */
void ur_device_netdev_renamed(struct ur_device *dev);
/* Called after a file of dev was closed and removed from its list. If the device is gone,
 * the last call frees it. */
void ur_device_file_closed(struct ur_device *dev);
/* Shuts down all devices while threads still work on open files: notifies the peers, stops
 * the engines and closes their ports. The daemon must exit soon. */
void ur_device_abandon_all(struct ur_daemon *daemon);
/* Frees all devices. No file is open and the loop has stopped. */
void ur_device_destroy_all(struct ur_daemon *daemon);
/* Return the device with that uverbs number, name or netdev, or NULL. */
struct ur_device *ur_device_by_uverbs(struct ur_daemon *daemon, u32 n);
struct ur_device *ur_device_by_name(struct ur_daemon *daemon, const char *name);
struct ur_device *ur_device_by_netdev(struct ur_daemon *daemon,
				      const char *netdev);
/* Returns the device that follows the netdev with that index, or NULL. */
struct ur_device *ur_device_by_ifindex(struct ur_daemon *daemon, u32 ifindex);
/* Updates the GID table from the addresses of the netdev. */
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
