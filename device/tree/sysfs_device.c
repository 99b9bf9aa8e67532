// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The files of a device in the virtual tree. Its directory is not modified after creation:
 * by a changed timestamp libibverbs takes it for another device.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "device/port.h"
#include "device/tree/sysfs.h"
#include "device/tree/tree.h"
#include "kernel-abi/uroce-abi.h"

#define IB     "sys/class/infiniband/%s/"
#define UVERBS "sys/class/infiniband_verbs/uverbs%u/"

/* Without a GID the type is empty: programs that read all entries take a missing file for
 * an error. In the kernel the read fails with EINVAL. */
static void put_gid_attrs(struct ur_device *dev, u32 i)
{
	const struct ur_gid *g = ur_gid_get(dev, i);
	char netdev[IF_NAMESIZE + 1];

	ur_tree_put(dev->daemon,
		    !g				? ""
		    : g->type == UR_GID_ROCE_V1 ? "IB/RoCE v1\n"
						: "RoCE v2\n",
		    IB "ports/1/gid_attrs/types/%u", dev->name, i);
	if (!g && !dev->daemon->like->word) {
		ur_tree_drop(dev->daemon, IB "ports/1/gid_attrs/ndevs/%u",
			     dev->name, i);
		return;
	}
	snprintf(netdev, sizeof(netdev), "%s\n", dev->netdev);
	ur_tree_put(dev->daemon, g ? netdev : "",
		    IB "ports/1/gid_attrs/ndevs/%u", dev->name, i);
}

/* fresh: there are no old files to remove. */
static void put_gid(struct ur_device *dev, u32 i, bool fresh)
{
	static const u8 zero[16];
	const struct ur_gid *g = ur_gid_get(dev, i);
	char text[48];

	ur_gid_print(text, g ? g->gid : zero);
	strcat(text, "\n");
	ur_tree_put(dev->daemon, text, IB "ports/1/gids/%u", dev->name, i);
	/* With a card's identity, empty entries have files from the beginning. */
	if (g || !fresh || dev->daemon->like->word)
		put_gid_attrs(dev, i);
}

void ur_sysfs_gid(struct ur_device *dev, u32 index)
{
	int err;

	put_gid(dev, index, false);
	err = ur_tree_error();
	if (err && err != -ENOENT)
		ur_log("%s: GID %u is not to be seen in sysfs: %s", dev->name,
		       index, strerror(-err));
}

static void print_rate(char *buf, size_t size,
		       const struct ib_uverbs_query_port_resp *r)
{
	static const struct {
		u8 code;
		const char *name;
	} speeds[] = {{1, "SDR"},  {2, "DDR"},	{4, "QDR"},  {8, "FDR10"},
		      {16, "FDR"}, {32, "EDR"}, {64, "HDR"}, {128, "NDR"}};
	u32 rate10 = ur_port_rate10(r), lanes;
	const char *speed = "SDR";
	char tenth[4] = "";

	for (u32 i = 0; i < UR_ARRAY_SIZE(speeds); i++)
		if (speeds[i].code == r->active_speed)
			speed = speeds[i].name;
	lanes = r->active_width == 2 ? 4 : r->active_width == 16 ? 2 : 1;
	if (rate10 % 10)
		snprintf(tenth, sizeof(tenth), ".%u", rate10 % 10);
	snprintf(buf, size, "%u%s Gb/sec (%uX %s)\n", rate10 / 10, tenth, lanes,
		 speed);
}

static void put_port(struct ur_device *dev)
{
	struct ib_uverbs_query_port_resp r = {0};
	char text[64];

	ur_fill_port(dev, &r);
	ur_tree_put(dev->daemon, r.state == 4 ? "4: ACTIVE\n" : "1: DOWN\n",
		    IB "ports/1/state", dev->name);
	ur_tree_put(dev->daemon,
		    r.phys_state == 5 ? "5: LinkUp\n" : "3: Disabled\n",
		    IB "ports/1/phys_state", dev->name);
	print_rate(text, sizeof(text), &r);
	ur_tree_put(dev->daemon, text, IB "ports/1/rate", dev->name);
	snprintf(text, sizeof(text), "0x%08x\n", r.port_cap_flags);
	ur_tree_put(dev->daemon, text, IB "ports/1/cap_mask", dev->name);
}

void ur_sysfs_port(struct ur_device *dev)
{
	int err;

	put_port(dev);
	err = ur_tree_error();
	if (err && err != -ENOENT)
		ur_log("%s: what sysfs says of the port is old: %s", dev->name,
		       strerror(-err));
}

static void put_desc(struct ur_device *dev)
{
	const char *of_card = dev->daemon->like->node_desc;
	char text[96];

	if (of_card)
		snprintf(text, sizeof(text), "%s\n", of_card);
	else
		snprintf(text, sizeof(text), "%s on %s\n", dev->name,
			 dev->netdev);
	ur_tree_put(dev->daemon, text, IB "node_desc", dev->name);
}

