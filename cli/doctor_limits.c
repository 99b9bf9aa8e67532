// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checks how much memory programs can register. The device locks no memory, so registering
 * works with any limit of locked memory. But programs read the limit themselves and
 * register less, warn, or give up (UCX, Ceph), and libibverbs warns if it is very low. Also
 * finds programs whose memory the device cannot access.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/status.h"

/* libibverbs itself warns below this (its init.c). */
#define MEMLOCK_MIN 32768

void ur_doctor_limits(struct doctor *doctor)
{
	struct rlimit lim = {.rlim_cur = RLIM_INFINITY};

	if (geteuid())
		getrlimit(RLIMIT_MEMLOCK, &lim);
	if (lim.rlim_cur == RLIM_INFINITY)
		ur_doctor_print(doctor, "memlock", "ok", NULL,
				"any amount of memory may be locked");
	else
		ur_doctor_print(
			doctor, "memlock",
			lim.rlim_cur <= MEMLOCK_MIN ? "problem" : "note",
			"ulimit -l unlimited, or 'memlock' in "
			"/etc/security/limits.conf",
			"only %llu bytes may be locked: registering works, "
			"unless UROCE_MEMLOCK=1, but programs that lock their "
			"buffers fail, and some that read the limit warn or "
			"register less",
			(unsigned long long)lim.rlim_cur);
	if (access("/proc/self/mem", R_OK | W_OK))
		ur_doctor_print(
			doctor, "proc", "problem",
			"mount /proc in this container: mount -t proc proc /proc",
			"/proc/self/mem: %s", strerror(errno));
}

/* Reads the limit of another process. Returns false if it has none or we may not read it. */
static bool memlock_of(int64_t pid, uint64_t *ret_bytes)
{
	char path[48], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/limits", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "Max locked memory %" SCNu64, ret_bytes) ==
			1;
	fclose(f);
	return found;
}

/* Returns whether a session before this one has the pid. */
static bool seen_before(struct json_object *sessions,
			const struct json_object *end, int64_t pid)
{
	ur_json_each(one, sessions) {
		if (one == end)
			break;
		if (ur_json_number(one, "pid") == pid)
			return true;
	}
	return false;
}

/* The device reports this only if it cannot access the memory. */
static void check_reached(struct doctor *doctor, struct json_object *session)
{
	struct json_object *reached;

	if (!json_object_object_get_ex(session, "memory_reached", &reached) ||
	    json_object_get_boolean(reached))
		return;
	ur_doctor_print(
		doctor, "memory", "problem",
		"let it open a device before it changes its user, or call "
		"prctl(PR_SET_DUMPABLE, 1) after that",
		"%s (process %" PRId64
		") may not open its own /proc/self/mem, as after setuid() or "
		"PR_SET_DUMPABLE 0: registering its memory fails with EACCES",
		ur_status_text(session, "comm"),
		ur_json_number(session, "pid"));
}

void ur_doctor_programs(struct doctor *doctor, struct json_object *status)
{
	struct json_object *sessions = ur_json_array(status, "sessions");

	ur_json_each(s, sessions) {
		int64_t pid = ur_json_number(s, "pid");
		char todo[96];
		uint64_t bytes;

		if (!seen_before(sessions, s, pid))
			check_reached(doctor, s);
		/* The limit does not apply to root's programs. */
		if (!ur_json_number(s, "uid") || pid == getpid() ||
		    seen_before(sessions, s, pid) || !memlock_of(pid, &bytes))
			continue;
		snprintf(
			todo, sizeof(todo),
			"prlimit --pid %" PRId64
			" --memlock=unlimited, as root, or start it anew with more",
			pid);
		ur_doctor_print(doctor, "memlock",
				bytes <= MEMLOCK_MIN ? "problem" : "note", todo,
				"%s (process %" PRId64
				") may lock only %" PRIu64 " bytes",
				ur_status_text(s, "comm"), pid, bytes);
	}
}
