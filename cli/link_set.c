// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce link set: settings of a device, by the device's names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/link.h"
#include "cli/status.h"
#include "kernel-abi/uroce-tunnel.h"

static void print_settings(struct json_object *set, bool json)
{
	if (json) {
		ur_json_print(set);
		return;
	}
	json_object_object_foreach(set, name, value)
	{
		printf("%s %s\n", name, json_object_get_string(value));
	}
}

static int show_settings(struct ur_options *options)
{
	struct json_object *status, *set;
	char *only[2] = {options->rest[0], NULL};

	status = ur_status_get(options, "");
	if (!status)
		return UR_EXIT_FAILED;
	options->rest = only;
	options->rest_count = 1;
	if (ur_status_select(status, options)) {
		json_object_put(status);
		return UR_EXIT_FAILED;
	}
	ur_json_each(device, ur_json_array(status, "devices"))
		if (json_object_object_get_ex(device, "settings", &set))
			print_settings(set, options->json);
	json_object_put(status);
	return 0;
}

/* The OPEN makes the connection a setting: the next message is a write. */
static int write_setting(int sock, const char *path, const char *value)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_SETTING,
				    .open.version = UROCE_TUN_VERSION};
	int err = ur_client_ask_text(sock, &msg, path, strlen(path) + 1);

	if (err)
		return err;
	if (send(sock, value, strlen(value), MSG_NOSIGNAL) < 0 ||
	    recv(sock, &msg, sizeof(msg), 0) != sizeof(msg))
		return -EIO;
	return msg.ret < 0 ? (int)msg.ret : 0;
}

static int explain(const char *device, const char *name, const char *value,
		   int err)
{
	switch (err) {
	case 0:
		return 0;
	case -EACCES:
		ur_complain("link set: only the user that runs the device, and "
			    "users with CAP_NET_ADMIN in its network "
			    "namespace, may do that");
		break;
	case -ENOENT:
		ur_complain("link set: no device %s, or no setting %s; 'uroce "
			    "link set %s' lists them",
			    device, name, device);
		break;
	case -EINVAL:
		ur_complain("link set: %s cannot be '%s'", name, value);
		break;
	case -ENOTCONN: /* printed already */
		break;
	default:
		ur_complain("link set: %s: %s", name, strerror(-err));
	}
	return UR_EXIT_FAILED;
}

int ur_link_set(struct ur_options *options)
{
	char **rest = options->rest, path[256];
	int sock, err;

	if (options->rest_count == 1)
		return show_settings(options);
	if (options->rest_count != 3) {
		ur_complain("link set: DEVICE [NAME VALUE]");
		return UR_EXIT_USAGE;
	}
	if (!*rest[2] || snprintf(path, sizeof(path), "set/%s/%s", rest[0],
				  rest[1]) >= (int)sizeof(path)) {
		ur_complain("link set: %s cannot be '%s'", rest[1], rest[2]);
		return UR_EXIT_USAGE;
	}
	sock = ur_status_connect(options);
	if (sock < 0)
		return UR_EXIT_FAILED;
	err = write_setting(sock, path, rest[2]);
	if (err == -EIO)
		err = ur_status_unanswered(options, sock, "link set");
	close(sock);
	return explain(rest[0], rest[1], rest[2], err);
}
