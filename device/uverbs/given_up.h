/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Regions that a program has deregistered without a command: its own engine has forgotten
 * them, and their handles are in the doorbell page of its context (struct uroce_db_page). So
 * a program that registers again and again asks us half as often. We destroy them before
 * its next command, and tell nobody of them until then; what they are charged stays
 * so long, and is UROCE_GIVEN_UP regions for each context at most.
 *
 * The page is the client's too. Any word may be in it at any time, which harms his own regions only.
 * Control lock held.
 */
#ifndef UR_DEVICE_GIVEN_UP_H
#define UR_DEVICE_GIVEN_UP_H

#include "device/uverbs/ufile.h"

/* Destroys them, before a command of the file, whose context is there. */
void ur_given_up_take(struct ur_ufile *file);
/* Returns whether the object is such a region. */
bool ur_is_given_up(const struct ur_object *obj);
/* Returns how many the file has. */
u32 ur_given_up_count(struct ur_ufile *file);

#endif
