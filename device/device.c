// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Creates, names and removes devices. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>
#include "device/device.h"
#include "engine/ground/limits.h"
#include "device/mad.h"
#include "device/netdev.h"
#include "device/netlink.h"
#include "device/cc.h"
#include "device/session.h"
#include "device/tree/sysfs.h"
#include "device/watcher.h"
#include "util/assert.h"

/* Returns the first device for which the condition on dev holds, or NULL. */
#define FIND_DEVICE(daemon, dev, condition)                                 \
	({                                                                  \
		struct ur_device *found_ = NULL;                            \
		ur_list_for_each(it_, &(daemon)->devices) {                 \
			struct ur_device *dev =                             \
				ur_list_entry(it_, struct ur_device, node); \
			if (condition) {                                    \
				found_ = dev;                               \
				break;                                      \
			}                                                   \
		}                                                           \
		found_;                                                     \
	})

void ur_device_watch(struct ur_daemon *daemon,
		     struct ur_device_watcher *watcher)
{
	ur_list_add_tail(&daemon->watchers, &watcher->node);
}

static void notify(struct ur_device *dev, enum ur_device_change change)
{
	ur_list_for_each(it, &dev->daemon->watchers)
		ur_list_entry(it, struct ur_device_watcher, node)
			->changed(dev, change);
}

struct ur_device *ur_device_by_uverbs(struct ur_daemon *daemon, u32 n)
{
	return FIND_DEVICE(daemon, dev, dev->uverbs == n);
}

struct ur_device *ur_device_by_name(struct ur_daemon *daemon, const char *name)
{
	return FIND_DEVICE(daemon, dev, !strcmp(dev->name, name));
}

struct ur_device *ur_device_by_netdev(struct ur_daemon *daemon,
				      const char *netdev)
{
	return FIND_DEVICE(daemon, dev, !strcmp(dev->netdev, netdev));
}

struct ur_device *ur_device_by_ifindex(struct ur_daemon *daemon, u32 ifindex)
{
	return FIND_DEVICE(daemon, dev, dev->follows == ifindex);
}

static void gsi_rx(void *ctx, const struct ur_rx_meta *meta, u32 src_qpn,
		   const u8 *mad)
{
	ur_mad_dispatch(ctx, meta, src_qpn, mad);
}

static void woken(void *ctx)
{
	ur_sysfs_counters_move(ctx);
}

static const struct ur_engine_events engine_events = {
	.gsi_rx = gsi_rx,
	.woken = woken,
};

static struct ur_device *by_index(struct ur_daemon *daemon, u32 index)
{
	return FIND_DEVICE(daemon, dev, dev->index == index);
}

static int check_name(struct ur_daemon *daemon, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char others[] = "0123456789_.-";
	const char *p = name;

	if (!*p || !strchr(letters, *p))
		return -EINVAL;
	while (*p && (strchr(letters, *p) || strchr(others, *p)))
		p++;
	if (*p || p - name >= UR_DEVICE_NAME_MAX)
		return -EINVAL;
	return ur_device_by_name(daemon, name) ||
			       ur_sysfs_name_taken(daemon, name)
		       ? -EEXIST
		       : 0;
}

/* Assigns index, uverbs number and name. */
static int identify(struct ur_device *dev, const char *name)
{
	struct ur_daemon *daemon = dev->daemon;
	u32 first = ur_sysfs_first_uverbs(daemon);

	while (by_index(daemon, dev->index) ||
	       ur_device_by_uverbs(daemon, first + dev->index))
		if (++dev->index == UR_MAX_DEVICES)
			return -EMLINK;
	dev->uverbs = first + dev->index;
	dev->rdev = ur_sysfs_uverbs_rdev(dev->uverbs);
	if (daemon->umad_ops)
		dev->umad = daemon->umad_ops->first(daemon) + dev->index;
	if (name)
		snprintf(dev->name, sizeof(dev->name), "%s", name);
	for (u32 n = 0; !name; n++) {
		snprintf(dev->name, sizeof(dev->name), "%s%u",
			 daemon->like->name, n);
		/* The host may have a device of that name, too. */
		if (!ur_device_by_name(daemon, dev->name) &&
		    !ur_sysfs_name_taken(daemon, dev->name))
			return 0;
	}
	return check_name(daemon, name);
}

/* Numbers 0 and 1 are those of management; the lowest keys and shared receive queues are no program's. */
#define FIRST_QPN 17u
#define FIRST_KEY 16u
#define FIRST_SRQ 1u

static void init_tables(struct ur_device *dev)
{
	ur_table_init(&dev->qps, FIRST_QPN, UR_QPN_MULTICAST - 1,
		      UR_MAX_QP + UR_MAX_WQ, &dev->secret);
	ur_table_init(&dev->keys, FIRST_KEY, UR_24BIT_MASK,
		      UR_MAX_MR + UR_MAX_MW, &dev->secret);
	ur_table_init(&dev->srqs, FIRST_SRQ, (1u << (24 - UR_PLACE_BITS)) - 1,
		      1u << 20, &dev->secret);
}

