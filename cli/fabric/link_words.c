// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads and writes the traits of a link. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/fabric/link_words.h"

#define NUMBER_MAX 1e15

struct unit {
	const char *name;
	double factor;
};

/* The units of tc(8): decimal for rates, binary for bytes. */
static const struct unit rate_units[] = {
	{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}, {NULL, 0}};
static const struct unit time_units[] = {
	{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit byte_units[] = {
	{"k", 1 << 10}, {"m", 1 << 20}, {"", 1}, {NULL, 0}};
static const struct unit share_units[] = {{"%", UR_FABRIC_PPM / 100},
					  {NULL, 0}};
static const struct unit plain_units[] = {{"", 1}, {NULL, 0}};

/* One trait with a value. */
static const struct trait {
	const char *name;
	enum ur_fabric_trait bit;
	const struct unit *units;
	double min, max; /* in the smallest unit */
	const char *form;
} traits_by_name[] = {
	{"rate", UR_FABRIC_RATE, rate_units, 8000, 1e13,
	 "a rate, 8kbit to 10000gbit"},
	{"delay", UR_FABRIC_DELAY, time_units, 0, 1e11,
	 "a time of up to 100s, as 50us"},
	{"queue", UR_FABRIC_QUEUE, byte_units, 2048, 256 << 20,
	 "bytes, 2k to 256m"},
	{"loss", UR_FABRIC_LOSS, share_units, 0, UR_FABRIC_PPM,
	 "a share of the packets, 0% to 100%"},
	{"mark", UR_FABRIC_MARK, share_units, 0, UR_FABRIC_PPM,
	 "a share of the packets, 0% to 100%"},
	{"mtu", UR_FABRIC_MTU, plain_units, UR_FABRIC_MTU_MIN,
	 UR_FABRIC_MTU_MAX, "bytes, 1280 to 65535"},
	{NULL, 0, NULL, 0, 0, NULL},
};

/* Returns whether the word is a number with one of the units. */
static bool read_number(const char *word, const struct unit *units,
			double *value)
{
	char *end;
	double v = strtod(word, &end);

	if (*word < '0' || *word > '9' || !(v <= NUMBER_MAX))
		return false;
	for (; units->name; units++) {
		if (strcmp(end, units->name))
			continue;
		v *= units->factor;
		/* Rounds to an integer while a double is exact. */
		*value = v <= NUMBER_MAX ? (double)(uint64_t)(v + 0.5) : v;
		return true;
	}
	return false;
}

static void store(struct ur_fabric_link *link, enum ur_fabric_trait bit,
		  double value)
{
	uint32_t small = value <= UINT32_MAX ? (uint32_t)value : UINT32_MAX;
	struct ur_fabric_link given = {.rate = (uint64_t)value,
				       .delay_ns = (uint64_t)value,
				       .queue = small,
				       .loss = small,
				       .mark = small,
				       .mtu = small};

	ur_fabric_link_take(link, &given, bit);
}

static int take_trait(const char *name, const char *value,
		      struct ur_fabric_link *link, uint32_t *traits)
{
	const struct trait *t = traits_by_name;
	double v;

	while (t->name && strcmp(t->name, name) != 0)
		t++;
	if (!t->name) {
		ur_complain("fabric: a link has up, down, rate, delay, queue, "
			    "loss, mark and mtu, not '%s'",
			    name);
		return -EINVAL;
	}
	/* "none" removes a limit, and 0 needs no unit. */
	if (value && ((t->bit == UR_FABRIC_RATE && !strcmp(value, "none")) ||
		      (!t->min && !strcmp(value, "0")))) {
		v = 0;
	} else if (!value || !read_number(value, t->units, &v) || v < t->min ||
		   v > t->max) {
		ur_complain("fabric: %s %s: it takes %s%s", name,
			    value ? value : "", t->form,
			    t->bit == UR_FABRIC_RATE ? ", or none" : "");
		return -EINVAL;
	}
	store(link, t->bit, v);
	*traits |= t->bit;
	return 0;
}

int ur_fabric_link_spec(const char *spec, struct ur_fabric_link *link,
			uint32_t *traits)
{
	char part[64];
	double v;

	for (; *spec; spec += *spec == ',') {
		size_t len = strcspn(spec, ",");

		snprintf(part, sizeof(part), "%.*s",
			 len < sizeof(part) ? (int)len : 0, spec);
		if (take_trait(read_number(part, time_units, &v) ? "delay"
								 : "rate",
			       part, link, traits))
			return -EINVAL;
		spec += len;
	}
	return 0;
}

int ur_fabric_link_words(char **words, struct ur_fabric_link *link,
			 uint32_t *traits)
{
	if (!*words) {
		ur_complain("fabric link HOST: what is to change: up, down, "
			    "rate, delay, queue, loss, mark or mtu");
		return -EINVAL;
	}
	while (*words) {
		if (!strcmp(*words, "up") || !strcmp(*words, "down")) {
			link->down = !strcmp(*words++, "down");
			*traits |= UR_FABRIC_DOWN;
			continue;
		}
		if (take_trait(words[0], words[1], link, traits))
			return -EINVAL;
		words += 2;
	}
	return 0;
}

/* Appends the value in the largest unit in which it is at least 1. */
static void append(char *text, size_t size, const char *name, double value,
		   const struct unit *units)
{
	size_t len = strlen(text);

	while (units[1].name && value < units->factor)
		units++;
	snprintf(text + len, size - len, " %s %.15g%s", name,
		 value / units->factor, units->name);
}

void ur_fabric_link_print(const struct ur_fabric_link *link, char *text,
			  size_t size)
{
	/* Largest unit first. */
	static const struct unit times[] = {
		{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {NULL, 0}};
	static const struct unit bytes[] = {
		{"m", 1 << 20}, {"k", 1 << 10}, {"", 1}, {NULL, 0}};

	snprintf(text, size, "%s mtu %" PRIu32, link->down ? "down" : "up",
		 link->mtu);
	if (link->rate)
		append(text, size, "rate", (double)link->rate, rate_units);
	if (link->queue)
		append(text, size, "queue", link->queue, bytes);
	if (link->delay_ns)
		append(text, size, "delay", (double)link->delay_ns, times);
	if (link->loss)
		append(text, size, "loss", link->loss, share_units);
	if (link->mark)
		append(text, size, "mark", link->mark, share_units);
}
