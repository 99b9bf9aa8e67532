/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Deferred destruction. A program with an engine of its own deregisters a region or destroys a
 * queue pair there, and writes its handle to an eventfd (struct uroce_engine_async) instead of
 * giving a command. This halves the commands of a program that registers again and again, and
 * saves one for each connection.
 * We destroy the object before the file's next command; until then it is hidden but
 * charged.
 *
 * The client may write any value at any time, which harms only its own objects. We use an
 * eventfd because a read of it never blocks, whatever the client does to it. Control lock
 * held.
 */
#ifndef UR_DEVICE_UVERBS_DESTROY_HINT_H
#define UR_DEVICE_UVERBS_DESTROY_HINT_H

#include "device/uverbs/ufile.h"

/* Creates the file's eventfd. Called once. Returns the eventfd, which stays the file's, or
 * -errno. */
int ur_destroy_hint_open(struct ur_ufile *file);
/* Closes the eventfd, if there is one. */
void ur_destroy_hint_close(struct ur_ufile *file);
/* Destroys the object that the program has written, if any. Called before each command of the file. */
void ur_destroy_hint_take(struct ur_ufile *file);
/* Returns whether the object is the one that awaits its destruction. */
bool ur_destroy_is_hinted(const struct ur_object *obj);
/* Returns the number of such objects of that type in the file: 0 or 1. */
u32 ur_destroy_hint_count(struct ur_ufile *file, u32 type);

#endif
