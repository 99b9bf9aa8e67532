// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce link: devices, their netdevs and GIDs; adding and removing them. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/link.h"
#include "cli/port.h"
#include "cli/status.h"
#include "kernel-abi/uroce-tunnel.h"

/* Formats an IPv4 GID in the usual form, ::ffff:10.0.0.1. */
static const char *short_gid(const char *gid, char *buf, socklen_t size)
{
	struct in6_addr addr;

	if (inet_pton(AF_INET6, gid, &addr) != 1 ||
	    !inet_ntop(AF_INET6, &addr, buf, size))
		return gid;
	return buf;
}

static void print_device(struct json_object *device)
{
	char text[INET6_ADDRSTRLEN];

	printf("%s: netdev %s state %s mtu %" PRId64 " active_mtu %" PRId64
	       "\n",
	       ur_status_text(device, "name"), ur_status_text(device, "netdev"),
	       ur_status_text(device, "state"),
	       ur_json_number(device, "netdev_mtu"),
	       ur_json_number(device, "active_mtu"));
	if (ur_json_number(device, "sl7_refused"))
		puts("    service level 7 leaves without its priority: the "
		     "device has neither CAP_NET_ADMIN nor CAP_NET_RAW");
	ur_json_each(gid, ur_json_array(device, "gids")) {
		printf("    gid %" PRId64 " %s %s netdev %s\n",
		       ur_json_number(gid, "index"),
		       short_gid(ur_status_text(gid, "gid"), text,
				 sizeof(text)),
		       ur_status_text(gid, "type"),
		       ur_status_text(device, "netdev"));
	}
	ur_json_each(gid, ur_json_array(device, "taken"))
		printf("    no gid for %s: another program has its UDP port %d, "
		       "and gets what peers send there\n",
		       short_gid(ur_status_text(gid, "gid"), text,
				 sizeof(text)),
		       UR_ROCE_PORT);
}

static int show_links(struct ur_options *options)
{
	struct json_object *status, *devices;
	int err;

	status = ur_status_get(options, "");
	if (!status)
		return UR_EXIT_FAILED;
	err = ur_status_select(status, options);
	devices = ur_json_array(status, "devices");
	if (options->json)
		ur_json_print(devices);
	else
		ur_json_each(device, devices)
			print_device(device);
	json_object_put(status);
	return err ? UR_EXIT_FAILED : 0;
}

/* Sends a UROCE_TUN_LINK. ret_name (UROCE_TUN_NAME_MAX bytes) gets the device's name. */
static int ask_daemon(const struct ur_options *options, uint64_t what,
		      const char *words, char *ret_name)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_LINK, .link.what = what};
	int sock = ur_status_connect(options), err, fd;

	if (sock < 0)
		return -ENOTCONN;
	snprintf(msg.name, sizeof(msg.name), "%s", words);
	err = ur_client_ask(sock, &msg, -1, &fd);
	if (fd >= 0)
		close(fd);
	if (err == -EIO)
		err = ur_status_unanswered(
			options, sock,
			what == UROCE_TUN_LINK_ADD ? "link add" : "link del");
	close(sock);
	snprintf(ret_name, UROCE_TUN_NAME_MAX, "%s", msg.name);
	return err;
}

static void explain(const char *verb, const char *netdev, const char *name,
		    const char *run_dir, int err)
{
	switch (err) {
	case -ENOTCONN: /* printed already */
		return;
	case -EPERM:
		ur_complain("link %s: only the user that runs the device, and "
			    "users with CAP_NET_ADMIN in its network "
			    "namespace, may do that",
			    verb);
		return;
	case -ENODEV:
		if (netdev)
			ur_complain("no network interface %s ('ip link')",
				    netdev);
		else
			ur_complain("no device %s; 'uroce link' shows what "
				    "there is",
				    name);
		return;
	case -EEXIST:
		ur_complain("%s has a device already, or one named %s is "
			    "there; 'uroce link' shows what there is",
			    netdev, name ? name : "like it");
		return;
	case -EINVAL:
		ur_complain("%s cannot be the name of a device (a letter, "
			    "then letters, digits and _ . -, at most 31), or "
			    "node=N is no number to 1023",
			    name ? name : "that");
		return;
	case -EMLINK:
		ur_complain("no room for another device; 'uroce link del' one");
		return;
	case -ENOSPC:
	case -EDQUOT:
		ur_complain("link %s: the file system of the run directory %s "
			    "is full ('df', 'df -i')",
			    verb, run_dir);
		return;
	default:
		ur_complain("link %s: %s; the device's log says more", verb,
			    strerror(-err));
	}
}

/* Returns the name among the words behind the netdev, or NULL. */
static const char *name_of(char **words)
{
	while (*words && !strncmp(*words, "node=", 5))
		words++;
	return *words;
}

/* Returns false if the words do not fit, or one is empty. */
static bool join(char *to, size_t size, char **words)
{
	size_t n = 0;

	for (char **word = words; *word && n < size; word++) {
		if (!**word)
			return false;
		n += (size_t)snprintf(to + n, size - n, "%s%s", n ? " " : "",
				      *word);
	}
	return n < size;
}

static int add_link(struct ur_options *options)
{
	char words[UROCE_TUN_NAME_MAX], made[UROCE_TUN_NAME_MAX];
	char **rest = options->rest;
	char *only[2] = {made, NULL};
	int err;

	if (options->rest_count < 1 || options->rest_count > 3) {
		ur_complain("link add: NETDEV [NAME] [node=N]");
		return UR_EXIT_USAGE;
	}
	err = join(words, sizeof(words), rest)
		      ? ask_daemon(options, UROCE_TUN_LINK_ADD, words, made)
		      : -EINVAL;
	if (err) {
		explain("add", rest[0], name_of(rest + 1), options->run_dir,
			err);
		return UR_EXIT_FAILED;
	}
	options->rest = only;
	options->rest_count = 1;
	return show_links(options);
}

static int del(struct ur_options *options)
{
	char gone[UROCE_TUN_NAME_MAX];
	int err;

	if (options->rest_count != 1) {
		ur_complain("link del: DEVICE");
		return UR_EXIT_USAGE;
	}
	err = ask_daemon(options, UROCE_TUN_LINK_DEL, options->rest[0], gone);
	if (err)
		explain("del", NULL, options->rest[0], options->run_dir, err);
	return err ? UR_EXIT_FAILED : 0;
}

int ur_cmd_link(struct ur_options *options)
{
	static const struct ur_verb verbs[] = {{"show", show_links},
					       {"add", add_link},
					       {"del", del},
					       {"set", ur_link_set},
					       {NULL, NULL}};
	const struct ur_verb *verb = ur_verb_take(options, verbs);

	return verb ? verb->run(options) : show_links(options);
}
