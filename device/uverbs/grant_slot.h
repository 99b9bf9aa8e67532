/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Slots for engines outside uroced, in programs and engine processes: quotas, and the
 * descriptors sent with a slot. Control lock held. */
#ifndef UR_DEVICE_UVERBS_GRANT_SLOT_H
#define UR_DEVICE_UVERBS_GRANT_SLOT_H

#include "device/engine_process.h"
#include "device/uverbs/ufile.h"
#include "engine/engine.h"
#include "kernel-abi/uroce-apart.h"

/* Descriptors of the rings to one other engine. */
#define UR_SLOT_RING_FDS 5

/* Charges the user for a slot of the device and, unless it comes with sockets
 * (UR_GRANT_SOCKETS), for its descriptors. Returns 0 or -EBUSY. */
int ur_slot_take_part(struct ur_device *dev, uid_t uid, bool small,
		      enum ur_grant_mode mode);
/* Undoes ur_slot_take_part(). rings: bit mask of large slots to which the engine has rings. */
void ur_slot_give_part(struct ur_device *dev, uid_t uid, bool small,
		       enum ur_grant_mode mode, u32 rings);
/* Logs that the file's context gets no engine, at most once a minute. */
void ur_slot_log_refusal(const struct ur_ufile *file, int err);
/* Returns whether the user's quota of large slots is used up. */
bool ur_slot_is_for_small(struct ur_device *dev, uid_t uid);
/* Returns the parameters of an engine in that slot; grant may be NULL. */
struct uroce_engine_open ur_slot_describe(const struct ur_device *dev,
					  const struct ur_grant *grant);
/* Fills fds with the descriptors of *grant, and -1 elsewhere; grant may be NULL. */
void ur_slot_fds(const struct ur_grant *grant, bool far,
		 int fds[UROCE_APART_FDS]);
/* What a context in an engine process of its own may have at first, one half for rings and one
 * for other objects: UROCE_METHOD_ENGINE_ROOM adds to it. */
#define UR_SLOT_APART_KIB 8192u
/* Charges the user in advance for a context in an engine process, *kib. One in a shared engine
 * gets no more later. Returns 0 or -ENOMEM. */
int ur_slot_charge_apart(uid_t uid, bool shared, u32 *kib);
void ur_slot_give_apart(uid_t uid, u32 *kib);
/* Closes the descriptors of *grant that uroced's own engine does not use. Called once the
 * slot's engine has its copies, or could not be made. */
void ur_slot_close_granted(const struct ur_grant *grant);

/* Gives the process a context of the file, used by the program pid with that memory, whose rings and objects may
 * take kib there. The caller fills in context->engine, context->open and the descriptors of what is granted. sock
 * gets the ends of the socket between the two, the program's and the process's, the caller's. Returns 0 or
 * -errno. */
int ur_slot_give_context(const struct ur_ufile *file, pid_t pid,
			 const struct ur_user_mem *mem,
			 const struct ur_engine_process *process, u32 kib,
			 struct uroce_apart_context *context, int *fds,
			 int sock[2]);

#endif
