/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Slots that are lent to engines of programs and of engine processes: whose part they are, and what is sent with them.
 * Control lock held. */
#ifndef UR_DEVICE_UVERBS_LEND_SLOT_H
#define UR_DEVICE_UVERBS_LEND_SLOT_H

#include "device/device.h"
#include "engine/engine.h"
#include "kernel-abi/uroce-apart.h"

/* The rings to one other engine. */
#define UR_SLOT_RING_FDS 5

/* Slots are the device's; who may not have all of them is charged for descriptors too. Returns 0 or -EBUSY. */
int ur_slot_take_part(struct ur_device *dev, uid_t uid, bool small,
		      enum ur_lend_way way);
/* rings: large slots to which there are rings, a bit each. */
void ur_slot_give_part(struct ur_device *dev, uid_t uid, bool small,
		       enum ur_lend_way way, u32 rings);
/* Returns whether the user has met his part of large slots. */
bool ur_slot_is_for_small(struct ur_device *dev, uid_t uid);
/* Returns what an engine is told; lent may be NULL. */
struct uroce_engine_open ur_slot_describe(const struct ur_device *dev,
					  const struct ur_lent *lent);
/* Fills the places of what is lent, and -1 in all others; lent may be NULL. */
void ur_slot_fds(const struct ur_lent *lent, bool far,
		 int fds[UROCE_APART_FDS]);
/* Charges what the rings and other objects of a context may take in an engine process, in *kib, half of it for either.
 * All of it at once: the process has nobody to ask, since it may outlive uroced. Returns 0 or -ENOMEM. */
int ur_slot_charge_apart(uid_t uid, u32 *kib);
void ur_slot_give_apart(uid_t uid, u32 *kib);
/* Its engine has copies, or does without: closes what is not the engine's of the device. */
void ur_slot_lent(const struct ur_lent *lent);

#endif
