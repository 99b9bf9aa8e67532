/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fault injection: the rules of all devices, as `uroce fault` shows them. The engine
 * applies rules about packets and requests; the rest is done here. Control lock held. */
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
 * Carries out a UROCE_TUN_FAULT of this client; the rule's text is in s->window. Returns
 * the number of the added rule, 0 for a deletion or a rule that acts at once, or -EPERM
 * (the client is neither root nor the daemon's user), -EINVAL (*why, UROCE_TUN_NAME_MAX
 * bytes, gets the reason), -ENODEV, -ENOENT (no such rule), -ENOSPC (too many) or another
 * -errno.
 */
int ur_fault_command(struct ur_session *s, const struct uroce_tun_msg *msg,
		     char *why);
/* Adds a rule from the daemon's options: "[DEVICE] RULE"; without DEVICE, for all devices.
 * Returns 0, or -errno after a line on stderr. */
int ur_fault_add_option(struct ur_daemon *daemon, const char *text);
/* Returns whether a rule with that action applies to the device now. *value gets the rule's
 * value, 0 if it has none. */
bool ur_fault_of_device(struct ur_device *dev, enum ur_fault_action action,
			u64 *value);
/* Registers a watcher that ends the rules of a device when it goes. Called before the first
 * device is made. */
void ur_fault_watch(struct ur_daemon *daemon);
/* Makes one step through the list of rules. */
ur_listing_next ur_status_next_fault;

#endif
