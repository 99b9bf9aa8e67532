// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shows the device on a PCI bus: topology code reads attributes of PCI functions, which it
 * finds by links of device classes. Each device has a bus of its own, since such code takes
 * functions and slots of one bus for parts of one card.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/numa.h"
#include "device/tree/sysfs.h"
#include "device/tree/tree.h"
#include "kernel-abi/uroce-tunnel.h"

#define ROOT	  "pci" UROCE_PCI_DOMAIN ":00"
#define BRIDGE	  "sys/devices/" ROOT "/"
#define BUS_CHARS 7 /* of an address: domain and bus */
/* Maximum size of a CPU mask in /sys (NR_CPUS of distributions). */
#define CPUS_MAX 8192

/* Unique: uverbs numbers begin at 0 or 192, with at most UR_MAX_DEVICES. */
static void print_address(const struct ur_device *dev, char buf[16])
{
	snprintf(buf, 16, UROCE_PCI_DOMAIN ":%02x:00.0",
		 (dev->uverbs & 0x3f) + 1);
}

/* Reads the first line of a host file into text; "" if there is none. */
static void read_line(char *text, int size, const char *path)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(text, size, f))
		*text = '\0';
	if (f)
		fclose(f);
}

/* Converts a list such as "0-3,8" to a mask in the format of /sys. */
static void print_mask(char *buf, size_t size, const char *list)
{
	static u32 words[CPUS_MAX / 32];
	u32 last = 0;
	size_t n = 0;

	memset(words, 0, sizeof(words));
	while (isdigit((unsigned char)*list)) {
		unsigned long from = strtoul(list, (char **)&list, 10),
			      to = from;

		if (*list == '-')
			to = strtoul(list + 1, (char **)&list, 10);
		for (; from <= to && from < CPUS_MAX; from++) {
			words[from / 32] |= 1u << from % 32;
			last = (u32)from / 32;
		}
		list += *list == ',';
	}
	for (u32 i = last + 1; i-- && n + 10 < size;)
		n += (size_t)snprintf(buf + n, size - n, "%08x%s", words[i],
				      i ? "," : "\n");
}

static void put_cpus(const struct ur_device *dev, const char *dir, u32 node)
{
	static char list[4096], mask[CPUS_MAX / 32 * 9 + 2];
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist",
		 node);
	read_line(list, sizeof(list), path);
	if (!*list)
		read_line(list, sizeof(list), "/sys/devices/system/cpu/online");
	print_mask(mask, sizeof(mask), list);
	ur_tree_put(dev->daemon, list, "%s/local_cpulist", dir);
	ur_tree_put(dev->daemon, mask, "%s/local_cpus", dir);
}

/* The attributes do not depend on the netdev: the bus never limits the device. libibverbs
 * finds the provider by the modalias. */
static void put_attributes(const struct ur_device *dev, const char *dir,
			   const char *address)
{
	const struct ur_like *like = dev->daemon->like;
	const struct {
		const char *name, *text;
	} fixed[] = {
		{"class", "0x020000"}, /* an Ethernet controller */
		{"modalias", "uroce"},
		{"max_link_speed", like->link_speed},
		{"max_link_width", "16"},
		{"current_link_speed", like->link_speed},
		{"current_link_width", "16"},
	};
	const struct {
		const char *name;
		u16 number;
	} ids[] = {
		{"vendor", like->pci_vendor},
		{"device", like->pci_device},
		{"subsystem_vendor", like->subsystem_vendor},
		{"subsystem_device", like->subsystem_device},
	};
	u32 node = ur_numa_node(dev);
	char text[160];

	for (u32 i = 0; i < UR_ARRAY_SIZE(fixed); i++) {
		snprintf(text, sizeof(text), "%s\n", fixed[i].text);
		ur_tree_put(dev->daemon, text, "%s/%s", dir, fixed[i].name);
	}
	for (u32 i = 0; i < UR_ARRAY_SIZE(ids); i++) {
		snprintf(text, sizeof(text), "0x%04x\n", ids[i].number);
		ur_tree_put(dev->daemon, text, "%s/%s", dir, ids[i].name);
	}
	snprintf(text, sizeof(text), "%u\n", node);
	ur_tree_put(dev->daemon, text, "%s/numa_node", dir);
	snprintf(text, sizeof(text),
		 "DRIVER=uroce\nPCI_CLASS=20000\nPCI_ID=%04X:%04X\n"
		 "PCI_SUBSYS_ID=%04X:%04X\nPCI_SLOT_NAME=%s\nMODALIAS=uroce\n",
		 like->pci_vendor, like->pci_device, like->subsystem_vendor,
		 like->subsystem_device, address);
	ur_tree_put(dev->daemon, text, "%s/uevent", dir);
	put_cpus(dev, dir, node);
}

