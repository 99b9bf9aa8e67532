/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The virtual tree. Real files and directories, so that everything a program
 * may do with them (openat, readdir, realpath, inotify) works natively; the
 * preload library only changes the beginning of a path.
 *
 * The directory of a device is not touched after it is made: libibverbs takes
 * a changed time of it for another device.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "device/limits.h"
#include "device/query.h"
#include "device/sysfs.h"
#include "kernel-abi/uroce-tunnel.h"

#define UVERBS_MAJOR	  231 /* the kernel's, IB_UVERBS_MAJOR */
#define UVERBS_BASE_MINOR 192
#define UVERBS_FIRST_MIXED \
	192 /* our numbers where the host has real devices, out of their way */
#define MISC_MAJOR	10
#define RDMA_CM_MINOR	58
#define UMAD_ABI	"5\n"
#define UCMA_ABI	"4\n"
#define UVERBS_CORE_ABI "6\n"

static u64 make_rdev(u32 major, u32 minor)
{
	return ((u64)(major & 0xfffff000) << 32) | ((u64)(major & 0xfff) << 8) |
	       ((u64)(minor & 0xffffff00) << 12) | (minor & 0xff);
}

u64 ur_sysfs_uverbs_rdev(u32 uverbs)
{
	return make_rdev(UVERBS_MAJOR, UVERBS_BASE_MINOR + uverbs);
}

u64 ur_sysfs_rdma_cm_rdev(void)
{
	return make_rdev(MISC_MAJOR, RDMA_CM_MINOR);
}

/* ---- small tools; paths are relative to the run directory ---- */

static int full_path(const struct ur_daemon *d, char buf[PATH_MAX],
		     const char *fmt, va_list ap)
{
	int n = snprintf(buf, PATH_MAX, "%s/", d->run_dir);

	vsnprintf(buf + n, (size_t)(PATH_MAX - n), fmt, ap);
	return n;
}

__attribute__((format(printf, 2, 3))) static int
make_dir(const struct ur_daemon *d, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = full_path(d, path, fmt, ap);
	va_end(ap);
	for (char *p = path + n; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

/* For writing. It is read-only, to its owner too; root does not notice. */
static int open_file(const char *path)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
	int fd = open(path, flags, 0444);

	if (fd >= 0 || errno != EACCES || chmod(path, 0644) < 0)
		return fd;
	fd = open(path, flags, 0444);
	chmod(path, 0444);
	return fd;
}

/* In place: a reader takes it in one read, and no name ever disappears. */
__attribute__((format(printf, 3, 4))) static int
put(const struct ur_daemon *d, const char *text, const char *fmt, ...)
{
	char path[PATH_MAX];
	size_t len = strlen(text);
	va_list ap;
	int fd, err = 0;

	va_start(ap, fmt);
	full_path(d, path, fmt, ap);
	va_end(ap);
	fd = open_file(path);
	if (fd < 0)
		return -errno;
	if (pwrite(fd, text, len, 0) != (ssize_t)len ||
	    ftruncate(fd, (off_t)len) < 0)
		err = errno ? -errno : -EIO;
	close(fd);
	return err;
}

__attribute__((format(printf, 2, 3))) static void
drop(const struct ur_daemon *d, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	full_path(d, path, fmt, ap);
	va_end(ap);
	unlink(path);
}

static int remove_one(const char *path, const struct stat *st, int flag,
		      struct FTW *ftw)
{
	remove(path);
	return 0;
}

__attribute__((format(printf, 2, 3))) static void
drop_tree(const struct ur_daemon *d, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	full_path(d, path, fmt, ap);
	va_end(ap);
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- what is there anyway ---- */

/* Real devices stay visible: links to their entries. */
static void link_real(const struct ur_daemon *d, const char *dir)
{
	char path[PATH_MAX], target[PATH_MAX];
	DIR *real = opendir(dir);
	struct dirent *e;

	if (!real)
		return;
	while ((e = readdir(real))) {
		if (e->d_name[0] == '.')
			continue;
		if (snprintf(target, sizeof(target), "%s/%s", dir, e->d_name) >=
			    (int)sizeof(target) ||
		    snprintf(path, sizeof(path), "%s%s/%s", d->run_dir, dir,
			     e->d_name) >= (int)sizeof(path))
			continue;
		if (symlink(target, path) < 0 && errno != EEXIST)
			ur_debug("cannot link %s", target);
	}
	closedir(real);
}

u32 ur_sysfs_first_uverbs(void)
{
	DIR *dir = opendir("/sys/class/infiniband_verbs");
	struct dirent *e;
	bool real = false;

	if (!dir)
		return 0;
	while ((e = readdir(dir)))
		real |= !strncmp(e->d_name, "uverbs", 6);
	closedir(dir);
	return real ? UVERBS_FIRST_MIXED : 0;
}

bool ur_sysfs_name_taken(const struct ur_daemon *d, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s",
		     d->run_dir, name) >= (int)sizeof(path))
		return true;
	return !lstat(path, &st);
}

