// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * systemd's descriptor store in place of the keeper (sd_notify(3), FDSTORE=1). systemd
 * passes the stored descriptors to the next uroced, whether this one was killed or
 * restarted, and drops them when the service is stopped. It identifies a descriptor only by
 * a name, and passes all names in one environment variable. So a memory file, the ledger,
 * which is in the store too, records what each name means.
 *
 * A message that was sent reaches systemd even if uroced is killed then, and systemd
 * handles it before it notices that uroced has ended.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>
#include "device/keeper_store.h"
#include "engine/ground/keep.h"
#include "engine/ground/log.h"
#include "util/assert.h"
#include "util/os/map_shared.h"

#define STORE_MAX 4096u
/* As in keeper_serve.c. */
#define TRIES_MAX 32u
/* How long to wait for systemd to close a dropped descriptor. */
#define CLOSED_USEC 1000000u

#define LEDGER "ledger"
#define KEPT   "k%u"

struct ledger_entry {
	struct ur_kept what;
	u32 used;
	u32 rsv;
};

struct ledger {
	u32 version; /* UR_KEEP_VERSION */
	u32 tries;   /* failed take-overs since the last success */
	struct ledger_entry entry[STORE_MAX];
};

static struct ledger *ledger;
static u32 room; /* maximum number of entries */

/* ---- messages ---- */

static int notify_systemd(const char *text, int fd)
{
	int ret = sd_pid_notify_with_fds(0, 0, text, &fd, fd >= 0);

	if (ret > 0)
		return 0;
	ur_debug("systemd's store: %s", strerror(ret ? -ret : ENOTCONN));
	return ret ? ret : -ENOTCONN;
}

/* FDPOLL=0: uroced, not systemd, watches for hangups. */
static int store_fd(const char *name, int fd)
{
	char text[64];

	snprintf(text, sizeof(text), "FDSTORE=1\nFDPOLL=0\nFDNAME=%s", name);
	return notify_systemd(text, fd);
}

static void remove_stored(const char *name)
{
	char text[64];

	snprintf(text, sizeof(text), "FDSTOREREMOVE=1\nFDNAME=%s", name);
	notify_systemd(text, -1);
}

static void name_entry(u32 i, char name[16])
{
	snprintf(name, 16, KEPT, i);
}

/* ---- */

static u32 find(const struct ur_kept *what)
{
	u32 i = 0;

	while (i < room && (!ledger->entry[i].used ||
			    !ur_kept_is_same(&ledger->entry[i].what, what)))
		i++;
	return i;
}

static u32 find_free(void)
{
	u32 i = 0;

	while (i < room && ledger->entry[i].used)
		i++;
	return i;
}

static void remove_entry(u32 i)
{
	char name[16];

	ur_assert(i < STORE_MAX);
	name_entry(i, name);
	remove_stored(name);
	ledger->entry[i].used = 0;
}

static int store_put(const struct ur_kept *what, int fd)
{
	u32 i = find(what);
	char name[16];
	int err;

	if (i < room)
		remove_entry(i);
	i = find_free();
	if (i == room)
		return -ENOSPC;
	ledger->entry[i] = (struct ledger_entry){.what = *what, .used = 1};
	name_entry(i, name);
	err = store_fd(name, fd);
	if (err)
		ledger->entry[i].used = 0;
	return err;
}

static void store_renumber(const struct ur_kept *what)
{
	u32 i = find(what);

	if (i < room)
		ledger->entry[i].what.value = what->value;
}

/* Waits until systemd has closed the descriptor: that renumbers the sockets of a reuseport
 * group. */
static void store_drop(const struct ur_kept *what)
{
	u32 i = find(what);

	if (i == room)
		return;
	remove_entry(i);
	if (what->kind == UR_KEPT_SOCKET &&
	    sd_notify_barrier(0, CLOSED_USEC) < 0)
		ur_debug("systemd's store: it does not say that it closed a "
			 "socket");
}

static void store_recovery_done(void)
{
	ledger->tries = 0;
}