/* Makes the links to its bus and driver, and those by which it is found. */
static void put_links(const struct ur_device *dev, const char *dir,
		      const char *address)
{
	const struct ur_daemon *d = dev->daemon;
	char target[128];

	ur_tree_mkdir(d, "sys/bus/pci/drivers/uroce");
	ur_tree_mkdir(d, "sys/bus/pci/devices");
	ur_tree_mkdir(d, "sys/class/pci_bus");
	ur_tree_mkdir(d, BRIDGE "pci_bus");
	ur_tree_mkdir(d, BRIDGE "pci_bus/%.*s", BUS_CHARS, address);
	ur_tree_link(d, "../../../bus/pci", "%s/subsystem", dir);
	ur_tree_link(d, "../../../bus/pci/drivers/uroce", "%s/driver", dir);
	snprintf(target, sizeof(target), "../../../devices/" ROOT "/%s",
		 address);
	ur_tree_link(d, target, "sys/bus/pci/devices/%s", address);
	snprintf(target, sizeof(target), "../../devices/" ROOT "/pci_bus/%.*s",
		 BUS_CHARS, address);
	ur_tree_link(d, target, "sys/class/pci_bus/%.*s", BUS_CHARS, address);
}

void ur_sysfs_class_add(const struct ur_device *dev, const char *class_name,
			const char *name)
{
	const struct ur_daemon *d = dev->daemon;
	char target[160], address[16];

	print_address(dev, address);
	/* Parents first, which is faster than trying each part of the path. */
	ur_tree_mkdir(d, BRIDGE "%s/%s", address, class_name);
	ur_tree_mkdir(d, BRIDGE "%s/%s/%s", address, class_name, name);
	snprintf(target, sizeof(target), "../../../%s", address);
	ur_tree_link(d, target, BRIDGE "%s/%s/%s/device", address, class_name,
		     name);
	snprintf(target, sizeof(target), "../../../../../class/%s", class_name);
	ur_tree_link(d, target, BRIDGE "%s/%s/%s/subsystem", address,
		     class_name, name);
	snprintf(target, sizeof(target), "../../devices/" ROOT "/%s/%s/%s",
		 address, class_name, name);
	ur_tree_link(d, target, "sys/class/%s/%s", class_name, name);
}

void ur_sysfs_bus_add(struct ur_device *dev)
{
	char dir[64], address[16], name[32];

	print_address(dev, address);
	snprintf(dir, sizeof(dir), BRIDGE "%s", address);
	snprintf(name, sizeof(name), "uverbs%u", dev->uverbs);
	ur_sysfs_class_add(dev, "infiniband", dev->name);
	ur_sysfs_class_add(dev, "infiniband_verbs", name);
	put_attributes(dev, dir, address);
	put_links(dev, dir, address);
}

void ur_sysfs_bus_del(struct ur_device *dev)
{
	const struct ur_daemon *d = dev->daemon;
	char address[16];

	print_address(dev, address);
	ur_tree_drop(d, "sys/class/infiniband_verbs/uverbs%u", dev->uverbs);
	ur_tree_drop(d, "sys/class/infiniband/%s", dev->name);
	ur_tree_drop(d, "sys/bus/pci/devices/%s", address);
	ur_tree_drop(d, "sys/class/pci_bus/%.*s", BUS_CHARS, address);
	ur_tree_bury(d, BRIDGE "%s", address);
}
