// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The engine's options: defaults, and the parser of their text. */
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/core/engine_impl.h"

#define TX_BYTES_MIN 16384u
#define TX_BYTES_MAX (16u << 20)

static void default_options(struct ur_engine_options *o)
{
	o->spin_us = 100;
	o->slice_us = 0;
	o->hold = true;
	o->tx_bytes = 256u << 10;
	o->gso = true;
	o->gro = true;
	o->loop = true;
	o->coalesce = true;
	o->credits = true;
	o->aimd = true;
	o->path = true;
	o->ooo = true;
	o->fast = true;
	o->trains = true;
	o->one_port = true;
	o->cc = false;
	o->guests = true;
}

/* The options and their ranges. A switch has max 1 and is a bool. */
static const struct known_option {
	const char *name;
	size_t offset;
	u32 min, max;
} known[] = {
#define SWITCH(field)                                                   \
	{                                                               \
#field, offsetof(struct ur_engine_options, field), 0, 1 \
	}
#define NUMBER(field, min, max)                                             \
	{                                                                   \
#field, offsetof(struct ur_engine_options, field), min, max \
	}
	SWITCH(hold),
	SWITCH(gso),
	SWITCH(gro),
	SWITCH(loop),
	SWITCH(coalesce),
	SWITCH(credits),
	SWITCH(aimd),
	SWITCH(path),
	SWITCH(ooo),
	SWITCH(cc),
	SWITCH(fast),
	SWITCH(trains),
	SWITCH(one_port),
	SWITCH(guests),
	NUMBER(spin_us, 0, 1000000),
	/* Linux' range is 0.1 to 100 ms; 0 is the system's slice */
	NUMBER(slice_us, 0, 100000),
	NUMBER(tx_bytes, TX_BYTES_MIN, TX_BYTES_MAX),
#undef SWITCH
#undef NUMBER
};

static int refuse_name(const char *name)
{
	fprintf(stderr, "uroced: there is no engine option '%s', but", name);
	for (size_t i = 0; i < UR_ARRAY_SIZE(known); i++)
		fprintf(stderr, " %s", known[i].name);
	fputc('\n', stderr);
	return -EINVAL;
}

static int set_option(struct ur_engine_options *o, const struct known_option *k,
		      const char *value)
{
	u8 *field = (u8 *)o + k->offset;
	char *end;
	u64 v;

	errno = 0;
	v = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end || errno || v < k->min ||
	    v > k->max) {
		fprintf(stderr,
			"uroced: engine option %s: '%s' is no number from %u "
			"to %u\n",
			k->name, value, k->min, k->max);
		return -EINVAL;
	}
	if (k->max == 1)
		*(bool *)field = v;
	else
		*(u32 *)field = (u32)v;
	return 0;
}

/* Parses NAME=VALUE, and changes the string. */
static int take_setting(struct ur_engine_options *o, char *setting)
{
	char *value = strchr(setting, '=');

	if (value)
		*value++ = '\0';
	/* An engine runs where the scheduler puts it. */
	if (!strcmp(setting, "follow")) {
		fputs("uroced: the engine option follow does nothing any more\n",
		      stderr);
		return 0;
	}
	for (size_t i = 0; i < UR_ARRAY_SIZE(known); i++)
		if (!strcmp(setting, known[i].name))
			return set_option(o, &known[i], value ? value : "");
	return refuse_name(setting);
}

int ur_engine_options_parse(struct ur_engine_options *o, const char *text)
{
	char *copy, *rest, *setting;
	int err = 0;

	default_options(o);
	if (!text || !*text)
		return 0;
	rest = copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	while (!err && (setting = strsep(&rest, ",")))
		err = take_setting(o, setting);
	free(copy);
	return err;
}

/* cc is one of the settings (program_settings.h). */
static const struct {
	u32 flag;
	size_t offset;
} granted[] = {
#define LENT(name, field)                                         \
	{                                                         \
		UROCE_ENGINE_NO_##name,                           \
			offsetof(struct ur_engine_options, field) \
	}
	LENT(GSO, gso),		  LENT(GRO, gro),
	LENT(TRAINS, trains),	  LENT(FAST, fast),
	LENT(COALESCE, coalesce), LENT(CREDITS, credits),
	LENT(AIMD, aimd),	  LENT(PATH, path),
	LENT(OOO, ooo),		  LENT(ONE_PORT, one_port),
	LENT(LOOP, loop),
#undef LENT
};

u32 ur_engine_options_off(const struct ur_engine_options *o)
{
	u32 off = 0;

	for (size_t i = 0; i < UR_ARRAY_SIZE(granted); i++)
		if (!*(const bool *)((const u8 *)o + granted[i].offset))
			off |= granted[i].flag;
	return off;
}

void ur_engine_options_apply(struct ur_engine_options *o, u32 off, u32 tx_bytes)
{
	for (size_t i = 0; i < UR_ARRAY_SIZE(granted); i++)
		if (off & granted[i].flag)
			*(bool *)((u8 *)o + granted[i].offset) = false;
	if (tx_bytes >= TX_BYTES_MIN && tx_bytes <= TX_BYTES_MAX)
		o->tx_bytes = tx_bytes;
}

bool ur_engine_has_guests(const char *text)
{
	struct ur_engine_options o;

	return !ur_engine_options_parse(&o, text) && o.guests;
}

int ur_engine_options_check(const char *text)
{
	struct ur_engine_options o;

	return ur_engine_options_parse(&o, text);
}