static void store_end(void)
{
	for (u32 i = 0; i < room; i++)
		if (ledger->entry[i].used)
			remove_entry(i);
	remove_stored(LEDGER);
	munmap(ledger, sizeof(*ledger));
	ledger = NULL;
}

static bool store_has_program(u64 process)
{
	for (u32 i = 0; i < room; i++) {
		const struct ledger_entry *e = &ledger->entry[i];

		if (e->used && ur_kept_is_liveness(&e->what) &&
		    (!process || (e->what.value & ~UR_KEPT_ALONE) == process))
			return true;
	}
	return false;
}

static const struct ur_keep_store systemd_store = {
	.put = store_put,
	.renumber = store_renumber,
	.drop = store_drop,
	.recovery_done = store_recovery_done,
	.end = store_end,
	.has_program = store_has_program,
};

/* ---- the start ---- */

/* Ignores the ledger of another release. */
static void map_ledger(int fd)
{
	void *p;

	if (ur_map_shared(fd, sizeof(*ledger), PROT_READ | PROT_WRITE, &p))
		return;
	ledger = p;
	if (ledger->version == UR_KEEP_VERSION && ledger->tries++ < TRIES_MAX)
		return;
	munmap(p, sizeof(*ledger));
	ledger = NULL;
}

static int make_ledger(void)
{
	void *p;
	int fd, err;

	err = ur_make_shared(
		"uroce-ledger", sizeof(*ledger), PROT_READ | PROT_WRITE,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, &fd, &p);
	if (err)
		return err;
	err = store_fd(LEDGER, fd);
	close(fd);
	if (err) {
		munmap(p, sizeof(*ledger));
		return err;
	}
	ledger = p;
	ledger->version = UR_KEEP_VERSION;
	return 0;
}

/* Returns the index of the entry with that name, or STORE_MAX if there is none. */
static u32 entry_of(const char *name)
{
	char same[16];
	u32 i;

	if (!ledger || sscanf(name, KEPT, &i) != 1 || i >= room)
		return STORE_MAX;
	name_entry(i, same);
	return !strcmp(name, same) && ledger->entry[i].used ? i : STORE_MAX;
}

static void take_one(const char *name, int fd, bool came[STORE_MAX])
{
	u32 i = entry_of(name);

	if (i < STORE_MAX && !came[i]) {
		came[i] = !ur_keep_left(&ledger->entry[i].what, fd);
		return;
	}
	close(fd);
	if (i == STORE_MAX)
		remove_stored(name);
}

/* Clears entries without a descriptor: storing or dropping it was interrupted. */
static void take_left(int n, char **names)
{
	static bool came[STORE_MAX];

	for (int i = 0; i < n; i++)
		if (strcmp(names[i], LEDGER))
			take_one(names[i], SD_LISTEN_FDS_START + i, came);
	for (u32 i = 0; i < room; i++)
		if (!came[i])
			ledger->entry[i].used = 0;
}

static void find_ledger(int n, char **names)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(names[i], LEDGER))
			continue;
		if (!ledger)
			map_ledger(SD_LISTEN_FDS_START + i);
		close(SD_LISTEN_FDS_START + i);
	}
	if (!ledger)
		remove_stored(LEDGER);
}

/* A child process of a service inherits the environment, but is not the service. */
static bool is_the_service(void)
{
	const char *pid = getenv("SYSTEMD_EXEC_PID");

	return pid && atol(pid) == getpid();
}

bool ur_keeper_store_begin(void)
{
	const char *max = getenv("FDSTORE");
	char **names = NULL;
	int n, err = 0;

	if (!max || atol(max) < 2 || !is_the_service())
		return false;
	room = (u32)ur_min_u64((u64)atol(max) - 1, STORE_MAX);
	n = sd_listen_fds_with_names(0, &names);
	find_ledger(n, names);
	ur_keep_use(&systemd_store);
	if (!ledger)
		err = make_ledger();
	if (!err)
		take_left(n, names);
	else
		ur_keep_use(NULL);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	if (err)
		ur_log("systemd's store: %s", strerror(-err));
	return !err;
}