/* Files that identify the make of a card. */
static void put_card(struct ur_device *dev)
{
	const struct ur_like *like = dev->daemon->like;
	char fw[32];
	const struct {
		const char *name, *text;
	} files[] = {
		{"fw_ver", fw},
		{"hw_rev", like->hw_rev},
		{"hca_type", like->hca_type},
		{"board_id", like->board_id},
	};
	char line[96];

	ur_like_fw(like, fw, sizeof(fw));
	for (u32 i = 0; i < UR_ARRAY_SIZE(files); i++) {
		snprintf(line, sizeof(line), "%s\n", files[i].text);
		ur_tree_put(dev->daemon, line, IB "%s", dev->name,
			    files[i].name);
	}
}

static void put_device(struct ur_device *dev)
{
	static const struct {
		const char *name, *text;
	} fixed[] = {
		{"node_type", "1: CA\n"},
		{"ports/1/lid", "0x0\n"},
		{"ports/1/lid_mask_count", "0\n"},
		{"ports/1/sm_lid", "0x0\n"},
		{"ports/1/sm_sl", "0\n"},
		{"ports/1/link_layer", "Ethernet\n"},
		{"ports/1/pkeys/0", "0xffff\n"},
		{"ports/1/hw_counters/lifespan", "10\n"},
	};
	char text[64];
	u64 g = dev->node_guid;

	put_card(dev);
	for (u32 i = 0; i < UR_ARRAY_SIZE(fixed); i++)
		ur_tree_put(dev->daemon, fixed[i].text, IB "%s", dev->name,
			    fixed[i].name);
	snprintf(text, sizeof(text), "%04x:%04x:%04x:%04x\n",
		 (u32)(g >> 48) & 0xffff, (u32)(g >> 32) & 0xffff,
		 (u32)(g >> 16) & 0xffff, (u32)g & 0xffff);
	ur_tree_put(dev->daemon, text, IB "node_guid", dev->name);
	ur_tree_put(dev->daemon, text, IB "sys_image_guid", dev->name);
	put_desc(dev);
}

static void make_net_dir(struct ur_device *dev)
{
	ur_tree_mkdir(dev->daemon, IB "device/net/%s", dev->name, dev->netdev);
}

static void make_dirs(struct ur_device *dev)
{
	static const char *const dirs[] = {
		"ports/1/gids",	    "ports/1/gid_attrs/types",
		"ports/1/pkeys",    "ports/1/gid_attrs/ndevs",
		"ports/1/counters", "ports/1/hw_counters",
	};

	ur_sysfs_bus_add(dev);
	for (u32 i = 0; i < UR_ARRAY_SIZE(dirs); i++)
		ur_tree_mkdir(dev->daemon, IB "%s", dev->name, dirs[i]);
	make_net_dir(dev);
}

/* Makes the uverbs node and its class device. */
static void put_uverbs(struct ur_device *dev)
{
	struct ur_daemon *d = dev->daemon;
	char name[IF_NAMESIZE + 20], devno[32], abi[16];

	snprintf(name, sizeof(name), "%s\n", dev->name);
	snprintf(devno, sizeof(devno), "%u:%u\n", major(dev->rdev),
		 minor(dev->rdev));
	snprintf(abi, sizeof(abi), "%u\n", UROCE_UVERBS_ABI_VERSION);
	ur_tree_put(d, name, UVERBS "ibdev", dev->uverbs);
	ur_tree_put(d, devno, UVERBS "dev", dev->uverbs);
	ur_tree_put(d, abi, UVERBS "abi_version", dev->uverbs);
	/* Last, so that a program that sees it finds the rest in place. */
	ur_tree_put(d, devno, "dev/infiniband/uverbs%u", dev->uverbs);
}

static int put_all(struct ur_device *dev)
{
	int err;

	put_device(dev);
	put_port(dev);
	for (u32 i = 0; i < UR_GID_MAX; i++)
		put_gid(dev, i, true);
	err = ur_tree_error();
	if (!err)
		err = ur_sysfs_counters_add(dev);
	if (!err)
		err = dev->daemon->setting_ops->add(dev);
	if (err)
		return err;
	if (dev->daemon->umad_ops)
		dev->daemon->umad_ops->node_add(dev);
	put_uverbs(dev);
	return ur_tree_error();
}

int ur_sysfs_add(struct ur_device *dev)
{
	int err;

	ur_tree_make(true);
	make_dirs(dev);
	err = put_all(dev);
	ur_tree_make(false);
	return err;
}

void ur_sysfs_netdev(struct ur_device *dev)
{
	int err;

	make_net_dir(dev);
	put_desc(dev);
	for (u32 i = 0; i < UR_GID_MAX; i++)
		if (ur_gid_get(dev, i))
			put_gid(dev, i, true);
	err = ur_tree_error();
	if (!err)
		err = dev->daemon->setting_ops->add_netdev(dev);
	if (err)
		ur_log("%s: sysfs does not have it on %s: %s", dev->name,
		       dev->netdev, strerror(-err));
}

void ur_sysfs_netdev_del(struct ur_device *dev)
{
	ur_tree_drop_all(dev->daemon, IB "device/net/%s", dev->name,
			 dev->netdev);
	dev->daemon->setting_ops->del_netdev(dev);
}

void ur_sysfs_del(struct ur_device *dev)
{
	ur_tree_drop(dev->daemon, "dev/infiniband/uverbs%u", dev->uverbs);
	ur_sysfs_counters_del(dev);
	dev->daemon->setting_ops->del(dev);
	if (dev->daemon->umad_ops)
		dev->daemon->umad_ops->node_del(dev);
	ur_sysfs_bus_del(dev);
}
