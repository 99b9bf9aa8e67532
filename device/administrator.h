/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The device's administrator, as root is to a kernel's device, and the rule for
 * what others may see. */
#ifndef UR_DEVICE_ADMINISTRATOR_H
#define UR_DEVICE_ADMINISTRATOR_H

#include <stdbool.h>
#include <sys/types.h>

struct ur_session;

/* Reads which users the daemon's user namespace maps. Called once, from main(). */
void ur_administrators_init(void);

/*
 * Returns whether the client may change devices and see all objects: it has proved the
 * right (client_rights.h), or has the uid of the daemon. If the daemon runs as root, uid 0
 * alone is not enough, since root of a container has it too. Called with the lock, or on
 * the session's own thread.
 */
bool ur_is_administrator(const struct ur_session *s);

/*
 * Returns whether asker may know more about the owner's objects than that they exist and
 * whose they are. Keys, addresses and numbers of queue pairs are enough to write into
 * another's memory, so only the owner and an administrator see them: in status, netlink,
 * failures and recordings. The overflow uid, which stands for all users outside our
 * namespace, is no owner. Called as ur_is_administrator().
 */
bool ur_may_see(const struct ur_session *asker, uid_t owner);

/* Returns whether uid belongs to a single user: it is not the overflow uid. Any thread. */
bool ur_is_one_user(uid_t uid);

/* Returns whether uid is root or the user who runs the daemon: their quotas have no share.
 * Any thread. */
bool ur_is_unlimited(uid_t uid);

#endif
