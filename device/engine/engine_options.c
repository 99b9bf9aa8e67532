// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The engine's options: defaults, and the text that changes them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "device/engine/engine_impl.h"

static void default_options(struct ur_engine_options *o)
{
	o->spin_us = 100;
	o->hold = true;
	o->tx_bytes = 256u << 10;
	o->gso = true;
	o->gro = true;
	o->shared = true;
	o->loop = true;
	o->coalesce = true;
	o->credits = true;
	o->ooo = true;
	o->fast = true;
	o->trains = true;
}

static int set_option(struct ur_engine_options *o, const char *name, u32 v)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{"hold", &o->hold},	  {"gso", &o->gso},
		{"gro", &o->gro},	  {"shared", &o->shared},
		{"loop", &o->loop},	  {"coalesce", &o->coalesce},
		{"credits", &o->credits}, {"ooo", &o->ooo},
		{"cc", &o->cc},		  {"fast", &o->fast},
		{"trains", &o->trains},
	};

	for (size_t i = 0; i < UR_ARRAY_SIZE(flags); i++) {
		if (!strcmp(name, flags[i].name)) {
			*flags[i].flag = v != 0;
			return 0;
		}
	}
	if (!strcmp(name, "spin_us"))
		o->spin_us = v;
	else if (!strcmp(name, "slice_us"))
		o->slice_us = v;
	else if (!strcmp(name, "tx_bytes") && v >= 16384 && v <= 16u << 20)
		o->tx_bytes = v;
	else
		return -EINVAL;
	return 0;
}

int ur_engine_options_parse(struct ur_engine_options *o, const char *text)
{
	char name[32];
	unsigned int v;
	int used;

	default_options(o);
	while (text && *text) {
		if (sscanf(text, "%31[a-z_]=%u%n", name, &v, &used) != 2 ||
		    set_option(o, name, v)) {
			fprintf(stderr,
				"uroced: engine option not understood: "
				"%s\n",
				text);
			return -EINVAL;
		}
		text += used;
		if (*text == ',')
			text++;
	}
	return 0;
}
