// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A device takes MTU, GUID, GIDs, port state and a name from its netdev. It follows the
 * netdev's index, which survives a rename. When no netdev has that index any more, it takes
 * a new one with the same name.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "device/netdev.h"
#include "device/netlink.h"
#include "device/tree/sysfs.h"

#define RETRY_NS 1000000000ull
#define WAIT_NS	 1000000000ull

u32 ur_netdev_mtu(u32 netdev_mtu)
{
	/* IP, UDP and the largest RoCE headers, as in Soft-RoCE */
	u32 room = netdev_mtu > 80 ? netdev_mtu - 80 : 0;

	for (u32 mtu = 4096; mtu > 256; mtu /= 2)
		if (mtu <= room)
			return mtu;
	return 256;
}

static u64 hash_text(u64 h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (u8)*text) * 0x100000001b3ull;
	return h;
}

/* Makes a GUID for a netdev without a MAC (lo, tun): stable for this machine
 * and name, in the locally administered range. */
static u64 made_up_guid(const char *netdev)
{
	char id[128] = "";
	FILE *f = fopen("/etc/machine-id", "re");
	u64 h = 0xcbf29ce484222325ull;

	if (f) {
		if (!fgets(id, sizeof(id), f))
			id[0] = 0;
		fclose(f);
	}
	if (!id[0])
		gethostname(id, sizeof(id) - 1);
	h = hash_text(hash_text(h, id), netdev);
	return (h & ~(3ull << 56)) | (2ull << 56);
}

u64 ur_netdev_guid(const struct ur_device *dev)
{
	static const u8 none[6];
	const u8 *m = dev->mac;
	u8 eui[8];

	if (!memcmp(m, none, 6))
		return made_up_guid(dev->netdev);
	eui[0] = m[0] ^ 2;
	eui[1] = m[1];
	eui[2] = m[2];
	eui[3] = 0xff;
	eui[4] = 0xfe;
	memcpy(eui + 5, m + 3, 3);
	return ur_get_be64(eui);
}

/* Adds a RoCEv1 entry in front of each address, as in the kernel's table. Returns the new
 * number of entries. */
static u32 with_v1(struct ur_gid_addr *addr, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		addr[i].rank = 2 * addr[i].rank + 1;
		addr[n + i] = addr[i];
		addr[n + i].type = UR_GID_ROCE_V1;
		addr[n + i].rank--;
	}
	return 2 * n;
}

/* Sets a timer to retry addresses whose port another program has. */
static void retry_later(struct ur_device *dev);

/* Takes over the addresses when the other program has ended (another user's on-demand
 * device, say). */
static void retry_refused(void *arg)
{
	struct ur_device *dev = arg;
	bool freed = false;

	for (int i = 0; i < UR_GID_MAX; i++) {
		struct ur_gid *g = &dev->gids.entry[i];

		if (g->refused &&
		    ur_engine_gid_free(dev->engine, g->gid, g->type)) {
			g->refused = false;
			freed = true;
		}
	}
	if (freed)
		ur_device_sync_gids(dev);
	else
		retry_later(dev);
}

static void retry_later(struct ur_device *dev)
{
	dev->gids.retry.fn = retry_refused;
	dev->gids.retry.arg = dev;
	for (int i = 0; i < UR_GID_MAX; i++) {
		if (!dev->gids.entry[i].refused)
			continue;
		ur_loop_timer_set(dev->daemon->loop, &dev->gids.retry,
				  ur_loop_now() + RETRY_NS);
		return;
	}
	ur_loop_timer_clear(dev->daemon->loop, &dev->gids.retry);
}

void ur_netdev_wait_for_ports(struct ur_daemon *daemon)
{
	const struct timespec step = {.tv_nsec = 10000000};
	u64 end = ur_loop_now() + WAIT_NS;

	ur_list_each(struct ur_device, dev, &daemon->devices, node) {
		while (ur_gid_any_taken(dev) && ur_loop_now() < end) {
			nanosleep(&step, NULL);
			retry_refused(dev);
		}
	}
}

void ur_device_sync_gids(struct ur_device *dev)
{
	struct ur_gid_addr addr[UR_GID_MAX];
	u32 n = 0;

	if (dev->present && !dev->roce_off)
		n = ur_netlink_addrs(dev, addr, UR_GID_MAX / 2);
	if (dev->roce_v1)
		n = with_v1(addr, n);
	ur_gid_sync(dev, addr, n);
	retry_later(dev);
}

void ur_netdev_port_changed(struct ur_device *dev, bool was)
{
	bool is = ur_device_port_active(dev);

	if (was == is || dev->gone)
		return;
	if (was)
		ur_engine_link_downed(dev->engine);
	ur_sysfs_port(dev);
	ur_device_event(dev, 1, is ? UR_EVENT_PORT_ACTIVE : UR_EVENT_PORT_ERR);
}

static void follow(struct ur_device *dev)
{
	bool was = ur_device_port_active(dev);
	u32 mtu = dev->mtu_bytes, ifindex = dev->ifindex;

	dev->present = ur_netlink_link(dev) == 0;
	if (ifindex != dev->ifindex) {
		/* Another netdev with the same name has other addresses. */
		ur_gid_sync(dev, NULL, 0);
		ur_engine_set_ifindex(dev->engine, dev->ifindex);
	}
	if (dev->present)
		dev->mtu_bytes = ur_netdev_mtu(dev->netdev_mtu);
	if (mtu != dev->mtu_bytes) {
		ur_engine_set_mtu(dev->engine, dev->mtu_bytes);
		ur_sysfs_port(dev);
	}
	ur_netdev_port_changed(dev, was);
	ur_device_sync_gids(dev);
}

static bool is_renamed(const struct ur_device *dev)
{
	return dev->present && strcmp(dev->netdev, dev->link_name) != 0;
}

static void rename_netdev(struct ur_device *dev)
{
	ur_log("%s: its netdev %s is called %s now", dev->name, dev->netdev,
	       dev->link_name);
	memcpy(dev->netdev, dev->link_name, sizeof(dev->netdev));
	ur_engine_set_netdev(dev->engine, dev->netdev);
	ur_device_netdev_renamed(dev);
}

/*
 * Two netdevs may have swapped names, so all files under old names are removed before any
 * are made under new ones. Another netdev may also have the old name of a netdev that is
 * gone.
 */
static void take_names(struct ur_daemon *daemon)
{
	struct ur_device *dev;
	bool any = false;

	ur_list_for_each(it, &daemon->devices) {
		dev = ur_list_entry(it, struct ur_device, node);
		if (!is_renamed(dev))
			continue;
		any = true;
		ur_sysfs_netdev_del(dev);
	}
	if (!any)
		return;
	ur_list_for_each(it, &daemon->devices) {
		dev = ur_list_entry(it, struct ur_device, node);
		if (is_renamed(dev))
			rename_netdev(dev);
	}
	ur_list_for_each(it, &daemon->devices)
		ur_sysfs_netdev(ur_list_entry(it, struct ur_device, node));
}

void ur_netdevs_changed(struct ur_daemon *daemon)
{
	ur_list_for_each(it, &daemon->devices)
		follow(ur_list_entry(it, struct ur_device, node));
	take_names(daemon);
}
