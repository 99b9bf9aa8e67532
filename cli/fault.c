// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce fault: adds, deletes and shows rules that make a device misbehave. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/status.h"
#include "kernel-abi/uroce-tunnel.h"

static int show_rules(struct ur_options *options)
{
	struct json_object *status, *rules;

	status = ur_status_get(options, "");
	if (!status)
		return UR_EXIT_FAILED;
	rules = ur_json_array(status, "faults");
	if (options->json) {
		ur_json_print(rules);
	} else {
		ur_json_each(rule, rules)
			printf("%" PRId64 ": dev=%s %s (met %" PRId64
			       ", struck %" PRId64 ")\n",
			       ur_json_number(rule, "id"),
			       ur_status_text(rule, "device"),
			       ur_status_text(rule, "rule"),
			       ur_json_number(rule, "matched"),
			       ur_json_number(rule, "done"));
		if (!ur_json_count(status, "faults"))
			puts("no faults");
	}
	json_object_put(status);
	return 0;
}

/* Sends a UROCE_TUN_FAULT with text behind it. Returns the device's result, with its
 * message in msg->name. */
static int ask_device(const struct ur_options *options,
		      struct uroce_tun_msg *msg, const char *text)
{
	int sock = ur_status_connect(options), err;

	if (sock < 0)
		return -ENOTCONN;
	err = ur_client_ask_text(sock, msg, text, strlen(text));
	if (err == -EIO)
		err = ur_status_unanswered(options, sock, "fault");
	close(sock);
	return err;
}

static int explain(const char *verb, const struct uroce_tun_msg *msg, int err)
{
	switch (err) {
	case -ENOTCONN: /* printed already */
		break;
	case -EPERM:
		ur_complain("fault %s: only the user that runs the device, and "
			    "users with CAP_NET_ADMIN in its network "
			    "namespace, may do that",
			    verb);
		break;
	case -EINVAL:
		ur_complain("fault %s: %s; uroce-fault(7) has all rules", verb,
			    *msg->name ? msg->name : "not understood");
		break;
	case -ENODEV:
		ur_complain("fault %s: no such device, or there are several: "
			    "begin with dev=NAME ('uroce link')",
			    verb);
		break;
	case -ENOENT:
		ur_complain("fault %s: no rule of that number; 'uroce fault "
			    "show' shows what there is",
			    verb);
		break;
	case -ENOSPC:
		ur_complain("fault %s: the device has as many rules as it can; "
			    "'uroce fault del' some",
			    verb);
		break;
	default:
		ur_complain("fault %s: %s; the device's log says more", verb,
			    strerror(-err));
	}
	return UR_EXIT_FAILED;
}

static int add_rule(struct ur_options *options)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_FAULT,
				    .fault.what = UROCE_TUN_FAULT_ADD};
	char text[512];
	size_t n = 0;
	int err;

	if (!options->rest_count) {
		ur_complain("fault add: [dev=NAME] ACTION[=VALUE] "
			    "[LIMIT=VALUE]...; uroce-fault(7) has all of them");
		return UR_EXIT_USAGE;
	}
	for (int i = 0; i < options->rest_count && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				      i ? " " : "", options->rest[i]);
	err = n < sizeof(text) ? ask_device(options, &msg, text) : -EINVAL;
	if (err)
		return explain("add", &msg, err);
	if (msg.ret)
		printf("%" PRId64 "\n", (int64_t)msg.ret);
	return 0;
}

int ur_fault_add(int sock, const struct ur_options *options, const char *rule)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_FAULT,
				    .fault.what = UROCE_TUN_FAULT_ADD};
	int err = ur_client_ask_text(sock, &msg, rule, strlen(rule));

	if (err == -EIO)
		err = ur_status_unanswered(options, sock, "fault");
	if (err)
		explain("add", &msg, err);
	return err;
}

static int del(struct ur_options *options)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_FAULT,
				    .fault.what = UROCE_TUN_FAULT_DEL};
	const char *word = options->rest_count == 1 ? options->rest[0] : "";
	char *end;
	int err;

	if (strcmp(word, "all")) {
		msg.fault.id = strtoull(word, &end, 10);
		if (!*word || *end || !msg.fault.id) {
			ur_complain("fault del: NUMBER | all");
			return UR_EXIT_USAGE;
		}
	}
	err = ask_device(options, &msg, "");
	return err ? explain("del", &msg, err) : 0;
}

int ur_cmd_fault(struct ur_options *options)
{
	static const struct ur_verb verbs[] = {{"show", show_rules},
					       {"add", add_rule},
					       {"del", del},
					       {NULL, NULL}};
	const struct ur_verb *verb = ur_verb_take(options, verbs);

	if (verb)
		return verb->run(options);
	if (options->rest_count) {
		ur_complain("fault: show, add or del, not '%s'",
			    options->rest[0]);
		return UR_EXIT_USAGE;
	}
	return show_rules(options);
}
