/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Faults on request: the rules of all devices, as `uroce fault` shows them. The
 * engine applies those for packets and requests; the rest is done here. Control
 * lock held. */
#ifndef UR_DEVICE_FAULT_H
#define UR_DEVICE_FAULT_H

#include "engine/fault_rule.h"
#include "device/session.h"
#include "device/listing.h"

/* rules of one device */
#define UR_MAX_FAULTS 64
/* bytes of a rule as text, with its NUL */
#define UR_FAULT_TEXT 256

/*
 * Carries out a UROCE_TUN_FAULT of this client, whose text is in its window.
 * Returns the number of the rule that was added, 0 for what is done at once and
 * for a deletion, or -EPERM (the client is neither root nor the daemon's user),
 * -EINVAL (*why, UROCE_TUN_NAME_MAX bytes, says what is wrong), -ENODEV, -ENOENT
 * (no such rule), -ENOSPC (too many) or another -errno.
 */
int ur_fault_command(struct ur_session *s, const struct uroce_tun_msg *msg,
		     char *why);
/* Adds a rule that came with the options of the daemon ("[DEVICE] RULE", or of
 * all devices). Returns 0 or -errno after a line on stderr. */
int ur_fault_add_option(struct ur_daemon *daemon, const char *text);
/* Returns whether a rule of that action strikes the device now; *value is the
 * action's, 0: none was given. */
bool ur_fault_of_device(struct ur_device *dev, enum ur_fault_action action,
			u64 *value);
/* Ends the rules of devices that go, from the first device on. */
void ur_fault_watch(struct ur_daemon *daemon);
/* One step of the list of rules. */
ur_listing_next ur_status_next_fault;

#endif
