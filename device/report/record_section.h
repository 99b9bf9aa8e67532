/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared by the recorder's files: the state of a recording device, and a section, which is
 * one device's part of a recording being built. */
#ifndef UR_DEVICE_REPORT_RECORD_SECTION_H
#define UR_DEVICE_REPORT_RECORD_SECTION_H

#include "device/report/record.h"

/* Maximum number of ended processes whose names a device keeps. */
#define UR_RECORD_PAST_OWNERS 64

struct ur_device_record {
	struct ur_recorder *ring;
	u32 kib;     /* of the ring */
	u32 charged; /* KiB, with the rings of programs */
	u32 refs;
	bool wanted;		   /* a file is due */
	struct ur_loop_timer poll; /* polls for failures in programs */
	u64 next_file_at;
	struct ur_loop_timer write;
	u32 n_past; /* ended owners so far */
	struct uroce_record_owner past[UR_RECORD_PAST_OWNERS];
};

/* Drops a reference; the last frees *rec. Lock held. */
void ur_record_put(struct ur_device_record *rec);

/* Returns the client as an owner in a section. Lock held. */
struct uroce_record_owner ur_record_owner(const struct ur_session *s);

struct ur_section;

/* Begins a section of a recording device, with a reference to its recorder. Returns NULL
 * without memory. Lock held. */
struct ur_section *ur_section_open(struct ur_device *dev);
/* Frees it. Lock held. */
void ur_section_close(struct ur_section *s);

/* Copies the ring: the part that asker may see (ur_may_see()), or all of it
 * where asker is NULL. Returns 0 or -ENOMEM. Lock not needed; on asker's
 * thread. */
int ur_section_fill(struct ur_section *s, const struct ur_session *asker);
/* Writes the section to fd. Returns 0 or -errno. Lock not needed. */
int ur_section_write(const struct ur_section *s, int fd);

#endif
