/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The device's administrator, as root is to a kernel's device, and the rule for
 * what others may see. */
#ifndef UR_DEVICE_ADMINISTRATOR_H
#define UR_DEVICE_ADMINISTRATOR_H

#include <stdbool.h>
#include <sys/types.h>

struct ur_session;

/* Finds out which users the daemon's user namespace knows. Once, from main(). */
void ur_administrators_init(void);

/*
 * Returns whether the client may change devices and see all: it has proved the
 * right (client_rights.h), or belongs to the user who runs the daemon. If that
 * user is root, the number alone is not enough: root of a container has it too.
 * With the lock, or on the session's own thread.
 */
bool ur_is_administrator(const struct ur_session *s);

/*
 * Returns whether asker may know more about the owner's objects than that they
 * exist, and whose they are. Keys, addresses and numbers of queue pairs are
 * what somebody needs to write into another's memory, so only the owner and an
 * administrator see them: in status, netlink, failures and recordings alike. A
 * number that stands for all users whom our namespace does not know is nobody's
 * in particular. As ur_is_administrator().
 */
bool ur_may_see(const struct ur_session *asker, uid_t owner);

/* Returns whether uid is one user's, and not that number. Any thread. */
bool ur_is_one_user(uid_t uid);

/* Returns whether uid is that of root or of the user who runs the daemon, whose
 * quotas have no share. Any thread. */
bool ur_is_unlimited(uid_t uid);

#endif
