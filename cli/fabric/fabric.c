// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce fabric: its verbs, of which show, link and down are here. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "cli/fabric/fabric.h"
#include "cli/fabric/link_words.h"
#include "cli/status.h"

#define UPLINK "uplink"

/* ---- show ---- */

/* Prints text if data is NULL. */
static void show_link(struct ur_fabric *fabric, unsigned int host,
		      unsigned int card, const struct ur_fabric_answer *answer,
		      struct json_object *data)
{
	char name[IFNAMSIZ], link[200], ip[24] = "-";
	struct json_object *row;
	uint8_t a[4];

	ur_fabric_port_name(host, card, name);
	if (!host)
		snprintf(name, sizeof(name), UPLINK);
	ur_fabric_ipv4(host, card, a);
	if (host)
		snprintf(ip, sizeof(ip), "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
	ur_fabric_link_print(&answer->link, link, sizeof(link));
	if (!data) {
		if (fabric->plan.racks > 1 && host)
			printf("rack%u ",
			       ur_fabric_rack(&fabric->plan, host) + 1);
		printf("%s %s %s%s\n", name, ip, link,
		       host && !answer->alive ? "; its device ended" : "");
		return;
	}
	row = json_object_new_object();
	ur_json_put_text(row, "name", name);
	if (host) {
		ur_json_put_text(row, "address", ip);
		ur_json_put_number(row, "rack",
				   (int)ur_fabric_rack(&fabric->plan, host) +
					   1);
		json_object_object_add(row, "device",
				       json_object_new_boolean(answer->alive));
	}
	ur_json_put_text(row, "link", link);
	json_object_array_add(data, row);
}

static int look(struct ur_fabric *fabric, unsigned int host, unsigned int card,
		struct json_object *data)
{
	struct ur_fabric_request request = {
		.op = UR_FABRIC_SHOW, .host = host, .card = card};
	struct ur_fabric_answer answer;
	int err = ur_fabric_ask(fabric->sock, &request, &answer, NULL);

