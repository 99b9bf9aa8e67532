/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Settings of the device for engines in programs: memory that only uroced writes, and
 * programs read between two turns.
 */
#ifndef UR_ENGINE_GRANT_PROGRAM_SETTINGS_H
#define UR_ENGINE_GRANT_PROGRAM_SETTINGS_H

#include "engine/engine.h"
#include "engine/fault_rule.h"
#include "engine/grant/program_gids.h"
#include "util/bytes.h"

struct ur_engine;
struct ur_settings_page;

/* Most rules for programs. A rule of the device may need two of them. */
#define UR_PROGRAM_FAULTS 128u

/* A rule, and its counts when it was published. id: unique for each rule; 0: empty
 * entry. */
struct ur_program_rule {
	u64 id, matched, done;
	struct ur_fault_rule rule;
};

struct ur_program_settings {
	struct ur_cc_config cc;
	u8 ecn;
	u32 mtu_bytes;		    /* of ur_engine_set_mtu() */
	u32 record_run, record_kib; /* program_records.h */
	u32 classes;		    /* changes with the traffic classes */
};

/* Places for traffic classes of a slot's queue pairs; a power of two. */
#define UR_PROGRAM_CLASSES 2048u

struct ur_program_class {
	u32 qpn;
	u8 traffic_class, hop_limit;
};

/* ---- the device; control ---- */

/* Puts the descriptor of the memory in *fd, and makes it in the first call. The descriptor
 * stays the engine's. Returns 0 or -errno. */
int ur_settings_grant(struct ur_engine *engine, int *fd);
/* Publishes the engine's congestion control, ECN, MTU, recorder and fault rules. */
void ur_settings_show(struct ur_engine *engine);
void ur_settings_grant_fini(struct ur_engine *engine);
/* Takes over the memory of an earlier uroced. Its values stay until ur_settings_recovery_done().
 * Returns 0, -ENOENT (there is none) or -errno. */
int ur_settings_inherit(struct ur_engine *engine);
/* Returns the index of the published entry with that GID, or -1. */
int ur_settings_gid_at(const struct ur_engine *engine, const u8 gid[16]);
/* Recovery is complete: publishes all present values. */
void ur_settings_recovery_done(struct ur_engine *engine);
/* Publishes entry index of the engine's GID table. */
void ur_settings_show_gid(struct ur_engine *engine, u32 index);

/* ---- the program ---- */

/* Initial value of *seen: never a generation that is read, since those are even. */
#define UR_SETTINGS_NONE 1u

/* Maps the granted memory in *page. fd stays the caller's. Returns 0 or -errno. */
int ur_settings_map(int fd, const struct ur_settings_page **page);
void ur_settings_unmap(const struct ur_settings_page *page);
/* Returns the addresses in the page. */
const struct ur_program_gids *
ur_settings_gids(const struct ur_settings_page *page);
/* Returns what ur_engine_set_ring_room() has set. Any thread. */
u32 ur_settings_room(const struct ur_settings_page *page, u32 slot);
/* If the generation differs from *seen, reads the settings into *now, sets *seen and
 * returns true. Engine thread. */
bool ur_settings_changed(const struct ur_settings_page *page, u32 seen);
bool ur_settings_read(const struct ur_settings_page *page, u32 *seen,
		      struct ur_program_settings *now);
/* Reads UR_PROGRAM_FAULTS fault rules. Returns whether they are of generation seen. Engine
 * thread. */
bool ur_settings_read_rules(const struct ur_settings_page *page, u32 seen,
			    struct ur_program_rule *rules);
/* Reads the traffic class in a place, 0 to UR_PROGRAM_CLASSES - 1, of a slot. Returns whether there is one. */
bool ur_settings_read_class(const struct ur_settings_page *page, u32 slot,
			    u32 place, struct ur_program_class *c);

#endif
