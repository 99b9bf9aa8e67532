// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A GID is shown only if the engine's wires can use it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "device/device.h"
#include "device/tree/sysfs.h"
#include "util/assert.h"

bool ur_gid_is_zero(const u8 gid[16])
{
	static const u8 zero[16];

	return !memcmp(gid, zero, sizeof(zero));
}

void ur_gid_print(char buf[40], const u8 gid[16])
{
	for (int i = 0; i < 8; i++)
		snprintf(buf + 5 * i, 6, i < 7 ? "%04x:" : "%04x",
			 ur_get_be16(gid + 2 * i));
}

const struct ur_gid *ur_gid_get(const struct ur_device *dev, u32 index)
{
	if (index >= UR_GID_MAX || !dev->gids.entry[index].valid)
		return NULL;
	return &dev->gids.entry[index];
}

int ur_gid_find(const struct ur_device *dev, const u8 gid[16],
		enum ur_gid_type type)
{
	for (int i = 0; i < UR_GID_MAX; i++) {
		const struct ur_gid *g = &dev->gids.entry[i];

		if (g->valid && g->type == type && !memcmp(g->gid, gid, 16))
			return i;
	}
	return -1;
}

u32 ur_gid_count(const struct ur_device *dev)
{
	u32 n = 0;

	for (int i = 0; i < UR_GID_MAX; i++)
		n += dev->gids.entry[i].valid;
	return n;
}

bool ur_gid_any_taken(const struct ur_device *dev)
{
	for (int i = 0; i < UR_GID_MAX; i++)
		if (dev->gids.entry[i].refused && dev->gids.entry[i].taken)
			return true;
	return false;
}

static int by_rank(const void *a, const void *b)
{
	const struct ur_gid_addr *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank - y->rank;
	return 0;
}

static struct ur_gid *find_slot(struct ur_device *dev,
				const struct ur_gid_addr *a)
{
	for (int i = 0; i < UR_GID_MAX; i++) {
		struct ur_gid *g = &dev->gids.entry[i];

		if ((g->valid || g->refused) && g->type == a->type &&
		    !memcmp(g->gid, a->gid, 16))
			return g;
	}
	return NULL;
}

static bool is_free(const struct ur_gid *g)
{
	return !g->valid && !g->refused;
}

/* The link-local address made from the MAC: the first GID of a card in Linux. */
static bool is_default(const struct ur_device *dev, const u8 gid[16])
{
	return ur_get_be64(gid) == 0xfe80ull << 48 &&
	       ur_get_be64(gid + 8) == dev->node_guid;
}

/* Returns whether a card would have that address at index: the default GID's entry is
 * reserved for it, and with pairs so are those of RoCEv1. */
static bool may_have(const struct ur_device *dev, u32 index,
		     const struct ur_gid_addr *a)
{
	const struct ur_like *like = dev->daemon->like;
	u32 each = like->pairs ? 2 : 1;

	return !like->word ||
	       ((index < each) == is_default(dev, a->gid) &&
		index % each == (each == 2 && a->type == UR_GID_ROCE_V2));
}

/* Programs of an earlier uroced identify their addresses by index, so those are kept. */
static struct ur_gid *free_slot(struct ur_device *dev,
				const struct ur_gid_addr *a)
{
	int known = a->type == UR_GID_ROCE_V2
			    ? ur_engine_gid_at(dev->engine, a->gid)
			    : -1;
	struct ur_gid *last = NULL;

	if (known >= 0 && known < UR_GID_MAX && may_have(dev, (u32)known, a) &&
	    is_free(&dev->gids.entry[known]))
		return &dev->gids.entry[known];
	for (u32 i = 0; i < UR_GID_MAX; i++) {
		if (!is_free(&dev->gids.entry[i]) || !may_have(dev, i, a))
			continue;
		if (!ur_engine_gid_known(dev->engine, i))
			return &dev->gids.entry[i];
		if (!last)
			last = &dev->gids.entry[i];
	}
	return last;
}

/* Records a refused address in an entry that is not visible, so that the reason is logged
 * once and not at each change of the link. */
static struct ur_gid *refused_slot(struct ur_device *dev)
{
	for (int i = UR_GID_MAX - 1; i >= 0; i--)
		if (!dev->gids.entry[i].valid && !dev->gids.entry[i].refused)
			return &dev->gids.entry[i];
	return NULL;
}

static bool add_gid(struct ur_device *dev, const struct ur_gid_addr *a)
{
	struct ur_gid *g = free_slot(dev, a);
	u32 index;
	int err;

	if (!g)
		return false;
	index = (u32)(g - dev->gids.entry);
	err = ur_engine_set_gid(dev->engine, index, a->gid, a->type);
	if (err) {
		char text[40];

		ur_gid_print(text, a->gid);
		/* The wire has logged who holds the port. */
		if (err != -EADDRINUSE)
			ur_log("%s: cannot use %s: %s", dev->name, text,
			       strerror(-err));
		g = refused_slot(dev);
		memcpy(g->gid, a->gid, 16);
		g->type = a->type;
		g->refused = g->seen = true;
		g->taken = err == -EADDRINUSE;
		return false;
	}
	memcpy(g->gid, a->gid, 16);
	g->type = a->type;
	g->ifindex = a->ifindex;
	g->valid = g->seen = true;
	ur_sysfs_gid(dev, index);
	return true;
}

u32 ur_gid_sync(struct ur_device *dev, struct ur_gid_addr *addr, u32 n)
{
	u32 changes = 0;

	ur_assert(ur_loop_mine(dev->daemon->loop));
	if (n)
		qsort(addr, n, sizeof(*addr), by_rank);
	for (int i = 0; i < UR_GID_MAX; i++)
		dev->gids.entry[i].seen = false;
	for (u32 i = 0; i < n; i++) {
		struct ur_gid *g = find_slot(dev, &addr[i]);

		if (g)
			g->seen = true;
	}
	for (u32 i = 0; i < UR_GID_MAX; i++) {
		struct ur_gid *g = &dev->gids.entry[i];

		if (g->seen)
			continue;
		g->refused = false;
		if (!g->valid)
			continue;
		g->valid = false;
		ur_engine_set_gid(dev->engine, i, NULL, g->type);
		ur_sysfs_gid(dev, i);
		changes++;
	}
	for (u32 i = 0; i < n; i++)
		if (!find_slot(dev, &addr[i]))
			changes += add_gid(dev, &addr[i]);
	if (changes)
		ur_device_event(dev, 1, UR_EVENT_GID_CHANGE);
	return changes;
}