	if (!err)
		show_link(fabric, host, card, &answer, data);
	return err;
}

int ur_fabric_show(struct ur_options *options)
{
	struct json_object *data = NULL;
	struct ur_fabric fabric;
	int err = 0;

	if (options->rest_count)
		return ur_too_many("fabric", options->rest[0]);
	if (ur_fabric_open(&fabric, options))
		return UR_EXIT_FAILED;
	if (options->json)
		data = json_object_new_array();
	for (unsigned int host = 1; host <= fabric.plan.hosts; host++)
		for (unsigned int card = 0; card < fabric.plan.devices && !err;
		     card++)
			err = look(&fabric, host, card, data);
	if (!err && fabric.plan.racks > 1)
		err = look(&fabric, 0, 0, data);
	if (data && !err)
		puts(json_object_to_json_string_ext(data,
						    JSON_C_TO_STRING_PLAIN));
	json_object_put(data);
	ur_fabric_close(&fabric);
	return err ? UR_EXIT_FAILED : 0;
}

/* ---- link ---- */

static int set_link(struct ur_fabric *fabric, unsigned int host,
		    unsigned int card, const struct ur_fabric_link *link,
		    uint32_t traits)
{
	struct ur_fabric_request request = {.op = UR_FABRIC_LINK,
					    .host = host,
					    .card = card,
					    .traits = traits,
					    .link = *link};
	struct ur_fabric_answer answer;

	return ur_fabric_ask(fabric->sock, &request, &answer, NULL);
}

static int set_links(struct ur_fabric *fabric, unsigned int first,
		     unsigned int last, const struct ur_fabric_link *link,
		     uint32_t traits)
{
	int err = 0;

	for (unsigned int host = first; host <= last && !err; host++)
		for (unsigned int card = 0; card < fabric->plan.devices && !err;
		     card++)
			err = set_link(fabric, host, card, link, traits);
	return err;
}

/* NODE.CARD names one card's link, NODE those of all its cards, as in the output. */
static int set_named(struct ur_fabric *fabric, char *name,
		     const struct ur_fabric_link *link, uint32_t traits)
{
	char *dot = strchr(name, '.');
	unsigned int card = 0;
	int host;

	if (!strcmp(name, "all"))
		return set_links(fabric, 1, fabric->plan.hosts, link, traits);
	if (!strcmp(name, UPLINK))
		return set_link(fabric, 0, 0, link, traits);
	if (dot) {
		*dot = '\0';
		if (dot[1] < '0' || dot[1] > '9' || dot[2])
			card = UR_FABRIC_DEVICES_MAX; /* invalid */
		else
			card = (unsigned int)(dot[1] - '0');
	}
	host = ur_fabric_find_host(fabric, name);
	if (host < 0)
		return host;
	if (!host) {
		ur_complain("fabric link: the switch has a link to another "
			    "one, by the name of " UPLINK);
		return -EINVAL;
	}
	return dot ? set_link(fabric, (unsigned int)host, card, link, traits)
		   : set_links(fabric, (unsigned int)host, (unsigned int)host,
			       link, traits);
}

int ur_fabric_link(struct ur_options *options)
{
	struct ur_fabric_link link = {0};
	struct ur_fabric fabric;
	uint32_t traits = 0;
	int err;

	if (!options->rest_count) {
		ur_complain("fabric link: HOST|all|" UPLINK " up|down|NAME "
			    "VALUE ...");
		return UR_EXIT_USAGE;
	}
	if (ur_fabric_link_words(options->rest + 1, &link, &traits))
		return UR_EXIT_USAGE;
	if (ur_fabric_open(&fabric, options))
		return UR_EXIT_FAILED;
	err = set_named(&fabric, options->rest[0], &link, traits);
	ur_fabric_close(&fabric);
	return err ? UR_EXIT_FAILED : 0;
}

/* ---- down ---- */

static int take_down(struct ur_options *options)
{
	struct ur_fabric_request request = {.op = UR_FABRIC_END};
	struct ur_fabric_answer answer;
	struct ur_fabric fabric;
	int err;

	if (options->rest_count)
		return ur_too_many("fabric", options->rest[0]);
	if (ur_fabric_open(&fabric, options))
		return UR_EXIT_FAILED;
	err = ur_fabric_ask(fabric.sock, &request, &answer, NULL);
	ur_fabric_close(&fabric);
	if (!err) {
		err = ur_fabric_dir_await(&fabric.paths);
		if (err)
			ur_complain("fabric %s: it does not end",
				    fabric.paths.name);
	}
	return err ? UR_EXIT_FAILED : 0;
}

/* ---- the command ---- */

/* Returns the name of an option that was given with the wrong verb, as it is only for 'up'
 * or only for 'show'; or NULL. */
static const char *misplaced_option(const struct ur_options *options,
				    const struct ur_verb *verb)
{
	if (options->json && verb->run != ur_fabric_show)
		return "--json, which is of 'fabric show'";
	if (verb->run == ur_fabric_up)
		return NULL;
	return options->link	  ? "--link, which is of 'fabric up'"
	       : options->loss	  ? "--loss, which is of 'fabric up'"
	       : options->mtu	  ? "--mtu, which is of 'fabric up'"
	       : options->racks	  ? "--racks, which is of 'fabric up'"
	       : options->devices ? "--devices, which is of 'fabric up'"
	       : options->quiet	  ? "--quiet, which is of 'fabric up'"
				  : NULL;
}

int ur_cmd_fabric(struct ur_options *options)
{
	static const struct ur_verb show = {"show", ur_fabric_show};
	static const struct ur_verb verbs[] = {{"up", ur_fabric_up},
					       {"run", ur_fabric_run},
					       {"ssh", ur_fabric_ssh},
					       {"link", ur_fabric_link},
					       {"show", ur_fabric_show},
					       {"trace", ur_fabric_trace},
					       {"report", ur_fabric_report},
					       {"down", take_down},
					       {NULL, NULL}};
	const struct ur_verb *verb = ur_verb_take(options, verbs);
	const char *option;

	if (!verb && options->rest_count) {
		ur_complain("fabric: up, run, ssh, link, show, trace, report "
			    "or down, not '%s'",
			    options->rest[0]);
		return UR_EXIT_USAGE;
	}
	if (!verb)
		verb = &show;
	option = misplaced_option(options, verb);
	if (option) {
		ur_complain("fabric %s: it takes no %s", verb->word, option);
		return UR_EXIT_USAGE;
	}
	return verb->run(options);
}
