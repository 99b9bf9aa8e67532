// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The recorder of a device: switches it on and off, and writes files after failures. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "device/memory.h"
#include "engine/ground/program_record.h"
#include "device/report/record_section.h"
#include "device/watcher.h"
#include "util/assert.h"

/* Delay of a file after a failure, to include what follows. */
#define WRITE_AFTER_NS 100000000ull
/* Interval of polling for failures in programs. */
#define POLL_EVERY_NS 100000000ull
/* Minimum time between two files for failures. */
#define WRITE_EVERY_NS 5000000000ull

/* ---- files ---- */

/* In a directory. */
#define NAME_BYTES (UR_DEVICE_NAME_MAX + 16)

/*
 * Chooses an unused file name, or else the oldest file. It goes by the directory, so recent
 * files survive a restart of recorder, device or daemon.
 */
static void choose_file(int dir, const char *device, char name[NAME_BYTES])
{
	struct timespec first = {0};
	struct stat st;
	u32 chosen = 0;

	for (u32 n = 1; n <= UR_RECORD_FILES; n++) {
		snprintf(name, NAME_BYTES, "%s-%u", device, n);
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
			return;
		if (chosen && (st.st_mtim.tv_sec > first.tv_sec ||
			       (st.st_mtim.tv_sec == first.tv_sec &&
				st.st_mtim.tv_nsec >= first.tv_nsec)))
			continue;
		first = st.st_mtim;
		chosen = n;
	}
	snprintf(name, NAME_BYTES, "%s-%u", device, chosen);
}

static int open_file(const struct ur_device *dev, char name[NAME_BYTES])
{
	char path[PATH_MAX + 64];
	int dir, fd;

	snprintf(path, sizeof(path), "%s/record", dev->daemon->run_dir);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	dir = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	choose_file(dir, dev->name, name);
	/* Readers of the old file keep it. */
	unlinkat(dir, name, 0);
	fd = openat(dir, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = -errno;
	close(dir);
	return fd;
}

static void write_file(struct ur_device *dev, const char *why)
{
	struct ur_section *s = ur_section_open(dev);
	char name[NAME_BYTES] = "";
	int err = s ? ur_section_fill(s, NULL) : -ENOMEM, fd;

	ur_assert(ur_loop_mine(dev->daemon->loop));
	if (!err) {
		err = fd = open_file(dev, name);
		if (fd >= 0) {
			err = ur_section_write(s, fd);
			close(fd);
		}
	}
	if (s)
		ur_section_close(s);
	if (err)
		ur_log("%s: record/%s: %s", dev->name, name, strerror(-err));
	else
		ur_log("%s: recorded in %s/record/%s (%s): 'uroce report'",
		       dev->name, dev->daemon->run_dir, name, why);
}

static void write_wanted(struct ur_device *dev)
{
	struct ur_device_record *rec = dev->record;

	ur_assert(rec && rec->wanted);
	rec->wanted = false;
	rec->next_file_at = ur_loop_now() + WRITE_EVERY_NS;
	write_file(dev, "a work request failed");
}

static void time_to_write(void *arg)
{
	write_wanted(arg);
}

static void write_soon(struct ur_device *dev)
{
	struct ur_device_record *rec = dev->record;
	u64 now = ur_loop_now(), at = now + WRITE_AFTER_NS;

	ur_assert(ur_loop_mine(dev->daemon->loop));
	if (!rec || rec->wanted)
		return;
	rec->wanted = true;
	if (at < rec->next_file_at)
		at = rec->next_file_at;
	rec->write.fn = time_to_write;
	rec->write.arg = dev;
	ur_loop_timer_set(dev->daemon->loop, &rec->write, at);
}

/* Polls: an engine in a program cannot notify us. */
static void poll_programs(void *arg)
{
	struct ur_device *dev = arg;

	if (ur_engine_record_failed(dev->engine))
		write_soon(dev);
	ur_loop_timer_set(dev->daemon->loop, &dev->record->poll,
			  ur_loop_now() + POLL_EVERY_NS);
}

static void begin_to_look(struct ur_device *dev)
{
	dev->record->poll.fn = poll_programs;
	dev->record->poll.arg = dev;
	poll_programs(dev);
}

void ur_record_write_all(struct ur_daemon *daemon)
{
	ur_assert(ur_loop_mine(daemon->loop));
	ur_list_each(struct ur_device, dev, &daemon->devices, node) {
		if (dev->record)
			write_file(dev, "asked for");
	}
}

/* ---- on and off ---- */

static void end(struct ur_device *dev)
{
	struct ur_device_record *rec = dev->record;

	if (!rec)
		return;
	ur_engine_record(dev->engine, NULL);
	if (rec->poll.fn)
		ur_loop_timer_clear(dev->daemon->loop, &rec->poll);
	if (rec->wanted) {
		ur_loop_timer_clear(dev->daemon->loop, &rec->write);
		write_wanted(dev);
	}
	dev->record = NULL;
	ur_record_put(rec);
}

int ur_record_set(struct ur_device *dev, u32 kib)
{
	struct ur_device_record *rec = NULL;

	ur_assert(ur_loop_mine(dev->daemon->loop));
	if (kib) {
		rec = calloc(1, sizeof(*rec));
		if (!rec)
			return -ENOMEM;
		rec->refs = 1;
		rec->kib = kib;
		rec->charged =
			kib +
			(UR_PLACES - 1) * ur_program_record_kib(kib, false) +
			UR_SMALL_SLOTS * ur_program_record_kib(kib, true);
		if (ur_memory_take(geteuid(), rec->charged)) {
			free(rec);
			return -ENOMEM;
		}
		rec->ring = ur_recorder_create(kib);
		if (!rec->ring) {
			ur_record_put(rec);
			return -ENOMEM;
		}
	}
	end(dev);
	dev->record = rec;
	if (!rec)
		return 0;
	ur_engine_record(dev->engine, rec->ring);
	begin_to_look(dev);
	return 0;
}

u32 ur_record_kib(const struct ur_device *dev)
{
	return dev->record ? dev->record->kib : 0;
}

static void changed(struct ur_device *dev, enum ur_device_change change)
{
	if (change == UR_DEVICE_GONE)
		end(dev);
}

void ur_record_watch(struct ur_daemon *daemon)
{
	static struct ur_device_watcher watcher = {.changed = changed};

	ur_device_watch(daemon, &watcher);
}

/* ---- records from control ---- */

void ur_record_client_ends(const struct ur_session *s)
{
	struct uroce_record_owner o = ur_record_owner(s);

	ur_list_for_each(it, &s->daemon->devices) {
		struct ur_device_record *rec =
			ur_list_entry(it, struct ur_device, node)->record;

		if (rec)
			rec->past[rec->n_past++ % UR_RECORD_PAST_OWNERS] = o;
	}
}

void ur_record_cm(struct ur_device *dev, u32 qpn, uid_t uid, pid_t pid,
		  u32 event, int status)
{
	if (dev && dev->record)
		ur_engine_record_cm(dev->engine, qpn, uid, pid, event, status);
}
