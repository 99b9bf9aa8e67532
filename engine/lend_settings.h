/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Settings of the device for engines in programs: memory that uroced alone writes, and
 * programs read between two turns. Queue pairs have the ECN that is set when they are
 * connected.
 */
#ifndef UR_ENGINE_LEND_SETTINGS_H
#define UR_ENGINE_LEND_SETTINGS_H

#include "util/bytes.h"

struct ur_engine;
struct ur_settings_page;

/* ---- the device; control ---- */

/* Puts the descriptor of the memory, which is the engine's and made when it is first
 * asked for, in *fd. Returns 0 or -errno. */
int ur_settings_lend(struct ur_engine *engine, int *fd);
/* Shows what the engine's congestion control and ECN are now. */
void ur_settings_show(struct ur_engine *engine);
void ur_settings_lend_fini(struct ur_engine *engine);

/* ---- the program ---- */

/* Maps what was lent, in *page. fd stays the caller's. Returns 0 or -errno. */
int ur_settings_borrow(int fd, const struct ur_settings_page **page);
void ur_settings_unmap(const struct ur_settings_page *page);
/* Takes over what has changed; nothing where the engine is in no program. Engine
 * thread. */
void ur_settings_look(struct ur_engine *engine);

#endif
