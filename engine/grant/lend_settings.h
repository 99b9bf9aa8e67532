/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Settings of the device for engines in programs: memory that uroced alone writes, and
 * programs read between two turns.
 */
#ifndef UR_ENGINE_GRANT_LEND_SETTINGS_H
#define UR_ENGINE_GRANT_LEND_SETTINGS_H

#include "engine/engine.h"
#include "engine/fault_rule.h"
#include "engine/grant/lend_gids.h"
#include "util/bytes.h"

struct ur_engine;
struct ur_settings_page;

/* Rules that programs are shown, at most: those of a device, of which one may need two. */
#define UR_LENT_FAULTS 128u

/* A rule, and what it has counted when it was shown; id is 0 where there is none, and else
 * another one for each. */
struct ur_lent_rule {
	u64 id, matched, done;
	struct ur_fault_rule rule;
};

struct ur_settings_lent {
	struct ur_cc_config cc;
	u8 ecn;
	u32 mtu_bytes;		    /* of ur_engine_set_mtu() */
	u32 record_run, record_kib; /* lend_record.h */
	u32 classes;		    /* changes when they are to be read */
};

/* Places for classes of a slot's queue pairs; a power of two. */
#define UR_LENT_CLASSES 2048u

struct ur_lent_class {
	u32 qpn;
	u8 traffic_class, hop_limit;
};

/* ---- the device; control ---- */

/* Puts the descriptor of the memory, which is the engine's and made when it is first
 * asked for, in *fd. Returns 0 or -errno. */
int ur_settings_lend(struct ur_engine *engine, int *fd);
/* Puts the class of an RC queue pair in a program there, or takes it away: 2,048 of each program
 * have room. They are to be read after ur_engine_show_classes() (engine_lend.h), else when
 * others are. Nothing where nobody has been lent anything. */
void ur_settings_put_class(struct ur_engine *engine, u32 qpn, u8 traffic_class,
			   u8 hop_limit);
void ur_settings_forget_class(struct ur_engine *engine, u32 qpn);
/* Shows what the engine's congestion control, ECN, MTU, recorder and fault rules are now. */
void ur_settings_show(struct ur_engine *engine);
void ur_settings_lend_fini(struct ur_engine *engine);
/* Goes on with the memory that an earlier uroced has left: it shows what that one did until
 * ur_settings_settle(). Returns 0, -ENOENT (there is none) or -errno. */
int ur_settings_inherit(struct ur_engine *engine);
/* Returns the entry with that GID, or -1. */
int ur_settings_gid_at(const struct ur_engine *engine, const u8 gid[16]);
/* Shows everything as it is now. */
void ur_settings_settle(struct ur_engine *engine);
/* Shows entry index of the GID table, as the engine has it now. */
void ur_settings_show_gid(struct ur_engine *engine, u32 index);

/* ---- the program ---- */

/* No generation that is read: they are even. */
#define UR_SETTINGS_NONE 1u

/* Maps what was lent, in *page. fd stays the caller's. Returns 0 or -errno. */
int ur_settings_borrow(int fd, const struct ur_settings_page **page);
void ur_settings_unmap(const struct ur_settings_page *page);
/* Returns the addresses there. */
const struct ur_lent_gids *
ur_settings_gids(const struct ur_settings_page *page);
/* Reads them into *now where their generation is not *seen, which is set. Returns
 * whether that was so. Engine thread. */
bool ur_settings_read(const struct ur_settings_page *page, u32 *seen,
		      struct ur_settings_lent *now);
/* Reads the UR_LENT_FAULTS fault rules of generation seen. Returns whether it is the
 * present one. Engine thread. */
bool ur_settings_read_rules(const struct ur_settings_page *page, u32 seen,
			    struct ur_lent_rule *rules);
/* Reads the class in a place, 0 to UR_LENT_CLASSES - 1, of a slot. Returns whether there is one. */
bool ur_settings_read_class(const struct ur_settings_page *page, u32 slot,
			    u32 place, struct ur_lent_class *c);

#endif
