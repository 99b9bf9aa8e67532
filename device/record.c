// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is recorded, as its readers get it. The ring is copied and sorted out
 * without the lock; a reference keeps it while somebody does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "device/administrator.h"
#include "device/limits.h"
#include "device/memory.h"
#include "device/record.h"

/* Names of processes that have ended, of one device. */
#define PAST_OWNERS 64
/* In one section: those, and who is there. */
#define MAX_OWNERS 512
/* A failure is written with what follows it. */
#define WRITE_AFTER_NS 100000000ull
/* Between two files that failures ask for. */
#define WRITE_EVERY_NS 5000000000ull

struct ur_device_record {
	struct ur_recorder *ring;
	u32 kib; /* charged */
	u32 refs;
	bool wanted; /* a file is due */
	u64 next_file_at;
	u32 files; /* written so far */
	struct ur_loop_timer write;
	u32 n_past; /* owners ever noted */
	struct uroce_record_owner past[PAST_OWNERS];
};

static void put_ref(struct ur_device_record *rec)
{
	if (--rec->refs)
		return;
	ur_memory_give(geteuid(), rec->kib);
	ur_recorder_free(rec->ring);
	free(rec);
}

/* ---- a section ---- */

/* One device's part, while it is put together. */
struct section {
	struct ur_device_record *rec; /* a reference */
	struct uroce_record_head head;
	struct uroce_record_owner owner[MAX_OWNERS];
	u8 *slots;
};

static void add_owner(struct section *s, const struct uroce_record_owner *o)
{
	if (s->head.n_owners < MAX_OWNERS)
		s->owner[s->head.n_owners++] = *o;
}

static struct uroce_record_owner owner_of(const struct ur_session *s)
{
	struct uroce_record_owner o = {.pid = (u32)s->pid, .uid = s->uid};

	snprintf(o.comm, sizeof(o.comm), "%s", s->comm);
	return o;
}

/* Who is there, and who was: what was noted last counts where a number came
 * again, so it comes first. */
static void add_owners(struct section *s, const struct ur_device *dev)
{
	const struct ur_device_record *rec = s->rec;
	u32 n = ur_min_u32(rec->n_past, PAST_OWNERS);

	ur_list_for_each(it, &dev->daemon->sessions) {
		const struct ur_session *client =
			ur_list_entry(it, struct ur_session, node);
		struct uroce_record_owner o = owner_of(client);

		if (client->kind == UROCE_TUN_UVERBS ||
		    client->kind == UROCE_TUN_RDMA_CM)
			add_owner(s, &o);
	}
	for (u32 i = 0; i < n; i++)
		add_owner(s, &rec->past[(rec->n_past - 1 - i) % PAST_OWNERS]);
}

static u64 now_of(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (u64)ts.tv_sec * 1000000000u + (u64)ts.tv_nsec;
}

/* Lock held. */
static struct section *open_section(struct ur_device *dev)
{
	struct section *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->rec = dev->record;
	s->rec->refs++;
	s->head.magic = UROCE_RECORD_MAGIC;
	snprintf(s->head.device, sizeof(s->head.device), "%s", dev->name);
	snprintf(s->head.netdev, sizeof(s->head.netdev), "%s", dev->netdev);
	add_owners(s, dev);
	return s;
}

/* Lock held. */
static void close_section(struct section *s)
{
	put_ref(s->rec);
	free(s->slots);
	free(s);
}

static u32 slots_of(const struct uroce_record *r)
{
	return r->kind == UROCE_RECORD_PACKET_OUT ||
			       r->kind == UROCE_RECORD_PACKET_IN
		       ? 2
		       : 1;
}

