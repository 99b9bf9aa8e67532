// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The addresses of this process's devices, in a list under a lock of its own,
 * and the UDP ports that its sockets hold, counted by family. A lookup of a
 * port is one load.
 */
#include "engine/wire/udp_own.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "transport/wire_format.h"
#include "util/assert.h"
#include "util/list.h"

#define PORTS (0x10000u - UR_UDP_SPORT_MIN)

struct own {
	struct ur_list node;
	u8 gid[16];
	u32 count; /* two devices may have the same one by turns */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ur_list addrs = {&addrs, &addrs};
static _Atomic u32 generation = 1;
static _Atomic u16 held[2][PORTS]; /* v6, v4: sockets */

static struct own *find_gid(const u8 gid[16])
{
	ur_list_for_each(it, &addrs) {
		struct own *o = ur_list_entry(it, struct own, node);

		if (!memcmp(o->gid, gid, 16))
			return o;
	}
	return NULL;
}

/* Notes that the set has changed. With the lock held. */
static void bump_generation(void)
{
	if (!++generation)
		generation = 1;
}

int ur_udp_own_add(const u8 gid[16])
{
	struct own *o;
	int err = 0;

	pthread_mutex_lock(&lock);
	o = find_gid(gid);
	if (o) {
		o->count++;
		goto out;
	}
	o = calloc(1, sizeof(*o));
	if (!o) {
		err = -ENOMEM;
		goto out;
	}
	memcpy(o->gid, gid, 16);
	o->count = 1;
	ur_list_add_tail(&addrs, &o->node);
	bump_generation();
out:
	pthread_mutex_unlock(&lock);
	return err;
}

void ur_udp_own_del(const u8 gid[16])
{
	struct own *o;

	pthread_mutex_lock(&lock);
	o = find_gid(gid);
	ur_assert(!o || o->count);
	if (o && !--o->count) {
		ur_list_del(&o->node);
		free(o);
		bump_generation();
	}
	pthread_mutex_unlock(&lock);
}

bool ur_udp_own(const u8 gid[16])
{
	bool is;

	pthread_mutex_lock(&lock);
	is = find_gid(gid) != NULL;
	pthread_mutex_unlock(&lock);
	return is;
}

u32 ur_udp_own_generation(void)
{
	return generation;
}

static _Atomic u16 *sockets(u16 port, bool v4)
{
	return &held[v4][port - UR_UDP_SPORT_MIN];
}

void ur_udp_own_hold(u16 port, bool v4)
{
	++*sockets(port, v4);
}

void ur_udp_own_release(u16 port, bool v4)
{
	--*sockets(port, v4);
}

bool ur_udp_own_holds(u16 port, bool v4)
{
	return port >= UR_UDP_SPORT_MIN && *sockets(port, v4);
}
