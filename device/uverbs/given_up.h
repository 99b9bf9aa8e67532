/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A region that a program has deregistered without a command: its own engine has forgotten it, and
 * its handle is the value of an eventfd (struct uroce_engine_async). So a program that registers
 * again and again asks us half as often. We destroy the region before its next command, and tell nobody
 * of it until then; what it is charged stays so long.
 *
 * The client may write anything there, at any time, which harms his own regions only; and an eventfd is
 * never waited for, whatever he does with it, which is why it is no word in memory.
 * Control lock held.
 */
#ifndef UR_DEVICE_UVERBS_GIVEN_UP_H
#define UR_DEVICE_UVERBS_GIVEN_UP_H

#include "device/uverbs/ufile.h"

/* Makes the file's eventfd, once. Returns it, which stays the file's, or -errno. */
int ur_given_up_open(struct ur_ufile *file);
/* Ends it, if there is one. */
void ur_given_up_close(struct ur_ufile *file);
/* Destroys the region, before a command of the file. */
void ur_given_up_take(struct ur_ufile *file);
/* Returns whether the object is such a region. */
bool ur_is_given_up(const struct ur_object *obj);
/* Returns how many the file has. */
u32 ur_given_up_count(struct ur_ufile *file);

#endif
