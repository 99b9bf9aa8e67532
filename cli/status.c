// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads the status text of the device, and members that several subcommands show.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/status.h"

const char *ur_status_text(struct json_object *object, const char *name)
{
	struct json_object *member;

	if (!json_object_object_get_ex(object, name, &member) || !member)
		return "";
	return json_object_get_string(member);
}

int64_t ur_json_number(struct json_object *object, const char *name)
{
	struct json_object *member;

	if (!json_object_object_get_ex(object, name, &member))
		return 0;
	return json_object_get_int64(member);
}

struct json_object *ur_json_array(struct json_object *object, const char *name)
{
	struct json_object *member = NULL;

	json_object_object_get_ex(object, name, &member);
	return member;
}

struct json_object **ur_json_first(struct json_object *array)
{
	if (!json_object_is_type(array, json_type_array))
		return NULL;
	return (struct json_object **)json_object_get_array(array)->array;
}

struct json_object **ur_json_past(struct json_object *array)
{
	struct json_object **first = ur_json_first(array);

	return first ? first + json_object_array_length(array) : NULL;
}

size_t ur_json_count(struct json_object *object, const char *name)
{
	struct json_object *array = ur_json_array(object, name);

	return (size_t)(ur_json_past(array) - ur_json_first(array));
}

bool ur_json_hidden(struct json_object *object)
{
	struct json_object *member;

	return json_object_object_get_ex(object, "hidden", &member) &&
	       json_object_get_boolean(member);
}

void ur_status_print_hidden(struct json_object *status, const char *list,
			    const char *word)
{
	size_t hidden = 0;

	ur_json_each(one, ur_json_array(status, list))
		hidden += ur_json_hidden(one);
	if (hidden)
		printf("%s: %zu of other users, not shown\n", word, hidden);
}

void ur_json_line(struct json_object *lines, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	json_object_array_add(lines, json_object_new_string(text));
}

