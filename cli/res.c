// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce res: the objects of programs on the devices, and their owners. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/status.h"

/* The command's words, and the lists of the status text. */
static const struct {
	const char *word, *list;
} kinds[] = {
	{"qp", "qps"}, {"cq", "cqs"},	    {"mr", "mrs"},
	{"pd", "pds"}, {"cm_id", "cm_ids"}, {"session", "sessions"},
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

/* Prints the members in order: "qp: device uroce0 qpn 17 type RC ...". */
static void print_object(const char *word, struct json_object *object)
{
	printf("%s:", word);
	json_object_object_foreach(object, name, value)
	{
		const char *text = json_object_get_string(value);

		/* counters: 'uroce stat qp' */
		if (json_object_is_type(value, json_type_object))
			continue;
		if (!text || !*text)
			continue;
		/* Keys in hexadecimal, as programs print them. */
		if (!strcmp(name, "key"))
			printf(" %s 0x%" PRIx64, name,
			       json_object_get_int64(value));
		else
			printf(" %s %s", name, text);
	}
	putchar('\n');
}

static void print_list(struct json_object *status, size_t kind)
{
	ur_json_each(one, ur_json_array(status, kinds[kind].list))
		if (!ur_json_hidden(one))
			print_object(kinds[kind].word, one);
	if (!ur_json_count(status, kinds[kind].list))
		printf("%s: none\n", kinds[kind].word);
	ur_status_print_hidden(status, kinds[kind].list, kinds[kind].word);
}

static int64_t count_on(struct json_object *status, const char *list_name,
			const char *device)
{
	int64_t n = 0;

	ur_json_each(one, ur_json_array(status, list_name))
		n += !strcmp(device, ur_status_text(one, "device"));
	return n;
}

static struct json_object *summary(struct json_object *status)
{
	struct json_object *all = json_object_new_array();

	ur_json_each(device, ur_json_array(status, "devices")) {
		const char *name = ur_status_text(device, "name");
		struct json_object *one = json_object_new_object();

		ur_json_put_text(one, "device", name);
		for (size_t k = 0; k < KINDS; k++)
			ur_json_put_number(
				one, kinds[k].word,
				count_on(status, kinds[k].list, name));
		json_object_array_add(all, one);
	}
	return all;
}

static void print_summary(struct json_object *all)
{
	ur_json_each(one, all) {
		printf("%s:", ur_status_text(one, "device"));
		for (size_t k = 0; k < KINDS; k++)
			printf(" %s %" PRId64, kinds[k].word,
			       ur_json_number(one, kinds[k].word));
		putchar('\n');
	}
}

static int show_summary(const struct ur_options *options,
			struct json_object *status)
{
	struct json_object *all = summary(status);

	if (options->json)
		ur_json_print(all);
	else
		print_summary(all);
	json_object_put(all);
	return 0;
}

int ur_cmd_res(struct ur_options *options)
{
	struct json_object *status;
	const char *word;
	size_t kind;
	int ret = 0;

	if (options->rest_count && !strcmp(options->rest[0], "show")) {
		options->rest++;
		options->rest_count--;
	}
	word = options->rest_count ? options->rest[0] : NULL;
	for (kind = 0; word && kind < KINDS; kind++)
		if (!strcmp(word, kinds[kind].word))
			break;
	if (word && kind == KINDS) {
		ur_complain("res: qp, cq, mr, pd, cm_id or session, not %s",
			    word);
		return UR_EXIT_USAGE;
	}
	if (options->rest_count > 1)
		return ur_too_many("res", options->rest[1]);
	status = ur_status_get(options, "");
	if (!status)
		return UR_EXIT_FAILED;
	if (!word) {
		ret = show_summary(options, status);
	} else if (options->json) {
		ur_json_print(ur_json_array(status, kinds[kind].list));
	} else {
		print_list(status, kind);
	}
	json_object_put(status);
	return ret;
}