static void free_numbers(struct ur_device *dev)
{
	ur_table_fini(&dev->qps);
	ur_table_fini(&dev->keys);
	ur_table_fini(&dev->srqs);
	ur_numbers_fini(&dev->pdns);
	ur_numbers_fini(&dev->xrcdns);
}

static int start_engine(struct ur_device *dev)
{
	struct ur_daemon *daemon = dev->daemon;
	struct ur_engine_config config = {
		.netdev = dev->netdev,
		.ifindex = dev->ifindex,
		.mtu_bytes = dev->mtu_bytes,
		.node_guid = dev->node_guid,
		.loop = daemon->loop,
		.events = &engine_events,
		.ctx = dev,
		.isolated = daemon->by_user,
		.roce_v1 = dev->roce_v1,
		.one_path = dev->virtual_pair,
		.options = daemon->engine_options,
	};

	if (getrandom(&config.seed, sizeof(config.seed), 0) !=
		    sizeof(config.seed) ||
	    getrandom(config.secret, sizeof(config.secret), 0) !=
		    sizeof(config.secret) ||
	    getrandom(dev->secret.key, sizeof(dev->secret.key), 0) !=
		    sizeof(dev->secret.key))
		return -EIO;
	return ur_engine_create(&config, &dev->engine);
}

/*
 * libibverbs identifies a device by name and index, and then assumes the same GUID. So
 * another device needs another index. The kernel never reuses one until the host reboots;
 * since this daemon may restart, it begins at a random index.
 */
static u32 first_nl_index(void)
{
	u32 any;

	if (getrandom(&any, sizeof(any), 0) != sizeof(any))
		any = (u32)getpid();
	return any >> 8;
}

void ur_daemon_init(struct ur_daemon *daemon)
{
	daemon->next_nl_index = first_nl_index();
	if (!daemon->like)
		daemon->like = ur_like_at(0);
	ur_like_limits(daemon->like, &daemon->limits);
	ur_list_init(&daemon->watchers);
	ur_list_init(&daemon->devices);
	ur_list_init(&daemon->gone);
	ur_list_init(&daemon->sessions);
	ur_list_init(&daemon->holds);
	ur_list_init(&daemon->files);
	ur_list_init(&daemon->xrcds);
	ur_list_init(&daemon->faults);
	ur_list_init(&daemon->whys);
}

int ur_device_create(struct ur_daemon *daemon, const char *netdev,
		     const char *name, int numa_node)
{
	struct ur_device *dev;
	int err;

	ur_assert(ur_loop_mine(daemon->loop));
	/* A netdev may have been renamed a moment ago. */
	if (ur_device_by_netdev(daemon, netdev))
		ur_netdevs_changed(daemon);
	if (ur_device_by_netdev(daemon, netdev))
		return -EEXIST;
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return -ENOMEM;
	ur_list_init(&dev->node);
	ur_list_init(&dev->files);
	dev->daemon = daemon;
	dev->numa_node = numa_node;
	dev->nl_index = daemon->next_nl_index++ & INT32_MAX;
	dev->pdns.words = UR_MAX_PD / 64;
	dev->xrcdns.words = UR_MAX_XRCD / 64;
	init_tables(dev);
	dev->dm_bytes = (struct ur_quota){.what = "bytes of device memory",
					  .where = dev->name,
					  .max = UR_MAX_DM_BYTES};
	ur_groups_init(&dev->groups, dev->name);
	ur_tclass_init(&dev->tclass);
	snprintf(dev->netdev, sizeof(dev->netdev), "%s", netdev);
	err = identify(dev, name);
	if (!err)
		err = ur_netlink_link(dev);
	if (err)
		goto err_free;
	/* netdev may be an alternative name. */
	snprintf(dev->netdev, sizeof(dev->netdev), "%s", dev->link_name);
	dev->present = true;
	dev->mtu_bytes = ur_netdev_mtu(dev->netdev_mtu);
	dev->node_guid = ur_netdev_guid(dev);
	dev->roce_v1 = daemon->roce_v1 && dev->ethernet;
	dev->cm_v1 = dev->roce_v1 && daemon->cm_v1;
	err = start_engine(dev);
	if (err == -EPERM && (dev->roce_v1 || daemon->raw_ethernet))
		ur_log("%s CAP_NET_RAW: start uroced as root, or without %s",
		       dev->roce_v1 ? "RoCEv1 needs" : "raw Ethernet needs",
		       dev->roce_v1 ? "--roce-v1" : "--raw-ethernet");
	if (err)
		goto err_free;
	ur_device_cc_init(dev);
	err = ur_sysfs_add(dev);
	if (err)
		goto err_engine;
	ur_list_add_tail(&daemon->devices, &dev->node);
	ur_device_sync_gids(dev);
	daemon->setting_ops->configure(dev);
	notify(dev, UR_DEVICE_ADDED);
	return 0;
err_engine:
	ur_sysfs_del(dev);
	ur_engine_destroy(dev->engine);
err_free:
	free_numbers(dev);
	free(dev);
	return err;
}