/* Leaves those of asker alone. */
static void leave_own(struct section *s, uid_t asker)
{
	u32 kept = 0, n = s->head.n_slots, owners = 0, step;
	struct uroce_record r;

	for (u32 i = 0; i < n; i += step) {
		memcpy(&r, s->slots + (size_t)i * UROCE_RECORD_SLOT, sizeof(r));
		step = ur_min_u32(slots_of(&r), n - i);
		if (r.uid != asker) {
			s->head.hidden++;
			continue;
		}
		memmove(s->slots + (size_t)kept * UROCE_RECORD_SLOT,
			s->slots + (size_t)i * UROCE_RECORD_SLOT,
			(size_t)step * UROCE_RECORD_SLOT);
		kept += step;
	}
	s->head.n_slots = kept;
	for (u32 i = 0; i < s->head.n_owners; i++)
		if (s->owner[i].uid == asker)
			s->owner[owners++] = s->owner[i];
	s->head.n_owners = owners;
}

/* Copies the ring. everything: all may be told. Lock not needed. */
static int fill_section(struct section *s, bool everything, uid_t asker)
{
	u64 lost;

	s->slots = malloc((size_t)s->rec->kib * 1024);
	if (!s->slots)
		return -ENOMEM;
	s->head.n_slots = ur_recorder_copy(s->rec->ring, s->slots, &lost);
	s->head.lost = lost;
	s->head.monotonic_ns = now_of(CLOCK_MONOTONIC);
	s->head.realtime_ns = now_of(CLOCK_REALTIME);
	if (!everything)
		leave_own(s, asker);
	return 0;
}

