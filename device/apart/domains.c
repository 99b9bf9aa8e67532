// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Protection domains in a shared engine. A program names its domains by numbers of its
 * choice, and each uroced counts from 1. So each name in each context is mapped to an
 * engine number that no other has.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "device/apart/apart.h"

#define DOMAINS_MAX 65536u

struct ur_apart_domain {
	u32 name, number;
};

/* Returns the index of the first entry whose name is not less. */
static u32 place_of(const struct ur_apart_client *c, u32 name)
{
	u32 low = 0, high = c->n_domains;

	while (low < high) {
		u32 at = low + (high - low) / 2;

		if (c->domains[at].name < name)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

static int add(struct ur_apart_client *c, u32 at, u32 name)
{
	struct ur_apart_domain *more;
	u32 number;

	if (c->n_domains == DOMAINS_MAX)
		return -ENOMEM;
	more = reallocarray(c->domains, c->n_domains + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->domains = more;
	number = ur_apart_engine_new_domain(c->engine);
	if (!number)
		return -ENOMEM;
	memmove(more + at + 1, more + at, (c->n_domains - at) * sizeof(*more));
	more[at] = (struct ur_apart_domain){name, number};
	c->n_domains++;
	return 0;
}

int ur_apart_find_domain(struct ur_apart_client *c, u32 *pdn)
{
	u32 at;
	int err = 0;

	if (!c->engine || !*pdn)
		return 0;
	at = place_of(c, *pdn);
	if (at == c->n_domains || c->domains[at].name != *pdn)
		err = add(c, at, *pdn);
	if (!err)
		*pdn = c->domains[at].number;
	return err;
}
