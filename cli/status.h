/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The device's status text (UROCE_TUN_STATUS), one JSON object:
 *
 *   { "pid", "run_dir",
 *     "devices": [ { "name", "netdev", "state", "netdev_mtu", "active_mtu",
 *                    "node_guid", "speed_mbps", "sl7_refused",
 *                    "gids": [ { "index", "gid", "type" } ],
 *                    "taken": [ { "gid" } ],
 *                    "counters": { NAME: N, ... },
 *                    "program_counters": those of engines in programs } ],
 *     "sessions": [ { "id", "pid", "uid", "comm", "file", "device" } ],
 *     "qps": [ { "device", "pid", "comm", "qpn", "type", "state", ... } ],
 *     "cqs": [ ... ], "mrs": [ ... ], "pds": [ ... ],
 *     "cm_ids": [ { "pid", "comm", "device", "port_space", "state", "src",
 *                   "dst", "qpn" } ],
 *     "cm": { NAME: N, ... } }
 *
 * Root and the user of the device get all members of other users' objects,
 * anybody else "device", "session" and "hidden": true. A member that is left
 * out, or that an older device does not have, reads as "" or 0 here.
 */
#ifndef UR_CLI_STATUS_H
#define UR_CLI_STATUS_H

#include <json-c/json.h>

#include "cli/command.h"

/* Returns a connection to the device, or -errno after a message on stderr. */
int ur_status_connect(const struct ur_options *options);

/**
 * ur_status_unanswered() - print why @sock got no reply
 * @command: the request, in the words of the command line
 * Return: -ENOTCONN, as without a device: the reason has been printed.
 */
int ur_status_unanswered(const struct ur_options *options, int sock,
			 const char *command);

/* Connects, requests and parses. Returns an object, which the caller puts, or NULL after a
 * message on stderr. */
struct json_object *ur_status_get(const struct ur_options *options,
				  const char *subject);

/* Checks that all of options->netdev have a device, and all of options->name exist; prints
 * the first that does not. Returns 0 or -errno. */
int ur_status_check_devices(int sock, const struct ur_options *options);

/* Prints on stderr which interface the device chose, and why. */
void ur_status_print_netdev(int sock, const struct ur_options *options);

/* Return a member's text or number, or "" or 0 if there is none. */
const char *ur_status_text(struct json_object *object, const char *name);
int64_t ur_json_number(struct json_object *object, const char *name);

/* Returns the member name, an array, or NULL. */
struct json_object *ur_json_array(struct json_object *object, const char *name);
/* Returns the number of elements of that member. */
size_t ur_json_count(struct json_object *object, const char *name);

/* Return the place of an array's first element, and the one behind its last; equal for NULL. */
struct json_object **ur_json_first(struct json_object *array);
struct json_object **ur_json_past(struct json_object *array);

/* Declares one, and goes through the elements of the array, or NULL, with it. The array stays
 * as it is. */
#define ur_json_each(one, array)                                           \
	for (struct json_object * one, **one##_at = ur_json_first(array),  \
				       **one##_past = ur_json_past(array); \
	     one##_at < one##_past && ((one = *one##_at), true); one##_at++)

/* Returns whether only the object's existence is visible to us. */
bool ur_json_hidden(struct json_object *object);

/* Prints how many objects of status's list are hidden from us, if any. word: the name of
 * such an object. */
void ur_status_print_hidden(struct json_object *status, const char *list,
			    const char *word);

/* Appends a line of at most 511 characters to an array of texts. */
void ur_json_line(struct json_object *lines, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Put a text, a number into an object. */
void ur_json_put_text(struct json_object *object, const char *key,
		      const char *text);
void ur_json_put_number(struct json_object *object, const char *key,
			int64_t number);

/* Prints the object as indented JSON. */
void ur_json_print(struct json_object *object);

/* Keeps only the devices of status.devices that options->rest names. Returns 0, or -ENODEV
 * after a message on stderr if a name does not exist. */
int ur_status_select(struct json_object *status,
		     const struct ur_options *options);

#endif
