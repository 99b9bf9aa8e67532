// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Protection domains in a shared engine. A program names its domains by numbers of its
 * choice, and each uroced counts from 1. So each name in each uverbs file is mapped to an
 * engine number that no other has.
 */
#include <stdlib.h>
#include <string.h>
#include "device/apart/apart.h"

#define DOMAINS_MAX 65536u

struct ur_apart_domain {
	u32 name, number;
};

/* Returns the index of the first entry whose name is not less. */
static u32 place_of(const struct ur_apart_domains *d, u32 name)
{
	u32 low = 0, high = d->n;

	while (low < high) {
		u32 at = low + (high - low) / 2;

		if (d->at[at].name < name)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

u32 ur_apart_domain_number(struct ur_apart_domains *d, u32 name, u32 *last)
{
	u32 at = place_of(d, name);
	struct ur_apart_domain *more;

	if (at < d->n && d->at[at].name == name)
		return d->at[at].number;
	if (d->n == DOMAINS_MAX || *last == UINT32_MAX)
		return 0;
	more = reallocarray(d->at, d->n + 1, sizeof(*more));
	if (!more)
		return 0;
	d->at = more;
	memmove(more + at + 1, more + at, (d->n - at) * sizeof(*more));
	more[at] = (struct ur_apart_domain){name, ++*last};
	d->n++;
	return *last;
}
