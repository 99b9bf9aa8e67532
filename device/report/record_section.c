// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Builds a recording for its readers. The ring is copied and filtered without the lock; a
 * reference keeps it meanwhile. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "device/administrator.h"
#include "engine/ground/program_record.h"
#include "engine/ground/limits.h"
#include "device/memfd.h"
#include "device/memory.h"
#include "device/report/record_section.h"
#include "util/assert.h"
#include "util/os/clock.h"

/* Maximum number of owners in a section, ended and present ones. */
#define MAX_OWNERS 512

void ur_record_put(struct ur_device_record *rec)
{
	ur_assert(rec->refs);
	if (--rec->refs)
		return;
	ur_memory_give(geteuid(), rec->charged);
	ur_recorder_free(rec->ring);
	free(rec);
}

struct ur_section {
	struct ur_device_record *rec;		      /* a reference */
	struct ur_program_record *programs[UR_SLOTS]; /* references */
	u32 n_programs, run;
	struct uroce_record_head head;
	struct uroce_record_owner owner[MAX_OWNERS];
	u8 *slots;
};

static void add_owner(struct ur_section *s, const struct uroce_record_owner *o)
{
	if (s->head.n_owners < MAX_OWNERS)
		s->owner[s->head.n_owners++] = *o;
}

struct uroce_record_owner ur_record_owner(const struct ur_session *s)
{
	struct uroce_record_owner o = {.pid = (u32)s->pid, .uid = s->uid};

	snprintf(o.comm, sizeof(o.comm), "%s", s->comm);
	return o;
}

/* Adds the owners, present and past. The newest comes first: readers use the first one of a
 * reused pid. */
static void add_owners(struct ur_section *s, const struct ur_device *dev)
{
	const struct ur_device_record *rec = s->rec;
	u32 n = ur_min_u32(rec->n_past, UR_RECORD_PAST_OWNERS);

	ur_list_each(const struct ur_session, client, &dev->daemon->sessions,
		     node) {
		struct uroce_record_owner o = ur_record_owner(client);

		if (client->kind == UROCE_TUN_UVERBS ||
		    client->kind == UROCE_TUN_RDMA_CM)
			add_owner(s, &o);
	}
	for (u32 i = 0; i < n; i++)
		add_owner(s, &rec->past[(rec->n_past - 1 - i) %
					UR_RECORD_PAST_OWNERS]);
}

struct ur_section *ur_section_open(struct ur_device *dev)
{
	struct ur_section *s = calloc(1, sizeof(*s));

	ur_assert(ur_loop_mine(dev->daemon->loop));
	if (!s)
		return NULL;
	s->rec = dev->record;
	s->rec->refs++;
	s->head.magic = UROCE_RECORD_MAGIC;
	snprintf(s->head.device, sizeof(s->head.device), "%s", dev->name);
	snprintf(s->head.netdev, sizeof(s->head.netdev), "%s", dev->netdev);
	add_owners(s, dev);
	s->n_programs =
		ur_engine_program_records(dev->engine, s->programs, &s->run);
	return s;
}

void ur_section_close(struct ur_section *s)
{
	while (s->n_programs)
		ur_program_record_put(s->programs[--s->n_programs]);
	ur_record_put(s->rec);
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

/* Removes all but asker's records; asker is no administrator (ur_may_see()). */
static void leave_own(struct ur_section *s, const struct ur_session *asker)
{
	u32 kept = 0, n = s->head.n_slots, owners = 0, step;
	struct uroce_record r;

	for (u32 i = 0; i < n; i += step) {
		memcpy(&r, s->slots + (size_t)i * UROCE_RECORD_SLOT, sizeof(r));
		step = ur_min_u32(slots_of(&r), n - i);
		if (!ur_may_see(asker, r.uid)) {
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
		if (ur_may_see(asker, s->owner[i].uid))
			s->owner[owners++] = s->owner[i];
	s->head.n_owners = owners;
}

static size_t bytes_of_slots(const struct ur_section *s)
{
	u64 kib = s->rec->kib;

	for (u32 i = 0; i < s->n_programs; i++)
		kib += ur_program_record_kib_of(s->programs[i], s->rec->kib);
	return (size_t)kib * 1024;
}

/* Appends the slots of engines in programs; readers sort all slots by time. */
static void add_engine_slots(struct ur_section *s)
{
	u64 lost;

	for (u32 i = 0; i < s->n_programs; i++) {
		u8 *to = s->slots + (size_t)s->head.n_slots * UROCE_RECORD_SLOT;

		s->head.n_slots += ur_program_record_copy(
			s->programs[i], s->run,
			ur_program_record_kib_of(s->programs[i], s->rec->kib),
			to, &lost);
		s->head.lost += lost;
	}
}

int ur_section_fill(struct ur_section *s, const struct ur_session *asker)
{
	u64 lost;

	s->slots = malloc(bytes_of_slots(s));
	if (!s->slots)
		return -ENOMEM;
	s->head.n_slots = ur_recorder_copy(s->rec->ring, s->slots, &lost);
	s->head.lost = lost;
	add_engine_slots(s);
	s->head.monotonic_ns = ur_clock_ns(CLOCK_MONOTONIC);
	s->head.realtime_ns = ur_clock_ns(CLOCK_REALTIME);
	if (asker)
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

int ur_section_write(const struct ur_section *s, int fd)
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

/* ---- sending to a client ---- */

/* Opens sections of all recording devices, *n in number. Returns 0, -ENODATA if none
 * records, or -ENOMEM with the earlier ones open. Lock held. */
static int open_sections(struct ur_daemon *daemon,
			 struct ur_section *s[UR_MAX_DEVICES], u32 *n,
			 u64 *bytes)
{
	*n = 0;
	*bytes = 0;
	ur_list_each(struct ur_device, dev, &daemon->devices, node) {
		if (!dev->record || *n == UR_MAX_DEVICES)
			continue;
		s[*n] = ur_section_open(dev);
		if (!s[*n])
			return -ENOMEM;
		*bytes += sizeof(*s[*n]) + bytes_of_slots(s[*n]);
		++*n;
	}
	return *n ? 0 : -ENODATA;
}

static int write_sections(struct ur_section **s, u32 n,
			  const struct ur_session *asker, u64 *len)
{
	int fd = ur_memfd_for_client("record"), err = 0;

	if (fd < 0)
		return fd;
	for (u32 i = 0; i < n && !err; i++) {
		err = ur_section_fill(s[i], asker);
		if (!err)
			err = ur_section_write(s[i], fd);
		free(s[i]->slots);
		s[i]->slots = NULL;
	}
	*len = (u64)lseek(fd, 0, SEEK_CUR);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int ur_record_memfd(struct ur_session *to_whom, u64 *len)
{
	struct ur_loop *loop = to_whom->daemon->loop;
	struct ur_section *s[UR_MAX_DEVICES];
	u64 bytes;
	u32 n;
	int ret;

	ur_loop_lock(loop);
	ret = open_sections(to_whom->daemon, s, &n, &bytes);
	/* All sections are in the memfd, and one more copy in memory. */
	if (!ret)
		ret = ur_session_answer_room(to_whom, 2 * bytes);
	ur_loop_unlock(loop);
	if (!ret)
		ret = write_sections(s, n, to_whom, len);
	ur_loop_lock(loop);
	while (n)
		ur_section_close(s[--n]);
	ur_loop_unlock(loop);
	return ret;
}