void ur_json_put_text(struct json_object *object, const char *key,
		      const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

void ur_json_put_number(struct json_object *object, const char *key,
			int64_t number)
{
	json_object_object_add(object, key, json_object_new_int64(number));
}

void ur_json_print(struct json_object *object)
{
	puts(json_object_to_json_string_ext(
		object,
		JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
}

int ur_status_unanswered(const struct ur_options *options, int sock,
			 const char *command)
{
	if (ur_client_lives(sock, options->run_dir))
		ur_complain("the device at %s does not know '%s': it is of an "
			    "older release",
			    options->run_dir, command);
	else
		ur_complain("the device at %s ended before it answered '%s'; "
			    "its log may say why",
			    options->run_dir, command);
	return -ENOTCONN;
}

static struct json_object *ask_status(const struct ur_options *options,
				      int sock, const char *subject)
{
	struct json_object *object;
	size_t size;
	char *text;
	int err;

	err = ur_client_status(sock, subject, &text, &size);
	if (err == -EIO) {
		ur_status_unanswered(options, sock,
				     *subject ? subject : "status");
		return NULL;
	}
	if (err) {
		ur_complain("the device does not tell%s%s: %s",
			    *subject ? " about " : "", subject, strerror(-err));
		return NULL;
	}
	object = json_tokener_parse(text);
	free(text);
	if (!object)
		ur_complain("the device's answer is not JSON");
	return object;
}

int ur_status_connect(const struct ur_options *options)
{
	int sock = ur_client_connect(options->run_dir);

	if (sock == -EACCES || sock == -EPERM)
		ur_complain("the device of %s belongs to somebody else: %s",
			    options->run_dir, strerror(-sock));
	else if (sock < 0)
		ur_complain("no device at %s; 'uroce run' starts one on "
			    "demand, 'uroced --run-dir %s' one that stays",
			    options->run_dir, options->run_dir);
	return sock;
}

struct json_object *ur_status_get(const struct ur_options *options,
				  const char *subject)
{
	int sock = ur_status_connect(options);
	struct json_object *object;

	if (sock < 0)
		return NULL;
	object = ask_status(options, sock, subject);
	close(sock);
	return object;
}

/* Returns whether a device has this member. */
static bool has_device(struct json_object *devices, const char *member,
		       const char *value)
{
	ur_json_each(device, devices)
		if (!strcmp(value, ur_status_text(device, member)))
			return true;
	return false;
}

static int complain_other(const struct ur_options *options,
			  struct json_object *devices, const char *member,
			  const char *value)
{
	const char *is = !strcmp(member, "name")     ? "called"
			 : !strcmp(member, "like")   ? "like"
			 : !strcmp(member, "netdev") ? "on"
						     : "on node";
	char present[512] = "";

	ur_json_each(device, devices) {
		size_t used = strlen(present);

		snprintf(present + used, sizeof(present) - used, "%s%s",
			 used ? ", " : "", ur_status_text(device, member));
	}
	ur_complain("the device at %s is %s %s, not %s %s; choose another "
		    "--run-dir, or wait until it ends with its last user",
		    options->run_dir, is, present, is, value);
	return -EBUSY;
}

/* Checks that a device has the member, if a value of it was asked for. */
static int check_member(const struct ur_options *options,
			struct json_object *devices, const char *member,
			const char *value)
{
	return !value || has_device(devices, member, value)
		       ? 0
		       : complain_other(options, devices, member, value);
}

/* n: index of the options' netdev and node. */
static int check_node(const struct ur_options *options,
		      struct json_object *devices, int n)
{
	ur_json_each(d, devices) {
		if (options->netdev[n] && strcmp(ur_status_text(d, "netdev"),
						 options->netdev[n]) != 0)
			continue;
		if (ur_json_number(d, "numa_node") ==
		    strtoll(options->node[n], NULL, 10))
			return 0;
	}
	return complain_other(options, devices, "numa_node", options->node[n]);
}

int ur_status_check_devices(int sock, const struct ur_options *options)
{
	struct json_object *status, *devices;
	int err;

	if (!options->netdevs && !options->name[0] && !options->node[0] &&
	    !options->like)
		return 0;
	status = ask_status(options, sock, "");
	if (!status)
		return -EIO;
	devices = ur_json_array(status, "devices");
	err = check_member(options, devices, "like", options->like);
	for (int n = 0; n < UR_NETDEVS_MAX && !err; n++) {
		err = check_member(options, devices, "netdev",
				   options->netdev[n]);
		if (!err)
			err = check_member(options, devices, "name",
					   options->name[n]);
		if (!err && options->node[n])
			err = check_node(options, devices, n);
	}
	json_object_put(status);
	return err;
}

void ur_status_print_netdev(int sock, const struct ur_options *options)
{
	struct json_object *status = ask_status(options, sock, "");

	ur_json_each(device, ur_json_array(status, "devices")) {
		const char *name = ur_status_text(device, "name");
		const char *netdev = ur_status_text(device, "netdev");

		if (!strcmp(netdev, "lo"))
			ur_complain("%s is on lo, since no interface has a "
				    "default route: it reaches this host only; "
				    "--netdev names another, -q says nothing",
				    name);
		else
			ur_complain("%s is on %s, which has the default route",
				    name, netdev);
		break;
	}
	json_object_put(status);
}

static bool is_named(const struct ur_options *options, const char *name)
{
	for (int i = 0; i < options->rest_count; i++)
		if (strcmp(options->rest[i], name) == 0)
			return true;
	return options->rest_count == 0;
}

int ur_status_select(struct json_object *status,
		     const struct ur_options *options)
{
	struct json_object *kept = json_object_new_array();
	int err = 0;

	ur_json_each(device, ur_json_array(status, "devices"))
		if (is_named(options, ur_status_text(device, "name")) ||
		    is_named(options, ur_status_text(device, "netdev")))
			json_object_array_add(kept, json_object_get(device));
	if (options->rest_count &&
	    json_object_array_length(kept) < (size_t)options->rest_count) {
		ur_complain("no such device or netdev: %s; 'uroce link' shows "
			    "what there is",
			    options->rest[0]);
		err = -ENODEV;
	}
	json_object_object_add(status, "devices", kept);
	return err;
}
