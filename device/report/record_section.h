/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared by the files of the recorder: the state of a device that records, and
 * a section, one device's part of a recording, while it is put together. */
#ifndef UR_DEVICE_REPORT_RECORD_SECTION_H
#define UR_DEVICE_REPORT_RECORD_SECTION_H

#include "device/report/record.h"

/* Names of processes that have ended, of one device. */
#define UR_RECORD_PAST_OWNERS 64

struct ur_device_record {
	struct ur_recorder *ring;
	u32 kib;     /* of the ring */
	u32 charged; /* with those of programs */
	u32 refs;
	bool wanted;		   /* a file is due */
	struct ur_loop_timer look; /* for failures in programs */
	u64 next_file_at;
	struct ur_loop_timer write;
	u32 n_past; /* owners ever noted */
	struct uroce_record_owner past[UR_RECORD_PAST_OWNERS];
};

/* Gives a reference back; the last frees it. Lock held. */
void ur_record_put(struct ur_device_record *rec);

/* Returns the client as an owner in a section. Lock held. */
struct uroce_record_owner ur_record_owner(const struct ur_session *s);

struct ur_section;

/* Begins a section of a device that records, with a reference to what that has.
 * Returns NULL without memory. Lock held. */
struct ur_section *ur_section_open(struct ur_device *dev);
/* Frees it. Lock held. */
void ur_section_close(struct ur_section *s);

/* Copies the ring: the part that asker may see (ur_may_see()), or all of it
 * where asker is NULL. Returns 0 or -ENOMEM. Lock not needed; on asker's
 * thread. */
int ur_section_fill(struct ur_section *s, const struct ur_session *asker);
/* Returns 0 or -errno. Lock not needed. */
int ur_section_write(const struct ur_section *s, int fd);

#endif
