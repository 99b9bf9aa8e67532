// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The run directory of this process. No allocation; signal handlers may call
 * these functions. */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "preload/rundir_choice.h"
#include "util/os/rundir.h"

static char own[UR_RUNDIR_MAX];
static _Atomic int known;    /* own is filled */
static _Atomic int is_final; /* the choice is final */
static _Atomic int is_hosts; /* it is UR_RUNDIR_HOST */

static void learn(void)
{
	const char *asked = secure_getenv("UROCE_RUN_DIR");
	char buf[sizeof(own)];
	int saved = errno;

	if (getauxval(AT_SECURE) || ur_rundir(NULL, buf, sizeof(buf)))
		strcpy(buf, UR_RUNDIR_HOST);
	if ((asked && *asked) || !strcmp(buf, UR_RUNDIR_HOST))
		atomic_store(&is_final, 1);
	/* Two threads write the same bytes. */
	strcpy(own, buf);
	atomic_store(&known, 1);
	errno = saved;
}

const char *ur_chosen_rundir(void)
{
	if (!atomic_load_explicit(&known, memory_order_acquire))
		learn();
	return atomic_load(&is_hosts) ? UR_RUNDIR_HOST : own;
}

void ur_choose_rundir(void)
{
	const char *dir = ur_chosen_rundir();

	if (atomic_load(&is_final))
		return;
	if (ur_rundir_serves(dir)) {
		atomic_store(&is_final, 1);
	} else if (ur_rundir_serves(UR_RUNDIR_HOST)) {
		atomic_store(&is_hosts, 1);
		atomic_store(&is_final, 1);
	}
}

bool ur_chosen_rundir_serves(void)
{
	ur_choose_rundir();
	return ur_rundir_serves(ur_chosen_rundir());
}

const char *ur_chosen_rundir_tail(const char *name)
{
	const char *dir = ur_chosen_rundir();
	size_t len = strlen(dir);

	if (!strncmp(name, dir, len) && name[len] == '/')
		return name + len;
	/* Another process may have found the device there. */
	len = strlen(UR_RUNDIR_HOST);
	if (strncmp(name, UR_RUNDIR_HOST, len) || name[len] != '/')
		return NULL;
	ur_choose_rundir();
	return strcmp(ur_chosen_rundir(), UR_RUNDIR_HOST) ? NULL : name + len;
}
