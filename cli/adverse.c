// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* --adverse of uroce run: parses the behaviours of a hostile card and the seed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/environment.h"
#include "kernel-abi/uroce-abi.h"

static const struct {
	const char *name;
	uint32_t bit;
} behaviours[] = {
	{"poison", UROCE_ADVERSE_POISON},   {"limits", UROCE_ADVERSE_LIMITS},
	{"batch", UROCE_ADVERSE_BATCH},	    {"sources", UROCE_ADVERSE_SOURCES},
	{"order", UROCE_ADVERSE_ORDER},	    {"rnr", UROCE_ADVERSE_RNR},
	{"numbers", UROCE_ADVERSE_NUMBERS}, {"events", UROCE_ADVERSE_EVENTS},
	{"rest", UROCE_ADVERSE_REST},	    {"all", UROCE_ADVERSE_ALL},
};

/* No specification allows a card to write there, so REST must be named explicitly. */
#define USUAL (UROCE_ADVERSE_ALL & ~UROCE_ADVERSE_REST)

static uint32_t bit_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(behaviours) / sizeof(*behaviours); i++)
		if (strlen(behaviours[i].name) == len &&
		    !memcmp(behaviours[i].name, name, len))
			return behaviours[i].bit;
	return 0;
}

/* NAME,NAME...: only these; -NAME,-NAME...: the usual ones without these. */
static int parse_list(const char *list, uint32_t *what)
{
	*what = *list == '-' ? USUAL : 0;
	for (;;) {
		size_t len = strcspn(list, ",");
		bool less = *list == '-';
		uint32_t bit = bit_of(list + less, len - less);

		if (!bit) {
			ur_complain("--adverse: '%.*s' is none of poison, "
				    "limits, batch, sources, order, rnr, "
				    "numbers, events, rest, all",
				    (int)len, list);
			return -EINVAL;
		}
		*what = less ? *what & ~bit : *what | bit;
		if (!list[len])
			return 0;
		list += len + 1;
	}
}

int ur_environment_adverse(const struct ur_options *options)
{
	const char *text = options->adverse;
	uint32_t what = USUAL;
	unsigned long seed;
	char value[40], *end;

	if (!text)
		return 0;
	errno = 0;
	seed = strtoul(text, &end, 10);
	if (end == text || *text == '-' || errno || seed > UINT32_MAX ||
	    (*end && *end != ':')) {
		ur_complain("--adverse=%s: a seed from 0 to 4294967295, and "
			    "perhaps ':' and names",
			    text);
		return -EINVAL;
	}
	if (*end && parse_list(end + 1, &what))
		return -EINVAL;
	snprintf(value, sizeof(value), "%lu:%x", seed, what);
	return setenv("UROCE_ADVERSE", value, 1) ? -errno : 0;
}