static int make_common(const struct ur_daemon *d)
{
	char text[32];
	int err;

	err = make_dir(d, "sys/class/infiniband");
	if (!err)
		err = make_dir(d, "sys/class/infiniband_verbs");
	if (!err)
		err = make_dir(d, "sys/class/infiniband_mad");
	if (!err)
		err = make_dir(d, "dev/infiniband");
	if (err)
		return err;
	link_real(d, "/sys/class/infiniband");
	link_real(d, "/sys/class/infiniband_verbs");
	link_real(d, "/sys/class/infiniband_mad");
	link_real(d, "/dev/infiniband");
	drop(d, "sys/class/infiniband_verbs/abi_version");
	drop(d, "sys/class/infiniband_mad/abi_version");
	err = put(d, UVERBS_CORE_ABI, "sys/class/infiniband_verbs/abi_version");
	if (!err)
		err = put(d, UMAD_ABI, "sys/class/infiniband_mad/abi_version");
	if (err || !d->file_ops[UROCE_TUN_RDMA_CM])
		return err;
	drop(d, "dev/infiniband/rdma_cm");
	snprintf(text, sizeof(text), "%u:%u\n", MISC_MAJOR, RDMA_CM_MINOR);
	err = make_dir(d, "sys/class/misc/rdma_cm");
	if (!err)
		err = put(d, text, "sys/class/misc/rdma_cm/dev");
	if (!err)
		err = put(d, UCMA_ABI, "sys/class/misc/rdma_cm/abi_version");
	if (!err)
		err = put(d, text, "dev/infiniband/rdma_cm");
	return err;
}

int ur_sysfs_init(struct ur_daemon *d)
{
	ur_sysfs_fini(d);
	return make_common(d);
}

void ur_sysfs_fini(struct ur_daemon *d)
{
	drop_tree(d, "sys");
	drop_tree(d, "dev");
}

/* ---- a device ---- */

#define IB "sys/class/infiniband/%s/"

static void put_gid(struct ur_device *dev, u32 i)
{
	static const u8 zero[16];
	const struct ur_gid *g = ur_gid_get(dev, i);
	char text[48];

	ur_gid_print(text, g ? g->gid : zero);
	strcat(text, "\n");
	put(dev->daemon, text, IB "ports/1/gids/%u", dev->name, i);
	if (!g) {
		drop(dev->daemon, IB "ports/1/gid_attrs/types/%u", dev->name,
		     i);
		drop(dev->daemon, IB "ports/1/gid_attrs/ndevs/%u", dev->name,
		     i);
		return;
	}
	put(dev->daemon,
	    g->type == UR_GID_ROCE_V1 ? "IB/RoCE v1\n" : "RoCE v2\n",
	    IB "ports/1/gid_attrs/types/%u", dev->name, i);
	snprintf(text, sizeof(text), "%s\n", dev->netdev);
	put(dev->daemon, text, IB "ports/1/gid_attrs/ndevs/%u", dev->name, i);
}

