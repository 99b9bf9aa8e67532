// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Gives up privileges for good. Calls the parts in other files, in an order in which each
 * is still permitted. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "device/confine/confine.h"
#include "engine/ground/log.h"
#include "util/bytes.h"

static struct ur_confinement holds;

static const struct {
	u32 number;
	const char *name;
} kept[] = {
	{CAP_NET_ADMIN, "net_admin"}, /* socket buffers, service level 7 */
	{CAP_NET_RAW, "net_raw"},     /* packet sockets */
};

/* Drops the capabilities that an executed program could get. */
static void drop_bounds(void)
{
	unsigned long cap = 0;

	/* Ends at the kernel's last capability, or at once without CAP_SETPCAP. */
	while (!prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
		cap++;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	prctl(PR_SET_SECUREBITS, SECURE_ALL_BITS | SECURE_ALL_LOCKS, 0, 0, 0);
}

/* keep_bits: bit mask of the capabilities to keep. */
static int drop_capabilities(u32 keep_bits)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct has[2], keep[2] = {0};
	size_t n = 0;

	if (syscall(SYS_capget, &head, has) < 0)
		return -errno;
	drop_bounds();
	for (size_t i = 0; i < UR_ARRAY_SIZE(kept); i++) {
		u32 bit = 1u << kept[i].number;

		if (!(has[0].permitted & bit) || !(keep_bits & bit))
			continue;
		keep[0].permitted |= bit;
		keep[0].effective |= has[0].effective & bit;
		n += (size_t)snprintf(holds.caps + n, sizeof(holds.caps) - n,
				      "%s%s", n ? " " : "", kept[i].name);
	}
	/* Under systemd there are no others left, and the call is not permitted.
	 * Inheritable capabilities do not matter, since we cannot execute programs. */
	for (size_t i = 0; i < UR_ARRAY_SIZE(has); i++)
		has[i].inheritable = 0;
	if (!memcmp(has, keep, sizeof(keep)))
		return 0;
	return syscall(SYS_capset, &head, keep) < 0 ? -errno : 0;
}

int ur_confine_without(int (*fn)(void *arg), void *arg)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct has[2] = {0}, none[2];
	bool lent = !syscall(SYS_capget, &head, has);
	int ret;

	memcpy(none, has, sizeof(none));
	none[0].effective = none[1].effective = 0;
	lent = lent && !syscall(SYS_capset, &head, none);
	ret = fn(arg);
	if (lent && syscall(SYS_capset, &head, has) < 0)
		ur_log("capabilities are gone: %s", strerror(errno));
	return ret;
}

static bool check_step(int err, const char *what)
{
	if (err)
		ur_debug("not confined: %s: %s", what, strerror(-err));
	return !err;
}

void ur_confine(const char *run_dir, bool keep_raw)
{
	int err;

	holds.asked = true;
	holds.mounts =
		check_step(ur_confine_mounts(run_dir), "mount namespace");
	/* An ordinary user needs this for Landlock and the filter. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		ur_log("no_new_privs: %s", strerror(errno));
	err = drop_capabilities(1u << CAP_NET_ADMIN |
				(keep_raw ? 1u << CAP_NET_RAW : 0));
	if (err)
		ur_log("capabilities stay: %s", strerror(-err));
	/* A core dump would contain clients' memory; and only root can trace us, not
	 * another process of our uid. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	holds.files = check_step(ur_confine_files(run_dir), "Landlock");
	holds.calls = check_step(ur_confine_calls(keep_raw), "system calls");
	if (!holds.calls)
		ur_log("system calls are not filtered: this kernel, or our "
		       "parent process, does not allow it");
	ur_debug("confined: capabilities '%s'%s%s%s", holds.caps,
		 holds.calls ? ", system calls" : "",
		 holds.files ? ", files" : "", holds.mounts ? ", mounts" : "");
}

void ur_confine_keeper(const char *run_dir)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		ur_debug("the keeper: no_new_privs: %s", strerror(errno));
	check_step(drop_capabilities(1u << CAP_NET_ADMIN),
		   "the keeper's capabilities");
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	check_step(ur_confine_files(run_dir), "the keeper's Landlock");
	check_step(ur_confine_keeper_calls(), "the keeper's system calls");
}

void ur_confine_engine(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		ur_debug("no_new_privs: %s", strerror(errno));
	check_step(drop_capabilities(0), "an engine's capabilities");
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	check_step(ur_confine_files(NULL), "an engine's Landlock");
	check_step(ur_confine_calls(false), "an engine's system calls");
}

const struct ur_confinement *ur_confinement(void)
{
	return &holds;
}