static int write_all(int fd, const void *from, size_t len)
{
	const u8 *at = from;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_section(const struct section *s, int fd)
{
	int err = write_all(fd, &s->head, sizeof(s->head));

	if (!err)
		err = write_all(fd, s->owner,
				s->head.n_owners * sizeof(*s->owner));
	if (!err)
		err = write_all(fd, s->slots,
				(size_t)s->head.n_slots * UROCE_RECORD_SLOT);
	return err;
}

/* ---- told to a client ---- */

/* Sections of all devices that record; the number of them. Lock held. */
static u32 open_sections(struct ur_daemon *daemon,
			 struct section *s[UR_MAX_DEVICES], u64 *bytes)
{
	u32 n = 0;

	*bytes = 0;
	ur_list_for_each(it, &daemon->devices) {
		struct ur_device *dev =
			ur_list_entry(it, struct ur_device, node);

		if (!dev->record || n == UR_MAX_DEVICES)
			continue;
		s[n] = open_section(dev);
		if (!s[n])
			break;
		*bytes += sizeof(*s[n]) + (u64)s[n]->rec->kib * 1024;
		n++;
	}
	return n;
}

static int tell_sections(struct section **s, u32 n, uid_t asker, u64 *len)
{
	bool everything = ur_is_administrator(asker);
	int fd = memfd_create("record", MFD_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	for (u32 i = 0; i < n && !err; i++) {
		err = fill_section(s[i], everything, asker);
		if (!err)
			err = write_section(s[i], fd);
		free(s[i]->slots);
		s[i]->slots = NULL;
	}
	*len = (u64)lseek(fd, 0, SEEK_CUR);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int ur_record_tell(struct ur_session *to_whom, u64 *len)
{
	struct ur_loop *loop = to_whom->daemon->loop;
	struct section *s[UR_MAX_DEVICES];
	u64 bytes;
	u32 n;
	int ret;

	ur_loop_lock(loop);
	n = open_sections(to_whom->daemon, s, &bytes);
	/* In the memfd, and one of them beside it. */
	ret = n ? ur_session_answer_room(to_whom, 2 * bytes) : -ENODATA;
	ur_loop_unlock(loop);
	if (!ret)
		ret = tell_sections(s, n, to_whom->uid, len);
	ur_loop_lock(loop);
	while (n)
		close_section(s[--n]);
	ur_loop_unlock(loop);
	return ret;
}

/* ---- files ---- */

static int open_file(const struct ur_daemon *daemon, const char *name)
{
	char path[PATH_MAX + 64];
	int dir, fd;

	snprintf(path, sizeof(path), "%s/record", daemon->run_dir);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	dir = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	/* Whoever reads the one before goes on with it. */
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
	struct ur_device_record *rec = dev->record;
	struct section *s = open_section(dev);
	char name[UR_DEVICE_NAME_MAX + 16];
	int err = s ? fill_section(s, true, 0) : -ENOMEM, fd;

	snprintf(name, sizeof(name), "%s-%u", dev->name,
		 rec->files % UR_RECORD_FILES + 1);
	if (!err) {
		err = fd = open_file(dev->daemon, name);
		if (fd >= 0) {
			err = write_section(s, fd);
			close(fd);
		}
	}
	if (s)
		close_section(s);
	rec->files++;
	if (err)
		ur_log("%s: record/%s: %s", dev->name, name, strerror(-err));
	else
		ur_log("%s: recorded in %s/record/%s (%s): 'uroce report'",
		       dev->name, dev->daemon->run_dir, name, why);
}

static void write_wanted(struct ur_device *dev)
{
	struct ur_device_record *rec = dev->record;

	rec->wanted = false;
	rec->next_file_at = ur_loop_now() + WRITE_EVERY_NS;
	write_file(dev, "a work request failed");
}

static void time_to_write(void *arg)
{
	write_wanted(arg);
}

void ur_record_failed(struct ur_device *dev, u32 qpn)
{
	struct ur_device_record *rec = dev->record;
	u64 now = ur_loop_now(), at = now + WRITE_AFTER_NS;

	if (!rec || rec->wanted)
		return;
	rec->wanted = true;
	if (at < rec->next_file_at)
		at = rec->next_file_at;
	rec->write.fn = time_to_write;
	rec->write.arg = dev;
	ur_loop_timer_set(dev->daemon->loop, &rec->write, at);
}

void ur_record_write_all(struct ur_daemon *daemon)
{
	ur_list_for_each(it, &daemon->devices) {
		struct ur_device *dev =
			ur_list_entry(it, struct ur_device, node);

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
	if (rec->wanted) {
		ur_loop_timer_clear(dev->daemon->loop, &rec->write);
		write_wanted(dev);
	}
	dev->record = NULL;
	put_ref(rec);
}

int ur_record_set(struct ur_device *dev, u32 kib)
{
	struct ur_device_record *rec = NULL;

	if (kib) {
		rec = calloc(1, sizeof(*rec));
		if (!rec)
			return -ENOMEM;
		rec->refs = 1;
		rec->kib = kib;
		if (ur_memory_take(geteuid(), kib)) {
			free(rec);
			return -ENOMEM;
		}
		rec->ring = ur_recorder_create(kib);
		if (!rec->ring) {
			put_ref(rec);
			return -ENOMEM;
		}
		if (dev->record)
			rec->files = dev->record->files;
	}
	end(dev);
	dev->record = rec;
	if (rec)
		ur_engine_record(dev->engine, rec->ring);
	return 0;
}

u32 ur_record_kib(const struct ur_device *dev)
{
	return dev->record ? dev->record->kib : 0;
}

void ur_record_device_gone(struct ur_device *dev)
{
	end(dev);
}

/* ---- what control knows ---- */

void ur_record_client_ends(const struct ur_session *s)
{
	struct uroce_record_owner o = owner_of(s);

	ur_list_for_each(it, &s->daemon->devices) {
		struct ur_device_record *rec =
			ur_list_entry(it, struct ur_device, node)->record;

		if (rec)
			rec->past[rec->n_past++ % PAST_OWNERS] = o;
	}
}

void ur_record_cm(struct ur_device *dev, u32 qpn, uid_t uid, pid_t pid,
		  u32 event, int status)
{
	if (dev && dev->record)
		ur_engine_record_cm(dev->engine, qpn, uid, pid, event, status);
}