void ur_sysfs_gid(struct ur_device *dev, u32 index)
{
	put_gid(dev, index);
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

void ur_sysfs_port(struct ur_device *dev)
{
	struct ib_uverbs_query_port_resp r = {0};
	char text[64];

	ur_fill_port(dev, &r);
	put(dev->daemon, r.state == 4 ? "4: ACTIVE\n" : "1: DOWN\n",
	    IB "ports/1/state", dev->name);
	put(dev->daemon, r.phys_state == 5 ? "5: LinkUp\n" : "3: Disabled\n",
	    IB "ports/1/phys_state", dev->name);
	print_rate(text, sizeof(text), &r);
	put(dev->daemon, text, IB "ports/1/rate", dev->name);
	snprintf(text, sizeof(text), "0x%08x\n", r.port_cap_flags);
	put(dev->daemon, text, IB "ports/1/cap_mask", dev->name);
}

static const char *const cnt_names[] = {
#define X(name) #name,
	UR_COUNTERS(X)
#undef X
};

/* The counters/ of an InfiniBand port; -1: always zero here. */
static const struct {
	const char *name;
	int id;
} port_counters[] = {
	{"port_xmit_data", UR_CNT_port_xmit_data},
	{"port_rcv_data", UR_CNT_port_rcv_data},
	{"port_xmit_packets", UR_CNT_sent_pkts},
	{"port_rcv_packets", UR_CNT_rcvd_pkts},
	{"unicast_xmit_packets", UR_CNT_sent_pkts},
	{"unicast_rcv_packets", UR_CNT_rcvd_pkts},
	{"link_downed", UR_CNT_link_downed},
	{"port_rcv_errors", UR_CNT_rx_icrc_encapsulated},
	{"port_xmit_discards", UR_CNT_send_err},
	{"multicast_xmit_packets", -1},
	{"multicast_rcv_packets", -1},
	{"symbol_error", -1},
	{"link_error_recovery", -1},
	{"port_rcv_remote_physical_errors", -1},
	{"port_rcv_switch_relay_errors", -1},
	{"port_xmit_constraint_errors", -1},
	{"port_rcv_constraint_errors", -1},
	{"local_link_integrity_errors", -1},
	{"excessive_buffer_overrun_errors", -1},
	{"VL15_dropped", -1},
	{"port_xmit_wait", -1},
};

void ur_sysfs_counters(struct ur_device *dev)
{
	u64 cnt[UR_CNT_COUNT];
	char text[32];

	ur_engine_counters(dev->engine, cnt);
	for (u32 i = 0; i < UR_ARRAY_SIZE(port_counters); i++) {
		int id = port_counters[i].id;

		snprintf(text, sizeof(text), "%llu\n",
			 id < 0 ? 0ull : (unsigned long long)cnt[id]);
		put(dev->daemon, text, IB "ports/1/counters/%s", dev->name,
		    port_counters[i].name);
	}
	for (u32 i = 0; i < UR_CNT_COUNT; i++) {
		if (i == UR_CNT_port_xmit_data || i == UR_CNT_port_rcv_data)
			continue;
		snprintf(text, sizeof(text), "%llu\n",
			 (unsigned long long)cnt[i]);
		put(dev->daemon, text, IB "ports/1/hw_counters/%s", dev->name,
		    cnt_names[i]);
	}
}

static int put_device(struct ur_device *dev)
{
	static const struct {
		const char *name, *text;
	} fixed[] = {
		{"node_type", "1: CA\n"},
		{"fw_ver", UR_FW_VER_TEXT "\n"},
		{"hw_rev", "0x1\n"},
		{"hca_type", "uroce\n"},
		{"board_id", "uroce\n"},
		{"ports/1/lid", "0x0\n"},
		{"ports/1/lid_mask_count", "0\n"},
		{"ports/1/sm_lid", "0x0\n"},
		{"ports/1/sm_sl", "0\n"},
		{"ports/1/link_layer", "Ethernet\n"},
		{"ports/1/pkeys/0", "0xffff\n"},
		{"ports/1/hw_counters/lifespan", "10\n"},
		{"device/modalias", "uroce\n"},
		{"device/numa_node", "-1\n"},
	};
	char text[64];
	u64 g = dev->node_guid;
	int err = 0;

	for (u32 i = 0; i < UR_ARRAY_SIZE(fixed) && !err; i++)
		err = put(dev->daemon, fixed[i].text, IB "%s", dev->name,
			  fixed[i].name);
	snprintf(text, sizeof(text), "%04x:%04x:%04x:%04x\n",
		 (u32)(g >> 48) & 0xffff, (u32)(g >> 32) & 0xffff,
		 (u32)(g >> 16) & 0xffff, (u32)g & 0xffff);
	if (!err)
		err = put(dev->daemon, text, IB "node_guid", dev->name);
	if (!err)
		err = put(dev->daemon, text, IB "sys_image_guid", dev->name);
	snprintf(text, sizeof(text), "%s on %s\n", dev->name, dev->netdev);
	if (!err)
		err = put(dev->daemon, text, IB "node_desc", dev->name);
	return err;
}

static int make_dirs(struct ur_device *dev)
{
	static const char *const dirs[] = {
		"ports/1/gids",	    "ports/1/gid_attrs/types",
		"ports/1/pkeys",    "ports/1/gid_attrs/ndevs",
		"ports/1/counters", "ports/1/hw_counters",
	};
	int err = 0;

	for (u32 i = 0; i < UR_ARRAY_SIZE(dirs) && !err; i++)
		err = make_dir(dev->daemon, IB "%s", dev->name, dirs[i]);
	if (!err)
		err = make_dir(dev->daemon, IB "device/net/%s", dev->name,
			       dev->netdev);
	if (!err)
		err = make_dir(dev->daemon,
			       IB "device/infiniband_verbs/uverbs%u", dev->name,
			       dev->uverbs);
	if (!err)
		err = make_dir(dev->daemon,
			       "sys/class/infiniband_verbs/"
			       "uverbs%u",
			       dev->uverbs);
	return err;
}

/* The char device in the three places where programs look for it. */
static int put_uverbs(struct ur_device *dev)
{
	struct ur_daemon *d = dev->daemon;
	char name[IF_NAMESIZE + 20], devno[32], abi[16];
	int err = 0;

	snprintf(name, sizeof(name), "%s\n", dev->name);
	snprintf(devno, sizeof(devno), "%u:%u\n", UVERBS_MAJOR,
		 UVERBS_BASE_MINOR + dev->uverbs);
	snprintf(abi, sizeof(abi), "%u\n", UROCE_UVERBS_ABI_VERSION);
	for (int i = 0; i < 2 && !err; i++) {
		char dir[PATH_MAX / 2];

		if (i)
			snprintf(dir, sizeof(dir),
				 IB "device/infiniband_verbs/uverbs%u",
				 dev->name, dev->uverbs);
		else
			snprintf(dir, sizeof(dir),
				 "sys/class/infiniband_verbs/uverbs%u",
				 dev->uverbs);
		err = put(d, name, "%s/ibdev", dir);
		if (!err)
			err = put(d, devno, "%s/dev", dir);
		if (!err)
			err = put(d, abi, "%s/abi_version", dir);
	}
	/* Last: who sees it finds the rest in place. */
	if (!err)
		err = put(d, devno, "dev/infiniband/uverbs%u", dev->uverbs);
	return err;
}

int ur_sysfs_add(struct ur_device *dev)
{
	int err = make_dirs(dev);

	if (!err)
		err = put_device(dev);
	if (err)
		return err;
	ur_sysfs_port(dev);
	for (u32 i = 0; i < UR_GID_MAX; i++)
		put_gid(dev, i);
	ur_sysfs_counters(dev);
	return put_uverbs(dev);
}

void ur_sysfs_del(struct ur_device *dev)
{
	drop(dev->daemon, "dev/infiniband/uverbs%u", dev->uverbs);
	drop_tree(dev->daemon, "sys/class/infiniband_verbs/uverbs%u",
		  dev->uverbs);
	drop_tree(dev->daemon, "sys/class/infiniband/%s", dev->name);
}