int ur_device_rename(struct ur_device *dev, const char *name)
{
	char before[UR_DEVICE_NAME_MAX];
	int err;

	if (!strcmp(dev->name, name))
		return 0;
	err = check_name(dev->daemon, name);
	if (err)
		return err;
	memcpy(before, dev->name, sizeof(before));
	ur_sysfs_del(dev);
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	err = ur_sysfs_add(dev);
	if (err) {
		ur_sysfs_del(dev);
		memcpy(dev->name, before, sizeof(before));
		if (ur_sysfs_add(dev))
			ur_log("%s: its files are not all there", dev->name);
		return err;
	}
	notify(dev, UR_DEVICE_RENAMED);
	return 0;
}

void ur_device_netdev_renamed(struct ur_device *dev)
{
	notify(dev, UR_DEVICE_NETDEV_RENAMED);
}

/* Without the lock: freeing large tables takes time. */
static void end_device(struct ur_loop_after *after)
{
	struct ur_device *dev = ur_container_of(after, struct ur_device, after);

	ur_engine_destroy(dev->engine);
	free_numbers(dev);
	free(dev);
}

static void free_device(void *arg)
{
	struct ur_device *dev = arg;

	ur_list_del(&dev->node);
	ur_loop_after(dev->daemon->loop, &dev->after, end_device);
}

/* Frees the device after the calls that the engine has posted to the loop,
 * which name both. */
static void release(struct ur_device *dev)
{
	ur_engine_stop(dev->engine);
	dev->release.fn = free_device;
	dev->release.arg = dev;
	ur_loop_post_call(dev->daemon->loop, &dev->release);
}

bool ur_device_port_active(const struct ur_device *dev)
{
	return dev->present && dev->up && !dev->faults_down;
}

void ur_device_event(struct ur_device *dev, u64 element, u32 type)
{
	ur_assert(ur_loop_mine(dev->daemon->loop));
	/* If the device is gone, the file's end already means DEVICE_FATAL. */
	if (dev->gone)
		return;
	ur_list_each(struct ur_device_file, file, &dev->files, node) {
		file->ops->event(file, element, type);
	}
}

void ur_device_class_changed(struct ur_device *dev)
{
	ur_assert(ur_loop_mine(dev->daemon->loop));
	ur_list_each(struct ur_device_file, file, &dev->files, node) {
		if (file->ops->class_changed)
			file->ops->class_changed(file);
	}
	ur_engine_show_classes(dev->engine);
}

void ur_device_file_closed(struct ur_device *dev)
{
	ur_assert(ur_loop_mine(dev->daemon->loop));
	if (dev->gone && ur_list_empty(&dev->files))
		release(dev);
}

/* Removes the device from all lists and tables. */
static void unregister(struct ur_device *dev)
{
	ur_assert(ur_loop_mine(dev->daemon->loop));
	if (dev->daemon->cm_ops && dev->daemon->cm_ops->device_gone)
		dev->daemon->cm_ops->device_gone(dev);
	notify(dev, UR_DEVICE_LEAVES);
	ur_assert(!dev->gone);
	dev->gone = true;
	notify(dev, UR_DEVICE_GONE);
	dev->present = false;
	ur_gid_sync(dev, NULL, 0);
	ur_loop_timer_clear(dev->daemon->loop, &dev->gids.retry);
	ur_sysfs_del(dev);
	ur_list_del(&dev->node);
	ur_list_add_tail(&dev->daemon->gone, &dev->node);
}

void ur_device_remove(struct ur_device *dev)
{
	ur_assert(ur_loop_mine(dev->daemon->loop));
	unregister(dev);
	/* Ends the clients' connections; the last one of a file closes it. */
	ur_session_hang_up(dev);
	ur_device_file_closed(dev);
}

void ur_device_abandon_all(struct ur_daemon *daemon)
{
	while (!ur_list_empty(&daemon->devices))
		unregister(ur_list_first(&daemon->devices, struct ur_device,
					 node));
	ur_list_for_each(it, &daemon->gone)
		ur_engine_abandon(
			ur_list_entry(it, struct ur_device, node)->engine);
}

void ur_device_destroy_all(struct ur_daemon *daemon)
{
	while (!ur_list_empty(&daemon->devices))
		unregister(ur_list_first(&daemon->devices, struct ur_device,
					 node));
	while (!ur_list_empty(&daemon->gone))
		free_device(
			ur_list_first(&daemon->gone, struct ur_device, node));
}
